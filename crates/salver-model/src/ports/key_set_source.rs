//! The port for the key set that an issuer of tokens publishes.

use std::fmt::Debug;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Result;

/// Fetches a JSON Web Key set (RFC 7517, section 5). The caller is responsible for checking what it gets.
///
/// An attempt times out within some seconds.
#[async_trait]
pub trait KeySetSource: Debug + Send + Sync {
    /// Fetches the set as it is now.
    ///
    /// # Errors
    /// Returns `Source` when there is none, or a larger one than
    /// [`JWK_SET_BYTES_MAX`](crate::limits::JWK_SET_BYTES_MAX).
    async fn fetch(&self) -> Result<Bytes>;
}
