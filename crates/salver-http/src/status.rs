//! `/health`, `/ready` and `/api/version`.

use std::sync::LazyLock;
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use salver_model::access::METRICS;
use salver_model::limits::STATUS_HOLDERS_MAX;
use salver_model::shares::Taken;
use salver_model::{Caller, Holder, Permission};
use salver_service::{Entry, FunctionFile, LoadState, NamedQuery, QueryState};
use serde_json::{Map, Value as Json, json};

use crate::app::App;
use crate::body::Body;
use crate::connections::Counted;
use crate::exit;
use crate::redaction;
use crate::security_headers;

/// Responds to the liveness probe.
pub(crate) fn health() -> Response<Body> {
    static HEAD: LazyLock<HeaderMap> = LazyLock::new(|| security_headers::head_of_data("text/plain; charset=utf-8"));
    let mut response = exit::reply(StatusCode::OK, Body::Full(Bytes::from_static(b"OK")));
    response.headers_mut().clone_from(&HEAD);
    response
}

/// Responds to the readiness probe: 200 when every entry, file of functions and named query is loaded or known to have
/// failed, 503 before; with `server.ready_needs_all` also while one has failed. Each comes with its state.
pub(crate) fn ready(app: &App, caller: &Caller) -> Response<Body> {
    let snapshot = app.service.snapshot(caller, Permission::Read);
    let entries: Map<String, Json> =
        snapshot.entries().map(|entry| (entry.name.to_string(), describe(entry))).collect();
    let is_planned = !app.service.queries().iter().any(|query| matches!(query.state(), QueryState::Loading));
    let is_loaded = app.service.peek_all().settled() && !app.service.functions().iter().any(FunctionFile::is_loading);
    let settled = is_loaded && is_planned;
    let is_ready = settled && !(app.options.ready_needs_all && has_failed(app));
    let mut state = json!({ "ready": is_ready, "entries": entries });
    if !app.service.functions().is_empty() {
        let callable = app.service.functions().iter().filter(|file| file.check(caller).is_ok());
        let files = callable.map(|file| (file.spec().name.to_string(), functions(file)));
        state["functions"] = Json::Object(files.collect());
    }
    if app.service.queries_for(caller).next().is_some() {
        let queries = app.service.queries_for(caller).map(|own| (own.spec().name.to_string(), query(own, caller)));
        state["queries"] = Json::Object(queries.collect());
    }
    if may_see(app, caller) {
        state["held"] = held(app);
    }
    let mut response = json_response(&state);
    if !is_ready {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        exit::invite_retry(response.headers_mut());
    }
    response
}

/// Returns whether an entry or a file of functions can't be served, not even in an older version.
fn has_failed(app: &App) -> bool {
    app.service.peek_all().entries().any(|entry| matches!(entry.state, LoadState::Failed(_)))
        || app.service.functions().iter().any(|file| file.interface().is_err())
        || app.service.queries().iter().any(|query| matches!(query.state(), QueryState::Failed(_)))
}

/// Returns whether a caller may see which callers hold resources: on the same machine, or authenticated; with access
/// rules, whom they permit.
fn may_see(app: &App, caller: &Caller) -> bool {
    // Who comes through a Unix socket has no address.
    let is_here = !app.options.reverse_proxy && caller.address.is_none_or(|address| address.is_loopback());
    match caller.grants.as_ref().filter(|grants| !grants.policy().is_open()) {
        Some(_) => caller.may(Permission::Administer, METRICS),
        None => is_here || caller.identity().is_some(),
    }
}

/// Returns what callers hold of shared resources, by kind.
fn held(app: &App) -> Json {
    Json::Array(permits(app).iter().map(one_kind).collect())
}

/// Returns the usage of every kind of permit.
pub(crate) fn permits(app: &App) -> Vec<Taken> {
    let counted = app.connections.counted();
    let Counted { connections_max: total, open: taken, holders } = counted;
    let mut all = vec![Taken { kind: "connections", total, taken, holders }];
    let open = [app.cursors.leases.places(), &app.cursors.live, app.exports.sessions.places()];
    let own = open.into_iter().chain([&app.receiving, app.answers.places()]);
    all.extend(app.service.shares().iter().chain(own).chain(app.jobs.places()).map(|places| places.taken()));
    all
}

fn one_kind(Taken { kind, total, taken, holders }: &Taken) -> Json {
    let named: Vec<Json> = holders
        .iter()
        .take(STATUS_HOLDERS_MAX)
        .map(|(holder, taken)| {
            let holder = match holder {
                Holder::Identity(name) => format!("user {name}"),
                Holder::Address(address) => address.to_string(),
                Holder::LocalUser(number) => format!("user {number} of this machine"),
                Holder::Server => "the server".to_owned(),
            };
            json!({ "holder": holder, "taken": taken })
        })
        .collect();
    json!({ "kind": kind, "total": total, "taken": taken, "holders": named })
}

/// Returns the state of a file of functions: `stale` means that the last good version is served, because the file can
/// no longer be loaded.
fn functions(file: &FunctionFile) -> Json {
    let (state, fault) = match (file.interface(), file.fault()) {
        (Ok(_), None) => return json!({ "state": "ready" }),
        (Ok(_), Some(fault)) => ("stale", fault),
        (Err(_), Some(fault)) => ("failed", fault),
        (Err(_), None) => return json!({ "state": "loading" }),
    };
    json!({ "state": state, "message": redaction::message(&fault), "hint": redaction::hint(&fault) })
}

/// Returns the state of a named query. What its statement is about is told to callers alone who may know of everything.
fn query(query: &NamedQuery, caller: &Caller) -> Json {
    let tells = caller.grants.as_ref().is_none_or(|grants| grants.policy().is_open());
    match query.state() {
        QueryState::Loading => json!({ "state": "loading" }),
        QueryState::Ready(_) => json!({ "state": "ready" }),
        QueryState::Failed(failure) if tells => {
            let hint = failure.hint.as_deref().map(redaction::text);
            json!({ "state": "failed", "message": redaction::text(&failure.message), "hint": hint })
        }
        QueryState::Failed(_) => json!({
            "state": "failed",
            "message": "it can't be run",
            "hint": "the log of the server has the reason",
        }),
    }
}

/// Responds with the version of Salver, as a JSON string.
pub(crate) fn version() -> Response<Body> {
    json_response(&json!(env!("CARGO_PKG_VERSION")))
}

/// Returns one entry's state as JSON.
pub(crate) fn describe(entry: &Entry) -> Json {
    let mut object = Map::new();
    let state = match entry.state {
        LoadState::Loading => "loading",
        LoadState::Ready(_) => "ready",
        LoadState::Stale(..) => "stale",
        LoadState::Failed(_) => "failed",
    };
    object.insert("state".to_owned(), state.into());
    if let (LoadState::Loading, Some((files, percent))) = (&entry.state, entry.progress.told()) {
        object.insert("files".to_owned(), files.into());
        object.insert("percent".to_owned(), percent.into());
    }
    if let Some(table) = entry.table() {
        let description = table.describe();
        object.insert("kind".to_owned(), description.kind.word().into());
        object.insert("rows".to_owned(), description.rows.map_or(Json::Null, Json::from));
        object.insert("version".to_owned(), description.version.to_string().into());
        object.insert("memory_bytes".to_owned(), description.memory_bytes.into());
        object.insert("source".to_owned(), redaction::text(&description.source).into());
    }
    if let Some(failure) = entry.failure() {
        object.insert("message".to_owned(), redaction::text(&failure.message).into());
        if let Some(hint) = &failure.hint {
            object.insert("hint".to_owned(), redaction::text(hint).into());
        }
        let at = failure.at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        object.insert("failed_at_unix_s".to_owned(), at.into());
    }
    Json::Object(object)
}

/// Returns a JSON response that is not cached.
pub(crate) fn json_response(json: &Json) -> Response<Body> {
    let body = Body::Full(json.to_string().into());
    exit::unstored(StatusCode::OK, HeaderValue::from_static("application/json"), body)
}
