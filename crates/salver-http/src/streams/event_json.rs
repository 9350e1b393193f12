//! Writes events as JSON: `{"offset","time","id","key","headers","value"}`.
//!
//! `value` is the event's unchanged text. Keys, header values, and events that are not JSON are written as strings, or
//! as `{"base64": "..."}` when they are not UTF-8.

use salver_formats::json::write_string;
use salver_model::streams::Event;
use salver_text::base64;

use super::{moment, raw};

/// Writes `event`.
pub(super) fn write(event: &Event, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"offset\":");
    out.extend_from_slice(itoa::Buffer::new().format(event.offset).as_bytes());
    out.extend_from_slice(b",\"time\":");
    write_string(&moment::write(event.time_ms), out);
    out.extend_from_slice(b",\"id\":");
    write_string(&event.id, out);
    out.extend_from_slice(b",\"key\":");
    write_value(event.key.as_deref(), out);
    out.extend_from_slice(b",\"headers\":");
    write_headers(event, out);
    out.extend_from_slice(b",\"value\":");
    if event.is_tombstone {
        out.extend_from_slice(b"null");
    } else if raw::is_json(&event.value) {
        out.extend_from_slice(&event.value);
    } else {
        write_bytes(&event.value, out);
    }
    out.push(b'}');
}

/// Writes headers as an object; a repeated header has a list of values.
fn write_headers(event: &Event, out: &mut Vec<u8>) {
    out.push(b'{');
    let mut is_first = true;
    for (index, (name, value)) in event.headers.iter().enumerate() {
        if event.headers[..index].iter().any(|(earlier, _)| earlier == name) {
            continue;
        }
        if !std::mem::replace(&mut is_first, false) {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        let mut others = event.headers[index + 1..].iter().filter(|(other, _)| other == name).peekable();
        if others.peek().is_none() {
            write_value(value.as_deref(), out);
            continue;
        }
        out.push(b'[');
        write_value(value.as_deref(), out);
        for (_, other) in others {
            out.push(b',');
            write_value(other.as_deref(), out);
        }
        out.push(b']');
    }
    out.push(b'}');
}

fn write_value(value: Option<&[u8]>, out: &mut Vec<u8>) {
    match value {
        Some(value) => write_bytes(value, out),
        None => out.extend_from_slice(b"null"),
    }
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => write_string(text, out),
        Err(_) => {
            out.extend_from_slice(b"{\"base64\":\"");
            base64::encode(bytes, out);
            out.extend_from_slice(b"\"}");
        }
    }
}

/// Replaces line breaks between JSON tokens with spaces, for line-based formats.
pub(super) fn on_one_line(out: &mut [u8]) {
    for byte in out.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use salver_model::streams::Event;

    use super::write;

    #[test]
    fn text_bytes_and_repeats() {
        let header = |name: &str, value: &'static [u8]| (name.to_owned(), Some(Bytes::from_static(value)));
        let event = Event {
            offset: 7,
            time_ms: 0,
            id: "i".into(),
            key: Some(Bytes::from_static(b"\xff")),
            partition: None,
            headers: vec![header("a", b"1"), header("b", b"2"), header("a", b"3"), ("n".to_owned(), None)],
            value: Bytes::from_static(b"{ \"x\":1.0}"),
            is_tombstone: false,
        };
        let mut out = Vec::new();
        write(&event, &mut out);
        let text = "{\"offset\":7,\"time\":\"1970-01-01T00:00:00.000Z\",\"id\":\"i\",\"key\":{\"base64\":\"/w==\"},\
                    \"headers\":{\"a\":[\"1\",\"3\"],\"b\":\"2\",\"n\":null},\"value\":{ \"x\":1.0}}";
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }
}
