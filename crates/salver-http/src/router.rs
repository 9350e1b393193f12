//! The life of a request: target, admission, cache lookup, door, and the headers of the response.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use salver_model::{Code, Error, Permission, Result};
use salver_service::Snapshot;
use salver_service::trace::ActiveSpan;

use crate::absent::{nothing_at, nothing_at_metrics, read_only, refuse_method};
use crate::app::App;
use crate::body::{Body, SendWatch};
use crate::cache::SingleFlight;
use crate::caller_accounts::Charge;
use crate::connections::Connection;
use crate::dialect::{Dialect, Refusal, arangodb};
use crate::gate::CheckedHeaders;
use crate::metrics::Timer;
use crate::open_request::{OpenRequest, end_policy};
use crate::peer::Peer;
use crate::policy::{Admission, Admitted, Head};
use crate::receive::Incoming;
use crate::refuse::refuse;
use crate::request_context::RequestContext;
use crate::request_record::{REQUEST_ID, RequestRecord};
use crate::request_target::{RequestTarget, below_base};
use crate::routes::declared::{DeclaredMatch, DeclaredTarget};
use crate::routes::{self, Family, Found, RouteTarget, own};
use crate::segment::{check_text, is_text};
use crate::{
    browser, console, cursor, exit, export, functions, graphql_http, index, kv, metrics_page, oidc_login, openapi,
    other_method, policy, queries, query_edits, receive, records, respond, rest, schema, security_headers, sql, status,
    streams,
};

/// Answers requests that take a few microseconds, without a task and without waiting: cached responses and small reads.
/// `None` means "use [`answer`]", which gives the same result and is told what the request was charged.
pub(crate) fn answer_now<B>(
    app: &Arc<App>,
    request: &Request<B>,
    said: &CheckedHeaders<'_>,
    peer: &Peer,
    charge: &mut Charge,
) -> Option<Response<Body>> {
    let method = request.method();
    if !(*method == Method::GET || *method == Method::HEAD) || is_told_of(app, said) {
        return None;
    }
    let timer = Timer::begin(method);
    let path = below_base(app, request.uri().path()).filter(|path| is_text(path))?;
    let query = request.uri().query().unwrap_or("");
    let asked = RequestTarget::of(app, method, path, query);
    let timer = timer.of(asked.label());
    let rows = match &asked {
        RequestTarget::Table(Found::Row(_, RouteTarget::Records(target))) => Some(records::NearRows::of(app, target)?),
        RequestTarget::Table(Found::Row(_, RouteTarget::Own(_))) => None,
        _ => return None,
    };
    let admitted = admitted_at_once(app, request, said, peer, &asked, charge)?;
    let context = RequestContext::new(app, &admitted, method, (path, query), request.headers());
    if let Some(rows) = rows {
        let mut response = std::panic::catch_unwind(AssertUnwindSafe(|| rows.answer(&context))).ok()??;
        respond::bound(&context, true, &mut response);
        return Some(complete(app, timer, response));
    }
    let target = match asked {
        RequestTarget::Table(Found::Row(_, RouteTarget::Own(target))) => target,
        _ => return None,
    };
    if let own::OwnTarget::Health = target {
        return Some(complete(app, timer, status::health()));
    }
    let snapshot = app.service.peek(context.caller, permission(&target));
    if let Some(finished) = app.cache.get(context.key(), &snapshot) {
        app.metrics.count_cached();
        let mut response = respond::finished(&context, &finished);
        respond::bound(&context, true, &mut response);
        leave_finished(app, &mut response);
        count(app, timer, &mut response);
        return Some(response);
    }
    let own::OwnTarget::Table(name) = target else { return None };
    // Names that are unknown, or still loading, are left to `answer`, which can wait.
    snapshot.resolve(rest::entry(&snapshot, &name)).ok()?;
    let table = || match rest::TableRequest::of(&context, &snapshot, &name) {
        Ok(request) => rest::answer(&context, &snapshot, &request, SingleFlight::Immediate).ready(),
        Err(error) => Some(Err(error)),
    };
    // After a panic `answer` repeats the request, since it can report the panic.
    let answered = std::panic::catch_unwind(AssertUnwindSafe(table));
    let response = match answered.ok()?? {
        Ok(mut response) => {
            respond::bound(&context, true, &mut response);
            response
        }
        Err(error) => {
            let refusal = Refusal::from(error);
            // `answer` reports what is the server's fault under the ID of the request.
            if Dialect::Salver.status(&refusal).is_server_error() {
                return None;
            }
            refuse(app, Dialect::Salver, refusal)
        }
    };
    Some(complete(app, timer, response))
}

/// Returns whether something is told of every request like this one, in the log or in the response, or the response
/// depends on there being one, so that it is left to [`answer`].
#[inline]
fn is_told_of(app: &App, said: &CheckedHeaders<'_>) -> bool {
    said.request_id
        || said.is_traced
        || said.has_any
        || said.has_range
        || app.options.access_log
        || app.options.server_timing
}

/// Adds the headers that every response gets, and counts the response.
fn complete(app: &App, timer: Timer, mut response: Response<Body>) -> Response<Body> {
    leave(app, &mut response);
    count(app, timer, &mut response);
    response
}

/// Counts a response that is ready.
fn count(app: &App, timer: Timer, response: &mut Response<Body>) {
    app.metrics.count(timer, response.status());
    if matches!(response.body(), Body::Stream(_)) && !timer.is_of_head() {
        response.body_mut().is_watched_by(SendWatch::new(app.metrics.aborted(), None, None));
    }
}

/// Admits a request, unless that takes waiting or the response needs headers for the page that sent the request.
fn admitted_at_once<B>(
    app: &App,
    request: &Request<B>,
    said: &CheckedHeaders<'_>,
    peer: &Peer,
    asked: &RequestTarget<'_>,
    charge: &mut Charge,
) -> Option<Admitted> {
    if said.of_page && app.gate.checks_origins() {
        return None;
    }
    match policy::admit(app, Head::of(request), said, peer, asked, charge).ready()? {
        Admission::In(admitted) if !admitted.has_pass() => Some(admitted),
        _ => None,
    }
}

/// Answers a request without TLS at a listener with it.
pub(crate) fn answer_without_tls<B>(app: &App, request: &Request<B>, peer: &Peer) -> Response<Body> {
    let answered = app.gate.without_tls(request, peer);
    let sent = request.headers().get(REQUEST_ID);
    let mut response = with_id(sent, || answered.unwrap_or_else(|error| refuse(app, Dialect::Salver, error)));
    if request.version() < http::Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    leave(app, &mut response);
    response
}

/// Answers requests beyond the capacity: `/health` as usual, and anything else with an error.
pub(crate) fn answer_beyond<B>(app: &App, request: &Request<B>, connection: &Connection) -> Response<Body> {
    let path = below_base(app, request.uri().path());
    let asked = path.map(|path| RequestTarget::Table(routes::find(request.method(), path, "")));
    let is_liveness = asked.is_some_and(|asked| policy::is_liveness(&asked));
    let mut response = with_id(request.headers().get(REQUEST_ID), || match is_liveness {
        true => status::health(),
        false => {
            let connections_max = app.service.limits().connections_max;
            let (message, limit) = match connection.is_beyond_share() {
                false => {
                    (format!("all {connections_max} connections are in use"), "`limits.connections_max` is the limit")
                }
                true => (
                    "all connections that one address may have are in use".to_owned(),
                    "`limits.connections_per_address_max` is the limit, or else a share of `limits.connections_max`",
                ),
            };
            let hint = format!("try again in a few seconds; {limit}");
            refuse(app, Dialect::Salver, Error::new(Code::Overloaded, message).with_hint(hint))
        }
    });
    if request.version() < http::Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    leave(app, &mut response);
    response
}

/// Returns an error instead of a response that can't be sent, to a request for which the client may have sent an ID.
pub(crate) fn refuse_response(app: &App, sent: Option<&HeaderValue>, error: Error) -> Response<Body> {
    let mut response = with_id(sent, || refuse(app, Dialect::Salver, error));
    leave(app, &mut response);
    response
}

/// Makes a response elsewhere than in [`answer`], and adds the ID of its request as that does.
fn with_id(sent: Option<&HeaderValue>, make: impl FnOnce() -> Response<Body>) -> Response<Body> {
    let record = Arc::new(RequestRecord::of(sent));
    let mut response = record.scope_now(make);
    let is_failure = response.status().is_server_error();
    record.tell(response.headers_mut(), is_failure);
    response
}

/// Returns a plan for an append, which is executed as soon as the body is there; `None` means "use [`answer`]", which
/// gives the same result and is told what the request was charged.
pub(crate) fn plan_append<B>(
    app: &App,
    request: &Request<B>,
    said: &CheckedHeaders<'_>,
    peer: &Peer,
    charge: &mut Charge,
) -> Option<(Timer, streams::AppendPlan)> {
    // An append waits for the disk, and so may be slow, as no other response that is ready at once.
    if *request.method() != Method::POST || is_told_of(app, said) || app.options.slow_ms > 0 {
        return None;
    }
    let timer = Timer::begin(request.method());
    let asked = RequestTarget::Table(routes::find(&Method::POST, below_base(app, request.uri().path())?, ""));
    let RequestTarget::Table(Found::Row(row, RouteTarget::Streams(routes::streams::StreamsTarget::Append(name)))) =
        &asked
    else {
        return None;
    };
    let admitted = admitted_at_once(app, request, said, peer, &asked, charge)?;
    Some((timer.of(row.label), streams::AppendPlan::of(app, &admitted, request, name)?))
}

/// Answers any request, which is recorded if it has a span.
pub(crate) async fn answer(
    app: Arc<App>,
    request: Request<Incoming>,
    peer: Peer,
    (charge, span): (Charge, Option<ActiveSpan>),
) -> Response<Body> {
    let timer = Timer::begin(request.method());
    let record = Arc::new(RequestRecord::of(request.headers().get(REQUEST_ID)));
    let (head, body) = request.into_parts();
    let open = OpenRequest::new(&app, &record, (&head, &peer), timer, span);
    let mut response = record
        .scope(AssertUnwindSafe(life(&app, &head, (body, charge), &peer, &open)).catch_unwind())
        .await
        .unwrap_or_else(|panic| {
            let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            let error = Error::internal("the server failed while it answered")
                .with_hint("this is a bug; the server's log has the cause")
                .with_source(format!("panic: {}", what.unwrap_or("of unknown kind")));
            let dialect = dialect(&head, RequestTarget::of_head(&app, &head, &peer).family());
            record.scope_now(|| refuse(&app, dialect, error))
        });
    leave(&app, &mut response);
    app.gate.apply_cors_named(&head.headers, response.headers_mut());
    if response.status() == StatusCode::UNAUTHORIZED
        && let Some(auth) = app.auth.load()
    {
        auth.challenge(&head.headers, response.headers_mut());
    }
    open.answered(&mut response);
    response
}

/// Returns the dialect in which a request to this family is refused.
fn dialect(head: &Parts, family: Family) -> Dialect {
    family.dialect(head.uri.query().unwrap_or(""))
}

/// Runs the stages of a request: target, admission, door, and headers for the page.
async fn life(
    app: &Arc<App>,
    head: &Parts,
    (mut body, mut charge): (Incoming, Charge),
    peer: &Peer,
    open: &OpenRequest<'_>,
) -> Response<Body> {
    let record = open.record;
    let asked = RequestTarget::of_head(app, head, peer);
    record.label.set(asked.label());
    let dialect = dialect(head, asked.family());
    let said = CheckedHeaders::of(&head.headers);
    let deciding = open.begin_policy();
    let admission = policy::admit(app, Head::of_parts(head), &said, peer, &asked, &mut charge).await;
    end_policy(deciding, &admission);
    let admitted = match admission {
        Admission::In(admitted) => admitted,
        Admission::Answered(response) => return *response,
        Admission::Refused(error, pass, caller) => {
            if let Some(caller) = caller.filter(|_| app.options.access_log) {
                record.identify(&caller);
            }
            return policy::release(app, pass, refuse(app, dialect, *error));
        }
    };
    if app.options.server_timing {
        record.admitted(open.elapsed());
    }
    if app.options.access_log {
        record.identify(admitted.caller());
    }
    let (is_read, body_bytes) = (asked.is_read(&head.method), admitted.caller().limits.body_bytes());
    body.within(body_bytes);
    let answered = match receive::check_declared(&head.headers, body_bytes) {
        Ok(()) => open.operate(door(app, &admitted, (head, peer), asked, body)).await,
        Err(error) => Err(error.into()),
    };
    let mut response = answered.unwrap_or_else(|refusal| refuse(app, dialect, refusal));
    let target = (head.uri.path(), head.uri.query().unwrap_or(""));
    let context = RequestContext::new(app, &admitted, &head.method, target, &head.headers);
    respond::bound(&context, is_read, &mut response);
    respond::withhold(said.has_any, &head.method, &mut response);
    response.body_mut().counts_as(charge.into_running());
    policy::release(app, admitted.into_pass(), response)
}

/// Passes the request to its door.
async fn door(
    app: &Arc<App>,
    admitted: &Admitted,
    (head, peer): (&Parts, &Peer),
    asked: RequestTarget<'_>,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let absent = |caller| match peer.is_at_metrics() {
        true => nothing_at_metrics(head.uri.path()),
        false => nothing_at(app, head.uri.path(), caller),
    };
    let path = below_base(app, head.uri.path()).ok_or_else(|| absent(None))?;
    let target = (path, head.uri.query().unwrap_or(""));
    let context = RequestContext::new(app, admitted, &head.method, target, &head.headers);
    let asked = asked.seen_by(app, head, context.caller);
    // An application decodes its path itself.
    if !asked.is_of_application() {
        check_text(path)?;
    }
    let found = match asked {
        RequestTarget::Declared(declared) => return Box::pin(answer_declared(&context, declared, body)).await,
        RequestTarget::OtherMethod(methods, family) => {
            return refuse_method(&head.method, &methods.list(), family);
        }
        RequestTarget::Table(found) => found,
    };
    let family = found.family();
    let target = match (found, family) {
        (Found::Row(_, target), _) => target,
        (Found::OtherMethod(place), _) => return other_method::answer(&context, place),
        (_, Family::Records) => return Err(records::nowhere(&context).into()),
        (_, Family::ArangoDb) => return Err(arangodb::nowhere()),
        (Found::Nothing(_), Family::Streams) => return Err(streams::nothing_at(path).into()),
        (Found::Nothing(_), _) => return Err(absent(Some(context.caller)).into()),
    };
    if let Some(refusal) = other_method::refused(&context, &target) {
        return Err(refusal);
    }
    match target {
        RouteTarget::Records(target) => Ok(Box::pin(records::answer(&context, target, body)).await?),
        RouteTarget::Streams(target) => {
            let first = head.extensions.get::<streams::Taken>().map(|taken| taken.0.clone());
            Box::pin(streams::answer(&context, target, body, first)).await
        }
        RouteTarget::Confluent(target) => Box::pin(streams::confluent::answer(&context, target, body)).await,
        RouteTarget::ArangoDb(target) => Box::pin(cursor::answer(&context, &target, body)).await,
        RouteTarget::Functions(target) => Box::pin(functions::answer(&context, target, body)).await,
        RouteTarget::Exports(target) => {
            let context = receive::whole(context, body).await?;
            Box::pin(export::answer(app, &context, target)).await
        }
        RouteTarget::Own(target) => answer_own(app, &receive::whole(context, body).await?, target).await,
    }
}

/// Answers a request for a route that an entry declares.
async fn answer_declared(
    context: &RequestContext<'_>,
    declared: DeclaredMatch,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    match declared.target() {
        DeclaredTarget::Stream => streams::answer_route(context, declared.entry(), body).await,
        _ => functions::answer_declared(context, declared, body).await,
    }
}

/// Answers a request to one of Salver's own doors.
async fn answer_own(
    app: &Arc<App>,
    context: &RequestContext<'_>,
    target: own::OwnTarget<'_>,
) -> Result<Response<Body>, Refusal> {
    match target {
        own::OwnTarget::Health => return Ok(status::health()),
        own::OwnTarget::Ready => return Ok(status::ready(app, context.caller)),
        own::OwnTarget::Metrics => return Ok(metrics_page::answer(context)?),
        own::OwnTarget::Version => return Ok(status::version()),
        own::OwnTarget::EditQuery(name) => return Box::pin(query_edits::answer(context, &name)).await,
        own::OwnTarget::Provider(step) => return Box::pin(oidc_login::answer(context, step)).await,
        own::OwnTarget::Administer => return Err(read_only().into()),
        own::OwnTarget::Console(path) => return Ok(console::answer(context, path)?),
        own::OwnTarget::Index if browser::is_one(context.headers) => return Ok(console::answer(context, "")?),
        own::OwnTarget::GraphqlAsset(name) => return Ok(graphql_http::asset(name)?),
        own::OwnTarget::Table(name) if export::is_file(context, &name) => {
            return Box::pin(export::file(app, context, &name)).await;
        }
        _ => {}
    }
    if let Some(finished) = app.cache.get(context.key(), &app.service.peek(context.caller, permission(&target))) {
        app.metrics.count_cached();
        return Ok(respond::finished(context, &finished));
    }
    // Boxed, so that cached responses need not reserve space for the state of the other work.
    Box::pin(make(app, context, target)).await
}

/// Makes the response of one of Salver's own doors, or waits for another request that makes it.
async fn make(
    app: &Arc<App>,
    context: &RequestContext<'_>,
    target: own::OwnTarget<'_>,
) -> Result<Response<Body>, Refusal> {
    let snapshot = app.service.snapshot(context.caller, permission(&target));
    match target {
        own::OwnTarget::Index => return Ok(index::answer(context)),
        own::OwnTarget::Plain => return Ok(index::plain(context).await?),
        own::OwnTarget::Openapi => return Ok(openapi::answer(context).await?),
        own::OwnTarget::Schemas => return Ok(schema::answer_all(context).await?),
        own::OwnTarget::Schema(name) => return Ok(schema::answer_one(context, &name).await?),
        own::OwnTarget::Queries => return Ok(queries::list(context).await?),
        _ => {}
    }
    let flight = match join_flight(context, &snapshot).await {
        SingleFlight::Completed(finished) => return Ok(respond::finished(context, &finished)),
        flight => flight,
    };
    let answered = match target {
        own::OwnTarget::Table(name) => {
            let snapshot =
                app.service.snapshot_with(context.caller, Permission::Read, rest::entry(&snapshot, &name)).await;
            let request = rest::TableRequest::of(context, &snapshot, &name)?;
            rest::answer(context, &snapshot, &request, flight).await
        }
        own::OwnTarget::Sql => sql::answer(context, flight).await,
        own::OwnTarget::Graphql => {
            return graphql_http::answer(app, context, flight, context.caller.clone()).await;
        }
        own::OwnTarget::Query(name) => queries::answer(context, &name, flight).await,
        own::OwnTarget::Look(store, key) => kv::answer(context, &store, &key, flight).await,
        _ => Err(nothing_at(app, context.path, Some(context.caller))),
    };
    Ok(answered?)
}

/// Returns the permission that a request to one of Salver's own doors needs for the entries it reads.
fn permission(target: &own::OwnTarget<'_>) -> Permission {
    if matches!(target, own::OwnTarget::Sql) { Permission::Sql } else { Permission::Read }
}

/// Determines the request's role in making the response. While entries load, each request waits on its own: responses
/// that report loading aren't cached, and requests that waited for one would then wait again, one after the other.
async fn join_flight<'a>(context: &RequestContext<'a>, snapshot: &Snapshot) -> SingleFlight<'a> {
    let service = &context.app.service;
    if !snapshot.settled() {
        return SingleFlight::Alone;
    }
    let patience = Duration::from_millis(service.limits().queue_ms_max);
    let peek = || service.peek(context.caller, snapshot.view_permission());
    context.app.cache.get_or_lead(context.key(), peek, patience).await
}

/// Adds the headers that every response gets.
#[inline]
pub(crate) fn leave(app: &App, response: &mut Response<Body>) {
    exit::secure(response, app.options.cors);
    leave_finished(app, response);
}

/// Adds the headers that every response gets to the answer to an append, and counts it.
pub(crate) fn leave_appended(app: &App, timer: Timer, answered: Result<Response<Body>, Refusal>) -> Response<Body> {
    let refused = |refusal: Refusal| with_id(None, || refuse(app, Dialect::Salver, refusal));
    let mut response = answered.unwrap_or_else(refused);
    leave_finished(app, &mut response);
    count(app, timer, &mut response);
    response
}

/// Adds the headers that every response gets to one that already has its security headers.
#[inline]
pub(crate) fn leave_finished(app: &App, response: &mut Response<Body>) {
    app.gate.apply_cors_all(response.headers_mut());
    if app.auth.is_some() {
        security_headers::keep_private(response.headers_mut());
    }
}
