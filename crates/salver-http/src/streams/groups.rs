//! Consumer groups: each stores its offset on disk.
//!
//! A consumer reads a page of its group's events, processes them, and commits the page's `next`. Consumers of a group
//! are not coordinated: two concurrent ones get the same events.

use http::{Response, StatusCode};
use salver_formats::json::write_string;
use salver_model::{Code, Error, Name, Result};
use salver_service::Consumer;
use serde_json::{Value as Json, json};

use super::events::{PageLimits, written};
use super::parameters::value;
use super::position::Position;
use crate::body::Body;
use crate::exit;
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::{receive, status};

const PARAMETERS: [&str; 3] = ["from", "limit", "wait"];

/// Lists all groups of a stream.
pub(super) fn list(context: &RequestContext<'_>, name: &str) -> Result<Response<Body>> {
    let stream = context.app.service.consumer(context.caller, name)?;
    context.parameters(&[])?;
    Ok(status::json_response(&json!({ "groups": described(stream) })))
}

/// Returns all groups of a stream, as JSON.
pub(super) fn described(stream: &Consumer) -> Json {
    stream.groups().into_iter().map(|(group, offset)| one(stream, &group, offset)).collect()
}

fn one(stream: &Consumer, group: &str, offset: u64) -> Json {
    let ends = stream.ends();
    let lag = ends.next.saturating_sub(offset.max(ends.first));
    json!({ "group": group, "offset": offset, "lag": lag })
}

/// Describes one group.
pub(super) fn show(context: &RequestContext<'_>, name: &str, group: &str) -> Result<Response<Body>> {
    let stream = context.app.service.consumer(context.caller, name)?;
    context.parameters(&[])?;
    let offset = stream.committed(group).ok_or_else(|| {
        let groups = stream.groups();
        Error::new(Code::NotFound, format!("`{name}` has no group `{group}`"))
            .with_hint("a group is there once it has committed an offset")
            .with_hint_if(
                salver_model::suggest::nearest(group, groups.iter().map(|(own, _)| own.as_str()))
                    .map(|near| format!("did you mean `{near}`?")),
            )
    })?;
    Ok(status::json_response(&one(stream, group, offset)))
}

/// Responds with the events that a group has not committed. A new group begins at `from`, or at the oldest event.
pub(super) async fn events(context: &RequestContext<'_>, name: &str, group: &str) -> Result<Response<Body>> {
    let stream = context.app.service.consumer(context.caller, name)?;
    checked(group)?;
    let parameters = context.parameters(&PARAMETERS)?;
    let page = PageLimits::read(&parameters)?;
    let begin = value(&parameters, "from").map_or(Ok(Position::Earliest), Position::read)?;
    let from = match stream.committed(group) {
        Some(offset) => offset,
        None => begin.offset(stream).await?,
    };
    let events = page.events(context, stream, from).await?;
    let mut head = b"{\"group\":".to_vec();
    write_string(group, &mut head);
    head.push(b',');
    Ok(exit::unstored_json(StatusCode::OK, written(&events, from, &head)))
}

/// Commits the offset of a group: `{"offset": n}`, the offset of the next event it reads.
pub(super) async fn commit(
    context: &RequestContext<'_>,
    name: &str,
    group: &str,
    body: Incoming,
) -> Result<Response<Body>> {
    let stream = context.app.service.consumer(context.caller, name)?;
    checked(group)?;
    context.parameters(&[])?;
    let body = receive::read_body(context.app, context.headers, body).await?;
    let wrong = |what: String| Error::new(Code::InvalidBody, what).with_hint("send `{\"offset\": 12}`");
    let json: Json =
        serde_json::from_slice(&body).map_err(|error| wrong("the body is not JSON".to_owned()).with_source(error))?;
    let members = json.as_object().ok_or_else(|| wrong("the body is not an object".to_owned()))?;
    if let Some(other) = members.keys().find(|name| *name != "offset") {
        return Err(wrong(format!("a commit has no `{other}`")));
    }
    let offset = members.get("offset").and_then(Json::as_u64);
    let offset = offset.ok_or_else(|| wrong("`offset` is not a whole number from 0".to_owned()))?;
    let next = stream.ends().next;
    if offset > next {
        return Err(Error::new(Code::InvalidValue, format!("`{name}` ends at {next}, before {offset}"))
            .with_hint("commit the `next` of the page that was worked on"));
    }
    stream.commit(group, offset).await?;
    Ok(status::json_response(&one(stream, group, offset)))
}

/// Checks the name of a group, which follows the rules for names.
fn checked(group: &str) -> Result<()> {
    Name::new(group).map(drop)
}
