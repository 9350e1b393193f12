//! Converts the arguments of functions to JSON, and their results back to queries and bodies.

use std::borrow::Cow;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use salver_model::Result;
use salver_model::records::{Field, Record};

use crate::records::body;
use crate::records::json::Reader;
use crate::request_context::RequestContext;

/// Encodes a text as JSON.
pub(super) fn text_json(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    salver_formats::json::write_string(text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Converts a body, which is JSON or a form, to JSON; null when it is empty.
///
/// # Errors
/// `InvalidBody`.
pub(super) fn body_json(bytes: &[u8]) -> Result<Cow<'_, str>> {
    let text = std::str::from_utf8(bytes).map_err(|_| body::unreadable())?.trim();
    match text.as_bytes().first() {
        None => Ok(Cow::Borrowed("null")),
        Some(b'{' | b'[') => Reader::whole(text, Reader::skip).map(Cow::Borrowed).ok_or_else(body::unreadable),
        Some(_) => body::read(bytes, false).map(|read| Cow::Owned(written_body(&read))),
    }
}

/// Converts the parameters of a query string to an object with a list of values per name.
pub(super) fn query_json(pairs: &[(String, String)]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in pairs {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let member = |name: &&str| {
        let values: Vec<String> =
            pairs.iter().filter(|(own, _)| own == name).map(|(_, value)| text_json(value)).collect();
        format!("{}:[{}]", text_json(name), values.join(","))
    };
    format!("{{{}}}", names.iter().map(member).collect::<Vec<_>>().join(","))
}

/// Returns the attributes of the caller.
pub(super) fn caller_json(context: &RequestContext<'_>) -> String {
    let caller = context.caller;
    let mut members: Vec<String> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for (name, value) in &caller.attributes {
        // The first value wins, as in rules.
        if !names.contains(&name.as_str()) {
            names.push(name);
            members.push(format!("{}:{}", text_json(name), text_json(value)));
        }
    }
    if let Some(address) = caller.address.filter(|_| !names.contains(&"address")) {
        members.push(format!("\"address\":{}", text_json(&address.to_string())));
    }
    format!("{{{}}}", members.join(","))
}

/// Formats parameters as a query string.
pub(super) fn written_query(pairs: &[(String, String)]) -> String {
    let encoded = |text: &String| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pair = |(name, value): &(String, String)| format!("{}={}", encoded(name), encoded(value));
    let pairs: Vec<String> = pairs.iter().map(pair).collect();
    pairs.join("&")
}

/// Converts the records of a form or of XML to JSON.
pub(super) fn written_body(read: &body::Records) -> String {
    let records: Vec<String> = read.records.iter().map(record_json).collect();
    if read.batch { format!("[{}]", records.join(",")) } else { records.concat() }
}

fn record_json(record: &Record) -> String {
    let members: Vec<String> =
        record.iter().map(|(name, field)| format!("{}:{}", text_json(name), field_json(field))).collect();
    format!("{{{}}}", members.join(","))
}

/// Converts a field to JSON.
pub(super) fn field_json(field: &Field) -> String {
    match field {
        Field::Null | Field::Back { .. } => "null".to_owned(),
        Field::Bool(value) => value.to_string(),
        Field::Number(text) | Field::Json(text) => text.clone(),
        Field::Text(text) => text_json(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{body_json, query_json, written_query};

    #[test]
    fn there_and_back() {
        let pairs = [("filter", "a,eq,1 &"), ("size", "3"), ("filter", "b,is")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(query_json(&pairs), r#"{"filter":["a,eq,1 &","b,is"],"size":["3"]}"#);
        assert_eq!(written_query(&pairs), "filter=a%2Ceq%2C1%20%26&size=3&filter=b%2Cis");
        for (body, json) in
            [("", "null"), (" {\"n\": 1.50} ", "{\"n\": 1.50}"), ("a=1&b__is_null", "{\"a\":\"1\",\"b\":null}")]
        {
            assert_eq!(body_json(body.as_bytes()).unwrap(), json);
        }
        assert!(body_json(b"{").is_err());
    }
}
