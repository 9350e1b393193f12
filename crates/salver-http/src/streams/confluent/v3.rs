//! v3 of the REST Proxy: producing records, and metadata.
//!
//! There is one cluster. Its id is not checked, as with Confluent outside of its cloud, and is returned as it was
//! given.

mod batch;
mod metadata;
mod record;
mod records;

use http::{Response, StatusCode};

use super::append::append;
use super::{appender, consumer, origin};
use crate::body::Body;
use crate::dialect::{Refusal, confluent};
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::routes::confluent::Topic;

pub(super) use self::metadata::{cluster, clusters};

/// Handles a request for a cluster.
pub(super) async fn answer(
    context: &RequestContext<'_>,
    cluster: &str,
    topic: Topic<'_>,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let takes_records = matches!(topic, Topic::Records(_) | Topic::Batch(_));
    if takes_records && context.media_type().is_some_and(|given| given != "application/json") {
        return Err(confluent::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, 415, "HTTP 415 Unsupported Media Type"));
    }
    match topic {
        Topic::Records(topic) => records::answer(context, cluster, &topic, body),
        Topic::Batch(topic) => batch::answer(context, cluster, &topic, body).await,
        topic => metadata::answer(context, cluster, &topic).await,
    }
}
