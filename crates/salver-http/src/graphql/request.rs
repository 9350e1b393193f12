//! Parses a GraphQL request from a body or a query string: ROAPI's bare document, or the standard's parameters.

use std::borrow::Cow;

use apollo_compiler::response::{JsonMap, JsonValue};
use salver_model::{Caller, Code, Error, Result};
use salver_text::form;

use super::variables::ExactVariables;

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) document: String,
    pub(crate) variables: JsonMap,
    pub(crate) exact: ExactVariables,
    pub(crate) operation: Option<String>,
    /// Whether the request is in ROAPI's form, with a bare document as the body.
    pub(crate) raw: bool,
    /// Identity and address of the caller.
    pub(crate) caller: Caller,
    /// Whether the document may change rows: the form of the request is one that pages of other sites can't send
    /// without a preflight.
    pub(crate) may_change: bool,
    /// Whether the method is GET, which never changes anything.
    pub(crate) is_get: bool,
}

/// Parses the body of a POST.
///
/// # Errors
/// `InvalidBody`.
pub(crate) fn parse_post(content_type: Option<&str>, body: &[u8]) -> Result<Request> {
    let text = std::str::from_utf8(body)
        .map_err(|e| Error::new(Code::InvalidBody, "the body is not UTF-8 text").with_source(e))?;
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let media_type = media_type.to_ascii_lowercase();
    let says_json = media_type == "application/json" || media_type.ends_with("+json");
    if looks_like_json(text) || (says_json && text.trim().is_empty()) {
        return parse_json(text).map(|request| Request { may_change: says_json, ..request });
    }
    Ok(Request {
        document: text.to_owned(),
        variables: JsonMap::new(),
        exact: ExactVariables::default(),
        operation: None,
        raw: media_type != "application/graphql",
        caller: Caller::default(),
        may_change: media_type == "application/graphql",
        is_get: false,
    })
}

/// Parses the query string of a GET, as it stands in the URL.
///
/// # Errors
/// `InvalidRequest`, `InvalidBody` for malformed variables.
pub(crate) fn parse_get(query_string: &str) -> Result<Request> {
    let mut document = None;
    let (mut variables, mut exact) = (JsonMap::new(), ExactVariables::default());
    let mut operation = None;
    for (name, value) in form::pairs(query_string) {
        match &*decode(name)? {
            "query" => document = Some(decode(value)?),
            "variables" => {
                let text = decode(value)?;
                variables = parse_variables(&text)?;
                exact = ExactVariables::of(&variables, &text);
            }
            "operationName" => operation = Some(decode(value)?).filter(|name| !name.is_empty()),
            _ => {}
        }
    }
    let Some(document) = document else {
        return Err(Error::new(Code::InvalidRequest, "there is no document: the parameter `query` is missing")
            .with_hint("GET /api/graphql?query={...}, or POST the document"));
    };
    Ok(Request {
        document,
        variables,
        exact,
        operation,
        raw: false,
        caller: Caller::default(),
        may_change: false,
        is_get: true,
    })
}

/// Returns whether a body is JSON, judged by its content. No GraphQL document begins with `{"`, `{}` or `[`, so a
/// missing content type does no harm.
fn looks_like_json(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    match text.strip_prefix('{') {
        Some(rest) => rest.trim_start().starts_with(['"', '}']),
        None => text.starts_with('['),
    }
}

fn decode(text: &str) -> Result<String> {
    form::decode(text)
        .map(Cow::into_owned)
        .map_err(|e| Error::new(Code::InvalidRequest, "the query string is not UTF-8 text").with_source(e))
}

fn parse_json(text: &str) -> Result<Request> {
    let malformed = |why: String| {
        Error::new(Code::InvalidBody, format!("the body is not a GraphQL request: {why}")).with_hint(
            "send `{\"query\": \"{ ... }\", \"variables\": {}, \"operationName\": null}`, or the document alone",
        )
    };
    let text = text.trim_start_matches('\u{feff}');
    let parsed: JsonValue = serde_json::from_str(text).map_err(|e| malformed(e.to_string()))?;
    let JsonValue::Object(mut fields) = parsed else {
        return Err(malformed("it is not one JSON object; several requests in one body are not read".to_owned()));
    };
    let Some(JsonValue::String(document)) = fields.remove("query") else {
        return Err(malformed("`query`, the document, is missing".to_owned()));
    };
    let variables = match fields.remove("variables") {
        None | Some(JsonValue::Null) => JsonMap::new(),
        Some(JsonValue::Object(variables)) => variables,
        Some(_) => return Err(malformed("`variables` is not an object".to_owned())),
    };
    let operation = match fields.remove("operationName") {
        None | Some(JsonValue::Null) => None,
        Some(JsonValue::String(name)) => Some(name.as_str().to_owned()).filter(|name| !name.is_empty()),
        Some(_) => return Err(malformed("`operationName` is not text".to_owned())),
    };
    let document = document.as_str().to_owned();
    let exact = ExactVariables::of_request(&variables, text);
    Ok(Request {
        document,
        variables,
        exact,
        operation,
        raw: false,
        caller: Caller::default(),
        may_change: false,
        is_get: false,
    })
}

fn parse_variables(text: &str) -> Result<JsonMap> {
    match serde_json::from_str(text) {
        Ok(JsonValue::Object(variables)) => Ok(variables),
        Ok(JsonValue::Null) => Ok(JsonMap::new()),
        _ if text.is_empty() => Ok(JsonMap::new()),
        _ => Err(Error::new(Code::InvalidBody, "`variables` is not a JSON object")),
    }
}
