//! The handlers of records: reads and writes of database rows in PHP-CRUD-API's wire format, with Salver's extensions.
//!
//! `databases` finds the databases of a caller, `path_keys` parses the keys of a path, `query` parses query strings,
//! and `body` parses the bodies of writes; `read`, `write`, `bulk`, `columns`, `openapi` and `account` handle requests.
//! `hooks` calls functions before and after requests, and `respond` builds responses.

mod account;
mod body;
mod bulk;
mod columns;
mod databases;
mod etag;
mod hooks;
mod json;
mod openapi;
mod path_keys;
mod query;
mod read;
mod respond;
mod response_headers;
mod transaction;
mod write;

use bytes::Bytes;
use futures::future::try_join_all;
use http::{Method, Response};
use salver_model::Result;

pub(crate) use self::databases::nowhere;
use self::hooks::Hooks;
use self::read::Reading;
use crate::body::Body;
use crate::dialect::php;
use crate::exchange::Exchange;
use crate::receive;
use crate::receive::Incoming;
use crate::routes::records::{AccountStep, RecordsTarget};

/// Responds to a request for rows that the database can serve in microseconds; `None` means "use [`answer`]", which
/// gives the same response.
pub(crate) fn answer_now(exchange: &Exchange<'_>, target: &RecordsTarget<'_>) -> Option<Response<Body>> {
    let (table, id) = match target {
        RecordsTarget::Table(table) => (table, None),
        RecordsTarget::Row(table, id) => (table, Some(*id)),
        _ => return None,
    };
    let (database, table) = exchange.app.service.database_with(table).ok()?;
    // The lookup of a database per caller may wait, and so may functions.
    if database.spec().of_caller.is_some() || database.spec().customization.is_some() {
        return None;
    }
    let reading = Reading::of(exchange, database, table, id).ok()?;
    let answered = reading.unchanged().map_or_else(|| reading.now(id), |unchanged| Some(Ok(unchanged)))?;
    match answered {
        Ok(response) => Some(response),
        Err(error) if php::status(error.code).is_server_error() => None,
        Err(error) => Some(exchange.dialect().respond(&error.into())),
    }
}

/// Handles a request for records.
pub(crate) async fn answer(
    exchange: &Exchange<'_>,
    target: RecordsTarget<'_>,
    body: Incoming,
) -> Result<Response<Body>> {
    let reads = matches!(*exchange.method, Method::GET | Method::HEAD);
    match target {
        RecordsTarget::Openapi => openapi::answer(exchange).await,
        RecordsTarget::ClearCache => clear_cache(exchange).await,
        RecordsTarget::Ping => ping(exchange).await,
        RecordsTarget::Account(step @ (AccountStep::Me | AccountStep::Logout)) => {
            account::answer(exchange, step, &[]).await
        }
        RecordsTarget::Account(step) => {
            let body = receive(exchange, body).await?;
            account::answer(exchange, step, &body).await
        }
        target @ (RecordsTarget::Schema | RecordsTarget::SchemaTable(_) | RecordsTarget::SchemaColumn(..)) => {
            if reads {
                return columns::show(exchange, &target).await;
            }
            let body = receive(exchange, body).await?;
            columns::change(exchange, target, &body).await
        }
        target if reads => rows(exchange, target, Bytes::new()).await,
        target => {
            if let RecordsTarget::Table(table) = &target
                && *exchange.method == Method::POST
                && let Some(format) = bulk::RowFormat::of(exchange.headers)
            {
                return bulk::load(exchange, table, format, body).await;
            }
            let body = receive(exchange, body).await?;
            write::answer(exchange, target, body).await
        }
    }
}

/// Handles a request for rows, with the functions before and after it if there are any.
async fn rows(exchange: &Exchange<'_>, target: RecordsTarget<'_>, body: Bytes) -> Result<Response<Body>> {
    let Some(hooks) = Hooks::of(exchange, &target) else { return plain_rows(exchange, target, body).await };
    let going = match hooks.before(exchange, body).await? {
        hooks::HookOutcome::Go(going) => going,
        hooks::HookOutcome::Answered(response) => return Ok(response),
    };
    let answered = plain_rows(&going.exchange(exchange), target, going.body.clone()).await;
    hooks.after(exchange, answered, &going).await
}

/// Handles a request for rows, without functions.
async fn plain_rows(exchange: &Exchange<'_>, target: RecordsTarget<'_>, body: Bytes) -> Result<Response<Body>> {
    if !matches!(*exchange.method, Method::GET | Method::HEAD) {
        return write::run(exchange, target, &body).await;
    }
    match target {
        RecordsTarget::Table(table) => read::rows(exchange, &table, None).await,
        RecordsTarget::Row(table, id) => read::rows(exchange, &table, Some(id)).await,
        RecordsTarget::Map(table) => read::geojson(exchange, &table, None).await,
        RecordsTarget::MapRow(table, id) => read::geojson(exchange, &table, Some(id)).await,
        _ => Err(nowhere(exchange)),
    }
}

/// Receives the body of a write.
async fn receive(exchange: &Exchange<'_>, body: Incoming) -> Result<Bytes> {
    if *exchange.method == Method::DELETE {
        return Ok(Bytes::new());
    }
    receive::read_body(exchange.app, exchange.headers, body).await
}

async fn clear_cache(exchange: &Exchange<'_>) -> Result<Response<Body>> {
    let databases = exchange.databases().await?;
    exchange
        .app
        .service
        .bounded(exchange.caller, try_join_all(databases.iter().map(|database| database.refresh())))
        .await?;
    respond::text(exchange, "true", php::wants_xml(exchange.query)).await
}

/// Responds with the round-trip time of the slowest database and the time of a cache lookup, in microseconds.
async fn ping(exchange: &Exchange<'_>) -> Result<Response<Body>> {
    let databases = exchange.databases().await?;
    let times = exchange
        .app
        .service
        .bounded(exchange.caller, try_join_all(databases.iter().map(|database| database.ping())))
        .await?;
    let slowest = times.into_iter().max().unwrap_or_default();
    let started = std::time::Instant::now();
    let snapshot = exchange.app.service.catalog().peek();
    let _ = exchange.app.cache.get(exchange.path.as_bytes(), &snapshot);
    let json = format!("{{\"db\":{},\"cache\":{}}}", slowest.as_micros(), started.elapsed().as_micros());
    drop(snapshot);
    respond::text(exchange, &json, php::wants_xml(exchange.query)).await
}
