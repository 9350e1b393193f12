//! Confluent's REST Proxy: v2 produce, consume and metadata, v3 produce and metadata.
//!
//! A topic is a stream, by its name or the name of its topic in Kafka. What is produced is answered when Kafka has it,
//! by the partition and offset there; for a stream without Kafka by partition 0 and the offset in the log. Consumers
//! read the log, which is one partition, 0, whatever Kafka has. There is no schema registry: Avro, Protobuf and JSON
//! Schema are refused.

mod append;
mod consumers;
mod failure;
mod metadata;
mod produce;
mod v3;

use http::{HeaderValue, Method, Response, StatusCode, header};
use salver_model::ports::EventStream;
use serde_json::Value as Json;
use std::sync::Arc;

pub(super) use self::failure::Failure;
use super::call::Call;
use super::{problem, respond};
use crate::body::Body;
use crate::consumers::Embedded;
use crate::receive::Incoming;

/// The media type of what v2 says of itself.
const V2: HeaderValue = HeaderValue::from_static("application/vnd.kafka.v2+json");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

impl Embedded {
    /// What the media type `text` says; the error says why it is not taken.
    fn named(text: &str) -> Result<Self, Failure> {
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
                Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, 415, why))
            }
        }
    }
}

/// Answers a request of v2.
pub(super) async fn answer_v2(call: &Call<'_>, segments: &[String], body: Incoming) -> Response<Body> {
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (reads, posts) = (matches!(*call.method, Method::GET | Method::HEAD), *call.method == Method::POST);
    let answered = match segments.as_slice() {
        ["topics", topic] if posts => produce::answer(call, topic, None, body).await,
        ["topics", topic, "partitions", partition] if posts => {
            produce::answer(call, topic, Some(partition), body).await
        }
        ["topics" | "brokers", ..] if reads => metadata::answer(call, &segments).await,
        ["consumers", rest @ ..] => consumers::answer(call, rest, body).await,
        ["topics" | "brokers", ..] => Err(Failure::method_not_allowed()),
        _ => Err(Failure::not_found()),
    };
    told(call, answered)
}

/// Answers a request of v3.
pub(super) async fn answer_v3(call: &Call<'_>, segments: &[String], body: Incoming) -> Response<Body> {
    told(call, v3::answer(call, segments, body).await)
}

fn told(call: &Call<'_>, answered: Result<Response<Body>, Failure>) -> Response<Body> {
    answered.unwrap_or_else(|failure| {
        if let Some(error) = &failure.error {
            problem::observe(call, error);
        }
        failure.respond(call)
    })
}

/// What v2 says.
fn v2(json: &Json) -> Response<Body> {
    respond::whole(StatusCode::OK, V2, Body::Full(json.to_string().into()))
}

/// The stream a topic is.
fn topic<'a>(call: &Call<'a>, name: &str) -> Result<&'a Arc<dyn EventStream>, Failure> {
    let streams = call.app.service.streams();
    let named = streams.iter().find(|stream| stream.spec().name.as_str() == name);
    let by_topic = || streams.iter().find(|stream| topic_name(&***stream) == name);
    let found = named.or_else(by_topic).ok_or_else(Failure::topic_not_found)?;
    found.available()?;
    Ok(found)
}

/// What a stream is called as a topic.
fn topic_name(stream: &dyn EventStream) -> &str {
    let spec = stream.spec();
    spec.kafka.as_ref().map_or(spec.name.as_str(), |kafka| kafka.topic.as_str())
}

/// Where the server is, as the client sees it.
fn origin(call: &Call<'_>) -> String {
    let host = call.header(header::HOST.as_str()).unwrap_or("localhost");
    let scheme = if call.header("x-forwarded-proto") == Some("https") { "https" } else { "http" };
    format!("{scheme}://{host}{}", call.app.options.base_path)
}
