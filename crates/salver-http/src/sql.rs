//! `/api/sql`: one read-only statement. POST takes the bare text, as ROAPI does, or JSON with parameters; GET takes
//! `q=`, so that a result has a URL.

use std::sync::Arc;

use http::{HeaderMap, Method, Response, header};
use salver_model::{Code, Error, Permission, Result, SqlParameters, SqlQuery, Value};
use salver_service::Snapshot;
use salver_text::json::pieces;
use serde_json::Value as Json;

use crate::body::Body;
use crate::cache::SingleFlight;
use crate::request_context::{RequestContext, parameters};
use crate::respond::{self, Heading};

/// Executes one statement.
pub(crate) async fn answer(context: &RequestContext<'_>, flight: SingleFlight<'_>) -> Result<Response<Body>> {
    let (query, named) = parse(context)?;
    let choice = context.choose(None, named.as_deref())?;
    let service = &context.app.service;
    let snapshot = service.snapshot(context.caller, Permission::Sql);
    // The tables of a statement are only known once it is planned, so the entity tag covers the whole catalog. Only
    // repeatable responses get a tag, so a tag that matches needs no look at the statement.
    let version = context.answer_version(snapshot.content(), choice.media_type);
    let heading = Heading { choice, title: "SQL".to_owned(), version, ways: None };
    let again = || service.snapshot_settled(context.caller, Permission::Sql);
    rows(context, &heading, (snapshot, again), &query, flight).await
}

/// Responds with the rows of a statement over a snapshot, or, while a table of it is loading for the first time, over
/// the one that `again` waits for. Only statements that need such a table wait for it.
pub(crate) async fn rows<S: Future<Output = Arc<Snapshot>>>(
    context: &RequestContext<'_>,
    heading: &Heading,
    (snapshot, again): (Arc<Snapshot>, impl FnOnce() -> S),
    query: &SqlQuery,
    flight: SingleFlight<'_>,
) -> Result<Response<Body>> {
    if let Some(response) = heading.unchanged(context) {
        return Ok(response);
    }
    let service = &context.app.service;
    let rows = match service.sql(context.caller, &snapshot, query).await {
        Err(error) if error.code == Code::EntryUnavailable && !snapshot.settled() => {
            service.sql(context.caller, &again().await, query).await?
        }
        rows => rows?,
    };
    respond::rows(context, heading, rows, HeaderMap::with_capacity(respond::HEADERS_USUAL), flight).await
}

/// Parses the request into the statement and the requested format.
fn parse(context: &RequestContext<'_>) -> Result<(SqlQuery, Option<String>)> {
    let mut query = SqlQuery { is_safe: *context.method != Method::POST, ..SqlQuery::default() };
    let mut format = None;
    let mut given = false;
    for (name, value) in parameters(context.query)? {
        match name.as_str() {
            "format" => format = Some(value),
            "q" if *context.method != Method::POST => {
                query.text = value;
                given = true;
            }
            "params" if *context.method != Method::POST => {
                query.parameters = bind(&json(value.as_bytes())?, &mut numbers(value.as_bytes()))?;
            }
            _ => {
                return Err(Error::new(Code::InvalidRequest, format!("unknown parameter `{name}`"))
                    .with_hint("GET takes `q`, `params` (a JSON array or object) and `format`; POST takes `format`"));
            }
        }
    }
    if *context.method == Method::POST {
        query = posted(context)?;
        given = true;
    }
    if !given || query.text.trim().is_empty() {
        return Err(Error::new(Code::InvalidSql, "there is no statement")
            .with_hint("POST it as the body, or GET `/api/sql?q=select%201`"));
    }
    Ok((query, format))
}

fn posted(context: &RequestContext<'_>) -> Result<SqlQuery> {
    let media_type = context.header(header::CONTENT_TYPE).unwrap_or("").split(';').next().unwrap_or("").trim();
    if !media_type.eq_ignore_ascii_case("application/json") {
        let text = std::str::from_utf8(&context.body)
            .map_err(|error| Error::new(Code::InvalidBody, "the statement is not UTF-8").with_source(error))?;
        return Ok(SqlQuery { text: text.to_owned(), ..SqlQuery::default() });
    }
    let Json::Object(object) = json(&context.body)? else {
        return Err(Error::new(Code::InvalidBody, "a JSON body must be an object").with_hint(EXAMPLE));
    };
    let mut query = SqlQuery::default();
    for (name, value) in &object {
        match (name.as_str(), value) {
            ("sql" | "query", Json::String(text)) => query.text.clone_from(text),
            // Nothing else in the body may be a number.
            ("params" | "parameters", value) => query.parameters = bind(value, &mut numbers(&context.body))?,
            _ => {
                return Err(Error::new(Code::InvalidBody, format!("`{name}` is not expected here")).with_hint(EXAMPLE));
            }
        }
    }
    Ok(query)
}

const EXAMPLE: &str = r#"send {"sql": "select * from t where id = $1", "params": [7]}, or the bare text as text/plain"#;

fn json(bytes: &[u8]) -> Result<Json> {
    serde_json::from_slice(bytes)
        .map_err(|error| Error::new(Code::InvalidBody, format!("the JSON is malformed: {error}")).with_hint(EXAMPLE))
}

/// Returns the numbers in a JSON text as they are written, in order. The parser would reduce them to the precision of a
/// float.
fn numbers(text: &[u8]) -> impl Iterator<Item = &str> {
    let between = pieces(std::str::from_utf8(text).unwrap_or_default()).filter(|piece| !piece.starts_with('"'));
    let bare = between.flat_map(|piece| piece.split(['{', '}', '[', ']', ',', ':']));
    bare.filter(|bare| bare.starts_with(|first: char| first == '-' || first.is_ascii_digit()))
}

fn bind<'t>(value: &Json, numbers: &mut impl Iterator<Item = &'t str>) -> Result<SqlParameters> {
    Ok(match value {
        Json::Null => SqlParameters::None,
        Json::Array(values) => {
            SqlParameters::Positional(values.iter().map(|value| scalar(value, numbers)).collect::<Result<_>>()?)
        }
        Json::Object(values) => SqlParameters::Named(
            values.iter().map(|(name, value)| Ok((name.clone(), scalar(value, numbers)?))).collect::<Result<_>>()?,
        ),
        _ => {
            return Err(Error::new(Code::InvalidBody, "`params` is an array, or an object of names").with_hint(EXAMPLE));
        }
    })
}

fn scalar<'t>(value: &Json, numbers: &mut impl Iterator<Item = &'t str>) -> Result<Value> {
    Ok(match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::Text(text.clone()),
        Json::Number(number) => {
            // A duplicate name leaves a number over; the following ones then no longer match.
            let written = numbers.next().filter(|text| text.parse() == Ok(number.as_f64().unwrap_or(f64::NAN)));
            written
                .and_then(Value::exact_number)
                .or_else(|| Value::number(&number.to_string()))
                .ok_or_else(|| Error::new(Code::InvalidBody, format!("{number} is out of range")).with_hint(EXAMPLE))?
        }
        Json::Array(_) | Json::Object(_) => {
            return Err(Error::new(Code::InvalidBody, "a parameter must be null, a boolean, a number or text")
                .with_hint("pass a list as several parameters"));
        }
    })
}
