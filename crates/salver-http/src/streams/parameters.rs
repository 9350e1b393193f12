//! The parameters of requests for streams.

use http::header;
use salver_model::{Code, Error, Result};

use crate::request_context::{RequestContext, parameters};

impl RequestContext<'_> {
    /// Returns the body's media type without its parameters, in lower case; `None` when it is missing.
    pub(super) fn media_type(&self) -> Option<String> {
        let given = self.headers.get(header::CONTENT_TYPE)?.to_str().unwrap_or("?");
        Some(given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    /// Returns the parameters, which must be among `known`.
    ///
    /// # Errors
    /// `InvalidRequest` for any other, with the nearest known name as hint.
    pub(super) fn parameters(&self, known: &[&str]) -> Result<Vec<(String, String)>> {
        let parameters = parameters(self.query)?;
        match parameters.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => Err(unknown(name, known)),
            None => Ok(parameters),
        }
    }
}

/// The error for an unknown parameter.
pub(super) fn unknown(name: &str, known: &[&str]) -> Error {
    Error::new(Code::InvalidRequest, format!("unknown parameter `{name}`"))
        .with_hint_if(salver_model::suggest::hint(name, known.iter().copied()))
}

/// Returns the last value of the parameter `name`.
pub(super) fn value<'p>(parameters: &'p [(String, String)], name: &str) -> Option<&'p str> {
    parameters.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

/// Parses an unsigned integer.
///
/// # Errors
/// `InvalidNumber`.
pub(super) fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| {
        Error::new(Code::InvalidNumber, format!("`{name}` is not a whole number from 0: `{text}`"))
            .with_hint(format!("write it like `{name}=10`"))
    })
}

/// Parses true or false.
///
/// # Errors
/// `InvalidRequest`.
pub(super) fn boolean(name: &str, text: &str) -> Result<bool> {
    match text {
        "" | "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(Error::new(Code::InvalidRequest, format!("`{name}` is true or false, not `{text}`"))
            .with_hint(format!("write `{name}=true`"))),
    }
}
