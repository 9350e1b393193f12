//! Refusals in the format of Confluent's REST Proxy: `{"error_code", "message"}`.

use std::borrow::Cow;

use http::{HeaderMap, HeaderValue, StatusCode};
use salver_formats::json::write_string;
use salver_model::limits::CONSUMERS_MAX;
use salver_model::streams::Placement;
use salver_model::{Code, Error};

use super::{Refusal, salver};
use crate::consumers;
use crate::{exit, redaction};

/// The media type of v2 responses without embedded data.
pub(crate) const V2: HeaderValue = HeaderValue::from_static("application/vnd.kafka.v2+json");
/// The media type of v3 responses.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The number of an unknown topic.
const TOPIC_NOT_FOUND: u32 = 40401;

/// Returns partition and offset of a record. Both are -1 where it is not known any more where a record is that was sent
/// before, as Kafka's own producers report it.
pub(crate) fn numbers(place: Option<Placement>) -> (i64, i128) {
    place.map_or((-1, -1), |place| (place.partition.into(), place.offset.into()))
}

/// Returns the number of a refusal.
pub(crate) fn number(refusal: &Refusal) -> u32 {
    let code = refusal.error.code;
    refusal.number.unwrap_or_else(|| match (code, salver::status(code).as_u16()) {
        (Code::UnknownStream, _) => TOPIC_NOT_FOUND,
        (_, 401) => 40101,
        (_, 403) => 40301,
        (_, 429) => 42901,
        (_, 500) => 50002,
        (_, 503) => 50302,
        (_, status) => u32::from(status),
    })
}

/// Returns the message of a refusal, with the hint of an error.
pub(crate) fn message(refusal: &Refusal) -> Cow<'_, str> {
    let error = &refusal.error;
    match error.code {
        _ if refusal.number.is_some() => Cow::Borrowed(&error.message),
        Code::UnknownStream => Cow::Borrowed("Topic not found."),
        Code::NotFound => Cow::Borrowed("HTTP 404 Not Found"),
        Code::MethodNotAllowed => Cow::Borrowed("HTTP 405 Method Not Allowed"),
        _ => {
            let hint = redaction::hint(error).map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("{}{hint}", redaction::message(error)).into()
        }
    }
}

/// Writes the body, and returns its headers.
pub(super) fn write(refusal: &Refusal, media_type: HeaderValue, out: &mut Vec<u8>) -> HeaderMap {
    out.push(b'{');
    write_members(refusal, out);
    out.push(b'}');
    exit::unstored_head(media_type)
}

/// Writes the members of the body, which also stand in results of several records.
pub(crate) fn write_members(refusal: &Refusal, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"error_code\":");
    out.extend_from_slice(itoa::Buffer::new().format(number(refusal)).as_bytes());
    out.extend_from_slice(b",\"message\":");
    write_string(&message(refusal), out);
}

/// Refuses a request with this status, number and message.
pub(crate) fn refused(status: StatusCode, number: u32, message: impl Into<String>) -> Refusal {
    Refusal::numbered(status, number, message)
}

/// Refuses an unknown topic.
pub(crate) fn topic_not_found() -> Refusal {
    Error::new(Code::UnknownStream, "there is no such topic").into()
}

/// Refuses an unknown partition.
pub(crate) fn partition_not_found() -> Refusal {
    refused(StatusCode::NOT_FOUND, 40402, "Partition not found.")
}

/// Refuses an unknown path.
pub(crate) fn not_found() -> Refusal {
    Error::new(Code::NotFound, "there is nothing at this path").into()
}

/// Refuses a body that is not JSON, or does not have the required structure.
pub(crate) fn malformed(why: impl std::fmt::Display) -> Refusal {
    refused(StatusCode::BAD_REQUEST, 400, format!("Malformed request: {why}"))
}

/// Refuses an unknown member, or a member with an invalid value.
pub(crate) fn unprocessable(number: u32, message: impl Into<String>) -> Refusal {
    refused(StatusCode::UNPROCESSABLE_ENTITY, number, message)
}

/// Refuses an unknown member.
pub(crate) fn unrecognized(member: &str) -> Refusal {
    unprocessable(422, format!("Unrecognized field: {member}"))
}

/// Refuses a record that is not an event of the stream.
pub(crate) fn payload(reason: &str) -> Refusal {
    unprocessable(42206, format!("Payload error. {reason}"))
}

/// Refuses a request that the state of the consumer rules out.
pub(crate) fn illegal_state(why: impl std::fmt::Display) -> Refusal {
    refused(StatusCode::CONFLICT, 40903, format!("Illegal state: {why}"))
}

impl From<consumers::Refusal> for Refusal {
    fn from(refusal: consumers::Refusal) -> Self {
        match refusal {
            consumers::Refusal::TooMany => {
                let message =
                    format!("no more consumers are taken of the {CONSUMERS_MAX} that callers share; delete some");
                refused(StatusCode::TOO_MANY_REQUESTS, 42901, message)
            }
            consumers::Refusal::Exists => {
                let message = "Consumer with specified consumer ID already exists in the specified consumer group.";
                refused(StatusCode::CONFLICT, 40902, message)
            }
            consumers::Refusal::Unknown => refused(StatusCode::NOT_FOUND, 40403, "Consumer instance not found."),
        }
    }
}
