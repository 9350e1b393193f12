//! `/api/graphql` over HTTP: where the document is in a request, and how its answer leaves. The language itself is in
//! `graphql`, which knows no HTTP.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use salver_formats::{Format, Nulls};
use salver_model::{Caller, Code, Error, Result, Version};

use crate::body::Body;
use crate::cache::Flight;
use crate::caution;
use crate::exchange::{Exchange, parameters};
use crate::graphql::{self, Answer};
use crate::respond::{self, Heading};

/// Answers a document, or shows GraphiQL to a browser that brings none.
pub(crate) async fn answer(exchange: &Exchange<'_>, flight: Flight<'_>, caller: Caller) -> Result<Response<Body>> {
    let named = parameters(exchange.query)?.into_iter().find(|(name, _)| name == "format").map(|(_, value)| value);
    let choice = exchange.choose(None, named.as_deref())?;
    let mut request = if *exchange.method == Method::POST {
        graphql::parse_post(exchange.header(header::CONTENT_TYPE), &exchange.body)?
    } else if exchange.query.is_empty() && choice.format == Format::Html {
        return asset("");
    } else {
        graphql::parse_get(exchange.query)?
    };
    let app = exchange.app;
    request.caller = caller;
    request.may_change &= !app.gate.is_foreign(exchange.headers);
    let snapshot = app.service.snapshot_settled().await;
    // Bodies carry tokens of pages, which are good under their key only.
    let content = Version::of(&(snapshot.content(), salver_model::cursor::key_id()));
    let version = exchange.answer_version(content, choice.media_type);
    let heading = Heading { choice, title: "GraphQL".to_owned(), version };
    if let Some(response) = heading.unchanged(exchange) {
        return Ok(response);
    }
    let nulls = if app.options.omit_nulls { Nulls::Omit } else { Nulls::Write };
    match graphql::answer(&app.graphql, &app.service, &snapshot, &request, nulls).await? {
        Answer::Rows(rows) => {
            respond::rows(exchange, &heading, rows, HeaderMap::with_capacity(respond::HEADERS_USUAL), flight).await
        }
        Answer::Document { body, read, repeatable, status_ok } => {
            let made_from = (repeatable && status_ok).then_some(read);
            let keep = made_from.is_some();
            let (finished, mut response) =
                respond::document(exchange, "application/json", body, version, made_from).await?;
            if keep {
                flight.land(&exchange.app.cache, &exchange.key, &finished);
            }
            if !status_ok {
                *response.status_mut() = StatusCode::BAD_REQUEST;
            }
            Ok(response)
        }
    }
}

/// A file of GraphiQL; the empty name is the page.
pub(crate) fn asset(name: &str) -> Result<Response<Body>> {
    let (bytes, media_type, coding) = graphql::asset(name).ok_or_else(|| {
        Error::new(Code::NotFound, format!("there is no file `{name}` here")).with_hint("GraphiQL is at `/api/graphql`")
    })?;
    let mut response = Response::new(Body::Full(Bytes::from_static(bytes)));
    let headers = response.headers_mut();
    caution::of_graphiql(headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if name.is_empty() {
        // The page shares its address with answers: a cache must not hand it to a program.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::VARY, HeaderValue::from_static("accept"));
    } else {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
    }
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    Ok(response)
}
