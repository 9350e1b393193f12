//! `POST /topics/{topic}` and `POST /topics/{topic}/partitions/{partition}`: `{"records": [{"key", "value",
//! "partition"}, ...]}`. Keys and values are passed on byte for byte.

use bytes::Bytes;
use http::{Response, StatusCode, header};
use salver_formats::json::write_string;
use salver_model::limits::APPEND_RESULTS_MAX;
use salver_model::streams::{NewEvent, Placement};
use salver_text::base64;

use super::append::append;
use super::{appender, metadata, producible};
use crate::body::Body;
use crate::consumers::Embedded;
use crate::dialect::Refusal;
use crate::dialect::confluent::{self, JSON, V2};
use crate::exit;
use crate::receive;
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::streams::raw;

/// Handles a produce request.
pub(super) async fn answer(
    context: &RequestContext<'_>,
    name: &str,
    partition: Option<&str>,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let embedded = Embedded::named(context.media_type().as_deref().unwrap_or("nothing"))?;
    let media_type = acceptable(context)?;
    let stream = appender(context, name)?;
    let partition = match partition {
        Some(text) => Some(metadata::known(producible(context, name)?, text).await?),
        None => None,
    };
    let body = receive::read_body(context.app, context.headers, body).await?;
    let events = read(&body, embedded, partition)?;
    let places = append(stream, &events).await?;
    Ok(exit::unstored(StatusCode::OK, media_type, Body::Full(written(&places).into())))
}

/// Negotiates the media type of the response.
fn acceptable(context: &RequestContext<'_>) -> Result<http::HeaderValue, Refusal> {
    let mut lines = context.headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok()).peekable();
    if lines.peek().is_none() {
        return Ok(V2);
    }
    let mut takes_json = false;
    for kind in lines.flat_map(|line| line.split(',')) {
        match kind.split(';').next().unwrap_or_default().trim() {
            "application/json" => takes_json = true,
            "*/*" | "application/*" | "application/vnd.kafka.v2+json" | "application/vnd.kafka+json" => return Ok(V2),
            _ => {}
        }
    }
    if takes_json {
        return Ok(JSON);
    }
    Err(confluent::refused(StatusCode::NOT_ACCEPTABLE, 406, "HTTP 406 Not Acceptable"))
}

/// Parses the records of a request.
fn read(body: &Bytes, embedded: Embedded, partition: Option<u32>) -> Result<Vec<NewEvent>, Refusal> {
    if !raw::is_json(body) {
        return Err(confluent::malformed("the body is not JSON"));
    }
    let members = raw::members(body).ok_or_else(|| confluent::malformed("the body is not an object"))?;
    let mut records = None;
    for (name, at) in members {
        match name.as_ref() {
            "records" => records = Some(at),
            "key_schema" | "key_schema_id" | "value_schema" | "value_schema_id" if &body[at.clone()] == b"null" => {}
            "key_schema" | "key_schema_id" | "value_schema" | "value_schema_id" => {
                return Err(confluent::unprocessable(
                    42205,
                    format!("Invalid schema: `{name}` is for avro and the like"),
                ));
            }
            other => return Err(confluent::unrecognized(other)),
        }
    }
    let list = body.slice(records.ok_or_else(|| confluent::unprocessable(422, "records may not be empty"))?);
    let elements = raw::elements(&list).ok_or_else(|| confluent::malformed("`records` is not an array"))?;
    if elements.is_empty() {
        return Err(confluent::unprocessable(422, "records may not be empty"));
    }
    if elements.len() > APPEND_RESULTS_MAX {
        return Err(confluent::unprocessable(422, format!("there may be at most {APPEND_RESULTS_MAX} records")));
    }
    elements.into_iter().map(|at| record(&list.slice(at), embedded, partition)).collect()
}

fn record(text: &Bytes, embedded: Embedded, partition: Option<u32>) -> Result<NewEvent, Refusal> {
    let members = raw::members(text).ok_or_else(|| confluent::malformed("a record is not an object"))?;
    let is_json = embedded == Embedded::Json;
    let mut event = NewEvent { partition, is_tombstone: true, is_json, ..NewEvent::default() };
    for (name, at) in members {
        let value = text.slice(at);
        match name.as_ref() {
            "key" => event.key = data(&value, embedded)?,
            "value" => {
                let data = data(&value, embedded)?;
                event.is_tombstone = data.is_none();
                event.value = data.unwrap_or_default();
            }
            "partition" if value == "null" => {}
            "partition" => {
                let number = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
                event.partition =
                    Some(number.ok_or_else(|| {
                        confluent::unprocessable(422, "partition must be greater than or equal to 0")
                    })?);
            }
            other => return Err(confluent::unrecognized(other)),
        }
    }
    Ok(event)
}

/// Decodes a key or value; `None` for null.
fn data(text: &Bytes, embedded: Embedded) -> Result<Option<Bytes>, Refusal> {
    match embedded {
        _ if text == "null" => Ok(None),
        Embedded::Json => Ok(Some(text.clone())),
        Embedded::Binary => {
            let decoded = raw::string(text).and_then(|text| base64::decode_loosely(text.as_bytes()));
            decoded.map(|bytes| Some(bytes.into())).ok_or_else(|| confluent::payload("it is not a string in Base64"))
        }
    }
}

fn written(places: &[Result<Option<Placement>, Refusal>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + 72 * places.len());
    out.extend_from_slice(b"{\"offsets\":[");
    for (index, place) in places.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        match place {
            Ok(place) => {
                let (partition, offset) = confluent::numbers(*place);
                let text =
                    format!("{{\"partition\":{partition},\"offset\":{offset},\"error_code\":null,\"error\":null}}");
                out.extend_from_slice(text.as_bytes());
            }
            Err(refusal) => {
                let number = confluent::number(refusal);
                let head = format!("{{\"partition\":null,\"offset\":null,\"error_code\":{number},\"error\":");
                out.extend_from_slice(head.as_bytes());
                write_string(&confluent::message(refusal), &mut out);
                out.push(b'}');
            }
        }
    }
    out.extend_from_slice(b"],\"key_schema_id\":null,\"value_schema_id\":null}");
    out
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::read;
    use crate::consumers::Embedded;
    use crate::dialect::confluent;

    /// Key, value and partition.
    type Told = (Option<Bytes>, Bytes, Option<u32>);

    fn of(text: &str, embedded: Embedded) -> Result<Vec<Told>, u32> {
        let events = read(&Bytes::copy_from_slice(text.as_bytes()), embedded, None)
            .map_err(|refusal| confluent::number(&refusal))?;
        Ok(events.into_iter().map(|event| (event.key, event.value, event.partition)).collect())
    }

    #[test]
    fn records() {
        let json =
            r#"{"records":[{"key":"k","value":{"a":1.0}},{"value":{"b":12345678901234567890123},"partition":2}]}"#;
        let bytes = |text: &'static str| Bytes::from_static(text.as_bytes());
        let expected = vec![
            (Some(bytes("\"k\"")), bytes("{\"a\":1.0}"), None),
            (None, bytes("{\"b\":12345678901234567890123}"), Some(2)),
        ];
        assert_eq!(of(json, Embedded::Json), Ok(expected));
        let binary = r#"{"records":[{"key":"Zm9v","value":"e30="}],"key_schema":null}"#;
        assert_eq!(of(binary, Embedded::Binary), Ok(vec![(Some(bytes("foo")), bytes("{}"), None)]));
    }

    #[test]
    fn what_is_refused() {
        for (text, code) in [
            ("{", 400),
            ("[]", 400),
            ("{}", 422),
            (r#"{"records":[]}"#, 422),
            (r#"{"records":{}}"#, 400),
            (r#"{"records":[1]}"#, 400),
            (r#"{"record":[]}"#, 422),
            (r#"{"records":[{"value":1,"header":1}]}"#, 422),
            (r#"{"records":[{"value":1,"partition":-1}]}"#, 422),
            (r#"{"records":[{"value":1}],"value_schema":"x"}"#, 42205),
        ] {
            assert_eq!(of(text, Embedded::Json), Err(code), "{text}");
        }
        assert_eq!(of(r#"{"records":[{"value":"%"}]}"#, Embedded::Binary), Err(42206));
        assert_eq!(of(r#"{"records":[{"value":"e30="},{"value":"%"}]}"#, Embedded::Binary), Err(42206));
    }

    #[test]
    fn null_is_a_tombstone() {
        for (text, embedded) in [
            (r#"{"records":[{"key":"k","value":null}]}"#, Embedded::Json),
            (r#"{"records":[{"key":"k"}]}"#, Embedded::Json),
            (r#"{"records":[{"key":"aw==","value":null}]}"#, Embedded::Binary),
        ] {
            let events = read(&Bytes::from_static(text.as_bytes()), embedded, None).expect("records");
            assert!(events[0].is_tombstone && events[0].value.is_empty(), "{text}");
        }
    }
}
