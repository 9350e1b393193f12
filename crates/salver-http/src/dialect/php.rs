//! Refusals in PHP-CRUD-API's format: `{"code", "message", "details"}`, as JSON or XML. Errors of Salver's own grammar
//! are written as elsewhere in Salver, with a hint.

mod json;
mod xml;

use std::borrow::Cow;
use std::sync::LazyLock;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use salver_model::limits::EXCEPTION_MESSAGE_BYTES_MAX;
use salver_model::{Code, Error};
use salver_text::json::write_php_string;

pub(crate) use self::json::as_php;
pub(crate) use self::xml::XmlWriter;
use super::{Refusal, salver};
use crate::{redaction, security_headers, treeql};

/// The media type of everything that is not XML.
pub(crate) const JSON: &str = "application/json; charset=utf-8";
/// The media type of XML.
pub(crate) const XML: HeaderValue = HeaderValue::from_static("text/xml; charset=utf-8");
/// Number of a write that is not an AJAX request, which has the code of another error.
const AJAX_ONLY: u16 = 1018;
/// The header with the database's message, as in PHP-CRUD-API, whose message in the body is always the same.
const TOLD: HeaderName = HeaderName::from_static("x-exception-message");

/// Returns the status of an error.
pub(crate) fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidBody | Code::ArgumentCount | Code::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        // A value that does not fit is the client's error; other failures of execution are not.
        Code::Execution => StatusCode::INTERNAL_SERVER_ERROR,
        Code::MethodNotAllowed => StatusCode::NOT_FOUND,
        // Clients of PHP-CRUD-API use this to tell wrong credentials from missing ones.
        Code::AuthenticationFailed => StatusCode::FORBIDDEN,
        _ => salver::status(code),
    }
}

/// Returns the number of an error.
fn number(error: &Error) -> u16 {
    let is_ajax_only = error.code == Code::Forbidden && error.message.starts_with("Only AJAX");
    if is_ajax_only { AJAX_ONLY } else { treeql::number(error.code) }
}

/// Returns the message of an error: that of PHP-CRUD-API if it has a fixed one, else the error's own.
fn message(error: &Error) -> Cow<'_, str> {
    let message = if number(error) == AJAX_ONLY { error.message.as_str().into() } else { treeql::message(error) };
    if message == error.message { redaction::message(error) } else { message }
}

/// Writes the body, and returns its headers.
pub(super) fn write(refusal: &Refusal, status: StatusCode, xml: bool, out: &mut Vec<u8>) -> HeaderMap {
    let mut headers =
        if is_own(refusal.error.code) { salver::write(refusal, status, out) } else { write_own(&refusal.error, out) };
    if xml && let Ok(text) = XmlWriter::whole(out) {
        *out = text;
        headers.insert(header::CONTENT_TYPE, XML);
    }
    headers
}

/// Writes an error that PHP-CRUD-API has.
fn write_own(error: &Error, out: &mut Vec<u8>) -> HeaderMap {
    static HEAD: LazyLock<HeaderMap> = LazyLock::new(|| security_headers::head_of_data(JSON));
    out.push(b'{');
    write_members(error, out);
    write_details(error, out);
    out.push(b'}');
    let mut headers = HEAD.clone();
    tell([error], &mut headers);
    headers
}

/// Writes the parts of a batch that was rolled back as an array: the error of each, or success. PHP-CRUD-API has no
/// hints.
pub(crate) fn write_parts(parts: &[Option<Error>], hints: bool, out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, part) in parts.iter().enumerate() {
        out.extend_from_slice(if index > 0 { b",{" } else { b"{" });
        match part {
            None => out.extend_from_slice(format!("\"code\":{},\"message\":\"Success\"", treeql::SUCCESS).as_bytes()),
            Some(error) => {
                write_members(error, out);
                write_details(error, out);
                if hints {
                    write_hint(error, out);
                }
            }
        }
        out.push(b'}');
    }
    out.push(b']');
}

/// Writes the number and the message of `error`, as the first members of an object.
pub(crate) fn write_members(error: &Error, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\"code\":{},\"message\":", number(error)).as_bytes());
    write_php_string(&message(error), out);
}

/// Writes the hint of `error`, if it has one.
pub(crate) fn write_hint(error: &Error, out: &mut Vec<u8>) {
    if let Some(hint) = redaction::hint(error) {
        out.extend_from_slice(b",\"hint\":");
        write_php_string(&hint, out);
    }
}

/// Writes the errors of columns, if they are known.
pub(crate) fn write_details(error: &Error, out: &mut Vec<u8>) {
    if !error.details.is_empty() {
        out.extend_from_slice(b",\"details\":{");
        for (index, (column, message)) in error.details.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_php_string(column, out);
            out.push(b':');
            write_php_string(message, out);
        }
        out.push(b'}');
    }
}

/// Sets the header with the database's message about the first error that has one, as far as a header value allows.
pub(crate) fn tell<'e>(errors: impl IntoIterator<Item = &'e Error>, headers: &mut HeaderMap) {
    let told = |error: &'e Error| match error.code {
        Code::DuplicateKey | Code::Integrity | Code::Invalid => redaction::hint(error),
        Code::Raised => Some(redaction::message(error)),
        _ => None,
    };
    let Some(told) = errors.into_iter().find_map(told) else { return };
    let words: Vec<&str> = told.split(|c: char| c.is_control() || c == ' ').filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    let end = line.floor_char_boundary(EXCEPTION_MESSAGE_BYTES_MAX);
    if let Ok(value) = HeaderValue::from_bytes(&line.as_bytes()[..end]) {
        headers.insert(TOLD, value);
    }
}

/// Returns whether the error has no counterpart in PHP-CRUD-API.
fn is_own(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidColumn
            | Code::InvalidSort
            | Code::InvalidFilter
            | Code::InvalidValue
            | Code::InvalidNumber
            | Code::InvalidRequest
            | Code::InvalidCursor
            | Code::ExpiredCursor
            | Code::PreconditionFailed
            | Code::TooManyAffected
            | Code::BodyTooLarge
            | Code::AnswerTooLarge
            | Code::UnknownFormat
            | Code::TooManyAttempts
            | Code::TooManyRequests
            | Code::HostForbidden
    )
}

/// Returns whether the query string requests XML.
pub(crate) fn wants_xml(query: &str) -> bool {
    query.contains("format") && query.split('&').any(|pair| pair == "format=xml")
}
