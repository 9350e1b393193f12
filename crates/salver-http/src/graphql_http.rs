//! `/api/graphql` over HTTP: extracts the document from a request, and sends the result. The language itself is in
//! `graphql`, which knows no HTTP.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use salver_formats::{Choice, Format, Nulls, names_before};
use salver_model::limits::HELD_BYTES_FREE_OF_STREAM;
use salver_model::{Caller, Code, Error, Permission, Result, Version};

use crate::app::App;
use crate::body::Body;
use crate::cache::SingleFlight;
use crate::dialect::graphql::MEDIA_TYPE;
use crate::dialect::{Dialect, Refusal};
use crate::exit;
use crate::graphql::{self, Answer};
use crate::idempotency::{Kept, Key, Turn};
use crate::policy;
use crate::request_context::{RequestContext, parameters};
use crate::respond::{self, Heading};
use crate::security_headers;
use crate::unsent_responses::Repeatable;

/// The media type of the specification (<https://graphql.github.io/graphql-over-http/draft/>). A client that accepts it
/// gets it for errors, too.
const RESPONSE: &str = "application/graphql-response+json";

/// Responds with the result of a document, or with GraphiQL for a browser that sends none.
pub(crate) async fn answer(
    app: &Arc<App>,
    context: &RequestContext<'_>,
    flight: SingleFlight<'_>,
    caller: Caller,
) -> Result<Response<Body>, Refusal> {
    let accept = context.header_list(header::ACCEPT);
    let is_response = names_before(accept.as_deref(), RESPONSE, "application/json");
    let answered = answer_as(app, context, flight, caller, is_response).await;
    answered.map_err(|refusal| match refusal.dialect {
        None if is_response => refusal.in_dialect(Dialect::Graphql),
        _ => refusal,
    })
}

async fn answer_as(
    app: &Arc<App>,
    context: &RequestContext<'_>,
    flight: SingleFlight<'_>,
    caller: Caller,
    is_response: bool,
) -> Result<Response<Body>, Refusal> {
    let named = parameters(context.query)?.into_iter().find(|(name, _)| name == "format").map(|(_, value)| value);
    let choice = context.choose(None, named.as_deref())?;
    let mut request = if *context.method == Method::POST {
        graphql::parse_post(context.header(header::CONTENT_TYPE), &context.body)?
    } else if context.query.is_empty() && choice.format == Format::Html {
        return Ok(asset("")?);
    } else {
        graphql::parse_get(context.query)?
    };
    request.caller = caller;
    // This media type has only one form of result.
    request.raw &= !is_response;
    let media_type = if is_response { MEDIA_TYPE } else { "application/json" };
    request.may_change &= !app.gate.is_foreign(context.headers);
    if request.may_change && app.gate.checks_pages() && graphql::is_mutation(&request) {
        policy::admit_changes(app, context.method, context.headers)?;
    }
    if context.headers.contains_key(header::IF_MATCH) && request.may_change && graphql::is_mutation(&request) {
        return Err(Error::new(Code::InvalidRequest, "`If-Match` is about one record, and a document may change many")
            .with_hint("change the record at `/api/records`, or leave the header out")
            .into());
    }
    if let Some(key) = context.headers.get("idempotency-key").filter(|_| request.may_change) {
        let key = Key::of(key.to_str().unwrap_or_default(), &request.caller)?;
        if graphql::is_mutation(&request) {
            flight.abandon();
            return once(app, context, key, (request, choice, media_type)).await;
        }
    }
    let (response, _) = run(context, flight, &request, (choice, media_type)).await?;
    Ok(response)
}

/// Executes a mutation under its idempotency key, or returns the first response again. It runs in a task of its own, so
/// that it is completed and its response is kept even when the client disconnects.
async fn once(
    app: &Arc<App>,
    context: &RequestContext<'_>,
    key: Key,
    (request, choice, media_type): (graphql::Request, Choice, &'static str),
) -> Result<Response<Body>, Refusal> {
    let app = Arc::clone(app);
    let (method, headers) = (context.method.clone(), context.headers.clone());
    let (path, query) = (context.path.to_owned(), context.query.to_owned());
    let (body, admitted) = (context.body.clone(), context.admitted.clone());
    let version = Version::of(&(method.as_str(), path.as_str(), query.as_str(), &body[..]));
    let work = async move {
        let patience = Duration::from_millis(app.service.limits().queue_ms_max);
        let lead = match app.idempotency.turn(key, version, patience).await {
            Ok(Turn::Done(kept)) => return Ok(kept.answer()),
            Ok(Turn::Mine(lead)) => lead,
            Err(conflict) => return Err(conflict.into()),
        };
        let asked = (path.as_str(), query.as_str());
        let context = RequestContext::new(&app, &admitted, &method, asked, &headers).with_body(body);
        let (response, passing) = run(&context, SingleFlight::Alone, &request, (choice, media_type)).await?;
        if let Some(kept) = Kept::of(&response).filter(|_| !passing) {
            lead.finish(kept);
        }
        Ok::<_, Refusal>(response)
    };
    let done = tokio::spawn(work).await;
    done.map_err(|broken| Error::internal("the server failed while it wrote").with_source(broken))?
}

/// Runs a document; also returns whether a mutation failed for a transient reason, so that the key must not be used up.
async fn run(
    context: &RequestContext<'_>,
    flight: SingleFlight<'_>,
    request: &graphql::Request,
    (choice, media_type): (Choice, &'static str),
) -> Result<(Response<Body>, bool)> {
    let app = context.app;
    let snapshot = app.service.snapshot_settled(context.caller, Permission::Read).await;
    let queries = app.service.queries_settled(context.caller, &snapshot).await;
    // Bodies contain page tokens, which are only valid under their key.
    let of_queries = app.service.version_of_queries(&snapshot, &queries);
    let content = Version::of(&(snapshot.content(), salver_model::cursor::key_id(), of_queries));
    let version =
        context.answer_version(content, if media_type == MEDIA_TYPE { MEDIA_TYPE } else { choice.media_type });
    let heading = Heading { choice, title: "GraphQL".to_owned(), version, ways: None };
    if let Some(response) = heading.unchanged(context) {
        return Ok((response, false));
    }
    let nulls = if app.options.omit_nulls { Nulls::Omit } else { Nulls::Write };
    match graphql::answer(&app.graphql, &app.service, (&snapshot, &queries), request, nulls).await? {
        Answer::Rows(rows) => {
            let links = HeaderMap::with_capacity(respond::HEADERS_USUAL);
            respond::rows(context, &heading, rows, links, flight).await.map(|response| (response, false))
        }
        Answer::Document { body, read, repeatable, refused, passing } => {
            let made_from = (repeatable && refused.is_none()).then_some(read);
            let keep = made_from.is_some();
            let (finished, mut response) = respond::document(context, media_type, body, version, made_from).await?;
            if keep {
                flight.complete(&context.app.cache, context.key(), &finished);
            }
            if let Body::Full(body) = response.body()
                && (body.len() > HELD_BYTES_FREE_OF_STREAM || context.caller.limits.response_bytes().most().is_some())
                && !graphql::is_mutation(request)
            {
                response.extensions_mut().insert(Repeatable);
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
            Ok((response, passing))
        }
    }
}

/// Responds with a file of GraphiQL; the empty name is the page.
pub(crate) fn asset(name: &str) -> Result<Response<Body>> {
    let (bytes, media_type, coding) = graphql::asset(name).ok_or_else(|| {
        Error::new(Code::NotFound, format!("there is no file `{name}` here")).with_hint("GraphiQL is at `/api/graphql`")
    })?;
    let mut response = exit::reply(StatusCode::OK, Body::Full(Bytes::from_static(bytes)));
    let headers = response.headers_mut();
    security_headers::of_graphiql(headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if name.is_empty() {
        // The page shares its URL with query results: a cache must not serve it to a program.
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
