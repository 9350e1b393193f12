//! Dispatches the requests of consumers.

use std::time::Duration;

use http::{Response, StatusCode};
use salver_model::limits::LIST_ITEMS_MAX;
use salver_model::{Code, Error, seal};
use serde_json::{Map, Value as Json, json};

use super::instance::places;
use super::{consumer, pattern, records};
use crate::body::Body;
use crate::consumers::{ConsumerState, Embedded, Instance, Settings, Wants};
use crate::dialect::{Refusal, confluent};
use crate::exit;
use crate::receive;
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::routes::confluent::ConsumerStep;
use crate::streams::confluent::{origin, v2};
use crate::tokens::Owner;

/// Default time that a read waits for records.
const WAIT: Duration = Duration::from_millis(1_000);

/// Creates a consumer in a group.
pub(in crate::streams::confluent) async fn join(
    context: &RequestContext<'_>,
    group: &str,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    create(context, group, &received(context, body).await?)
}

/// Handles a request for the consumer `name` of a group.
pub(in crate::streams::confluent) async fn answer(
    context: &RequestContext<'_>,
    group: &str,
    name: &str,
    step: ConsumerStep,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let instance = context.app.consumers.find(&Owner::of(context.caller), group, name)?;
    let json = received(context, body).await?;
    match step {
        ConsumerStep::Records => records::answer(context, &instance).await,
        ConsumerStep::Commit => commit(context, &instance, &json).await,
        ConsumerStep::Committed => committed(context, &instance, &json),
        ConsumerStep::Subscribe => subscribe(&instance, &json).await,
        ConsumerStep::Subscription => {
            let topics = instance.state.lock().await.subscribed(context);
            Ok(v2(&json!({ "topics": topics })))
        }
        ConsumerStep::Unsubscribe => unsubscribe(context, &instance).await,
        ConsumerStep::Assign => assign(&instance, &json).await,
        ConsumerStep::Assignment => {
            let assigned = instance.state.lock().await.assignment(context, &instance);
            let list = assigned.iter().map(|(topic, partition)| json!({ "topic": topic, "partition": partition }));
            Ok(v2(&json!({ "partitions": list.collect::<Json>() })))
        }
        ConsumerStep::Seek => seek(context, &instance, &json, "offsets", |ends, offset| offset.min(ends.next)).await,
        ConsumerStep::SeekBeginning => seek(context, &instance, &json, "partitions", |ends, _| ends.first).await,
        ConsumerStep::SeekEnd => seek(context, &instance, &json, "partitions", |ends, _| ends.next).await,
    }
}

/// Receives the body as JSON; null when it is empty.
async fn received(context: &RequestContext<'_>, body: Incoming) -> Result<Json, Refusal> {
    let bytes = receive::read_body(context.app, context.headers, body).await?;
    if bytes.trim_ascii().is_empty() {
        return Ok(Json::Null);
    }
    serde_json::from_slice(&bytes).map_err(confluent::malformed)
}

fn done() -> Response<Body> {
    exit::empty(StatusCode::NO_CONTENT)
}

fn create(context: &RequestContext<'_>, group: &str, json: &Json) -> Result<Response<Body>, Refusal> {
    let none = Map::new();
    let members = match json {
        Json::Null => &none,
        other => other.as_object().ok_or_else(|| confluent::malformed("the body is not an object"))?,
    };
    let named = |key: &str| match members.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) if text.is_empty() || text.contains('/') => {
            Err(invalid(format!("`{text}` can't be the name of a consumer")))
        }
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(invalid(format!("`{key}` is not a text"))),
    };
    // An `id` takes precedence over a `name`, as in the REST Proxy.
    let (id, name) = (named("id")?, named("name")?);
    let name = match id.or(name) {
        Some(name) => name,
        None => format!("rest-consumer-{:032x}", u128::from_le_bytes(seal::random()?)),
    };
    let service = &context.app.service;
    if service.consumers(context.caller).next().is_none() && service.all_consumers().next().is_some() {
        return Err(Error::new(Code::Forbidden, "there is no stream that you may consume").into());
    }
    context.app.consumers.create(&Owner::of(context.caller), group, &name, settings(members)?)?;
    let base_uri = format!("{}/consumers/{group}/instances/{name}", origin(context));
    Ok(v2(&json!({ "instance_id": name, "base_uri": base_uri })))
}

fn settings(members: &Map<String, Json>) -> Result<Settings, Refusal> {
    let mut settings = Settings { format: Embedded::Binary, from_earliest: false, commits: true, wait: WAIT };
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let wrong = || invalid(format!("`{name}` can't be `{text}`"));
        match name.as_str() {
            "name" | "id" => {}
            "format" => {
                settings.format = match text.to_ascii_lowercase().as_str() {
                    "json" => Embedded::Json,
                    "binary" => Embedded::Binary,
                    _ => return Err(invalid(format!("format `{text}` is not read here; use `json` or `binary`"))),
                }
            }
            "auto.offset.reset" => {
                settings.from_earliest = match text.as_str() {
                    "earliest" | "smallest" => true,
                    "latest" | "largest" => false,
                    _ => return Err(wrong()),
                }
            }
            "auto.commit.enable" => settings.commits = text.parse().map_err(|_| wrong())?,
            "consumer.request.timeout.ms" => {
                settings.wait = Duration::from_millis(text.parse().map_err(|_| wrong())?);
            }
            "fetch.min.bytes" | "fetch.max.wait.ms" => text.parse::<i64>().map(drop).map_err(|_| wrong())?,
            other => return Err(confluent::unrecognized(other)),
        }
    }
    Ok(settings)
}

fn invalid(why: String) -> Refusal {
    confluent::unprocessable(42204, format!("Invalid consumer configuration: {why}"))
}

pub(in crate::streams::confluent) async fn delete(
    context: &RequestContext<'_>,
    group: &str,
    name: &str,
) -> Result<Response<Body>, Refusal> {
    let instance = context.app.consumers.remove(&Owner::of(context.caller), group, name)?;
    let state = instance.state.lock().await;
    if instance.settings.commits {
        state.commit(context, &instance).await?;
    }
    context.app.consumers.release(&instance);
    Ok(done())
}

async fn subscribe(instance: &Instance, json: &Json) -> Result<Response<Body>, Refusal> {
    let mut state = instance.state.lock().await;
    if matches!(state.wants, Wants::Assigned(_)) {
        return Err(exclusive());
    }
    let wants = match (json.get("topics"), json.get("topic_pattern")) {
        (Some(Json::Array(topics)), None | Some(Json::Null)) => {
            if topics.len() > LIST_ITEMS_MAX {
                return Err(confluent::unprocessable(422, format!("there may be at most {LIST_ITEMS_MAX} topics")));
            }
            let name = |topic: &Json| topic.as_str().map(str::to_owned);
            let names = topics.iter().map(name).collect::<Option<Vec<_>>>();
            Wants::Topics(names.ok_or_else(|| confluent::unprocessable(422, "topics are names"))?)
        }
        (None | Some(Json::Null), Some(Json::String(text))) => {
            pattern::check(text)?;
            Wants::Pattern(text.clone())
        }
        (Some(_), Some(_)) => return Err(exclusive()),
        _ => return Err(confluent::unprocessable(422, "a subscription has `topics` or `topic_pattern`")),
    };
    *state = ConsumerState { wants, ..ConsumerState::default() };
    Ok(done())
}

async fn unsubscribe(context: &RequestContext<'_>, instance: &Instance) -> Result<Response<Body>, Refusal> {
    *instance.state.lock().await = ConsumerState::default();
    context.app.consumers.release(instance);
    Ok(done())
}

async fn assign(instance: &Instance, json: &Json) -> Result<Response<Body>, Refusal> {
    let mut state = instance.state.lock().await;
    if matches!(state.wants, Wants::Topics(_) | Wants::Pattern(_)) {
        return Err(exclusive());
    }
    let partitions = places(json, "partitions")?.into_iter().map(|(topic, partition, _)| (topic, partition));
    *state = ConsumerState { wants: Wants::Assigned(partitions.collect()), ..ConsumerState::default() };
    Ok(done())
}

fn exclusive() -> Refusal {
    confluent::illegal_state("Subscription to topics, partitions and pattern are mutually exclusive")
}

/// Changes the positions of the consumer.
async fn seek(
    context: &RequestContext<'_>,
    instance: &Instance,
    json: &Json,
    member: &str,
    place: impl Fn(salver_model::streams::Ends, u64) -> u64,
) -> Result<Response<Body>, Refusal> {
    let mut state = instance.state.lock().await;
    let assigned = state.assignment(context, instance);
    let wanted = places(json, member)?;
    for (name, partition, _) in &wanted {
        if !assigned.iter().any(|(own, number)| own == name && number == partition) {
            return Err(confluent::illegal_state(format!("No current assignment for partition {name}-{partition}")));
        }
    }
    for (name, partition, offset) in wanted {
        let ends = consumer(context, &name)?.ends();
        if partition == 0 {
            state.positions.insert(name, place(ends, offset));
        }
    }
    Ok(done())
}

/// Commits the given offsets, or the current positions of the consumer. A given offset is that of the last processed
/// record, as in the REST Proxy.
async fn commit(context: &RequestContext<'_>, instance: &Instance, json: &Json) -> Result<Response<Body>, Refusal> {
    if json.is_null() {
        instance.state.lock().await.commit(context, instance).await?;
    } else {
        for (name, partition, offset) in places(json, "offsets")? {
            let stream = consumer(context, &name)?;
            if partition == 0 {
                let next = offset.saturating_add(1).min(stream.ends().next);
                stream.commit(&instance.group, next).await?;
            }
        }
    }
    Ok(v2(&json!([])))
}

fn committed(context: &RequestContext<'_>, instance: &Instance, json: &Json) -> Result<Response<Body>, Refusal> {
    let mut offsets = Vec::new();
    if json.is_null() {
        return Err(confluent::partition_not_found());
    }
    for (name, partition, _) in places(json, "partitions")? {
        let committed = consumer(context, &name)?.committed(&instance.group).filter(|_| partition == 0);
        offsets.extend(
            committed.map(|offset| json!({ "topic": name, "partition": partition, "offset": offset, "metadata": "" })),
        );
    }
    Ok(v2(&json!({ "offsets": offsets })))
}
