//! Parses a record of v3, and formats its report.

use bytes::Bytes;
use http::StatusCode;
use salver_formats::json::write_string;
use salver_model::spec::StreamSpec;
use salver_model::streams::{NewEvent, Placement};
use salver_text::base64;

use crate::dialect::{Refusal, confluent};
use crate::streams::{moment, raw};

/// The type of a key or value, and its size in bytes.
type Data = (&'static str, usize);

/// A record that can be appended.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) event: NewEvent,
    key: Option<Data>,
    value: Option<Data>,
}

impl Record {
    /// Parses a record. `is_entry` allows the `id` of an entry of a batch.
    pub(super) fn read(text: &Bytes, spec: &StreamSpec, is_entry: bool) -> Result<Self, Refusal> {
        let members = raw::is_json(text).then(|| raw::members(text)).flatten();
        let members = members.ok_or_else(|| confluent::malformed("a record is a JSON object"))?;
        let event = NewEvent { is_tombstone: true, ..NewEvent::default() };
        let mut record = Self { event, key: None, value: None };
        for (name, at) in members {
            let part = text.slice(at);
            match name.as_ref() {
                "id" if is_entry => {}
                "original_size" => {}
                _ if part == "null" => {}
                "partition_id" => {
                    let number = std::str::from_utf8(&part).ok().and_then(|text| text.parse().ok());
                    let wrong = || confluent::refused(StatusCode::NOT_FOUND, 40402, "Partition not found.");
                    record.event.partition = Some(number.ok_or_else(wrong)?);
                }
                "headers" => record.event.headers = headers(&part)?,
                "timestamp" => {
                    let time = raw::string(&part).and_then(|text| moment::rfc3339(&text));
                    let wrong = || confluent::malformed("`timestamp` is not a time as RFC 3339 has it");
                    record.event.time_ms = Some(time.ok_or_else(wrong)?);
                }
                "key" => (record.event.key, record.key) = data(&part)?,
                "value" => {
                    let (value, kind) = data(&part)?;
                    record.event.is_tombstone = value.is_none();
                    record.event.value = value.unwrap_or_default();
                    record.event.is_json = kind.is_some_and(|(kind, _)| kind == "JSON");
                    record.value = kind;
                }
                other => {
                    return Err(confluent::refused(
                        StatusCode::BAD_REQUEST,
                        400,
                        format!("Unrecognized field: {other}"),
                    ));
                }
            }
        }
        if record.event.time_ms.is_none() && spec.time.is_none() {
            // Set here, so that it can be reported.
            record.event.time_ms = Some(moment::now_ms());
        }
        Ok(record)
    }

    /// Writes the placement of the record, as members of an object.
    pub(super) fn write(&self, cluster: &str, topic: &str, place: Option<Placement>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"cluster_id\":");
        write_string(cluster, out);
        out.extend_from_slice(b",\"topic_name\":");
        write_string(topic, out);
        let (partition, offset) = confluent::numbers(place);
        let numbers = format!(",\"partition_id\":{partition},\"offset\":{offset}");
        out.extend_from_slice(numbers.as_bytes());
        if let Some(time_ms) = self.event.time_ms {
            out.extend_from_slice(b",\"timestamp\":");
            write_string(&moment::write(time_ms), out);
        }
        for (name, data) in [("key", self.key), ("value", self.value)] {
            if let Some((kind, size)) = data {
                let text = format!(",\"{name}\":{{\"type\":\"{kind}\",\"size\":{size}}}");
                out.extend_from_slice(text.as_bytes());
            }
        }
    }
}

/// Parses `{"type", "data"}` to the bytes, and their type and size for the report.
fn data(text: &Bytes) -> Result<(Option<Bytes>, Option<Data>), Refusal> {
    let members = raw::members(text).ok_or_else(|| confluent::malformed("a key or value is `{\"type\", \"data\"}`"))?;
    let (mut kind, mut data) = (None, None);
    for (name, at) in members {
        match name.as_ref() {
            "type" => kind = raw::string(&text[at]).map(|kind| kind.to_ascii_uppercase()),
            "data" => data = Some(text.slice(at)),
            "subject" | "subject_name_strategy" | "schema_id" | "schema_version" | "schema" => {
                return Err(confluent::unprocessable(
                    42205,
                    format!("Invalid schema: there is no registry for `{name}`"),
                ));
            }
            other => {
                return Err(confluent::refused(StatusCode::BAD_REQUEST, 400, format!("Unrecognized field: {other}")));
            }
        }
    }
    let data = data.filter(|data| data != "null");
    let string = |data: &Bytes| raw::string(data).map(|text| text.into_owned().into_bytes());
    let (kind, bytes) = match kind.as_deref() {
        Some("JSON") => ("JSON", data.map(Ok)),
        Some("STRING") => {
            let wrong = || confluent::payload("the data of type STRING is not a string");
            ("STRING", data.map(|data| string(&data).map(Bytes::from).ok_or_else(wrong)))
        }
        Some("BINARY") => {
            let wrong = || confluent::payload("the data of type BINARY is not a string in Base64");
            let decoded = |data: Bytes| string(&data).and_then(|text| base64::decode_loosely(&text)).map(Bytes::from);
            ("BINARY", data.map(|data| decoded(data).ok_or_else(wrong)))
        }
        Some(other @ ("AVRO" | "JSONSCHEMA" | "PROTOBUF")) => {
            return Err(confluent::unprocessable(
                42205,
                format!("Invalid schema: {other} needs a registry, and there is none"),
            ));
        }
        _ => return Err(confluent::malformed("`type` is BINARY, JSON or STRING")),
    };
    let bytes = bytes.transpose()?;
    let size = bytes.as_ref().map_or(0, Bytes::len);
    Ok((bytes, Some((kind, size))))
}

fn headers(text: &Bytes) -> Result<Vec<(String, Option<Bytes>)>, Refusal> {
    let wrong = || confluent::malformed("`headers` is a list of `{\"name\", \"value\"}`, each value in Base64");
    let mut headers = Vec::new();
    for at in raw::elements(text).ok_or_else(wrong)? {
        let item = text.slice(at);
        let (mut name, mut value) = (None, None);
        for (member, at) in raw::members(&item).ok_or_else(wrong)? {
            let part = &item[at];
            match member.as_ref() {
                "name" => name = raw::string(part).map(|name| name.into_owned()),
                "value" if part == b"null" => {}
                "value" => {
                    let text = raw::string(part).ok_or_else(wrong)?;
                    value = Some(base64::decode_loosely(text.as_bytes()).ok_or_else(wrong)?.into());
                }
                _ => return Err(wrong()),
            }
        }
        headers.push((name.ok_or_else(wrong)?, value));
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use salver_model::Name;
    use salver_model::spec::StreamSpec;
    use salver_model::streams::Placement;

    use super::Record;
    use crate::dialect::confluent;

    fn read(text: &'static str) -> Result<Record, u32> {
        let spec = StreamSpec::new(Name::new("s").unwrap(), "s".into());
        Record::read(&Bytes::from_static(text.as_bytes()), &spec, false).map_err(|refusal| confluent::number(&refusal))
    }

    #[test]
    fn a_record_and_its_report() {
        let text = r#"{"partition_id":1,"headers":[{"name":"h","value":"aGk="}],"key":{"type":"BINARY","data":"Zm9v"},
            "value":{"type":"JSON","data":{"a":1.0}},"timestamp":"2026-01-31T10:20:30Z"}"#;
        let record = read(text).unwrap();
        assert_eq!(record.event.partition, Some(1));
        assert_eq!(record.event.headers, [("h".to_owned(), Some(Bytes::from_static(b"hi")))]);
        assert_eq!((record.event.key.as_deref(), &record.event.value[..]), (Some(&b"foo"[..]), &b"{\"a\":1.0}"[..]));
        let mut out = Vec::new();
        record.write("c", "t", Some(Placement { partition: 1, offset: 7 }), &mut out);
        let report = "\"cluster_id\":\"c\",\"topic_name\":\"t\",\"partition_id\":1,\"offset\":7,\
                      \"timestamp\":\"2026-01-31T10:20:30.000Z\",\"key\":{\"type\":\"BINARY\",\"size\":3},\
                      \"value\":{\"type\":\"JSON\",\"size\":9}";
        assert_eq!(String::from_utf8(out).unwrap(), report);
    }

    #[test]
    fn null_is_a_tombstone() {
        for text in [
            r#"{"key":{"type":"STRING","data":"k"}}"#,
            r#"{"value":null}"#,
            r#"{"value":{"type":"JSON","data":null}}"#,
            r#"{"value":{"type":"BINARY","data":null}}"#,
            r#"{"value":{"type":"STRING","data":null}}"#,
        ] {
            let event = read(text).unwrap().event;
            assert!(event.is_tombstone && event.value.is_empty(), "{text}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, code) in [
            ("[]", 400),
            (r#"{"value":1}"#, 400),
            (r#"{"value":{"type":"XML","data":1}}"#, 400),
            (r#"{"value":{"type":"AVRO","data":1}}"#, 42205),
            (r#"{"value":{"type":"BINARY","data":"%"}}"#, 42206),
            (r#"{"value":{"type":"STRING","data":1}}"#, 42206),
            (r#"{"partition_id":-1}"#, 40402),
            (r#"{"headers":[{"value":"aGk="}]}"#, 400),
            (r#"{"valu":null,"vale":1}"#, 400),
        ] {
            assert_eq!(read(text).map(|_| ()), Err(code), "{text}");
        }
    }
}
