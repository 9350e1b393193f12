//! Refusals in the media type of GraphQL over HTTP: `{"errors"}`.

use http::{HeaderMap, HeaderValue, header};

use super::{Refusal, salver};
use crate::graphql::unread;

/// The media type, as it is sent.
pub(crate) const MEDIA_TYPE: &str = "application/graphql-response+json; charset=utf-8";

/// Writes the body, and returns its headers.
pub(super) fn write(refusal: &Refusal, out: &mut Vec<u8>) -> HeaderMap {
    out.extend_from_slice(&unread(&refusal.error));
    let mut headers = salver::head();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    headers
}
