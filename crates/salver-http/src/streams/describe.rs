//! `GET /api/streams` and `GET /api/streams/{name}`: the streams and their state.

use std::time::Duration;

use http::Response;
use salver_model::Result;
use salver_model::limits::PARTITIONS_S_MAX;
use salver_model::ports::EventStream;
use salver_model::spec::Pick;
use salver_model::streams::Ack;
use serde_json::{Value as Json, json};

use super::groups;
use crate::body::Body;
use crate::request_context::RequestContext;
use crate::{redaction, status};

/// Timeout for the broker to return the number of partitions.
const PARTITIONS_PATIENCE: Duration = Duration::from_secs(PARTITIONS_S_MAX);

/// Lists all streams.
pub(super) fn list(context: &RequestContext<'_>) -> Result<Response<Body>> {
    context.parameters(&[])?;
    let streams: Json = context.app.service.streams().iter().map(|stream| short(&**stream)).collect();
    Ok(status::json_response(&json!({ "streams": streams })))
}

fn short(stream: &dyn EventStream) -> Json {
    let (spec, ends) = (stream.spec(), stream.ends());
    let mut json = json!({
        "name": spec.name.as_str(),
        "first": ends.first,
        "next": ends.next,
        "backlog": stream.backlog(),
        "kafka": spec.kafka.as_ref().map(|kafka| json!({ "topic": kafka.topic })),
    });
    if let Err(error) = stream.available() {
        json["unavailable"] = redaction::message(&error).into();
    }
    json
}

/// Describes one stream. Values that the broker does not return in time are null.
pub(super) async fn show(context: &RequestContext<'_>, name: &str) -> Result<Response<Body>> {
    let stream = context.stream(name)?;
    context.parameters(&[])?;
    let spec = stream.spec();
    let mut json = short(&**stream);
    let ack = Ack::ALL.iter().find(|(_, ack)| *ack == spec.ack).map(|(word, _)| *word);
    json["events"] = stream.ends().next.saturating_sub(stream.ends().first).into();
    json["ack"] = ack.into();
    json["key"] = picked(spec.key.as_ref());
    json["id"] = picked(spec.id.as_ref());
    json["time"] = picked(spec.time.as_ref());
    json["has_schema"] = spec.schema.is_some().into();
    json["route"] = spec.route.clone().into();
    json["tables"] = stream.scans().iter().map(|(name, _)| name.as_str()).collect();
    json["groups"] = groups::described(&**stream);
    if spec.kafka.is_some() {
        let partitions = tokio::time::timeout(PARTITIONS_PATIENCE, stream.partitions()).await;
        json["kafka"]["partitions"] = partitions.ok().and_then(Result::ok).into();
    }
    Ok(status::json_response(&json))
}

/// Formats it as in the configuration.
fn picked(pick: Option<&Pick>) -> Json {
    match pick {
        Some(Pick::Member(path)) => format!("$.{}", path.join(".")).into(),
        Some(Pick::Header(name)) => format!("header:{name}").into(),
        None => Json::Null,
    }
}
