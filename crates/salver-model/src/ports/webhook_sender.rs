//! The port for delivering documents to external addresses.

use std::fmt::Debug;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Result;
use crate::trace::SpanContext;

/// Result of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The receiver accepted the document.
    Taken,
    /// The receiver refused the document, and would refuse it again.
    Refused,
}

/// Delivers documents to external addresses. The caller is responsible for checking that an address is allowed.
///
/// An attempt times out within some seconds, follows no redirects, and does not reveal the response.
#[async_trait]
pub trait WebhookSender: Debug + Send + Sync {
    /// Sends a JSON document to `address`, once, as a part of the span of `trace`, if there is one.
    ///
    /// # Errors
    /// Returns `Source` when a retry may succeed.
    async fn post(&self, address: &str, document: Bytes, trace: Option<&SpanContext>) -> Result<Delivery>;
}
