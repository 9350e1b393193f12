//! Log-in at a provider (OpenID Connect Core, section 3.1): the authorization code flow with PKCE (RFC 7636). What of
//! it is HTTP between browser and server stands in `oidc_login`.
//!
//! A log-in that has begun is kept by the browser alone, sealed, so that it costs the server nothing and nobody else
//! can end it.

mod id_token;
mod provider;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use ring::digest;
use salver_model::limits::{OIDC_LOGIN_S_MAX, OIDC_REQUESTS_MAX, OIDC_WAIT_MS_MAX};
use salver_model::ports::{IdentityProvider, SecretPlace, TokenAnswer};
use salver_model::spec::OidcSpec;
use salver_model::{Code, Error, Result, seal};
use salver_text::percent;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use self::provider::{KnownProvider, Provider};
use super::session::{Scope, Session, Sessions};

/// A log-in that has begun, as the browser keeps it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BegunLogin {
    /// The issuer that the browser was sent to.
    issuer: String,
    /// The client that it was sent for.
    client_id: String,
    /// What the provider is to give back with the code.
    state: String,
    /// What the ID token is to have.
    nonce: String,
    /// Proof that a code is redeemed by who asked for it (RFC 7636, section 4.1).
    verifier: String,
    /// Where the provider sends the browser back to.
    redirect_uri: String,
    /// Path to go on at when the user is known.
    pub(crate) to: String,
    /// Time until which it is good, in seconds since 1970.
    ends_s: u64,
}

/// What a provider sends along with the browser. Values are as they came.
#[derive(Debug, Default)]
pub(crate) struct CallbackParameters {
    /// The state of the log-in.
    pub(crate) state: Option<String>,
    /// The code to be redeemed.
    pub(crate) code: Option<String>,
    /// The issuer (RFC 9207).
    pub(crate) issuer: Option<String>,
    /// Why there is no code.
    pub(crate) error: Option<String>,
}

/// Log-in at a provider.
#[derive(Debug)]
pub(crate) struct Oidc {
    spec: OidcSpec,
    /// What its sessions depend on.
    pub(super) scope: Scope,
    /// Prefix of the names of users from elsewhere; empty for none.
    foreign: String,
    client: Arc<dyn IdentityProvider>,
    provider: Provider,
    /// Places for requests to the provider.
    places: Semaphore,
}

impl Oidc {
    /// Sets up log-in at the provider of `spec`. Nobody whose name begins with `foreign` logs in there, if that is not
    /// empty: this prefix marks the names of users in a table.
    pub(super) fn new(
        spec: &OidcSpec,
        client: Arc<dyn IdentityProvider>,
        sessions: &Sessions,
        (foreign, times): (&str, (Duration, Duration)),
    ) -> Self {
        let settings = ["oidc", &spec.issuer, &spec.client_id, &spec.claim];
        Self {
            spec: spec.clone(),
            scope: Scope::of(&sessions.tagger, &settings, spec.session_idle),
            foreign: foreign.to_owned(),
            provider: Provider::new(spec, Arc::clone(&client), times),
            client,
            places: Semaphore::new(OIDC_REQUESTS_MAX),
        }
    }

    /// Fetches what the provider publishes.
    ///
    /// # Errors
    /// `Source` if it can't be fetched, and `Config` for what can't be used.
    pub(super) async fn fetch(&self) -> Result<()> {
        self.provider.fetch().await.map(drop)
    }

    /// Begins a log-in that goes on at the path `to`; the provider sends the browser back to `redirect_uri`. Returns
    /// the URL to send the browser to, and what it is to keep.
    ///
    /// # Errors
    /// `AuthenticationUnavailable` while the provider is not known.
    pub(crate) async fn begin(&self, redirect_uri: String, to: String) -> Result<(String, BegunLogin)> {
        let known = self.provider.known().await?;
        let random = || seal::random::<32>().map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        let begun = BegunLogin {
            issuer: self.spec.issuer.clone(),
            client_id: self.spec.client_id.clone(),
            state: random()?,
            nonce: random()?,
            verifier: random()?,
            redirect_uri,
            to,
            ends_s: now_s() + OIDC_LOGIN_S_MAX,
        };
        let challenge = digest::digest(&digest::SHA256, begun.verifier.as_bytes());
        let query = form(&[
            ("response_type", "code"),
            ("client_id", &self.spec.client_id),
            ("redirect_uri", &begun.redirect_uri),
            ("scope", &self.spec.scopes),
            ("state", &begun.state),
            ("nonce", &begun.nonce),
            ("code_challenge", &URL_SAFE_NO_PAD.encode(challenge)),
            ("code_challenge_method", "S256"),
        ]);
        Ok((with_query(&known.metadata.authorization_endpoint, &query), begun))
    }

    /// Returns the URL at which the session at the provider ends, and from which the browser is sent back to
    /// `return_uri`; `None` if the settings, or the provider, leave it at the session here.
    pub(crate) async fn logout(&self, return_uri: &str) -> Option<String> {
        if !self.spec.logout {
            return None;
        }
        let known = self.provider.known().await.ok()?;
        let Some(endpoint) = &known.metadata.end_session_endpoint else {
            tracing::warn!("`{}` has no `end_session_endpoint`, which `oidc_logout` needs", self.spec.issuer);
            return None;
        };
        let query = form(&[("client_id", &self.spec.client_id), ("post_logout_redirect_uri", return_uri)]);
        Some(with_query(endpoint, &query))
    }

    /// Returns a session that began at the provider.
    pub(crate) fn session(&self, sessions: &Sessions, name: &str) -> Option<Arc<Session>> {
        sessions.find(name, &self.scope)
    }

    /// Ends a log-in that the browser has begun: redeems the code, and returns the user's session.
    ///
    /// # Errors
    /// `InvalidRequest` for a response that does not belong to this log-in, `AuthenticationFailed` when the provider
    /// does not say who the user is, `AuthenticationUnavailable` when it says nothing.
    pub(crate) async fn finish(&self, begun: &BegunLogin, given: CallbackParameters) -> Result<Session> {
        self.belongs(begun, &given)?;
        let known = self.provider.known().await?;
        // Whoever is asked for a code of another issuer must not get it (RFC 9700, section 4.4).
        match &given.issuer {
            Some(issuer) if *issuer != self.spec.issuer => return Err(astray("its answer comes from another issuer")),
            None if known.metadata.names_issuer => {
                return Err(astray("its answer does not say which issuer it is from"));
            }
            _ => {}
        }
        if let Some(error) = given.error {
            return Err(refused(&format!("the provider answers `{}`", word(&error))));
        }
        let code = given.code.filter(|code| !code.is_empty()).ok_or_else(|| astray("its answer has no code"))?;
        let answer = self.redeem(&known, begun, code).await?;
        let token = id_token::of_answer(&answer)?;
        let claims = known.jwt.claims(&token).await?;
        let claims = claims.ok_or_else(|| refused("the ID token is not one of the provider for this client"))?;
        let identity = id_token::identity(&claims, &self.spec, &begun.nonce)?;
        let user = identity.iter().find(|(name, _)| name == "user").map_or("", |(_, user)| user);
        if !self.foreign.is_empty() && user.starts_with(&self.foreign) {
            return Err(refused("the user has a name like those in the table of users"));
        }
        Ok(Session {
            scope: self.scope,
            username: user.to_owned(),
            identity,
            stores_identity: true,
            told: Bytes::from_static(b"{}"),
            proof: [0; 32],
            seen: None,
        })
    }

    /// Checks that what the provider sent belongs to the log-in of this browser, under these settings.
    fn belongs(&self, begun: &BegunLogin, given: &CallbackParameters) -> Result<()> {
        let now_s = now_s();
        if given.state.as_deref() != Some(begun.state.as_str()) {
            return Err(astray("its answer belongs to another log-in"));
        }
        // The clock may have been put back.
        if begun.ends_s <= now_s || begun.ends_s > now_s + OIDC_LOGIN_S_MAX {
            return Err(astray("it took too long"));
        }
        if (&begun.issuer, &begun.client_id) != (&self.spec.issuer, &self.spec.client_id) {
            return Err(astray("the settings have changed since it began"));
        }
        Ok(())
    }

    async fn redeem(&self, known: &KnownProvider, begun: &BegunLogin, code: String) -> Result<TokenAnswer> {
        let form = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", begun.redirect_uri.clone()),
            ("code_verifier", begun.verifier.clone()),
        ];
        let patience = Duration::from_millis(OIDC_WAIT_MS_MAX);
        let busy = || Error::new(Code::Overloaded, "too many users are logging in").with_hint("try again in a moment");
        let _place = tokio::time::timeout(patience, self.places.acquire()).await.map_err(|_| busy())?;
        let place = if known.metadata.takes_header() { SecretPlace::Header } else { SecretPlace::Form };
        let asked = self.client.token(&known.metadata.token_endpoint, form, place).await;
        asked.map_err(|error| {
            tracing::warn!("a code of `{}` can't be redeemed: {}", self.spec.issuer, error.chain());
            unavailable()
        })
    }
}

/// Returns the URL of an endpoint with further parameters.
fn with_query(endpoint: &str, query: &str) -> String {
    let separator = if endpoint.contains('?') { '&' } else { '?' };
    format!("{endpoint}{separator}{query}")
}

/// Writes a form (application/x-www-form-urlencoded).
fn form(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={}", percent::encode(value))).collect();
    pairs.join("&")
}

/// Returns the part of an error word that may be shown (RFC 6749, section 4.1.2.1).
fn word(error: &str) -> String {
    error.chars().filter(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(*letter)).take(64).collect()
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns the error for what does not belong to the browser's log-in.
pub(crate) fn astray(why: &str) -> Error {
    Error::new(Code::InvalidRequest, format!("this log-in can't be finished: {why}"))
        .with_hint("log in again, at `/auth/login`; cookies are needed for that")
}

/// Returns the error for a user of whom the provider does not say who it is.
fn refused(why: &str) -> Error {
    Error::new(Code::AuthenticationFailed, format!("Authentication failed: {why}"))
        .with_hint("log in again, at `/auth/login`")
}

/// Returns the error for a provider that does not answer.
fn unavailable() -> Error {
    Error::new(Code::AuthenticationUnavailable, "nobody can log in now: the provider does not answer")
        .with_hint("try again later; the server's log says why")
}
