//! Talks to the identity provider that users log in at, over HTTP.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use salver_model::limits::{OIDC_ANSWER_BYTES_MAX, OIDC_REQUEST_MS_MAX, OIDC_SECRET_BYTES_MAX};
use salver_model::ports::{IdentityProvider, KeySetSource, SecretPlace, TokenAnswer};
use salver_model::spec::{OidcSpec, Secret};
use salver_model::{Code, Error, Result};
use salver_text::percent;
use tokio::io::AsyncReadExt;
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::key_set_source::UrlKeySet;

/// The provider of the settings.
#[derive(Debug)]
pub(crate) struct HttpIdentityProvider {
    agent: Agent,
    client_id: String,
    secret: Option<Secret>,
    secret_file: Option<PathBuf>,
}

impl HttpIdentityProvider {
    pub(crate) fn new(spec: &OidcSpec) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect may leave TLS, and would take the secret along.
            .max_redirects(0)
            .timeout_global(Some(Duration::from_millis(OIDC_REQUEST_MS_MAX)))
            .user_agent(concat!("salver/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let (secret, secret_file) = (spec.client_secret.clone(), spec.client_secret_file.clone());
        Self { agent, client_id: spec.client_id.clone(), secret, secret_file }
    }

    /// Returns the secret of the client, as it is now.
    async fn secret(&self) -> Result<Option<Secret>> {
        let Some(path) = &self.secret_file else { return Ok(self.secret.clone()) };
        let failed = |why: String| {
            Error::new(Code::Config, format!("the secret of the client in `{}` {why}", path.display()))
                .with_hint("`oidc_client_secret_file` names a file that the user of this program may read")
        };
        let unreadable = |error: std::io::Error| failed(format!("can't be read: {error}"));
        if !tokio::fs::metadata(path).await.map_err(unreadable)?.is_file() {
            // A pipe would have no end.
            return Err(failed("is not a file".to_owned()));
        }
        let mut text = String::new();
        let file = tokio::fs::File::open(path).await.map_err(unreadable)?;
        file.take(OIDC_SECRET_BYTES_MAX + 1).read_to_string(&mut text).await.map_err(unreadable)?;
        if text.len() as u64 > OIDC_SECRET_BYTES_MAX {
            return Err(failed(format!("has more than {OIDC_SECRET_BYTES_MAX} bytes")));
        }
        match text.trim() {
            "" => Err(failed("is empty".to_owned())),
            secret => Ok(Some(Secret::new(secret))),
        }
    }

    /// Runs a request aside from other work, and returns status and body of the response.
    async fn ask<F>(&self, url: &str, request: F) -> Result<(u16, Bytes)>
    where
        F: FnOnce(&Agent, &str) -> Result<Response<Body>, ureq::Error> + Send + 'static,
    {
        let (agent, own) = (self.agent.clone(), url.to_owned());
        let failed = |why: &str| {
            Error::new(Code::Source, format!("`{url}` {why}")).with_hint("check the URL of `auth.oidc_issuer`")
        };
        let asking = tokio::task::spawn_blocking(move || {
            let mut response = request(&agent, &own)?;
            let status = response.status().as_u16();
            // One byte more, without which the library does not find the end of a body of this size.
            let body = response.body_mut().with_config().limit(OIDC_ANSWER_BYTES_MAX + 1).read_to_vec()?;
            Ok::<_, ureq::Error>((status, body))
        });
        match asking.await {
            Ok(Ok((_, body))) if body.len() as u64 > OIDC_ANSWER_BYTES_MAX => {
                Err(failed(&format!("answers more than {OIDC_ANSWER_BYTES_MAX} bytes")))
            }
            Ok(Ok((status, body))) => Ok((status, Bytes::from(body))),
            Ok(Err(cause)) => Err(failed(&format!("can't be reached: {cause}")).with_source(cause)),
            Err(broken) => Err(failed("can't be reached").with_source(broken)),
        }
    }
}

#[async_trait]
impl IdentityProvider for HttpIdentityProvider {
    async fn document(&self, url: &str) -> Result<Bytes> {
        let get = |agent: &Agent, url: &str| agent.get(url).header("accept", "application/json").call();
        match self.ask(url, get).await? {
            (200, body) => Ok(body),
            (status, _) => Err(Error::new(Code::Source, format!("`{url}` answers {status}"))
                .with_hint("check the URL of `auth.oidc_issuer`")),
        }
    }

    async fn token(&self, url: &str, form: Vec<(&'static str, String)>, secret: SecretPlace) -> Result<TokenAnswer> {
        let mut form = form;
        let mut authorization = None;
        match (self.secret().await?, secret) {
            (Some(own), SecretPlace::Header) => {
                // Both are encoded first (RFC 6749, section 2.3.1).
                let both = format!("{}:{}", percent::encode(&self.client_id), percent::encode(own.reveal()));
                authorization = Some(format!("Basic {}", STANDARD.encode(both)));
            }
            (Some(own), SecretPlace::Form) => {
                form.push(("client_id", self.client_id.clone()));
                form.push(("client_secret", own.reveal().to_owned()));
            }
            (None, _) => form.push(("client_id", self.client_id.clone())),
        }
        let pairs: Vec<String> = form.iter().map(|(name, text)| format!("{name}={}", percent::encode(text))).collect();
        let body = pairs.join("&");
        let post = move |agent: &Agent, url: &str| {
            let mut request = agent.post(url).header("accept", "application/json");
            if let Some(authorization) = &authorization {
                request = request.header("authorization", authorization);
            }
            request.content_type("application/x-www-form-urlencoded").send(body.as_bytes())
        };
        let (status, body) = self.ask(url, post).await?;
        Ok(TokenAnswer { status, body })
    }

    fn key_set(&self, url: &str) -> Arc<dyn KeySetSource> {
        Arc::new(UrlKeySet::new(url, "check `jwks_uri` of the provider"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use salver_model::spec::{OidcSpec, Secret};

    use super::HttpIdentityProvider;

    fn provider(secret_file: Option<std::path::PathBuf>) -> HttpIdentityProvider {
        HttpIdentityProvider::new(&OidcSpec {
            issuer: "http://127.0.0.1".to_owned(),
            client_id: "a client".to_owned(),
            client_secret: Some(Secret::new("s:1 %")),
            client_secret_file: secret_file,
            scopes: "openid".to_owned(),
            claim: "sub".to_owned(),
            logout: false,
            session_cookie: "sid".to_owned(),
            session_idle: Duration::from_secs(1),
        })
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_contract_of_the_port() {
        // Both are encoded: `a%20client:s%3A1%20%25`.
        let header = "authorization: Basic YSUyMGNsaWVudDpzJTNBMSUyMCUyNQ==";
        let form = "client_id=a%20client&client_secret=s%3A1%20%25";
        salver_testkit::contract::identity_provider::run(&provider(None), header, form).await;
    }

    #[tokio::test]
    async fn a_secret_in_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        let provider = provider(Some(path.clone()));
        assert!(provider.secret().await.is_err());
        for (text, expected) in
            [("one\n", Some("one")), (" two ", Some("two")), ("\n", None), (&"x".repeat(5_000), None)]
        {
            std::fs::write(&path, text).unwrap();
            let secret = provider.secret().await.ok().flatten();
            assert_eq!(secret.as_ref().map(Secret::reveal), expected, "{text}");
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(provider.secret().await.is_err());
    }
}
