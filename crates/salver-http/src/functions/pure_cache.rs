//! Caches the responses of functions that are declared pure.
//!
//! The key consists of the load of the file, the endpoint and its arguments in the order of their declaration, so that
//! a response is valid until the file is loaded again. Concurrent requests for the same key wait for one call. Jobs
//! read and fill the cache, but requests do not wait for them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, Response, header};
use salver_model::Version;
use salver_model::functions::Call;
use salver_model::limits::CACHED_BODY_BYTES_MAX;
use salver_model::spec::FunctionSpec;

use salver_service::FunctionFile;

use super::respond::ask;
use crate::app::App;
use crate::body::Body;
use crate::cache::{CachedResponse, SingleFlight};
use crate::dialect::Refusal;
use crate::request_context::RequestContext;
use crate::{conditional, respond as exit};

/// Responds to `call` from the cache when its function is pure, else calls the function and caches the response.
pub(super) async fn answer(
    context: &RequestContext<'_>,
    file: &FunctionFile,
    call: Call,
) -> Result<Response<Body>, Refusal> {
    let app = context.app;
    let Some(key) = key(file.spec(), &call) else { return ask(context, file, call).await };
    let flight = match app.cache.get_or_lead(&key, || app.service.peek_all(), patience(file.spec())).await {
        SingleFlight::Completed(finished) => {
            app.metrics.count_cached();
            return Ok(again(context, &finished));
        }
        flight => flight,
    };
    match ask(context, file, call).await.map(finish) {
        Ok(Ok(finished)) => {
            flight.keep(&app.cache, &key, &finished);
            Ok(again(context, &finished))
        }
        Ok(Err(response)) => {
            flight.abandon();
            Ok(response)
        }
        Err(refusal) => {
            flight.abandon();
            Err(refusal)
        }
    }
}

/// Returns the cached response for `key`.
pub(super) fn kept(app: &App, key: &[u8]) -> Option<Response<Body>> {
    let finished = app.cache.get(key, &app.service.peek_all())?;
    app.metrics.count_cached();
    Some(exit::again(None, &finished))
}

/// Caches a response under `key`, if it is cacheable.
pub(super) fn keep(app: &App, key: &[u8], response: Response<Body>) -> Response<Body> {
    match finish(response) {
        Ok(finished) => {
            app.cache.put(key, Arc::clone(&finished));
            exit::again(None, &finished)
        }
        Err(response) => response,
    }
}

/// Returns the cache key of `call`; `None` when it is too long, or when the function is not pure.
pub(super) fn key(spec: &FunctionSpec, call: &Call) -> Option<Vec<u8>> {
    let endpoint = call.interface.as_ref()?.endpoints.get(call.endpoint?)?;
    if !endpoint.pure || endpoint.takes_request {
        return None;
    }
    let bytes = call.arguments.len() + call.body.len();
    if bytes > CACHED_BODY_BYTES_MAX {
        return None;
    }
    // Keys of other cached responses begin with another letter.
    let mut key = Vec::with_capacity(64 + bytes);
    key.push(b'F');
    let load = call.interface.as_ref().map_or(0, |interface| interface.load);
    for number in [load, call.endpoint.map_or(0, |endpoint| endpoint as u64)] {
        key.extend_from_slice(&number.to_le_bytes());
    }
    let fields = call.headers.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
    for part in [spec.name.as_str().as_bytes(), &call.arguments, &call.body].into_iter().chain(fields) {
        key.extend_from_slice(&part.len().to_le_bytes());
        key.extend_from_slice(part);
    }
    Some(key)
}

/// Returns how long a call waits for another one with the same key: the longest time that one may take.
fn patience(spec: &FunctionSpec) -> Duration {
    spec.timeout.map_or(Duration::MAX, |timeout| timeout.saturating_add(spec.wait))
}

/// Returns the response in its cacheable form, or the unchanged response if it is not cacheable.
#[expect(clippy::result_large_err, reason = "the answer goes on as it came")]
fn finish(response: Response<Body>) -> std::result::Result<Arc<CachedResponse>, Response<Body>> {
    let body = match response.body() {
        Body::Full(body) if response.status().is_success() && !is_private(response.headers()) => body.clone(),
        _ => return Err(response),
    };
    let (mut head, _) = response.into_parts();
    let content = Version::of(&(&body[..], head.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes)));
    let etag = head.headers.entry(header::ETAG).or_insert_with(|| conditional::etag(content)).clone();
    // A reload of the file can't be predicted, so caches have to revalidate.
    head.headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    head.headers.entry(header::VARY).or_insert(HeaderValue::from_static("accept"));
    Ok(Arc::new(CachedResponse {
        status: head.status,
        headers: head.headers,
        etag: Some(etag),
        body,
        read: Vec::new(),
        generation: AtomicU64::new(u64::MAX),
    }))
}

/// Returns whether the function marks its response as private.
fn is_private(headers: &HeaderMap) -> bool {
    let said = headers.get_all(header::CACHE_CONTROL).iter().any(|value| {
        let text = value.to_str().unwrap_or("private").to_ascii_lowercase();
        text.contains("no-store") || text.contains("private")
    });
    said || headers.contains_key(header::SET_COOKIE)
}

/// Returns the response, or 304 when the client has it.
fn again(context: &RequestContext<'_>, finished: &CachedResponse) -> Response<Body> {
    let reads = matches!(*context.method, Method::GET | Method::HEAD);
    exit::again(conditional::if_none_match(context.headers).filter(|_| reads).as_deref(), finished)
}
