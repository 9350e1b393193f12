//! Service accounts of Google: the file with their key, and the tokens that it is good for (RFC 7523).

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use salver_model::limits::OBJECT_CREDENTIALS_BYTES_MAX;
use salver_model::network::is_protected;
use salver_model::spec::Secret;
use salver_model::{Code, Error, Result};
use salver_text::percent;
use serde::{Deserialize, Serialize};

use super::attempt::{Failure, persistently};
use super::fault::{Refusal, unanswered, whole};

/// What a token is good for: to read spreadsheets.
const SCOPE: &str = "https://www.googleapis.com/auth/spreadsheets.readonly";
/// Where tokens are from if the file does not say.
const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// How long an assertion is valid, which is the longest that Google takes.
const ASSERTED_S: u64 = 3_600;
/// A token is not used in the last minute of its life, because requests take time.
const SPARED: Duration = Duration::from_secs(60);
/// Most tokens that are kept; they are got anew beyond that.
const KEPT_TOKENS: usize = 256;

/// Tokens by the digest of the account's file. They are the account's, whichever datasets use it.
static TOKENS: Mutex<BTreeMap<[u8; 32], Token>> = Mutex::new(BTreeMap::new());

#[derive(Debug)]
struct Token {
    text: Secret,
    good_until: Instant,
}

/// The file of a service account, as Google's console gives it.
#[derive(Deserialize)]
struct KeyFile {
    #[serde(rename = "type")]
    kind: Option<String>,
    client_email: Option<String>,
    private_key: Option<String>,
    private_key_id: Option<String>,
    token_uri: Option<String>,
}

#[derive(Serialize)]
struct Header<'a> {
    alg: &'a str,
    typ: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<&'a str>,
}

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    scope: &'a str,
    aud: &'a str,
    iat: u64,
    exp: u64,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    expires_in: Option<u64>,
}

/// A service account.
pub(super) struct Account {
    /// Its address, with which spreadsheets are shared.
    pub(super) email: String,
    key: RsaKeyPair,
    key_id: Option<String>,
    token_url: String,
    digest: [u8; 32],
}

impl Account {
    /// Reads the file of an account.
    ///
    /// # Errors
    /// If it can't be read, or is no such file. No message has anything that stands in it, except its kind.
    pub(super) fn of_file(path: &Path) -> Result<Self> {
        let shown = path.display();
        let not_usable = |why: String| {
            Error::new(Code::Source, format!("`{shown}` is not the file of a service account of Google: {why}"))
                .with_hint("in Google's console, create a service account and a key of type JSON for it")
        };
        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(OBJECT_CREDENTIALS_BYTES_MAX).read_to_end(&mut bytes))
            .map_err(|cause| {
                Error::new(Code::Source, format!("can't read the credentials in `{shown}`: {cause}"))
                    .with_hint("check `store_credentials_file` or GOOGLE_APPLICATION_CREDENTIALS")
                    .with_source(cause)
            })?;
        let file: KeyFile = serde_json::from_slice(&bytes)
            .map_err(|cause| not_usable(format!("it is no such JSON, at line {}", cause.line())))?;
        if let Some(kind) = file.kind.filter(|kind| kind != "service_account") {
            return Err(not_usable(format!("it is of type `{}`", kind.chars().take(50).collect::<String>())));
        }
        let (Some(email), Some(pem)) = (file.client_email, file.private_key) else {
            return Err(not_usable("it needs `client_email` and `private_key`".to_owned()));
        };
        let der: String = pem.lines().filter(|line| !line.contains("-----")).map(str::trim).collect();
        let key = STANDARD.decode(der).ok().and_then(|der| RsaKeyPair::from_pkcs8(&der).ok());
        let key = key.ok_or_else(|| not_usable("its `private_key` is no RSA key in PKCS #8 PEM".to_owned()))?;
        let token_url = file.token_uri.unwrap_or_else(|| TOKEN_URL.to_owned());
        if !is_protected(&token_url) {
            return Err(not_usable("its `token_uri` is not `https://`".to_owned()));
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, &bytes).as_ref());
        Ok(Self { email, key, key_id: file.private_key_id, token_url, digest })
    }

    /// Returns a token, the kept one while it is good. Blocks.
    pub(super) fn token(&self, agent: &ureq::Agent) -> Result<Secret> {
        let now = Instant::now();
        let kept = TOKENS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = kept.get(&self.digest).filter(|token| token.good_until > now) {
            return Ok(token.text.clone());
        }
        drop(kept);
        let answer = persistently(|| self.ask(agent))?;
        let life = Duration::from_secs(answer.expires_in.unwrap_or(ASSERTED_S).min(ASSERTED_S));
        let text = Secret::new(answer.access_token);
        let mut kept = TOKENS.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_TOKENS {
            kept.clear();
        }
        kept.insert(self.digest, Token { text: text.clone(), good_until: now + life.saturating_sub(SPARED) });
        Ok(text)
    }

    /// Drops a token that was refused, unless another one has taken its place.
    pub(super) fn forget(&self, refused: &Secret) {
        let mut kept = TOKENS.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.get(&self.digest).is_some_and(|token| token.text == *refused) {
            kept.remove(&self.digest);
        }
    }

    fn ask(&self, agent: &ureq::Agent) -> Result<TokenAnswer, Failure> {
        let assertion = self.assertion().map_err(Failure::Lasting)?;
        let body = format!("grant_type={}&assertion={}", percent::encode(GRANT), percent::encode(&assertion));
        let url = self.token_url.as_str();
        let what = || format!("there is no token for `{}`", self.email);
        let sent = agent.post(url).header("content-type", "application/x-www-form-urlencoded").send(body.as_bytes());
        let response = sent.map_err(|cause| unanswered(&what(), url, cause))?;
        if !response.status().is_success() {
            return Err(Refusal::of(response).of_token(&self.email, url, &[&assertion]));
        }
        let bytes = whole(&what(), response)?;
        // The message of the cause may have a part of the token.
        serde_json::from_slice(&bytes).map_err(|_| {
            let error = Error::new(Code::Source, format!("{}: what came is none", what()))
                .with_hint("check `token_uri` in the file of the service account, and proxies on the way");
            Failure::Lasting(error)
        })
    }

    /// Returns a JWT that says who wants a token for what (RFC 7519), signed by the account's key.
    fn assertion(&self) -> Result<String> {
        let failed = || {
            Error::new(Code::Source, format!("can't sign as `{}`", self.email))
                .with_hint("check the key in the file of the service account")
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let header = Header { alg: "RS256", typ: "JWT", kid: self.key_id.as_deref() };
        let claims = Claims { iss: &self.email, scope: SCOPE, aud: &self.token_url, iat: now, exp: now + ASSERTED_S };
        let part = |json: serde_json::Result<Vec<u8>>| json.map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        let header = part(serde_json::to_vec(&header)).map_err(|_| failed())?;
        let claims = part(serde_json::to_vec(&claims)).map_err(|_| failed())?;
        let signed = format!("{header}.{claims}");
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)
            .map_err(|_| failed())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}
