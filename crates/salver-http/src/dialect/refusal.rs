//! A refused request, as a door hands it on.

use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use salver_model::{Code, Error};

use super::Dialect;

/// A refused request.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The error.
    pub(crate) error: Box<Error>,
    /// Status of the response; `None` for that of the error's code.
    pub(crate) status: Option<StatusCode>,
    /// Number of a refusal that only the other system has, in whose words the message is. The code means nothing then.
    pub(crate) number: Option<u32>,
    /// Further members of the body, as JSON text that begins with a comma. Only Salver's own protocol has them.
    pub(crate) members: Vec<u8>,
    /// Further headers of the response.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Protocol, if it is not that of the route.
    pub(crate) dialect: Option<Dialect>,
}

impl Refusal {
    /// Creates a refusal that only another system has.
    pub(super) fn numbered(status: StatusCode, number: u32, message: impl Into<String>) -> Self {
        let refusal = Self::from(Error::new(Code::InvalidRequest, message));
        Self { status: Some(status), number: Some(number), ..refusal }
    }

    /// Creates the refusal of a method at a path that has only `methods`, formatted for `Allow`.
    pub(crate) fn of_method(method: &Method, methods: &str) -> Self {
        let error = Error::new(Code::MethodNotAllowed, format!("{method} is not answered here"));
        Self::from(error.with_hint(format!("use {methods}"))).with_header(header::ALLOW, methods)
    }

    /// Sets the status.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status: Some(status), ..self }
    }

    /// Sets the further members of the body.
    pub(crate) fn with_members(self, members: Vec<u8>) -> Self {
        Self { members, ..self }
    }

    /// Adds a header, unless its value is invalid.
    pub(crate) fn with_header(mut self, name: HeaderName, value: impl TryInto<HeaderValue>) -> Self {
        self.headers.extend(value.try_into().ok().map(|value| (name, value)));
        self
    }

    /// Sets the protocol.
    pub(crate) fn in_dialect(self, dialect: Dialect) -> Self {
        Self { dialect: Some(dialect), ..self }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let (members, headers) = (Vec::new(), Vec::new());
        Self { error: Box::new(error), status: None, number: None, members, headers, dialect: None }
    }
}
