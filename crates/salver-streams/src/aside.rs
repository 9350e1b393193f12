//! Where events go that Kafka will never accept.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use salver_model::Result;

/// Callback that stores an event Kafka will never accept, with the reason. It completes when the event is durable.
pub(crate) type Aside = Arc<dyn Fn(Bytes, String) -> BoxFuture<'static, Result<()>> + Send + Sync>;
