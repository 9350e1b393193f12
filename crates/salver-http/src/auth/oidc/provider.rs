//! What the provider publishes of itself (OpenID Connect Discovery), and its keys: fetched when somebody logs in, and
//! again after a while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_model::limits::{JWK_SET_INTERVAL_S_MIN, OIDC_WAIT_MS_MAX};
use salver_model::network::is_protected;
use salver_model::ports::IdentityProvider;
use salver_model::spec::{JwtSpec, OidcSpec};
use salver_model::{Code, Error, Result};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::unavailable;
use crate::auth::jwt::Jwt;

/// Signatures of ID tokens: those with public keys.
const ALGORITHMS: [&str; 10] =
    ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA", "Ed25519"];
/// Shortest time between two attempts.
const INTERVAL: Duration = Duration::from_secs(JWK_SET_INTERVAL_S_MIN);

/// The provider. Cheap to share.
#[derive(Clone, Debug)]
pub(super) struct Provider(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    issuer: String,
    client_id: String,
    leeway: Duration,
    /// Time after which it is fetched again.
    refresh: Duration,
    client: Arc<dyn IdentityProvider>,
    /// Locked during an attempt, so that many who log in cause one.
    last: Arc<Mutex<Last>>,
}

#[derive(Debug, Default)]
struct Last {
    known: Option<Arc<KnownProvider>>,
    fetched: Option<Instant>,
    tried: Option<Instant>,
}

/// What is known of the provider.
#[derive(Debug)]
pub(super) struct KnownProvider {
    pub(super) metadata: Metadata,
    /// Checks its ID tokens for this client.
    pub(super) jwt: Jwt,
}

/// What the provider says of itself (OpenID Connect Discovery, section 3). Other members are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    jwks_uri: String,
    /// Where browsers are sent to end the session at the provider (OpenID Connect RP-Initiated Logout, section 2.1).
    pub(super) end_session_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// Whether its answers say which issuer they are from (RFC 9207).
    #[serde(default, rename = "authorization_response_iss_parameter_supported")]
    pub(super) names_issuer: bool,
}

impl Metadata {
    /// Returns whether the secret of a client may stand in a header, as it does if nothing is said.
    pub(super) fn takes_header(&self) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.as_deref().unwrap_or_default();
        let has = |name: &str| methods.iter().any(|method| method == name);
        has("client_secret_basic") || !has("client_secret_post")
    }
}

impl Provider {
    pub(super) fn new(
        spec: &OidcSpec,
        client: Arc<dyn IdentityProvider>,
        (leeway, refresh): (Duration, Duration),
    ) -> Self {
        let (issuer, client_id) = (spec.issuer.clone(), spec.client_id.clone());
        Self(Arc::new(Shared { issuer, client_id, leeway, refresh, client, last: Arc::default() }))
    }

    /// Returns what is known of the provider, after fetching it if that was long ago. If that fails, what was known
    /// before stays.
    ///
    /// # Errors
    /// `AuthenticationUnavailable` if nothing was ever known.
    pub(super) async fn known(&self) -> Result<Arc<KnownProvider>> {
        let looking = async {
            let mut last = Arc::clone(&self.0.last).lock_owned().await;
            let is_over = |since: Option<Instant>, time: Duration| since.is_none_or(|since| since.elapsed() >= time);
            if is_over(last.fetched, self.0.refresh) && is_over(last.tried, INTERVAL) {
                let own = self.clone();
                // A task of its own, from which others profit when this request is given up. It has the lock, so that
                // there is never more than one.
                let fetching = tokio::spawn(async move {
                    let fetched = own.fetch().await;
                    last.tried = Some(Instant::now());
                    match fetched {
                        Ok(known) => (last.known, last.fetched) = (Some(Arc::new(known)), last.tried),
                        Err(error) => {
                            let hint = error.hint.as_deref().unwrap_or_default();
                            tracing::warn!("the provider of `oidc_issuer` can't be used: {}; {hint}", error.chain());
                        }
                    }
                    last.known.clone()
                });
                return fetching.await.ok().flatten();
            }
            last.known.clone()
        };
        let looked = tokio::time::timeout(Duration::from_millis(OIDC_WAIT_MS_MAX), looking).await;
        looked.ok().flatten().ok_or_else(unavailable)
    }

    /// Fetches what the provider publishes.
    ///
    /// # Errors
    /// `Source` if it can't be fetched, and `Config` for what can't be used.
    pub(super) async fn fetch(&self) -> Result<KnownProvider> {
        let Shared { issuer, client, .. } = &*self.0;
        let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let text = client.document(&url).await?;
        let metadata: Metadata = serde_json::from_slice(&text).map_err(|error| {
            Error::new(Code::Config, format!("`{url}` does not describe a provider: {error}"))
                .with_hint("check `auth.oidc_issuer`")
                .with_source(error)
        })?;
        self.check(&metadata)?;
        let spec = JwtSpec {
            key_set: Some(metadata.jwks_uri.clone()),
            algorithms: ALGORITHMS.map(str::to_owned).to_vec(),
            audiences: vec![self.0.client_id.clone()],
            issuers: vec![issuer.clone()],
            leeway: self.0.leeway,
            ..JwtSpec::default()
        };
        let jwt = Jwt::new(&spec, Some(client.key_set(&metadata.jwks_uri)), ("", None))?;
        jwt.fetch_key_set().await?;
        Ok(KnownProvider { metadata, jwt })
    }

    /// Checks that the provider is the one of the settings, and that its endpoints are protected as it is itself.
    fn check(&self, metadata: &Metadata) -> Result<()> {
        let issuer = &self.0.issuer;
        if metadata.issuer != *issuer {
            let other: String = metadata.issuer.chars().take(200).collect();
            return Err(Error::new(Code::Config, format!("`{issuer}` says that it is the issuer `{other}`"))
                .with_hint("write `auth.oidc_issuer` to the letter as the provider does, also the slash at its end"));
        }
        let endpoints = [&metadata.authorization_endpoint, &metadata.token_endpoint, &metadata.jwks_uri];
        let mut endpoints = endpoints.into_iter().chain(&metadata.end_session_endpoint);
        let is_fit = |url: &str| {
            let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic()) && !url.contains('#');
            is_plain && is_protected(url) && (url.starts_with("https://") || !issuer.starts_with("https://"))
        };
        match endpoints.find(|url| !is_fit(url)) {
            Some(url) => {
                let shown: String = url.chars().take(200).collect();
                Err(Error::new(Code::Config, format!("`{issuer}` has an endpoint that is not protected: `{shown}`"))
                    .with_hint("endpoints of a provider begin with `https://`"))
            }
            None => Ok(()),
        }
    }
}
