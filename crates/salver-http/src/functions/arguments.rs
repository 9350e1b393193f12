//! Collects the named arguments of a function from the path, the query and the body, in this order of precedence,
//! checks them against the declared parameters, and encodes them as one JSON object. A table, which is an Arrow stream,
//! stays in the body. A function that takes the request itself finds there what no parameter is for.

use ahash::{AHashMap, AHashSet};
use bytes::Bytes;
use http::{HeaderMap, header};
use salver_model::functions::{Endpoint, Parameter, ParameterKind};
use salver_model::{Code, Error, Result, suggest};
use salver_text::json::Reader;
use serde_json::{Map, Value as Json};

use super::argument_values::{check, from_texts, words};
use super::multipart::{self, FORM_DATA};
use crate::functions_state::takes_any;
use crate::number_text::{compact, is_rounded, push_member};
use crate::request_context::parameters;

/// The media type of a body that is a table.
pub(super) const ARROW_STREAM: &str = "application/vnd.apache.arrow.stream";

/// The arguments of a call.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// The named arguments, as the text of a JSON object.
    pub(super) named: Bytes,
    /// The body, unless the named arguments contain it.
    pub(super) body: Bytes,
    /// The parameter whose value is the body, as a table.
    pub(super) table: Option<String>,
}

/// Reads the arguments of `endpoint`. Those of a pure function are in the order of its parameters, so that equal
/// arguments have equal texts.
///
/// # Errors
/// `InvalidValue` for an argument that is missing, unknown or of another type, `InvalidBody`, `UnsupportedMediaType`.
pub(super) fn read(
    endpoint: &Endpoint,
    from_path: Vec<(String, String)>,
    query: &str,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Arguments> {
    if body.is_empty() && query.is_empty() && from_path.is_empty() && endpoint.parameters.is_empty() {
        return Ok(Arguments { named: Bytes::from_static(b"{}"), ..Arguments::default() });
    }
    let mut arguments = Map::new();
    // What is handed on instead of the value, as JSON, since serde_json has no numbers of so many digits.
    let mut exact = AHashMap::new();
    let mut texts = Vec::new();
    add(&mut texts, from_path);
    add(&mut texts, parameters(query)?);
    let (mut rest, mut is_table, mut is_whole) = (Bytes::new(), false, false);
    match of_body(endpoint, headers, body)? {
        BodyContent::Nothing => (rest, is_whole) = (body.clone(), true),
        BodyContent::Table => (rest, is_table) = (body.clone(), true),
        BodyContent::Texts(more) => add(&mut texts, more),
        BodyContent::Values(values) => {
            exact = exact_texts(&values, body);
            arguments = values;
        }
        BodyContent::Only(name, value) => {
            if let Ok(text) = std::str::from_utf8(body)
                && is_rounded(&value)
            {
                exact.insert(name.clone(), compact(text));
            }
            arguments.insert(name, value);
        }
        BodyContent::Form(more, files) => {
            add(&mut texts, more);
            arguments = files;
        }
    }
    if endpoint.takes_request {
        let is_own = |name: &str| endpoint.parameters.iter().any(|own| own.name == name || takes_any(own));
        texts.retain(|(name, _)| is_own(name));
        arguments.retain(|name, _| is_own(name));
    }
    for (name, values) in &texts {
        exact.insert(name.clone(), from_texts(find(endpoint, name)?, name, values)?);
        arguments.insert(name.clone(), Json::Null);
    }
    let is_text: AHashSet<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
    for (name, value) in &arguments {
        if !is_text.contains(name.as_str()) {
            check(find(endpoint, name)?, name, value)?;
        }
    }
    let table = if is_table { Some(table(endpoint, &arguments)?) } else { None };
    let is_missing = |own: &&Parameter| {
        let is_of_body =
            own.kind == ParameterKind::Bytes && is_whole && !rest.is_empty() || table.as_ref() == Some(&own.name);
        own.required && !takes_any(own) && !is_of_body && !arguments.contains_key(&own.name)
    };
    if let Some(missing) = endpoint.parameters.iter().find(is_missing) {
        return Err(Error::new(Code::InvalidValue, format!("`{}` is missing", missing.name)).with_hint(format!(
            "`{}` takes {}",
            endpoint.label(),
            signature(endpoint)
        )));
    }
    if endpoint.pure {
        arguments = in_order(endpoint, arguments);
    }
    Ok(Arguments { named: written(arguments, &exact).into(), body: rest, table })
}

/// Returns the text of the members of a body that have numbers that may have been rounded.
fn exact_texts(values: &Map<String, Json>, body: &Bytes) -> AHashMap<String, String> {
    let mut exact = AHashMap::new();
    if !values.values().any(is_rounded) {
        return exact;
    }
    let mut reader = Reader::new(body);
    let mut is_first = true;
    reader.peek();
    reader.enter();
    while let Some(name) = reader.member(&mut is_first) {
        let name = name.to_text().into_owned();
        let Some(text) = reader.skip() else { break };
        // Of a name that is repeated the last value counts.
        match values.get(&name).filter(|value| is_rounded(value)).and(std::str::from_utf8(text).ok()) {
            Some(text) => _ = exact.insert(name, compact(text)),
            None => _ = exact.remove(&name),
        }
    }
    exact
}

/// Writes the arguments as the text of a JSON object. Those in `exact` are written already.
fn written(arguments: Map<String, Json>, exact: &AHashMap<String, String>) -> String {
    if exact.is_empty() {
        return Json::Object(arguments).to_string();
    }
    let mut out = String::from("{");
    for (name, value) in &arguments {
        match exact.get(name) {
            Some(text) => push_member(&mut out, name, text),
            None => push_member(&mut out, name, &value.to_string()),
        }
    }
    out.push('}');
    out
}

/// Returns the parameter that receives a table in the body: the first one that takes a table and has no other value.
/// Parameters with a declared type take precedence over those that accept any value.
fn table(endpoint: &Endpoint, arguments: &Map<String, Json>) -> Result<String> {
    let free = endpoint.parameters.iter().filter(|own| own.table && !arguments.contains_key(&own.name));
    free.min_by_key(|own| own.kind == ParameterKind::Any).map(|own| own.name.clone()).ok_or_else(|| {
        let function = endpoint.label();
        Error::new(Code::UnsupportedMediaType, format!("`{function}` has no parameter for the table in the body"))
            .with_hint(format!("it takes {}; send its arguments as a JSON object", signature(endpoint)))
    })
}

/// Orders the arguments as they are declared, followed by undeclared ones.
fn in_order(endpoint: &Endpoint, mut arguments: Map<String, Json>) -> Map<String, Json> {
    let mut ordered = Map::with_capacity(arguments.len());
    for own in &endpoint.parameters {
        ordered.extend(arguments.shift_remove_entry(&own.name));
    }
    ordered.extend(arguments);
    ordered
}

/// The content of a body.
enum BodyContent {
    /// Nothing that contains arguments.
    Nothing,
    /// A table.
    Table,
    Texts(Vec<(String, String)>),
    Values(Map<String, Json>),
    /// The value of the only parameter.
    Only(String, Json),
    /// The fields of a form, and its files.
    Form(Vec<(String, String)>, Map<String, Json>),
}

fn of_body(endpoint: &Endpoint, headers: &HeaderMap, body: &Bytes) -> Result<BodyContent> {
    let takes_bytes = endpoint.parameters.iter().any(|own| own.kind == ParameterKind::Bytes);
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if media_type == FORM_DATA && !body.is_empty() {
        return form(endpoint, headers, body);
    }
    if body.is_empty() || takes_bytes {
        return Ok(BodyContent::Nothing);
    }
    if media_type == ARROW_STREAM {
        return Ok(BodyContent::Table);
    }
    // By default `curl -d` sends the media type of a form, even for JSON.
    let is_form = media_type == "application/x-www-form-urlencoded" && !body.starts_with(b"{");
    let says_json = media_type.ends_with("/json") || media_type.ends_with("+json");
    let is_json = says_json || matches!(media_type.as_str(), "" | "application/x-www-form-urlencoded" | "text/plain");
    if is_form {
        let text = std::str::from_utf8(body)
            .map_err(|cause| Error::new(Code::InvalidBody, "the form is not UTF-8").with_source(cause))?;
        return parameters(text.trim_end()).map(BodyContent::Texts);
    }
    if !is_json && endpoint.takes_request {
        return Ok(BodyContent::Nothing);
    }
    if !is_json {
        return Err(Error::new(Code::UnsupportedMediaType, format!("`{media_type}` is not read as arguments"))
            .with_hint("send a JSON object, a form or an Arrow stream; for bytes a function declares a parameter"));
    }
    match serde_json::from_slice(body) {
        Ok(Json::Object(values)) => Ok(BodyContent::Values(values)),
        Ok(other) => match endpoint.parameters.as_slice() {
            // The body is the value of the only parameter.
            [only] if !takes_any(only) => Ok(BodyContent::Only(only.name.clone(), other)),
            _ if endpoint.takes_request => Ok(BodyContent::Nothing),
            _ => Err(Error::new(Code::InvalidBody, "the body is not a JSON object")
                .with_hint(format!("name the arguments: {}", signature(endpoint)))),
        },
        // Half of a body must not leave parameters at their defaults.
        Err(_) if endpoint.takes_request && (!says_json || endpoint.parameters.is_empty()) => Ok(BodyContent::Nothing),
        Err(cause) => Err(Error::new(Code::InvalidBody, format!("the body is not JSON: {cause}"))
            .with_hint(format!("send an object with {}", signature(endpoint)))),
    }
}

/// Reads a form with files. A function that takes the bytes of a body, of whose parameters the form names none, reads
/// it by itself.
fn form(endpoint: &Endpoint, headers: &HeaderMap, body: &Bytes) -> Result<BodyContent> {
    let parts = multipart::read(headers, body)?;
    let parameter = |name: &str| endpoint.parameters.iter().find(|own| own.name == name);
    let takes_bytes = endpoint.parameters.iter().any(|own| own.kind == ParameterKind::Bytes);
    if takes_bytes && !parts.iter().any(|part| parameter(&part.name).is_some()) {
        return Ok(BodyContent::Nothing);
    }
    let (mut texts, mut files) = (Vec::new(), Map::new());
    for part in &parts {
        let own = parameter(&part.name);
        let is_bytes = own.is_some_and(|own| own.kind == ParameterKind::Bytes);
        if part.file.is_none() && !is_bytes {
            texts.push((part.name.clone(), part.text()?));
            continue;
        }
        // A browser sends a file without a name or content for a field in which none was chosen.
        if part.content.is_empty() && part.file.as_ref().is_some_and(|(name, _)| name.is_empty()) {
            continue;
        }
        let takes_files = own.is_none_or(|own| matches!(own.kind, ParameterKind::Bytes | ParameterKind::Any));
        if !takes_files {
            let message = format!("`{}` can't be a file", part.name);
            let kind = own.map(|own| own.kind).unwrap_or_default();
            return Err(Error::new(Code::InvalidValue, message).with_hint(format!("it takes {}", words(kind))));
        }
        let is_list = own.is_some_and(|own| own.list);
        match files.get_mut(&part.name) {
            Some(Json::Array(several)) if is_list => several.push(part.argument()),
            Some(_) => {
                return Err(Error::new(Code::InvalidValue, format!("`{}` is given several times", part.name))
                    .with_hint("it takes one file"));
            }
            None => {
                let argument = part.argument();
                files.insert(part.name.clone(), if is_list { Json::Array(vec![argument]) } else { argument });
            }
        }
    }
    Ok(BodyContent::Form(texts, files))
}

/// Adds the values of names that have none yet. A name that is repeated in `more` has several values.
fn add(texts: &mut Vec<(String, Vec<String>)>, more: Vec<(String, String)>) {
    let before = texts.len();
    let mut places: AHashMap<String, usize> = AHashMap::with_capacity(before + more.len());
    places.extend(texts.iter().enumerate().map(|(at, (own, _))| (own.clone(), at)));
    for (name, value) in more {
        match places.get(&name) {
            Some(at) if *at < before => {}
            Some(at) => texts[*at].1.push(value),
            None => {
                places.insert(name.clone(), texts.len());
                texts.push((name, vec![value]));
            }
        }
    }
}

/// Returns the parameter that takes the name: the one that is called so, or else a variadic one.
fn find<'e>(endpoint: &'e Endpoint, name: &str) -> Result<&'e Parameter> {
    let known = endpoint.parameters.iter().find(|own| own.name == name && !takes_any(own));
    // R takes the beginning of a parameter's name for that parameter, whose type was not looked at then.
    let is_beginning = |own: &Parameter| own.name.starts_with(name) && own.name != "...";
    let is_ambiguous = |dots: &Parameter| dots.name == "..." && endpoint.parameters.iter().any(is_beginning);
    let takes_it = |own: &&Parameter| takes_any(own) && !is_ambiguous(own);
    known.or_else(|| endpoint.parameters.iter().find(takes_it)).ok_or_else(|| {
        let names = endpoint.parameters.iter().map(|own| own.name.as_str());
        Error::new(Code::InvalidValue, format!("`{}` has no parameter `{name}`", endpoint.label()))
            .with_hint(format!("it takes {}", signature(endpoint)))
            .with_hint_if(suggest::hint(name, names))
    })
}

/// Describes the parameters of a function, for messages.
fn signature(endpoint: &Endpoint) -> String {
    let one = |own: &Parameter| format!("`{}`{}", own.name, if own.required { "" } else { " (optional)" });
    match endpoint.parameters.as_slice() {
        [] => "nothing".to_owned(),
        own => own.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue, header};
    use salver_model::Code;
    use salver_model::functions::{Endpoint, Parameter, ParameterKind};

    use super::{ARROW_STREAM, Arguments, read};

    #[test]
    fn half_of_a_body_is_no_arguments() {
        let parameters = vec![Parameter { name: "a".to_owned(), ..Parameter::default() }];
        let endpoint = Endpoint { takes_request: true, parameters, ..Endpoint::default() };
        let alone = Endpoint { takes_request: true, ..Endpoint::default() };
        for (media_type, is_json) in
            [("application/json; charset=utf-8", true), ("a/b+json", true), ("text/plain", false)]
        {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(media_type))]);
            for half in ["{\"a\":5", "{\"a\":5}x", "["] {
                let half = Bytes::from_static(half.as_bytes());
                let given = read(&endpoint, Vec::new(), "", &headers, &half);
                assert_eq!(given.err().map(|error| error.code), is_json.then_some(Code::InvalidBody), "{media_type}");
                // What takes nothing but the request reads the body by itself.
                assert_eq!(read(&alone, Vec::new(), "", &headers, &half).unwrap().body, half);
            }
        }
    }

    #[test]
    fn whose_value_a_table_is() {
        let parameter =
            |name: &str, table| Parameter { name: name.to_owned(), required: true, table, ..Parameter::default() };
        let parameters = vec![parameter("n", false), parameter("a", true), parameter("b", true)];
        let endpoint = Endpoint { function: "f".to_owned(), parameters, ..Endpoint::default() };
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(ARROW_STREAM))]);
        let body = Bytes::from_static(b"whatever");
        let given = |query: &str| read(&endpoint, Vec::new(), query, &headers, &body);
        for (query, named, table) in [("b=1&n=2", r#"{"b":1,"n":2}"#, "a"), ("n=2&a=1", r#"{"n":2,"a":1}"#, "b")] {
            let Arguments { named: found, body: kept, table: parameter } = given(query).unwrap();
            assert_eq!((&found[..], &kept, parameter.as_deref()), (named.as_bytes(), &body, Some(table)), "{query}");
        }
        assert_eq!(given("n=2").unwrap_err().message, "`b` is missing");
        let nowhere = given("n=2&a=1&b=1").unwrap_err();
        assert_eq!(
            (nowhere.code, &*nowhere.message),
            (Code::UnsupportedMediaType, "`f` has no parameter for the table in the body")
        );
        let frame = Parameter { kind: ParameterKind::Object, ..parameter("frame", true) };
        let endpoint = Endpoint { parameters: vec![parameter("by", true), frame], ..Endpoint::default() };
        let said = read(&endpoint, Vec::new(), "by=x", &headers, &body).unwrap();
        assert_eq!(said.table.as_deref(), Some("frame"));
        assert_eq!(read(&endpoint, Vec::new(), "", &headers, &body).unwrap_err().message, "`by` is missing");
    }

    #[test]
    fn numbers_are_handed_on_with_all_their_digits() {
        let parameter =
            |name: &str, kind, list| Parameter { name: name.to_owned(), kind, list, ..Parameter::default() };
        let parameters = vec![
            parameter("i", ParameterKind::Integer, false),
            parameter("n", ParameterKind::Number, true),
            parameter("x", ParameterKind::Any, false),
            parameter("o", ParameterKind::Object, false),
            Parameter { texts: true, ..parameter("u", ParameterKind::Any, false) },
        ];
        let endpoint = Endpoint { function: "f".to_owned(), parameters, ..Endpoint::default() };
        let read = |query: &str, body: &'static str| {
            let read = read(&endpoint, Vec::new(), query, &HeaderMap::new(), &Bytes::from_static(body.as_bytes()));
            read.map(|read| String::from_utf8_lossy(&read.named).into_owned()).map_err(|error| error.message)
        };
        for (query, body, named) in [
            ("", r#"{"i": 123456789012345678901, "n": [1.10, 2]}"#, r#"{"i":123456789012345678901,"n":[1.10,2]}"#),
            ("", r#"{"x": {"a b": [ 1.50 ]}, "i": 1}"#, r#"{"x":{"a b":[1.50]},"i":1}"#),
            ("", r#"{"x": 1.50, "x": "1.50"}"#, r#"{"x":"1.50"}"#),
            ("", r#"{"x": "1.50", "\u0078": 1.50}"#, r#"{"x":1.50}"#),
            ("i=123456789012345678901&n=1.10&n=.5", "", r#"{"i":123456789012345678901,"n":[1.10,0.5]}"#),
            ("x=99999999999999999999", "", r#"{"x":99999999999999999999}"#),
            ("x=%205", "", r#"{"x":" 5"}"#),
            ("i=-2.0", "", r#"{"i":-2}"#),
            ("x=1.5", r#"{"x": 2.50, "i": 7.0}"#, r#"{"x":1.5,"i":7.0}"#),
            ("o=[1.10, 2]", "", r#"{"o":[1.10,2]}"#),
            ("u=5", "", r#"{"u":{"\u0000text":"5"}}"#),
            ("u=5&u=a", "", r#"{"u":[{"\u0000text":"5"},{"\u0000text":"a"}]}"#),
        ] {
            assert_eq!(read(query, body), Ok(named.to_owned()), "{query} {body}");
        }
        for text in ["1e5", "1.5", "2.", ".0", "2.0.0"] {
            assert_eq!(read(&format!("i={text}"), "").unwrap_err(), format!("`i` can't be `{text}`"));
        }
        assert_eq!(read("", r#"{"i": 1.5}"#).unwrap_err(), "`i` can't be `1.5`");
    }
}
