//! Values of parameters: a text of a URL or a form becomes one of the parameter's type, and a value of JSON is checked
//! against it.

use salver_model::functions::{Parameter, ParameterKind};
use salver_model::{Code, Error, Result};
use salver_text::base64;
use serde_json::Value as Json;

use crate::number_text::{compact, is_json_number, is_whole, json_number, truth};

/// Converts texts to a value of the parameter's type, as JSON.
pub(super) fn from_texts(parameter: &Parameter, name: &str, texts: &[String]) -> Result<String> {
    let kind = parameter.kind;
    let one = |text: &String| match parameter.texts {
        // The function decides what it is.
        true => Ok(format!("{{\"\\u0000text\":{}}}", Json::from(text.as_str()))),
        false => from_text(kind, text).ok_or_else(|| wrong(name, kind, &format!("`{text}`"))),
    };
    let all = || Ok(format!("[{}]", texts.iter().map(one).collect::<Result<Vec<_>>>()?.join(",")));
    match texts {
        _ if parameter.list => all(),
        [text] => one(text),
        _ if kind == ParameterKind::Any || parameter.texts => all(),
        _ => Err(Error::new(Code::InvalidValue, format!("`{name}` is given {} times", texts.len()))
            .with_hint("it takes one value")),
    }
}

fn from_text(kind: ParameterKind, text: &str) -> Option<String> {
    let quoted = || Json::from(text).to_string();
    match kind {
        ParameterKind::Text => Some(quoted()),
        ParameterKind::Integer => whole(text),
        ParameterKind::Number => json_number(text.trim()),
        ParameterKind::Boolean => truth(text).map(|truth| truth.to_string()),
        ParameterKind::Object => serde_json::from_str::<Json>(text).is_ok().then(|| compact(text)),
        ParameterKind::Bytes => from_base64(text).map(|value| value.to_string()),
        ParameterKind::Any => Some(match text {
            "true" | "TRUE" | "True" => "true".to_owned(),
            "false" | "FALSE" | "False" => "false".to_owned(),
            // A number as in JSON: `007` is text.
            _ if is_json_number(text) => text.to_owned(),
            _ => quoted(),
        }),
    }
}

/// Returns a whole number, which may have a point with zeros behind it: `2.0` is one in JSON, too.
fn whole(text: &str) -> Option<String> {
    let text = text.trim();
    let is_nought = |zeros: &str| !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0');
    let digits = text.split_once('.').map_or(text, |(whole, zeros)| if is_nought(zeros) { whole } else { text });
    json_number(digits).filter(|_| is_whole(digits))
}

/// Returns a text of base64, which may be quoted, as it is in JSON; or a null.
fn from_base64(text: &str) -> Option<Json> {
    match serde_json::from_str(text) {
        Ok(Json::Null) => Some(Json::Null),
        Ok(Json::String(quoted)) => base64::is_exact(quoted.as_bytes()).then_some(Json::String(quoted)),
        _ => base64::is_exact(text.as_bytes()).then(|| text.into()),
    }
}

/// Checks the type of a JSON value.
pub(super) fn check(parameter: &Parameter, name: &str, value: &Json) -> Result<()> {
    if value.is_null() && !parameter.required {
        return Ok(());
    }
    let kind = parameter.kind;
    let fits = |value: &Json| match kind {
        ParameterKind::Any | ParameterKind::Bytes => true,
        ParameterKind::Boolean => value.is_boolean(),
        ParameterKind::Integer => value.is_i64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        ParameterKind::Number => value.is_number(),
        ParameterKind::Text => value.is_string(),
        ParameterKind::Object => value.is_object() || value.is_array(),
    };
    let shown = |value: &Json| {
        let text: String = value.to_string().chars().take(80).collect();
        format!("`{text}`")
    };
    match (parameter.list, value) {
        (true, Json::Array(items)) => match items.iter().find(|item| !fits(item)) {
            Some(item) => Err(wrong(name, kind, &shown(item))),
            None => Ok(()),
        },
        (true, other) => Err(Error::new(Code::InvalidValue, format!("`{name}` is not a list: {}", shown(other)))
            .with_hint(format!("send a list, each {}", words(kind)))),
        (false, value) if fits(value) => Ok(()),
        (false, value) => Err(wrong(name, kind, &shown(value))),
    }
}

fn wrong(name: &str, kind: ParameterKind, shown: &str) -> Error {
    Error::new(Code::InvalidValue, format!("`{name}` can't be {shown}")).with_hint(format!("it takes {}", words(kind)))
}

pub(super) fn words(kind: ParameterKind) -> &'static str {
    match kind {
        ParameterKind::Any => "anything",
        ParameterKind::Boolean => "true or false",
        ParameterKind::Integer => "a whole number",
        ParameterKind::Number => "a number",
        ParameterKind::Text => "a text",
        ParameterKind::Object => "an object or a list",
        ParameterKind::Bytes => "the bytes of the body",
    }
}
