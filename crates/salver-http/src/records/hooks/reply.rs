//! Parses the result of a function before or after a request: nothing, or an object with the requested changes.

use http::{HeaderName, HeaderValue, StatusCode};
use salver_model::records::Field;
use salver_model::spec::FunctionPath;
use salver_model::{Code, Error, Result, suggest};

use super::values::field_json;
use crate::records::json::Reader;

/// The members that a function before a request may return.
const BEFORE: &[&str] = &["query", "body", "environment", "status", "headers"];
/// The members that a function after a request may return.
const AFTER: &[&str] = &["body", "status", "headers"];

/// The changes requested by a function.
#[derive(Debug, Default)]
pub(super) struct HookReply {
    /// The new query string, as its parameters.
    pub(super) query: Option<Vec<(String, String)>>,
    /// The new body, as JSON.
    pub(super) body: Option<String>,
    /// The value passed from the function before to the one after, as JSON.
    pub(super) environment: Option<String>,
    /// The status of the response.
    pub(super) status: Option<StatusCode>,
    /// Header fields of the response.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl HookReply {
    /// Parses the result of `function` before a request.
    ///
    /// # Errors
    /// `FunctionFailed` for a result that is not allowed here.
    pub(super) fn before(function: &FunctionPath, answer: &[u8]) -> Result<Self> {
        let told = Self::read(function, answer, BEFORE)?;
        if told.status.is_none() && !told.headers.is_empty() {
            return Err(Error::new(Code::FunctionFailed, format!("`{function}` answers `headers` without a `status`"))
                .with_hint("with a `status` it is the answer to the request; without one the request goes on"));
        }
        Ok(told)
    }

    /// Parses the result of `function` after a request.
    ///
    /// # Errors
    /// `FunctionFailed` for a result that is not allowed here.
    pub(super) fn after(function: &FunctionPath, answer: &[u8]) -> Result<Self> {
        Self::read(function, answer, AFTER)
    }

    fn read(function: &FunctionPath, answer: &[u8], members: &'static [&'static str]) -> Result<Self> {
        let refuse = |what: String| {
            Error::new(Code::FunctionFailed, format!("`{function}` answers {what}"))
                .with_hint(format!("it answers nothing, or an object with some of {}", members.join(", ")))
        };
        let text = std::str::from_utf8(answer).map_err(|_| refuse("no text".to_owned()))?.trim();
        // R writes empty lists and empty objects alike.
        if matches!(text, "" | "null" | "[]" | "{}") {
            return Ok(Self::default());
        }
        let record = Reader::whole(text, Reader::record).ok_or_else(|| refuse("no object".to_owned()))?;
        let mut told = Self::default();
        for (name, field) in record {
            if !members.contains(&name.as_str()) {
                let nearest = suggest::hint(&name, members.iter().copied());
                return Err(refuse(format!("`{name}`, which means nothing")).with_hint_if(nearest));
            }
            match name.as_str() {
                "query" => {
                    told.query = Some(query(&field).ok_or_else(|| refuse("a `query` that is not valid".to_owned()))?)
                }
                "body" => told.body = Some(field_json(&field)),
                "environment" => told.environment = Some(field_json(&field)),
                "status" => {
                    told.status = Some(status(&field).ok_or_else(|| refuse("a `status` that is not valid".to_owned()))?)
                }
                _ => {
                    told.headers =
                        headers(&field).ok_or_else(|| refuse("`headers` that HTTP does not allow".to_owned()))?
                }
            }
        }
        Ok(told)
    }
}

/// Parses an object of parameters, each with a value or a list of values.
fn query(field: &Field) -> Option<Vec<(String, String)>> {
    let Field::Json(text) = field else { return None };
    // An empty list of R.
    if text.as_str() == "[]" {
        return Some(Vec::new());
    }
    let mut pairs = Vec::new();
    for (name, field) in Reader::whole(text, Reader::record)? {
        match &field {
            Field::Json(list) => Reader::whole(list, |reader| {
                reader.array(|reader| {
                    let value = reader.field()?.scalar()?;
                    pairs.push((name.clone(), value));
                    Some(())
                })
            })?,
            Field::Null => {}
            one => pairs.push((name, one.scalar()?)),
        }
    }
    Some(pairs)
}

fn status(field: &Field) -> Option<StatusCode> {
    let status = StatusCode::from_u16(field.scalar()?.parse().ok()?).ok()?;
    (status.as_u16() >= 200).then_some(status)
}

fn headers(field: &Field) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let Field::Json(text) = field else { return None };
    if text.as_str() == "[]" {
        return Some(Vec::new());
    }
    let record = Reader::whole(text, Reader::record)?;
    record.iter().map(|(name, value)| Some((name.parse().ok()?, value.scalar()?.parse().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use salver_model::spec::FunctionPath;

    use super::HookReply;

    fn read(text: &str) -> salver_model::Result<HookReply> {
        HookReply::before(&FunctionPath::parse("hooks/before").unwrap(), text.as_bytes())
    }

    #[test]
    fn what_is_told() {
        for nothing in ["", "null", "[]", "{}"] {
            let told = read(nothing).unwrap();
            assert!(told.body.is_none() && told.status.is_none() && told.query.is_none(), "{nothing}");
        }
        let told =
            read(r#"{"query":{"filter":["a,eq,1","b,eq,2"],"size":3},"body":{"n":1.50},"environment":[1]}"#).unwrap();
        let pairs = told.query.unwrap();
        assert_eq!(
            pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>(),
            ["filter=a,eq,1", "filter=b,eq,2", "size=3"]
        );
        assert_eq!((told.body.as_deref(), told.environment.as_deref()), (Some("{\"n\":1.50}"), Some("[1]")));
        let told = read(r#"{"status":403,"body":"no","headers":{"X-Why":"so"}}"#).unwrap();
        assert_eq!((told.status.map(|own| own.as_u16()), told.body.as_deref()), (Some(403), Some("\"no\"")));
        assert_eq!(told.headers.len(), 1);
    }

    #[test]
    fn what_means_nothing() {
        for text in [
            "true",
            "[1]",
            "{",
            r#"{"quary":{}}"#,
            r#"{"query":"a=b"}"#,
            r#"{"query":{"a":{}}}"#,
            r#"{"query":{"a":[[1]]}}"#,
            r#"{"status":"no"}"#,
            r#"{"status":99}"#,
            r#"{"status":199}"#,
            r#"{"headers":{"a b":"c"}}"#,
            "{\"headers\":{\"a\":\"b\\nc\"}}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let function = FunctionPath::parse("hooks/after").unwrap();
        assert!(read(r#"{"headers":{"a":"b"}}"#).is_err() && read(r#"{"environment":1}"#).is_ok());
        assert!(HookReply::after(&function, br#"{"headers":{"a":"b"}}"#).is_ok());
        assert!(HookReply::after(&function, br#"{"environment":1}"#).is_err());
    }
}
