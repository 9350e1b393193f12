//! Confluent's REST Proxy: v2 produce, consume and metadata, and v3 produce and metadata.
//!
//! A topic is a stream, addressed by its name or by the name of its Kafka topic. A produced record is acknowledged with
//! its partition and offset once Kafka has it; without Kafka, with partition 0 and its offset in the log. Consumers
//! read the log, which is a single partition, 0, however many Kafka has. There is no schema registry: Avro, Protobuf
//! and JSON Schema are refused.

mod append;
mod consumers;
mod metadata;
mod produce;
mod v3;

use http::{Response, StatusCode, header};
use salver_model::Permission;
use salver_service::{Appender, Consumer};
use serde_json::Value as Json;

use crate::body::Body;
use crate::consumers::Embedded;
use crate::dialect::Refusal;
use crate::dialect::confluent::{self, V2};
use crate::exit;
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::routes::confluent::ConfluentTarget;

impl Embedded {
    /// Parses the media type `text`; the error gives the reason why it is not supported.
    fn named(text: &str) -> Result<Self, Refusal> {
        match text {
            "application/vnd.kafka.json.v2+json" => Ok(Self::Json),
            "application/vnd.kafka.binary.v2+json" | "application/vnd.kafka.v2+json" | "application/vnd.kafka+json" => {
                Ok(Self::Binary)
            }
            other => {
                let what = ["avro", "jsonschema", "protobuf"].into_iter().find(|format| other.contains(format));
                let why = what.map_or_else(
                    || format!("`{other}` is not one of application/vnd.kafka.{{json|binary}}.v2+json"),
                    |format| format!("{format} needs a schema registry, and there is none here; send json or binary"),
                );
                Err(confluent::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, 415, why))
            }
        }
    }
}

/// Handles a request of the REST Proxy.
pub(crate) async fn answer(
    context: &RequestContext<'_>,
    target: ConfluentTarget<'_>,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    match target {
        ConfluentTarget::Produce(topic, partition) => {
            produce::answer(context, &topic, partition.as_deref(), body).await
        }
        ConfluentTarget::Join(group) => consumers::join(context, &group, body).await,
        ConfluentTarget::Leave(group, name) => consumers::delete(context, &group, &name).await,
        ConfluentTarget::Consumer(group, name, step) => consumers::answer(context, &group, &name, step, body).await,
        ConfluentTarget::Clusters => v3::clusters(context),
        ConfluentTarget::Cluster(cluster) => v3::cluster(context, &cluster),
        ConfluentTarget::InCluster(cluster, topic) => v3::answer(context, &cluster, topic, body).await,
        target => metadata::answer(context, &target).await,
    }
}

/// Returns a v2 response.
fn v2(json: &Json) -> Response<Body> {
    exit::unstored(StatusCode::OK, V2, Body::Full(json.to_string().into()))
}

/// Returns the stream of a topic, to append to.
fn appender<'a>(context: &RequestContext<'a>, name: &str) -> Result<&'a Appender, Refusal> {
    let found = context.app.service.topic(context.caller, Permission::Append, name)?;
    Ok(found.ok_or_else(confluent::topic_not_found)?.0)
}

/// Returns the stream of a topic for who appends to it and asks for its partitions.
fn producible<'a>(context: &RequestContext<'a>, name: &str) -> Result<&'a Consumer, Refusal> {
    let found = context.app.service.topic(context.caller, Permission::Append, name)?;
    Ok(found.ok_or_else(confluent::topic_not_found)?.1)
}

/// Returns the stream of a topic, to read from.
fn consumer<'a>(context: &RequestContext<'a>, name: &str) -> Result<&'a Consumer, Refusal> {
    let found = context.app.service.topic(context.caller, Permission::Consume, name)?;
    Ok(found.ok_or_else(confluent::topic_not_found)?.1)
}

/// Returns the URL of the server, as seen by the client.
fn origin(context: &RequestContext<'_>) -> String {
    let host = context.header(header::HOST.as_str()).unwrap_or("localhost");
    let scheme = if context.app.gate.is_secure(context.headers) { "https" } else { "http" };
    format!("{scheme}://{host}{}", context.app.options.base_path)
}
