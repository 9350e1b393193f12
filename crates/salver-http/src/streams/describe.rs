//! `GET /api/streams` and `GET /api/streams/{name}`: the streams and their state.

use http::Response;
use salver_model::spec::Pick;
use salver_model::streams::Ack;
use salver_model::{Name, Permission, Result};
use salver_service::Consumer;
use serde_json::{Value as Json, json};

use super::groups;
use crate::body::Body;
use crate::request_context::RequestContext;
use crate::{redaction, status};

/// Lists all streams.
pub(super) fn list(context: &RequestContext<'_>) -> Result<Response<Body>> {
    context.parameters(&[])?;
    let shown = |stream: &Consumer| match context.caller.may(Permission::Consume, stream.spec().name.as_str()) {
        true => short(stream),
        false => json!({ "name": stream.spec().name.as_str() }),
    };
    let streams: Json = context.app.service.consumers(context.caller).map(shown).collect();
    Ok(status::json_response(&json!({ "streams": streams })))
}

fn short(stream: &Consumer) -> Json {
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
    let stream = context.app.service.consumer(context.caller, name)?;
    context.parameters(&[])?;
    let spec = stream.spec();
    let mut json = short(stream);
    let ack = Ack::ALL.iter().find(|(_, ack)| *ack == spec.ack).map(|(word, _)| *word);
    json["events"] = stream.ends().next.saturating_sub(stream.ends().first).into();
    json["ack"] = ack.into();
    json["key"] = picked(spec.key.as_ref());
    json["id"] = picked(spec.id.as_ref());
    json["time"] = picked(spec.time.as_ref());
    json["has_schema"] = spec.schema.is_some().into();
    json["route"] = spec.route.clone().into();
    json["tables"] = stream.tables().iter().map(Name::as_str).collect();
    json["groups"] = groups::described(stream);
    if spec.kafka.is_some() {
        json["kafka"]["partitions"] = stream.partitions_if_known().await.into();
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
