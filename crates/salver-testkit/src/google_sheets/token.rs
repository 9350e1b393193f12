//! Tokens for assertions that service accounts sign (RFC 7523), given out as Google does.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::Answered;
use super::http::{HttpRequest, pairs};

/// The key of the account, made for tests.
pub(super) const PRIVATE_KEY: &str = include_str!("key.pem");

/// What was given out.
#[derive(Debug)]
pub(super) struct Tokens {
    email: String,
    given: usize,
    /// Tokens up to this one are not valid any more.
    revoked: usize,
    /// Their life in seconds.
    pub(super) life_s: u64,
}

impl Tokens {
    /// Returns tokens for an account.
    pub(super) fn of(email: &str) -> Self {
        Self { email: email.to_owned(), given: 0, revoked: 0, life_s: 3_599 }
    }

    fn text(&self, number: usize) -> String {
        format!("ya29.secret-token-{number}-of-{}", self.email)
    }

    /// Returns how many there were.
    pub(super) fn given(&self) -> usize {
        self.given
    }

    /// Returns all of them.
    pub(super) fn all(&self) -> Vec<String> {
        (1..=self.given).map(|number| self.text(number)).collect()
    }

    /// Makes all of them invalid.
    pub(super) fn revoke(&mut self) {
        self.revoked = self.given;
    }

    /// Returns whether a token is valid.
    pub(super) fn is_valid(&self, token: &str) -> bool {
        (self.revoked + 1..=self.given).any(|number| self.text(number) == token)
    }

    /// Answers a request for a token.
    pub(super) fn give(&mut self, request: &HttpRequest, audience: &str) -> Answered {
        let wrong = |word: &str, why: &str| (400, json!({ "error": word, "error_description": why }));
        if request.method != "POST" || !request.query.is_empty() {
            return Err(wrong("invalid_request", "a token is asked for with POST and a form"));
        }
        if request.header("content-type") != Some("application/x-www-form-urlencoded") {
            return Err(wrong("invalid_request", "the body is not a form"));
        }
        let form = pairs(&request.body);
        let [(grant, kind), (assertion, jwt)] = &form[..] else {
            return Err(wrong("invalid_request", "the form has `grant_type` and `assertion`"));
        };
        if grant != "grant_type" || assertion != "assertion" {
            return Err(wrong("invalid_request", "the form has `grant_type` and `assertion`"));
        }
        if kind != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
            return Err(wrong("unsupported_grant_type", "Invalid grant_type"));
        }
        self.check(jwt, audience).map_err(|why| wrong("invalid_grant", why))?;
        self.given += 1;
        let token = self.text(self.given);
        Ok((200, json!({ "access_token": token, "expires_in": self.life_s, "token_type": "Bearer" })))
    }

    fn check(&self, jwt: &str, audience: &str) -> Result<(), &'static str> {
        let parts: Vec<&str> = jwt.split('.').collect();
        let [header, claims, signature] = parts[..] else { return Err("Invalid JWT: it has not three parts") };
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "Invalid JWT: not in base64url")?;
        let signed = format!("{header}.{claims}");
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public_key());
        key.verify(signed.as_bytes(), &signature).map_err(|_| "Invalid JWT Signature.")?;
        let json = |part: &str| -> Option<Value> { serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok() };
        let header = json(header).ok_or("Invalid JWT: no header")?;
        let claims = json(claims).ok_or("Invalid JWT: no claims")?;
        if header["alg"] != "RS256" || header["typ"] != "JWT" || header["kid"] != "key-1" {
            return Err("Invalid JWT: the header");
        }
        if claims["iss"] != self.email.as_str() {
            return Err("Invalid grant: account not found");
        }
        if claims["aud"] != audience {
            return Err("Invalid JWT: Failed audience check.");
        }
        if claims["scope"] != "https://www.googleapis.com/auth/spreadsheets.readonly" {
            return Err("Invalid scope");
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        match (claims["iat"].as_u64(), claims["exp"].as_u64()) {
            (Some(from), Some(to)) if from <= now && now < to && to - from <= 3_600 => Ok(()),
            _ => Err("Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."),
        }
    }
}

fn public_key() -> Vec<u8> {
    let der: String = PRIVATE_KEY.lines().filter(|line| !line.contains("-----")).collect();
    let key = STANDARD.decode(der).ok().and_then(|der| RsaKeyPair::from_pkcs8(&der).ok());
    key.map(|key| key.public_key().as_ref().to_vec()).unwrap_or_default()
}
