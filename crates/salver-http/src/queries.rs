//! `GET /api/queries`, the list of named queries, and `GET /api/queries/{name}[.ext]`, which runs one: its parameters
//! are those of the query string, and the rows leave as those of `/api/sql` do.

use http::Response;
use salver_formats::Format;
use salver_model::ports::QueryDescription;
use salver_model::spec::{Parameter, QuerySpec};
use salver_model::{Code, Error, Permission, Result, TypedValue, Value, Version, suggest};
use salver_service::{NamedQuery, QueryState};
use serde_json::{Value as Json, json};

use crate::body::Body;
use crate::cache::SingleFlight;
use crate::redaction;
use crate::request_context::{RequestContext, parameters};
use crate::respond::Heading;
use crate::sql;
use crate::status::json_response;

/// Characters of a wrong value that its error repeats.
const SHOWN_CHARS: usize = 100;

/// Responds with the queries that the caller may run. One that can't be run has `error` instead of columns; one that
/// reads what the caller may not read is left out.
pub(crate) async fn list(context: &RequestContext<'_>) -> Result<Response<Body>> {
    let (service, caller) = (&context.app.service, context.caller);
    let mut all = Vec::new();
    for query in service.queries_for(caller) {
        let mut shown = match (query.state(), service.describe_query(caller, query).await) {
            (QueryState::Ready(_), Ok(description)) => described(query.spec(), &description),
            // Another reads what the caller may not know of.
            (QueryState::Ready(_), Err(_)) => continue,
            (_, Ok(description)) => described(query.spec(), &description),
            (_, Err(error)) => undescribed(query, &error),
        };
        if let Some(tag) = tag(context, query.spec()) {
            shown["etag"] = tag.into();
        }
        all.push(shown);
    }
    Ok(json_response(&Json::Array(all)))
}

/// Returns the entity tag of the text of a query that the caller may change.
fn tag(context: &RequestContext<'_>, spec: &QuerySpec) -> Option<String> {
    let may = spec.file.is_some() && context.caller.may(Permission::Administer, spec.name.as_str());
    let is_there = may && context.app.options.query_editor.is_some();
    is_there.then(|| format!("\"{}\"", spec.text_version()))
}

/// Describes a query that can be run.
pub(crate) fn described(spec: &QuerySpec, description: &QueryDescription) -> Json {
    let columns = description.columns.fields().iter();
    let columns: Vec<Json> =
        columns.map(|field| json!({ "name": field.name(), "type": field.data_type().to_string() })).collect();
    json!({
        "name": spec.name.as_str(),
        "description": spec.description,
        "sql": spec.sql,
        "parameters": description.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "columns": columns,
    })
}

fn parameter(parameter: &Parameter) -> Json {
    let default = match &parameter.default {
        None | Some(Value::Null) => Json::Null,
        Some(Value::Bool(value)) => (*value).into(),
        Some(Value::Int(value)) => (*value).into(),
        // As it is written: a float may have fewer digits.
        Some(_) => parameter.default_text.as_deref().map_or(Json::Null, Json::from),
    };
    json!({
        "name": parameter.name,
        "type": parameter.kind.word(),
        "default": default,
        "required": parameter.required,
        "description": parameter.description,
    })
}

/// Describes a query that can't be run now, without its statement, which may be about what the caller must not know.
fn undescribed(query: &NamedQuery, error: &Error) -> Json {
    json!({
        "name": query.spec().name.as_str(),
        "description": query.spec().description,
        "error": redaction::message(error),
        "hint": redaction::hint(error),
    })
}

/// Runs the query that `target` names.
pub(crate) async fn answer(
    context: &RequestContext<'_>,
    target: &str,
    flight: SingleFlight<'_>,
) -> Result<Response<Body>> {
    let (service, caller) = (&context.app.service, context.caller);
    let (name, suffix) = split(context, target);
    let (query, description) = service.query(caller, name).await?;
    let (values, named) = values(&description.parameters, parameters(context.query)?, name)?;
    let choice = context.choose(suffix, named.as_deref())?;
    let snapshot = service.snapshot_of_query(caller, query);
    // Other statements and defaults give other rows of the same tables.
    let content = Version::of(&(snapshot.content(), description.version));
    let version = context.answer_version(content, choice.media_type);
    let heading = Heading { choice, title: query.spec().name.to_string(), version, ways: None };
    let statement = query.statement(values);
    let again = || async { service.snapshot_of_query_settled(caller, query).await };
    let answered = sql::rows(context, &heading, (snapshot, again), &statement, flight).await;
    match answered {
        Err(error) => Err(service.refusal_of_query(caller, query, error).await),
        answered => answered,
    }
}

/// Splits off the suffix of the format. A name that exists takes precedence over a suffix.
fn split<'a>(context: &RequestContext<'_>, target: &'a str) -> (&'a str, Option<Format>) {
    if !context.app.service.has_query(context.caller, target)
        && let Some((name, suffix)) = target.rsplit_once('.')
        && let Some(format) = Format::of_suffix(suffix)
    {
        return (name, Some(format));
    }
    (target, None)
}

/// Returns the values of all parameters, and the format if one is given.
fn values(known: &[Parameter], given: Vec<(String, String)>, query: &str) -> Result<(Vec<TypedValue>, Option<String>)> {
    let mut values: Vec<Option<Value>> = vec![None; known.len()];
    let mut format = None;
    for (name, text) in given {
        let Some(at) = known.iter().position(|own| own.name == name) else {
            if name == "format" {
                format = Some(text);
                continue;
            }
            return Err(unknown(known, &name, query));
        };
        if values[at].is_some() {
            return Err(Error::new(Code::InvalidRequest, format!("the parameter `{name}` is given twice"))
                .with_hint("send one value for it"));
        }
        let kind = known[at].kind;
        let value = kind.parse(&text).ok_or_else(|| {
            let shown: String = text.chars().take(SHOWN_CHARS).collect();
            Error::new(
                Code::InvalidValue,
                format!("the parameter `{name}` can't be `{shown}`: it is of type {}", kind.word()),
            )
            .with_hint(format!("send {}", kind.example()))
        })?;
        values[at] = Some(value);
    }
    let mut typed = Vec::with_capacity(known.len());
    for (own, value) in known.iter().zip(values) {
        if value.is_none() && own.required {
            let message = format!("the query `{query}` needs the parameter `{}`", own.name);
            return Err(Error::new(Code::InvalidRequest, message).with_hint(format!(
                "add `?{}=` with {}",
                own.name,
                own.kind.example()
            )));
        }
        typed.push(own.filled(value));
    }
    Ok((typed, format))
}

fn unknown(known: &[Parameter], name: &str, query: &str) -> Error {
    let names = || known.iter().map(|own| own.name.as_str());
    let hint = suggest::nearest(name, names()).map(|near| format!("did you mean `{near}`?"));
    let hint = hint.unwrap_or_else(|| match names().collect::<Vec<_>>().join("`, `") {
        all if all.is_empty() => "it takes `format` only".to_owned(),
        all => format!("it takes `{all}`, and `format`"),
    });
    Error::new(Code::InvalidRequest, format!("the query `{query}` has no parameter `{name}`")).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use salver_model::spec::Parameter;
    use salver_model::{Code, ParameterType, Value};

    use super::values;

    fn known() -> Vec<Parameter> {
        let parameter = |name: &str, kind, default: Option<Value>, required| Parameter {
            name: name.to_owned(),
            kind,
            default,
            default_text: None,
            required,
            description: String::new(),
        };
        vec![
            parameter("id", ParameterType::Integer, None, true),
            parameter("word", ParameterType::Text, Some(Value::Text("a".to_owned())), false),
            parameter("since", ParameterType::Date, None, false),
        ]
    }

    fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn every_parameter_gets_its_value_default_or_null() {
        let (typed, format) = values(&known(), given(&[("id", "7"), ("format", "csv")]), "q").unwrap();
        let all: Vec<_> = typed.into_iter().map(|typed| typed.value).collect();
        assert_eq!(all, [Some(Value::Int(7)), Some(Value::Text("a".to_owned())), None]);
        assert_eq!(format.as_deref(), Some("csv"));
    }

    #[test]
    fn refusals_name_the_parameter() {
        for (pairs, code, message) in [
            (&[][..], Code::InvalidRequest, "the query `q` needs the parameter `id`"),
            (&[("id", "x")], Code::InvalidValue, "the parameter `id` can't be `x`: it is of type integer"),
            (&[("id", "1"), ("id", "2")], Code::InvalidRequest, "the parameter `id` is given twice"),
            (&[("id", "1"), ("wrd", "2")], Code::InvalidRequest, "the query `q` has no parameter `wrd`"),
        ] {
            let error = values(&known(), given(pairs), "q").unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (code, message));
            assert!(error.hint.is_some(), "{message}");
        }
        let error = values(&known(), given(&[("wrd", "2")]), "q").unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean `word`?"));
    }
}
