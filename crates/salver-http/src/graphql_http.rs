//! `/api/graphql` over HTTP: where the document is in a request, and how its answer leaves. The language itself is in
//! `graphql`, which knows no HTTP.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use salver_formats::{Format, Nulls, names_before};
use salver_model::observation::Observation;
use salver_model::{Caller, Code, Error, Result, Version};

use crate::body::Body;
use crate::cache::Flight;
use crate::caution;
use crate::exchange::{Exchange, parameters};
use crate::graphql::{self, Answer};
use crate::problem;
use crate::respond::{self, Heading};

/// The media type of the specification (<https://graphql.github.io/graphql-over-http/draft/>): who asks for it gets it,
/// for what goes wrong, too.
const RESPONSE: &str = "application/graphql-response+json";
/// The same as it is answered.
const RESPONSE_TYPE: &str = "application/graphql-response+json; charset=utf-8";

/// Answers a document, or shows GraphiQL to a browser that brings none.
pub(crate) async fn answer(exchange: &Exchange<'_>, flight: Flight<'_>, caller: Caller) -> Result<Response<Body>> {
    let accept = exchange.header_list(header::ACCEPT);
    let is_response = names_before(accept.as_deref(), RESPONSE, "application/json");
    match answer_as(exchange, flight, caller, is_response).await {
        Err(error) if is_response => {
            if problem::is_ours(&error) {
                exchange.app.service.observer().observe(&Observation::RequestFailed { error: &error });
            }
            let mut response = problem::respond(&error, problem::status(error.code));
            *response.body_mut() = Body::Full(graphql::unread(&error).into());
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(RESPONSE_TYPE));
            Ok(response)
        }
        answered => answered,
    }
}

async fn answer_as(
    exchange: &Exchange<'_>,
    flight: Flight<'_>,
    caller: Caller,
    is_response: bool,
) -> Result<Response<Body>> {
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
    // There is but one form of answer under this name.
    request.raw &= !is_response;
    let media_type = if is_response { RESPONSE_TYPE } else { "application/json" };
    request.may_change &= !app.gate.is_foreign(exchange.headers);
    let snapshot = app.service.snapshot_settled().await;
    // Bodies carry tokens of pages, which are good under their key only.
    let content = Version::of(&(snapshot.content(), salver_model::cursor::key_id()));
    let version = exchange.answer_version(content, if is_response { RESPONSE_TYPE } else { choice.media_type });
    let heading = Heading { choice, title: "GraphQL".to_owned(), version };
    if let Some(response) = heading.unchanged(exchange) {
        return Ok(response);
    }
    let nulls = if app.options.omit_nulls { Nulls::Omit } else { Nulls::Write };
    match graphql::answer(&app.graphql, &app.service, &snapshot, &request, nulls).await? {
        Answer::Rows(rows) => {
            respond::rows(exchange, &heading, rows, HeaderMap::with_capacity(respond::HEADERS_USUAL), flight).await
        }
        Answer::Document { body, read, repeatable, refused } => {
            let made_from = (repeatable && refused.is_none()).then_some(read);
            let keep = made_from.is_some();
            let (finished, mut response) = respond::document(exchange, media_type, body, version, made_from).await?;
            if keep {
                flight.land(&exchange.app.cache, &exchange.key, &finished);
            }
            if let Some(code) = refused {
                *response.status_mut() = match code {
                    Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
                    _ => StatusCode::BAD_REQUEST,
                };
                if code == Code::MethodNotAllowed {
                    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
                }
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
