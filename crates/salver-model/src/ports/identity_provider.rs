//! The port for the provider that users log in at (OpenID Connect).

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use super::KeySetSource;
use crate::error::Result;

/// Talks to a provider. The caller is responsible for the URLs, and for checking what it gets.
///
/// A request times out within some seconds, and follows no redirect. A response has
/// [`OIDC_ANSWER_BYTES_MAX`](crate::limits::OIDC_ANSWER_BYTES_MAX) bytes at most.
#[async_trait]
pub trait IdentityProvider: Debug + Send + Sync {
    /// Fetches the document at a URL.
    ///
    /// # Errors
    /// Returns `Source` when there is none, or it is too large.
    async fn document(&self, url: &str) -> Result<Bytes>;

    /// Sends a form to the token endpoint, as the client that is registered there (RFC 6749, section 2.3). A secret
    /// goes where `secret` says, if the client has one.
    ///
    /// # Errors
    /// Returns `Source` when the provider does not answer, or too much; and `Config` when the secret can't be read.
    async fn token(&self, url: &str, form: Vec<(&'static str, String)>, secret: SecretPlace) -> Result<TokenAnswer>;

    /// Returns the source of the key set at a URL.
    fn key_set(&self, url: &str) -> Arc<dyn KeySetSource>;
}

/// Where the secret of a client stands in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretPlace {
    /// In the header `Authorization` (`client_secret_basic`).
    Header,
    /// In the form (`client_secret_post`).
    Form,
}

/// What the token endpoint answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenAnswer {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Bytes,
}
