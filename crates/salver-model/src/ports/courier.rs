//! Who brings a document to somebody outside.

use std::fmt::Debug;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Result;

/// What became of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was taken.
    Taken,
    /// It was refused, and would be again.
    Refused,
}

/// Who brings documents to somebody outside. Which addresses are allowed is the asker's to see to.
///
/// A try ends within some seconds, follows no redirection, and tells nobody what was answered.
#[async_trait]
pub trait Courier: Debug + Send + Sync {
    /// Brings a JSON document to `address`, once.
    ///
    /// # Errors
    /// `Source` when another try may succeed.
    async fn bring(&self, address: &str, document: Bytes) -> Result<Delivery>;
}
