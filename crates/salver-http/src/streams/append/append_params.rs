//! The parameters and headers of an append.

use bytes::Bytes;
use http::HeaderMap;
use salver_model::limits::{EVENT_KEY_BYTES_MAX, LIST_ITEMS_MAX};
use salver_model::spec::{Pick, StreamSpec};
use salver_model::streams::{Ack, Envelope};
use salver_model::{Code, Error, Result, suggest};
use salver_service::Appender;

use crate::request_context::RequestContext;
use crate::streams::moment;
use crate::streams::parameters::{boolean, number};

const PARAMETERS: [&str; 6] = ["ack", "results", "key", "id", "partition", "time"];
const HEADERS: [&str; 5] = ["salver-key", "salver-id", "salver-partition", "salver-time", "salver-header-..."];
/// Prefix of the headers of an event.
const HEADER_START: &str = "salver-header-";

/// Reads the parameters and headers that apply to the events.
pub(in crate::streams) fn read(context: &RequestContext<'_>, spec: &StreamSpec) -> Result<Envelope> {
    let mut envelope = envelope(context.headers, spec)?;
    if context.query.is_empty() {
        return Ok(envelope);
    }
    for (name, value) in context.parameters(&PARAMETERS)? {
        match name.as_str() {
            "ack" => envelope.ack = ack(&value)?,
            "results" => envelope.each = boolean(&name, &value)?,
            "key" => envelope.key = Some(short(&name, value.into())?),
            "id" => envelope.id = id(&name, value.into())?,
            "partition" => envelope.partition = Some(number(&name, &value)?),
            _ => envelope.time_ms = Some(moment::read(&value)?),
        }
    }
    Ok(envelope)
}

/// Refuses a partition that does not exist. Any partition is accepted while the broker does not return their number.
pub(in crate::streams) async fn prove_partition(stream: &Appender, envelope: &Envelope) -> Result<()> {
    let Some(partition) = envelope.partition else { return Ok(()) };
    match stream.partitions_if_known().await {
        Some(count) if partition >= count => {
            let name = &stream.spec().name;
            Err(Error::new(Code::InvalidValue, format!("`{name}` has no partition {partition}"))
                .with_hint(format!("it has {count}, counted from 0; without `partition` the key chooses")))
        }
        _ => Ok(()),
    }
}

fn ack(word: &str) -> Result<Ack> {
    Ack::named(word).ok_or_else(|| {
        let words = Ack::ALL.iter().map(|(word, _)| *word);
        Error::new(Code::InvalidRequest, format!("`ack` can't be `{word}`")).with_hint_if(suggest::hint(word, words))
    })
}

/// Reads the headers, and those that the stream picks its key, id and time from.
pub(in crate::streams) fn envelope(headers: &HeaderMap, spec: &StreamSpec) -> Result<Envelope> {
    let mut envelope = Envelope {
        key: picked(headers, spec.key.as_ref()).map(|key| short("key", key)).transpose()?,
        id: picked(headers, spec.id.as_ref()).map(|own| id("id", own)).transpose()?.flatten(),
        time_ms: picked(headers, spec.time.as_ref()).map(|time| moment::read(&text(&time))).transpose()?,
        ack: spec.ack,
        ..Envelope::default()
    };
    for (name, value) in headers {
        let Some(own) = name.as_str().strip_prefix("salver-") else { continue };
        let value = Bytes::copy_from_slice(value.as_bytes());
        match own {
            "key" => envelope.key = Some(short(name.as_str(), value)?),
            "id" => envelope.id = id(name.as_str(), value)?,
            "partition" => envelope.partition = Some(number(name.as_str(), &text(&value))?),
            "time" => envelope.time_ms = Some(moment::read(&text(&value))?),
            _ => match name.as_str().strip_prefix(HEADER_START).filter(|rest| !rest.is_empty()) {
                Some(rest) if envelope.headers.len() < LIST_ITEMS_MAX => {
                    envelope.headers.push((rest.to_owned(), value));
                }
                Some(_) => {
                    let message = format!("an event has more than {LIST_ITEMS_MAX} headers");
                    return Err(Error::new(Code::InvalidRequest, message));
                }
                None => {
                    return Err(Error::new(Code::InvalidRequest, format!("unknown header `{name}`"))
                        .with_hint_if(suggest::hint(name.as_str(), HEADERS)));
                }
            },
        }
    }
    Ok(envelope)
}

fn picked(headers: &HeaderMap, pick: Option<&Pick>) -> Option<Bytes> {
    let Some(Pick::Header(name)) = pick else { return None };
    headers.get(name.as_str()).map(|value| Bytes::copy_from_slice(value.as_bytes()))
}

fn text(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads an id. An empty one identifies nothing.
fn id(name: &str, value: Bytes) -> Result<Option<Bytes>> {
    Ok(Some(short(name, value)?).filter(|id| !id.is_empty()))
}

fn short(name: &str, value: Bytes) -> Result<Bytes> {
    if value.len() <= EVENT_KEY_BYTES_MAX {
        return Ok(value);
    }
    let message = format!("`{name}` has {} bytes, {EVENT_KEY_BYTES_MAX} are allowed", value.len());
    Err(Error::new(Code::InvalidValue, message))
}
