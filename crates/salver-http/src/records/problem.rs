//! Formats errors as PHP-CRUD-API does; errors of Salver's own grammar as elsewhere in Salver, with a hint.

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use salver_model::limits::EXCEPTION_MESSAGE_BYTES_MAX;
use salver_model::records::{treeql_code, treeql_message};
use salver_model::{Code, Error};
use salver_text::json::write_php_string;

use super::head::head;
use crate::body::Body;
use crate::exit;
use crate::gate::Gate;
use crate::{problem, veil};

/// The header with the database's message, as in PHP-CRUD-API, whose message in the body is always the same.
const TOLD: HeaderName = HeaderName::from_static("x-exception-message");

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
            | Code::HostForbidden
    )
}

/// Returns the status of an error.
pub(super) fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidBody | Code::ArgumentCount | Code::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        // A value that does not fit is the client's error; other failures of execution are not.
        Code::Execution => StatusCode::INTERNAL_SERVER_ERROR,
        Code::MethodNotAllowed => StatusCode::NOT_FOUND,
        // Clients of PHP-CRUD-API use this to tell wrong credentials from missing ones.
        Code::AuthenticationFailed => StatusCode::FORBIDDEN,
        _ => problem::status(code),
    }
}

/// Returns PHP-CRUD-API's number of an error.
fn number(error: &Error) -> u16 {
    if Gate::wants_script(error) { 1018 } else { treeql_code(error.code) }
}

/// Returns the response for `error`.
pub(super) fn respond(error: &Error) -> Response<Body> {
    let status = status(error.code);
    if is_own(error.code) {
        return problem::respond(error, status);
    }
    let mut body = Vec::with_capacity(96);
    write(error, &mut body);
    let mut response = exit::reply(status, Body::Full(body.into()));
    let headers = response.headers_mut();
    *headers = head(None);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    let told = match error.code {
        Code::DuplicateKey | Code::Integrity | Code::Invalid => veil::hint(error),
        Code::Raised => Some(veil::message(error)),
        _ => None,
    };
    if let Some(told) = told {
        tell(&told, headers);
    }
    response
}

/// Sets the header with the database's message, as far as a header value allows.
pub(super) fn tell(told: &str, headers: &mut HeaderMap) {
    let words: Vec<&str> = told.split(|c: char| c.is_control() || c == ' ').filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    let end = line.floor_char_boundary(EXCEPTION_MESSAGE_BYTES_MAX);
    if let Ok(value) = HeaderValue::from_bytes(&line.as_bytes()[..end]) {
        headers.insert(TOLD, value);
    }
}

/// Writes `error` as an object.
pub(super) fn write(error: &Error, out: &mut Vec<u8>) {
    out.push(b'{');
    write_members(error, out);
    write_details(error, out);
    out.push(b'}');
}

/// Writes the number and the message of `error`, as the first members of an object.
pub(super) fn write_members(error: &Error, out: &mut Vec<u8>) {
    let number = number(error);
    out.extend_from_slice(format!("\"code\":{number},\"message\":").as_bytes());
    let message = if number == 1018 { error.message.as_str().into() } else { treeql_message(error) };
    let message = if message == error.message { veil::message(error) } else { message };
    write_php_string(&message, out);
}

/// Writes the hint of `error`, if it has one.
pub(super) fn write_hint(error: &Error, out: &mut Vec<u8>) {
    if let Some(hint) = veil::hint(error) {
        out.extend_from_slice(b",\"hint\":");
        write_php_string(&hint, out);
    }
}

/// Writes the errors of columns, if they are known.
pub(super) fn write_details(error: &Error, out: &mut Vec<u8>) {
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
