//! Refusals in Salver's own format: `{"code", "error", "message", "hint"}`.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderValue, StatusCode, header};
use salver_formats::json::write_string;
use salver_model::{Code, Error};

use super::Refusal;
use crate::{redaction, security_headers};

/// Returns the status of a code. 4xx is for the client to fix, 503 is worth a retry, 500 is an error of the server.
pub(crate) fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidName
        | Code::InvalidColumn
        | Code::InvalidSort
        | Code::InvalidFilter
        | Code::InvalidValue
        | Code::InvalidNumber
        | Code::InvalidRequest
        | Code::InvalidCursor
        | Code::InvalidSql
        | Code::InvalidGraphql
        | Code::InvalidBody
        | Code::UnknownFormat
        | Code::UnknownStore
        | Code::InvalidEvent
        | Code::Execution => StatusCode::BAD_REQUEST,
        Code::UnknownEntry
        | Code::UnknownStream
        | Code::NotFound
        | Code::UnknownTable
        | Code::UnknownColumn
        | Code::RecordNotFound
        | Code::NoPrimaryKey => StatusCode::NOT_FOUND,
        Code::ReadOnly
        | Code::Forbidden
        | Code::OriginForbidden
        | Code::HostForbidden
        | Code::Blocked
        | Code::XsrfToken
        | Code::PageForbidden => StatusCode::FORBIDDEN,
        Code::AuthenticationRequired | Code::AuthenticationFailed => StatusCode::UNAUTHORIZED,
        Code::Backlogged | Code::TooManyAttempts | Code::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        Code::MethodNotAllowed | Code::Unsupported => StatusCode::METHOD_NOT_ALLOWED,
        Code::TableExists
        | Code::ColumnExists
        | Code::DuplicateKey
        | Code::Integrity
        | Code::Raised
        | Code::UserExists
        | Code::TooManyAffected => StatusCode::CONFLICT,
        Code::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Code::ArgumentCount | Code::Invalid | Code::PasswordTooShort | Code::UsernameEmpty => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        Code::ExpiredCursor => StatusCode::GONE,
        Code::BodyTooLarge | Code::AnswerTooLarge | Code::QueryTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::EntryUnavailable
        | Code::OutOfMemory
        | Code::Timeout
        | Code::Overloaded
        | Code::DatabaseUnavailable
        | Code::Contention
        | Code::StreamUnavailable
        | Code::AuthenticationUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Source | Code::Config | Code::FunctionFailed | Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns whether an error should be reported to the operator: an internal error, or a file that can't be read
/// although it was loaded.
pub(crate) fn is_ours(error: &Error) -> bool {
    let is_damaged = error.code == Code::EntryUnavailable && std::error::Error::source(error).is_some();
    is_damaged || status(error.code) == StatusCode::INTERNAL_SERVER_ERROR
}

/// Writes the body, and returns its headers.
pub(super) fn write(refusal: &Refusal, status: StatusCode, out: &mut Vec<u8>) -> HeaderMap {
    let Refusal { error, members, .. } = refusal;
    out.extend_from_slice(b"{\"code\":");
    out.extend_from_slice(status.as_str().as_bytes());
    out.extend_from_slice(b",\"error\":");
    write_string(error.code.slug(), out);
    out.extend_from_slice(b",\"message\":");
    write_string(&redaction::message(error), out);
    if let Some(hint) = redaction::hint(error) {
        out.extend_from_slice(b",\"hint\":");
        write_string(&hint, out);
    }
    out.extend_from_slice(members);
    out.push(b'}');
    head()
}

/// Returns the headers of every body.
pub(super) fn head() -> HeaderMap {
    static HEAD: LazyLock<HeaderMap> = LazyLock::new(|| {
        let mut head = security_headers::head_of_data("application/json");
        head.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        head
    });
    HEAD.clone()
}
