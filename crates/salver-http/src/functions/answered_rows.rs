//! Bounds the rows that a function answers with: objects in an array of JSON, or those of an Arrow stream.
//!
//! As with the bytes of answers, what may be the only report of a change is sent: only answers to reads, and of
//! functions that are pure, are bounded, also where a job makes them. What applications answer is their own.

use http::{Method, Response, header};
use salver_formats::arrow_stream_rows;
use salver_model::access::Bound;
use salver_model::functions::Endpoint;
use salver_model::{Code, Error};
use salver_text::json::Reader;

use crate::body::Body;
use crate::request_context::RequestContext;

const JSON: &str = "application/json";
const ARROW_STREAM: &str = "application/vnd.apache.arrow.stream";

/// The bound on the rows of an answer; `None` where there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowBound(Option<Bound>);

impl RowBound {
    /// Returns that of the answer of a function to a request.
    pub(super) fn of(context: &RequestContext<'_>, endpoint: &Endpoint) -> Self {
        let is_read = endpoint.pure || matches!(*context.method, Method::GET | Method::HEAD);
        Self(is_read.then(|| context.caller.limits.rows(context.app.service.limits().rows_max)))
    }

    /// Returns that of the answer of an application.
    pub(super) const NONE: Self = Self(None);

    /// Returns an error instead of a response with more rows than its caller may get.
    ///
    /// # Errors
    /// `AnswerTooLarge`.
    pub(super) fn check(self, response: Response<Body>) -> Result<Response<Body>, Error> {
        let Some((bound, most)) = self.0.and_then(|bound| Some((bound, bound.most()?))) else { return Ok(response) };
        let Body::Full(body) = response.body() else { return Ok(response) };
        let rows = match response.headers().get(header::CONTENT_TYPE).and_then(|own| own.to_str().ok()) {
            Some(media_type) if is(media_type, JSON) => json_rows(body, most),
            Some(media_type) if is(media_type, ARROW_STREAM) => arrow_stream_rows(body),
            _ => 0,
        };
        if !bound.is_exceeded_by(rows) {
            return Ok(response);
        }
        let message = format!("the function answers more rows than {} allows", bound.setting());
        Err(bound.refuse(Code::AnswerTooLarge, message).with_hint("ask it for fewer, if it takes an argument for that"))
    }
}

fn is(media_type: &str, wanted: &str) -> bool {
    media_type.split(';').next().is_some_and(|own| own.trim().eq_ignore_ascii_case(wanted))
}

/// Returns the number of objects in the array that the text is, up to one more than `most`; 0 if it is another value.
fn json_rows(text: &[u8], most: u64) -> u64 {
    let mut reader = Reader::new(text);
    if reader.peek() != Some(b'[') {
        return 0;
    }
    reader.enter();
    let (mut is_first, mut rows) = (true, 0);
    while rows <= most && reader.element(&mut is_first) {
        rows += u64::from(reader.peek() == Some(b'{'));
        if reader.skip().is_none() {
            break;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{is, json_rows};

    #[test]
    fn rows_are_objects_of_an_array() {
        for (text, rows) in [
            ("[]", 0),
            (" [ ] ", 0),
            ("{\"a\":[{},{}]}", 0),
            ("[1,\"{\",[{}],null]", 0),
            ("[{\"a\":\"]\"},{\"a\":[1]} , {}]", 3),
            ("[{},1,{}]", 2),
            ("[{},{", 2),
            ("", 0),
        ] {
            assert_eq!(json_rows(text.as_bytes(), 100), rows, "{text}");
        }
        assert_eq!(json_rows(b"[{},{},{},{}]", 2), 3);
        assert!(
            is("Application/JSON; charset=utf-8", "application/json") && !is("application/json5", "application/json")
        );
    }
}
