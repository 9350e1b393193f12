//! Refusals in Tinybird's format: `{"error"}`.

use http::{HeaderMap, HeaderValue};
use serde_json::json;

use super::Refusal;
use crate::{exit, redaction};

/// Writes the body, and returns its headers.
pub(super) fn write(refusal: &Refusal, out: &mut Vec<u8>) -> HeaderMap {
    let hint = redaction::hint(&refusal.error).map(|hint| format!("; {hint}")).unwrap_or_default();
    let body = json!({ "error": format!("{}{hint}", redaction::message(&refusal.error)) });
    out.extend_from_slice(body.to_string().as_bytes());
    exit::unstored_head(HeaderValue::from_static("application/json"))
}
