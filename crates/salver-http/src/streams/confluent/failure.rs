//! Errors in the REST Proxy's format: `{"error_code", "message"}`.

use http::{HeaderValue, Response, StatusCode, header};
use salver_formats::json::write_string;
use salver_model::{Code, Error};

use super::{JSON, V2};
use crate::body::Body;
use crate::problem;
use crate::routes::Family;
use crate::streams::respond;
use crate::veil;

/// An error with the number that clients know.
#[derive(Debug)]
pub(in crate::streams) struct Failure {
    pub(super) status: StatusCode,
    pub(super) code: u32,
    pub(super) message: String,
    /// The cause, for the log.
    pub(super) error: Option<Box<Error>>,
}

impl Failure {
    pub(super) fn new(status: StatusCode, code: u32, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), error: None }
    }

    pub(super) fn topic_not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, 40401, "Topic not found.")
    }

    pub(super) fn partition_not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, 40402, "Partition not found.")
    }

    pub(super) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, 404, "HTTP 404 Not Found")
    }

    pub(super) fn method_not_allowed() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, 405, "HTTP 405 Method Not Allowed")
    }

    /// The body is not JSON, or does not have the required structure.
    pub(super) fn malformed(why: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, 400, format!("Malformed request: {why}"))
    }

    /// An unknown member, or a member with an invalid value.
    pub(super) fn unprocessable(code: u32, message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    pub(super) fn unrecognized(member: &str) -> Self {
        Self::unprocessable(422, format!("Unrecognized field: {member}"))
    }

    pub(super) fn payload(reason: &str) -> Self {
        Self::unprocessable(42206, format!("Payload error. {reason}"))
    }

    pub(super) fn illegal_state(why: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::CONFLICT, 40903, format!("Illegal state: {why}"))
    }

    /// Writes the error as an object, after `head`, which begins it.
    pub(super) fn write(&self, head: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(head);
        out.extend_from_slice(b"\"error_code\":");
        out.extend_from_slice(itoa::Buffer::new().format(self.code).as_bytes());
        out.extend_from_slice(b",\"message\":");
        write_string(&self.message, out);
        out.push(b'}');
    }

    /// Converts the error to a response.
    pub(in crate::streams) fn respond(&self, family: Family) -> Response<Body> {
        let mut body = Vec::with_capacity(96);
        self.write(b"{", &mut body);
        let media_type = if family == Family::ConfluentV3 { JSON } else { V2 };
        let mut response = respond::whole(self.status, media_type, Body::Full(body.into()));
        if matches!(self.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }

    fn of(error: &Error) -> Self {
        let status = problem::status(error.code);
        let hint = veil::hint(error).map(|hint| format!("; {hint}")).unwrap_or_default();
        let message = format!("{}{hint}", veil::message(error));
        match error.code {
            Code::UnknownStream => Self::topic_not_found(),
            Code::NotFound => Self::not_found(),
            Code::MethodNotAllowed => Self::method_not_allowed(),
            _ => {
                let code = match status.as_u16() {
                    401 => 40101,
                    403 => 40301,
                    429 => 42901,
                    500 => 50002,
                    503 => 50302,
                    other => u32::from(other),
                };
                Self::new(status, code, message)
            }
        }
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self::of(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let told = Self::of(&error);
        Self { error: Some(Box::new(error)), ..told }
    }
}
