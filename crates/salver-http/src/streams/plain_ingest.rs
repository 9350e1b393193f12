//! A route of the stream's own, with the interface of the service that streams are founded on: POST of one JSON object,
//! answered with the event's id as plain text. As in that service the id is also the key, unless the stream picks
//! another.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode};
use salver_model::spec::Pick;
use salver_model::streams::{Ack, NewEvent};
use salver_model::{Code, Error, Result};

use super::append::append_params;
use super::append::event_outcomes::Tally;
use super::{moment, raw};
use crate::body::Body;
use crate::dialect::Refusal;
use crate::exit;
use crate::receive;
use crate::receive::Incoming;
use crate::request_context::RequestContext;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Handles an append of one event.
pub(super) async fn answer(
    context: &RequestContext<'_>,
    name: &str,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let stream = context.app.service.appender(context.caller, name)?;
    let spec = stream.spec();
    context.parameters(&[])?;
    let mut envelope = append_params::envelope(context.headers, spec)?;
    append_params::prove_partition(stream, &envelope).await?;
    let value = receive::read_body(context.app, context.headers, body).await?;
    if value.trim_ascii().is_empty() {
        return Err(Error::new(Code::InvalidBody, "the body has no event").with_hint("send one JSON object").into());
    }
    let mut event = NewEvent { value, ..NewEvent::default() };
    event.id = match (envelope.id.take(), &spec.id) {
        (Some(id), _) => Some(id),
        (None, Some(Pick::Member(path))) => member(&event.value, path),
        _ => Some(new_id().into()),
    };
    if spec.key.is_none() && envelope.key.is_none() {
        event.key.clone_from(&event.id);
    }
    let receipt = stream.append(std::slice::from_ref(&event), &envelope)?;
    let id = receipt.id.clone().map(Bytes::from).or(event.id);
    let mut tally = Tally::of(receipt);
    let ack = spec.ack;
    if ack != Ack::Memory {
        let rejected = stream.settle(&tally.awaited(), ack).await?;
        tally.refuse(rejected);
    }
    if tally.is_refused() {
        return Err(Refusal::from(tally.refusal()).with_members(tally.members()));
    }
    Ok(exit::unstored(StatusCode::OK, TEXT, Body::Full(id.unwrap_or_default())))
}

/// Returns the text of the member at `path`, when it is a string or a number.
fn member(value: &Bytes, path: &[String]) -> Option<Bytes> {
    if !raw::is_json(value) {
        return None;
    }
    let mut found: &[u8] = value;
    for name in path {
        // Of a repeated member the last one wins, as in most JSON parsers.
        let members = raw::members(found)?;
        let (_, at) = members.into_iter().rev().find(|(own, _)| own == name.as_str())?;
        found = &found[at];
    }
    match found.first()? {
        b'"' => raw::string(found).map(|text| Bytes::from(text.into_owned())),
        b'-' | b'0'..=b'9' => Some(Bytes::copy_from_slice(found)),
        _ => None,
    }
}

/// Returns a UUID of version 7 (RFC 9562): ids of later events are greater. Its random part is a keyed hash of a
/// counter, which never repeats.
fn new_id() -> String {
    static SECRETS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let [first, second] = &*SECRETS;
    let time = moment::now_ms() as u64 & 0xFFFF_FFFF_FFFF;
    let high = time << 16 | 0x7000 | (first.hash_one(count) & 0x0FFF);
    let low = second.hash_one(count) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000;
    let hex = format!("{high:016x}{low:016x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{member, new_id};

    #[test]
    fn ids() {
        let (a, b) = (new_id(), new_id());
        assert_ne!(a, b);
        assert_eq!((a.len(), &a[14..15]), (36, "7"));
        assert!(matches!(&a[19..20], "8" | "9" | "a" | "b"));
    }

    #[test]
    fn members() {
        let event = Bytes::from_static(br#"{"a":{"id":"x"},"n":12,"a":{"id":"\u0079"}}"#);
        let at = |path: &[&str]| member(&event, &path.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(at(&["a", "id"]).as_deref(), Some(&b"y"[..]));
        assert_eq!(at(&["n"]).as_deref(), Some(&b"12"[..]));
        assert_eq!(at(&["a"]), None);
        assert_eq!(at(&["b"]), None);
    }
}
