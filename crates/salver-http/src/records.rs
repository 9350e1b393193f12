//! The records doors: rows of databases read and changed in PHP-CRUD-API's wire format, with what Salver adds to it.
//!
//! `route` has the paths, `query` the language of query strings, `body` what writes bring; `read`, `write`, `bulk`,
//! `columns`, `openapi` and `account` answer, `now` does so without a task. `hooks` calls functions around requests.
//! `problem` tells errors, `respond` is the way to the one exit.

mod account;
mod body;
mod bulk;
mod call;
mod columns;
mod hooks;
mod json;
mod now;
mod openapi;
mod problem;
mod query;
mod read;
mod respond;
mod route;
mod tag;
mod transaction;
mod write;
mod xml;

use bytes::Bytes;
use futures::future::try_join_all;
use http::{Method, Response};
use salver_model::{Error, Result};

use self::account::Step;
pub(crate) use self::call::Call;
use self::hooks::Hooks;
pub(crate) use self::now::answer_now;
use self::route::Target;
pub(crate) use self::route::below_api;
use crate::app::App;
use crate::body::Body;
use crate::receive;
use crate::receive::Incoming;

/// What these doors answer, for `Allow`.
pub(crate) const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// Whether a request that reads may run code, or make a database.
pub(crate) fn runs_code(app: &App) -> bool {
    let mut databases = app.service.databases().iter();
    databases.any(|database| database.spec().customization.is_some() || database.spec().of_caller.is_some())
}

/// Answers any request of these doors. `stranger` says why the caller is not known; some paths are there to change
/// that.
pub(crate) async fn answer(call: &Call<'_>, stranger: Option<Error>, body: Incoming) -> Response<Body> {
    let xml = query::wants_xml(call.query);
    let gate = &call.app.gate;
    let pass = match gate.admit(call.method, call.headers) {
        Ok(pass) => pass,
        Err(error) => return respond::error(call, &error, xml),
    };
    let answered = match gate.preflight(call.headers) {
        Some(response) if *call.method == Method::OPTIONS => Ok(response),
        _ => match stranger.filter(|_| !is_door(call)) {
            Some(error) => Err(error),
            None => dispatch(call, body).await,
        },
    };
    let mut response = answered.unwrap_or_else(|error| respond::error(call, &error, xml));
    gate.release(pass, response.headers_mut());
    response
}

/// The answer to a request whose life was cut off by a fault, or that is not let in.
pub(crate) fn refuse(call: &Call<'_>, error: &salver_model::Error) -> Response<Body> {
    respond::error(call, error, query::wants_xml(call.query))
}

/// Whether the path is one by which callers become known.
fn is_door(call: &Call<'_>) -> bool {
    let users = call.app.auth.as_ref().and_then(|auth| auth.users.as_ref());
    users.is_some_and(|users| users.spec.login) && matches!(Target::of(call.path), Some(Target::Account(_)))
}

async fn dispatch(call: &Call<'_>, body: Incoming) -> Result<Response<Body>> {
    let target = Target::of(call.path).ok_or_else(|| call.nowhere())?;
    let reads = matches!(*call.method, Method::GET | Method::HEAD);
    match target {
        Target::Records if !reads => {}
        target @ (Target::Table(_) | Target::Row(..) | Target::Map(_) | Target::MapRow(..)) if reads => {
            return rows(call, target, Bytes::new()).await;
        }
        target @ (Target::Schema | Target::SchemaTable(_) | Target::SchemaColumn(..)) => {
            if reads {
                return columns::show(call, &target).await;
            }
            let body = receive(call, body).await?;
            return columns::change(call, target, &body).await;
        }
        Target::Openapi if reads => return openapi::answer(call).await,
        Target::ClearCache if reads => return clear_cache(call).await,
        Target::Ping if reads => return ping(call).await,
        Target::Account(Step::Me) if reads => return account::answer(call, Step::Me, &[]).await,
        Target::Account(Step::Logout) if *call.method == Method::POST => {
            return account::answer(call, Step::Logout, &[]).await;
        }
        Target::Account(step) if *call.method == Method::POST && step != Step::Me => {
            let body = receive(call, body).await?;
            return account::answer(call, step, &body).await;
        }
        Target::Table(table) if *call.method == Method::POST => {
            if let Some(format) = bulk::RowFormat::of(call.headers) {
                return bulk::load(call, &table, format, body).await;
            }
        }
        Target::Table(_) | Target::Row(..) => {}
        _ => return Err(call.nowhere()),
    }
    let body = receive(call, body).await?;
    write::answer(call, body).await
}

/// Answers what is about rows, with functions around it where there are some.
async fn rows(call: &Call<'_>, target: Target<'_>, body: Bytes) -> Result<Response<Body>> {
    let Some(hooks) = Hooks::of(call, &target) else { return plain_rows(call, target, body).await };
    let going = match hooks.before(call, body).await? {
        hooks::Step::Go(going) => going,
        hooks::Step::Answered(response) => return Ok(response),
    };
    let answered = plain_rows(&going.call(call), target, going.body.clone()).await;
    hooks.after(call, answered, &going).await
}

/// Answers what is about rows.
async fn plain_rows(call: &Call<'_>, target: Target<'_>, body: Bytes) -> Result<Response<Body>> {
    if !matches!(*call.method, Method::GET | Method::HEAD) {
        return write::run(call, target, &body).await;
    }
    match target {
        Target::Table(table) => read::list(call, &table).await,
        Target::Row(table, id) => read::by_key(call, &table, id).await,
        Target::Map(table) => read::geojson(call, &table, None).await,
        Target::MapRow(table, id) => read::geojson(call, &table, Some(id)).await,
        _ => Err(call.nowhere()),
    }
}

/// The body of a write.
async fn receive(call: &Call<'_>, body: Incoming) -> Result<Bytes> {
    if *call.method == Method::DELETE {
        return Ok(Bytes::new());
    }
    receive::whole(call.app, call.headers, body).await
}

async fn clear_cache(call: &Call<'_>) -> Result<Response<Body>> {
    let databases = call.databases().await?;
    call.app.service.bounded(&call.caller(), try_join_all(databases.iter().map(|database| database.refresh()))).await?;
    respond::text(call, "true", query::wants_xml(call.query)).await
}

/// How long the slowest database takes to answer nothing, and how long it takes to look into the cache, in
/// microseconds.
async fn ping(call: &Call<'_>) -> Result<Response<Body>> {
    let databases = call.databases().await?;
    let times = call
        .app
        .service
        .bounded(&call.caller(), try_join_all(databases.iter().map(|database| database.ping())))
        .await?;
    let slowest = times.into_iter().max().unwrap_or_default();
    let started = std::time::Instant::now();
    let snapshot = call.app.service.catalog().peek();
    let _ = call.app.cache.get(call.path.as_bytes(), &snapshot);
    let json = format!("{{\"db\":{},\"cache\":{}}}", slowest.as_micros(), started.elapsed().as_micros());
    drop(snapshot);
    respond::text(call, &json, query::wants_xml(call.query)).await
}
