//! The one table of routes, and the life of a request: route, look among finished answers, ask the door, respond.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use salver_model::observation::Observation;
use salver_model::{Caller, Code, Error, Result};
use salver_service::Snapshot;

use crate::app::App;
use crate::auth::Identity;
use crate::body::Body;
use crate::cache::Flight;
use crate::exchange::Exchange;
use crate::gate::{Reach, Said};
use crate::receive::Incoming;
use crate::segment::segment;
use crate::{
    caution, cursor, export, functions, graphql_http, index, kv, problem, receive, records, respond, rest, schema, sql,
    status, streams, tokens,
};

/// What there is to ask for.
#[derive(Debug, PartialEq)]
enum Route {
    Index,
    Health,
    Ready,
    Version,
    Schemas,
    Schema(String),
    Table(String),
    Sql,
    Graphql,
    GraphqlAsset(String),
    Look(String, String),
    /// The doors of `records`, which know their own paths; here for OPTIONS only.
    Records,
    /// The doors of `export`, which know their own paths; here for OPTIONS and unknown paths only.
    Export,
    /// ROAPI's registering and dropping of tables at run time, which Salver's configuration does instead.
    Administer,
}

impl Route {
    /// The table of routes. `path` is below the base path.
    fn of(path: &str) -> Option<Self> {
        Some(match path {
            "" | "/" => Self::Index,
            "/health" => Self::Health,
            "/ready" => Self::Ready,
            "/api/version" => Self::Version,
            "/api/schema" | "/api/schema/" => Self::Schemas,
            "/api/sql" => Self::Sql,
            "/api/graphql" => Self::Graphql,
            "/api/table" | "/api/tables/drop" => Self::Administer,
            _ if records::below_api(path).is_some() => Self::Records,
            "/api/export" => Self::Export,
            _ if path.starts_with("/api/export/") => Self::Export,
            _ => {
                let rest = path.strip_prefix("/api/")?;
                if let Some(name) = rest.strip_prefix("tables/") {
                    Self::Table(whole_segment(name)?)
                } else if let Some(name) = rest.strip_prefix("schema/") {
                    Self::Schema(whole_segment(name)?)
                } else if let Some(name) = rest.strip_prefix("graphql/") {
                    Self::GraphqlAsset(name.to_owned())
                } else {
                    let (store, key) = rest.strip_prefix("kv/")?.split_once('/')?;
                    Self::Look(segment(store), segment(key))
                }
            }
        })
    }

    /// The methods it answers; HEAD goes with GET, OPTIONS always.
    fn methods(&self) -> &'static str {
        match self {
            Self::Sql | Self::Graphql => "GET, HEAD, POST, OPTIONS",
            Self::Administer => "POST, OPTIONS",
            Self::Records => records::METHODS,
            Self::Export => "GET, HEAD, POST, PUT, DELETE, OPTIONS",
            _ => "GET, HEAD, OPTIONS",
        }
    }

    fn allows(&self, method: &Method) -> bool {
        self.methods().split(',').any(|allowed| allowed.trim_start() == method.as_str())
    }
}

fn whole_segment(text: &str) -> Option<String> {
    (!text.is_empty() && !text.contains('/')).then(|| segment(text))
}

/// The path below the base path; `None` outside it.
fn below_base<'a>(app: &App, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(app.options.base_path.as_str())?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Answers what takes a few microseconds, without a task and without waiting: finished answers and small reads.
/// `None` means "use [`answer`]", which gives the same.
pub(crate) fn answer_now<B>(app: &App, request: &Request<B>, said: &Said<'_>, peer: IpAddr) -> Option<Response<Body>> {
    let method = request.method();
    if !(*method == Method::GET || *method == Method::HEAD) || app.options.access_log {
        return None;
    }
    if app.gate.minds_everybody() || screen(app, request, said).is_err() || is_of_named_page(app, request) {
        return None;
    }
    let path = below_base(app, request.uri().path())?;
    if path == "/health" {
        return Some(leave(app, status::health()));
    }
    let proved = match &app.auth {
        None => Identity::new(),
        // Who is turned away, or not known at once, is answered by `answer`.
        Some(auth) => auth.identify_now(request.headers())?.ok()?,
    };
    if let Some(rest) = path.strip_prefix("/api/records/") {
        let answer = || records::answer_now(app, request, peer, &proved, rest);
        let answered = std::panic::catch_unwind(AssertUnwindSafe(answer));
        return answered.ok()?.map(|response| leave(app, response));
    }
    let caller = app.gate.caller(peer, request.headers(), &proved);
    let target = (path, request.uri().query().unwrap_or(""));
    let exchange = Exchange::new(app, &caller, method, target, request.headers(), Bytes::new());
    let snapshot = app.service.catalog().peek();
    if let Some(finished) = app.cache.get(&exchange.key, &snapshot) {
        return Some(leave_finished(app, respond::finished(&exchange, &finished)));
    }
    let name = path.strip_prefix("/api/tables/").filter(|name| *name != "drop")?;
    let name = whole_segment(name)?;
    // What breaks here is answered by `answer`, which has the means to tell of it.
    let answered = std::panic::catch_unwind(AssertUnwindSafe(|| rest::answer_now(&exchange, &snapshot, &name)));
    let response = match answered.ok()?? {
        Ok(response) => response,
        Err(error) => refuse(app, &error),
    };
    Some(leave(app, response))
}

/// Answers beyond what there is room for: that the server lives, and to anything else that it can't be answered now.
pub(crate) fn answer_beyond<B>(app: &App, request: &Request<B>) -> Response<Body> {
    let mut response = match below_base(app, request.uri().path()) {
        Some("/health") => status::health(),
        _ => {
            let connections_max = app.service.limits().connections_max;
            let error = Error::new(Code::Overloaded, format!("all {connections_max} connections are in use"))
                .with_hint("try again in a few seconds; `limits.connections_max` is the limit");
            refuse(app, &error)
        }
    };
    if request.version() < http::Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    leave(app, response)
}

/// An error in place of an answer that is there.
pub(crate) fn refuse_now(app: &App, error: &Error) -> Response<Body> {
    leave(app, refuse(app, error))
}

/// How an append is taken as soon as its body is there; `None` means "use [`answer`]", which gives the same.
pub(crate) fn plan_append<B>(app: &App, request: &Request<B>, said: &Said<'_>) -> Option<streams::Plan> {
    if *request.method() != Method::POST || app.options.access_log || app.gate.minds_everybody() {
        return None;
    }
    let plan = streams::Plan::of(app, request, below_base(app, request.uri().path())?)?;
    screen(app, request, said).ok()?;
    match &app.auth {
        None => Some(plan),
        Some(auth) => auth.identify_now(request.headers())?.ok().map(|_| plan),
    }
}

/// What is asked before any door is: for which host the request is, and whether the page it comes from may send it.
fn screen<B>(app: &App, request: &Request<B>, said: &Said<'_>) -> Result<()> {
    // Probes tell nothing, and know no name.
    if below_base(app, request.uri().path()) != Some("/health") {
        app.gate.admit_host(request.version(), said)?;
    }
    if let Some(packed) = said.packed {
        let packed = String::from_utf8_lossy(packed.as_bytes());
        return Err(Error::new(Code::UnsupportedMediaType, format!("the body comes as `{packed}`"))
            .with_hint("`Transfer-Encoding` is `chunked` here; say `Content-Encoding: gzip` where a page takes that"));
    }
    if !said.of_page {
        return Ok(());
    }
    app.gate.admit_page(request.method(), request.headers(), reach(app, request))
}

/// How far a request goes.
fn reach<B>(app: &App, request: &Request<B>) -> Reach {
    let (method, uri) = (request.method(), request.uri());
    let Some(path) = below_base(app, uri.path()) else { return Reach::Reads };
    let is_of_records = records::below_api(path).is_some();
    match Reach::of(method, path, uri.query().is_some_and(|query| !query.is_empty())) {
        // Functions may stand around requests for records, and a caller's own database is made by the first request.
        Reach::Reads if is_of_records && records::runs_code(app) => Reach::Runs,
        // A statement may call functions, and nobody expects a link to.
        Reach::Runs if is_of_records || path == "/api/sql" && !app.service.functions().is_empty() => Reach::Asks,
        // These change rows and events; of the others each looks itself at what it may change.
        Reach::Changes if !is_of_records && !streams::belongs(app, method, path) => Reach::Asks,
        reach => reach,
    }
}

/// Whether the answer must tell a page that it may read it.
fn is_of_named_page<B>(app: &App, request: &Request<B>) -> bool {
    app.gate.minds_origins() && request.headers().contains_key(header::ORIGIN)
}

/// Answers any request.
pub(crate) async fn answer(app: Arc<App>, request: Request<Incoming>, peer: IpAddr) -> Response<Body> {
    let started = app.options.access_log.then(std::time::Instant::now);
    let said = Said::of(request.headers());
    let entered = app.gate.enter(peer, &request).and_then(|entered| screen(&app, &request, &said).map(|()| entered));
    let (head, body) = request.into_parts();
    let living = async {
        match entered {
            Ok(None) => match preflight(&app, &head) {
                Some(response) => Ok(response),
                None => life(&app, &head, body, peer).await,
            },
            Ok(Some(response)) => Ok(response),
            Err(error) => Err(error),
        }
    };
    let response = AssertUnwindSafe(living).catch_unwind().await.unwrap_or_else(|panic| {
        let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let error = Error::internal("the server met a fault of its own while it answered")
            .with_hint("this is a bug; the server's log has the cause")
            .with_source(format!("panic: {}", what.unwrap_or("of unknown kind")));
        Err(error)
    });
    let mut response = leave(
        &app,
        response.unwrap_or_else(|error| match records_call(&app, &head, peer, &[]) {
            Some(call) => records::refuse(&call, &error),
            None => match streams_call(&app, &Caller::default(), &head) {
                Some(call) => streams::refuse(&call, &error),
                None => match cursor_call(&app, &Caller::default(), &head, peer) {
                    Some(call) => cursor::refuse(&call, &error),
                    None => refuse(&app, &error),
                },
            },
        }),
    );
    app.gate.release_named(&head.headers, response.headers_mut());
    if response.status() == StatusCode::UNAUTHORIZED
        && let Some(auth) = &app.auth
    {
        auth.challenge(response.headers_mut());
    }
    if let Some(started) = started {
        let (ms, status) = (started.elapsed().as_secs_f64() * 1000.0, response.status().as_u16());
        let uri = tokens::shown(&head.uri.to_string());
        tracing::info!(target: "access", method = %head.method, uri, status, ms);
    }
    response
}

/// The answer to a page that asks what it may do, where the options name pages. The doors of records and streams have
/// their own.
fn preflight(app: &App, head: &Parts) -> Option<Response<Body>> {
    let asks = head.method == Method::OPTIONS && head.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let path = below_base(app, head.uri.path()).filter(|_| asks)?;
    let has_own = records::below_api(path).is_some() || streams::belongs(app, &head.method, path);
    if has_own { None } else { app.gate.preflight(&head.headers) }
}

/// The life of a request, stage by stage.
async fn life(app: &Arc<App>, head: &Parts, body: Incoming, peer: IpAddr) -> Result<Response<Body>> {
    let (proved, stranger) = match identify(app, head, peer).await {
        Ok(proved) => (proved, None),
        Err(error) => (Identity::new(), Some(error)),
    };
    if let Some(call) = records_call(app, head, peer, &proved)
        && (head.method != Method::OPTIONS || app.gate.minds_origins())
    {
        return Ok(Box::pin(records::answer(&call, stranger, body)).await);
    }
    stranger.map_or(Ok(()), Err)?;
    let caller = app.gate.caller(peer, &head.headers, &proved);
    if let Some(call) = streams_call(app, &caller, head) {
        let first = head.extensions.get::<streams::Taken>().map(|taken| taken.0.clone());
        return Ok(Box::pin(streams::answer(&call, body, first)).await);
    }
    if let Some(call) = cursor_call(app, &caller, head, peer) {
        return Ok(Box::pin(cursor::answer(&call, body)).await);
    }
    let path = below_base(app, head.uri.path()).ok_or_else(|| nothing_at(head.uri.path()))?;
    let whole = (path, head.uri.query().unwrap_or(""));
    if let Some(target) = export::Target::of(&head.method, path, whole.1) {
        let body =
            if head.method == Method::POST { receive::whole(app, &head.headers, body).await? } else { Bytes::new() };
        let exchange = Exchange::new(app, &caller, &head.method, whole, &head.headers, body);
        return Box::pin(export::answer(app, &exchange, target)).await;
    }
    if let Some(target) = functions::Target::of(app, &head.method, path) {
        return Box::pin(functions::answer(app, head, body, target, caller)).await;
    }
    let route = Route::of(path).ok_or_else(|| nothing_at(head.uri.path()))?;
    match &head.method {
        &Method::OPTIONS => return Ok(options(&route)),
        method if !route.allows(method) => return Ok(method_not_allowed(app, &route, method)),
        _ => {}
    }
    let body = if head.method == Method::POST { receive::whole(app, &head.headers, body).await? } else { Bytes::new() };
    let exchange = Exchange::new(app, &caller, &head.method, whole, &head.headers, body);
    match route {
        Route::Health => return Ok(status::health()),
        Route::Ready => return Ok(status::ready(app, &caller)),
        Route::Version => return Ok(status::version()),
        Route::Administer => return Err(read_only()),
        Route::GraphqlAsset(name) => return graphql_http::asset(&name),
        _ => {}
    }
    if let Some(finished) = app.cache.get(&exchange.key, &app.service.catalog().peek()) {
        return Ok(respond::finished(&exchange, &finished));
    }
    let snapshot = app.service.catalog().snapshot();
    match route {
        Route::Index => return index::answer(&exchange).await,
        Route::Schemas => return schema::answer_all(&exchange).await,
        Route::Schema(name) => return schema::answer_one(&exchange, &name).await,
        _ => {}
    }
    let flight = match board(&exchange, &snapshot).await {
        Flight::Landed(finished) => return Ok(respond::finished(&exchange, &finished)),
        flight => flight,
    };
    match route {
        Route::Table(name) => rest::answer(&exchange, &name, flight).await,
        Route::Sql => sql::answer(&exchange, flight).await,
        Route::Graphql => graphql_http::answer(app, &exchange, flight, caller.clone()).await,
        Route::Look(store, key) => kv::answer(&exchange, &store, &key, flight).await,
        _ => Err(nothing_at(path)),
    }
}

/// What the caller proves. Probes prove nothing, nor do browsers that ask what a page may do.
async fn identify(app: &App, head: &Parts, peer: IpAddr) -> Result<Identity> {
    let Some(auth) = &app.auth else { return Ok(Identity::new()) };
    let path = below_base(app, head.uri.path());
    let is_open = matches!(path, Some("/health" | "/ready" | "/api/version")) || path.is_some_and(cursor::is_login);
    if is_open || head.method == Method::OPTIONS {
        return Ok(Identity::new());
    }
    auth.identify(&app.service, app.gate.address(peer, &head.headers), &head.headers).await
}

/// The request as the records doors see it, when it is theirs.
fn records_call<'a>(
    app: &'a Arc<App>,
    head: &'a Parts,
    peer: IpAddr,
    proved: &'a [(String, String)],
) -> Option<records::Call<'a>> {
    let path = records::below_api(below_base(app, head.uri.path())?)?;
    let (method, query) = (&head.method, head.uri.query().unwrap_or(""));
    Some(records::Call { app, method, path, query, headers: &head.headers, peer, proved })
}

/// The request as the doors of streams see it, when it is theirs.
fn streams_call<'a>(app: &'a Arc<App>, caller: &'a Caller, head: &'a Parts) -> Option<streams::Call<'a>> {
    streams::call(app, caller, head, below_base(app, head.uri.path())?)
}

/// The request as the doors of cursors see it, when it is theirs.
fn cursor_call<'a>(app: &'a Arc<App>, caller: &'a Caller, head: &'a Parts, peer: IpAddr) -> Option<cursor::Call<'a>> {
    cursor::call(app, caller, head, below_base(app, head.uri.path())?, app.gate.address(peer, &head.headers))
}

/// Finds out who makes the answer. While entries load everybody waits apart: answers that say so aren't kept,
/// and those who waited for one would then wait again, one after the other.
async fn board<'a>(exchange: &Exchange<'a>, snapshot: &Snapshot) -> Flight<'a> {
    let service = &exchange.app.service;
    if !snapshot.settled() {
        return Flight::Alone;
    }
    let patience = Duration::from_millis(service.limits().queue_ms_max);
    exchange.app.cache.get_or_lead(&exchange.key, service.catalog(), patience).await
}

/// What every answer gets on its way out.
#[inline]
pub(crate) fn leave(app: &App, mut response: Response<Body>) -> Response<Body> {
    caution::add(response.headers_mut(), app.options.cors);
    leave_finished(app, response)
}

/// The same for an answer that was finished with its caution.
#[inline]
pub(crate) fn leave_finished(app: &App, mut response: Response<Body>) -> Response<Body> {
    app.gate.release_all(response.headers_mut());
    if app.auth.is_some() {
        keep_private(response.headers_mut());
    }
    response
}

/// What is for some callers must not be kept for others on the way.
fn keep_private(headers: &mut http::HeaderMap) {
    let is_free = headers.get(header::CACHE_CONTROL).is_none_or(|value| value == "no-cache");
    if is_free {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
}

/// The answer to an error, and its observation when it is ours.
fn refuse(app: &App, error: &Error) -> Response<Body> {
    let mut status = problem::status(error.code);
    if error.code == Code::UnknownEntry && app.options.unknown_table_400 {
        status = StatusCode::BAD_REQUEST;
    }
    if problem::is_ours(error) {
        app.service.observer().observe(&Observation::RequestFailed { error });
    }
    problem::respond(error, status)
}

fn options(route: &Route) -> Response<Body> {
    let mut response = Response::new(Body::Full(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ALLOW, HeaderValue::from_static(route.methods()));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(route.methods()));
    let allowed = match route {
        Route::Records => {
            "accept, authorization, content-type, if-match, if-none-match, idempotency-key, prefer, x-api-key, \
             x-requested-with"
        }
        _ => "accept, authorization, content-type, if-none-match, prefer, range, x-api-key, x-requested-with",
    };
    let allowed = HeaderValue::from_static(allowed);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}

fn method_not_allowed(app: &App, route: &Route, method: &Method) -> Response<Body> {
    let error = Error::new(Code::MethodNotAllowed, format!("{method} is not answered here"))
        .with_hint(format!("use {}", route.methods()));
    let mut response = refuse(app, &error);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(route.methods()));
    response
}

fn nothing_at(path: &str) -> Error {
    let shown: String = path.chars().take(200).collect();
    Error::new(Code::NotFound, format!("there is nothing at {shown}"))
        .with_hint("`/` lists what is served; tables are at `/api/tables/{name}`")
}

fn read_only() -> Error {
    Error::new(Code::ReadOnly, "Write operation is not allowed in read-only mode")
        .with_hint("tables come from the configuration and are reloaded when their sources change")
}

#[cfg(test)]
mod tests {
    use super::Route;

    #[test]
    fn routes() {
        assert_eq!(Route::of("/"), Some(Route::Index));
        assert_eq!(Route::of("/api/tables/a%20b.csv"), Some(Route::Table("a b.csv".into())));
        assert_eq!(Route::of("/api/kv/s/a/b"), Some(Route::Look("s".into(), "a/b".into())));
        for none in ["/api", "/api/tables/", "/api/tables/a/b", "/api/kv/s", "/favicon.ico", "//"] {
            assert_eq!(Route::of(none), None, "{none}");
        }
    }
}
