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

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Response};
use salver_model::Result;
use salver_model::ports::Database;
use serde_json::Value as Json;

pub(crate) use self::databases::{is_definable, nowhere, other_method};
use self::hooks::Hooks;
pub(crate) use self::openapi::{TableNames, describe, describe_components};
use self::read::Reading;
use crate::app::App;
use crate::body::Body;
use crate::dialect::php;
use crate::receive;
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::routes::records::{AccountStep, RecordsTarget};

/// Rows that are asked of a database which may have them at once.
pub(crate) struct NearRows<'a> {
    database: &'a Arc<dyn Database>,
    table: &'a str,
    id: Option<&'a str>,
}

impl<'a> NearRows<'a> {
    /// Finds them. `None` means "use [`answer`]", before anything was done that it would do again.
    pub(crate) fn of(app: &'a App, target: &'a RecordsTarget<'_>) -> Option<Self> {
        let (table, id) = match target {
            RecordsTarget::Table(table) => (table, None),
            RecordsTarget::Row(table, id) => (table, Some(*id)),
            _ => return None,
        };
        let (database, table) = app.service.database_with(table).ok()?;
        // The lookup of a database per caller may wait, and so may functions.
        let waits = database.spec().of_caller.is_some() || database.spec().customization.is_some();
        (database.reads_at_once() && !waits).then_some(Self { database, table, id })
    }

    /// Responds if the database can serve them in microseconds; `None` means "use [`answer`]", which gives the same
    /// response.
    pub(crate) fn answer(&self, context: &RequestContext<'_>) -> Option<Response<Body>> {
        let reading = Reading::of(context, self.database, self.table, self.id).ok()?;
        match reading.answer().ready()? {
            Ok(response) => Some(response),
            Err(error) if php::status(error.code).is_server_error() => None,
            Err(error) => Some(context.dialect().respond(&error.into())),
        }
    }
}

/// Handles a request for records.
pub(crate) async fn answer(
    context: &RequestContext<'_>,
    target: RecordsTarget<'_>,
    body: Incoming,
) -> Result<Response<Body>> {
    // Boxed here and below, so that a read of rows need not reserve space for the state of the other work.
    match is_read(context) && target.is_of_rows() {
        true => rows(context, target, Bytes::new()).await,
        false => Box::pin(answer_others(context, target, body)).await,
    }
}

/// Returns whether the request changes nothing.
fn is_read(context: &RequestContext<'_>) -> bool {
    matches!(*context.method, Method::GET | Method::HEAD)
}

/// Handles a request for something else than to read rows.
async fn answer_others(
    context: &RequestContext<'_>,
    target: RecordsTarget<'_>,
    body: Incoming,
) -> Result<Response<Body>> {
    match target {
        RecordsTarget::Openapi => openapi::answer(context).await,
        RecordsTarget::ClearCache => clear_cache(context).await,
        RecordsTarget::Ping => ping(context).await,
        RecordsTarget::Account(step @ (AccountStep::Me | AccountStep::Logout)) => {
            account::answer(context, step, &[]).await
        }
        RecordsTarget::Account(step) => {
            let body = receive(context, body).await?;
            account::answer(context, step, &body).await
        }
        target @ (RecordsTarget::Schema | RecordsTarget::SchemaTable(_) | RecordsTarget::SchemaColumn(..)) => {
            if is_read(context) {
                return columns::show(context, &target).await;
            }
            let body = receive(context, body).await?;
            columns::change(context, target, &body).await
        }
        target => {
            if let RecordsTarget::Table(table) = &target
                && *context.method == Method::POST
                && let Some(format) = bulk::RowFormat::of(context.headers)
            {
                return bulk::load(context, table, format, body).await;
            }
            let body = receive(context, body).await?;
            write::answer(context, target, body).await
        }
    }
}

/// Handles a request for rows, with the functions before and after it if there are any.
async fn rows(context: &RequestContext<'_>, target: RecordsTarget<'_>, body: Bytes) -> Result<Response<Body>> {
    match Hooks::of(context, &target) {
        None => plain_rows(context, target, body).await,
        Some(hooks) => Box::pin(hooked_rows(context, target, body, hooks)).await,
    }
}

/// Handles a request for rows, with the functions before and after it.
async fn hooked_rows(
    context: &RequestContext<'_>,
    target: RecordsTarget<'_>,
    body: Bytes,
    hooks: Hooks,
) -> Result<Response<Body>> {
    let going = match hooks.before(context, body).await? {
        hooks::HookOutcome::Go(going) => going,
        hooks::HookOutcome::Answered(response) => return Ok(response),
    };
    let answered = plain_rows(&going.context(context), target, going.body.clone()).await;
    hooks.after(context, answered, &going).await
}

/// Handles a request for rows, without functions.
async fn plain_rows(context: &RequestContext<'_>, target: RecordsTarget<'_>, body: Bytes) -> Result<Response<Body>> {
    if !is_read(context) {
        return Box::pin(write::run(context, target, &body)).await;
    }
    match target {
        RecordsTarget::Table(table) => read::rows(context, &table, None).await,
        RecordsTarget::Row(table, id) => read::rows(context, &table, Some(id)).await,
        RecordsTarget::Map(table) => Box::pin(read::geojson(context, &table, None)).await,
        RecordsTarget::MapRow(table, id) => Box::pin(read::geojson(context, &table, Some(id))).await,
        _ => Err(nowhere(context)),
    }
}

/// Receives the body of a write.
async fn receive(context: &RequestContext<'_>, body: Incoming) -> Result<Bytes> {
    if *context.method == Method::DELETE {
        return Ok(Bytes::new());
    }
    let body = receive::read_body(context.app, context.headers, body).await?;
    if is_bare_value(context, &body) { Err(body::unreadable()) } else { Ok(body) }
}

/// Returns whether a body that says it is JSON is a value that has no columns. It would else be read as a form, with a
/// column of that name.
fn is_bare_value(context: &RequestContext<'_>, body: &[u8]) -> bool {
    let says_json = context.header("content-type").is_some_and(|said| said.starts_with("application/json"));
    says_json && serde_json::from_slice::<Json>(body).is_ok_and(|value| !value.is_object() && !value.is_array())
}

async fn clear_cache(context: &RequestContext<'_>) -> Result<Response<Body>> {
    let databases = context.databases().await?;
    context.app.service.refresh_schemas(context.caller, &databases).await?;
    respond::text(context, "true", php::wants_xml(context.query)).await
}

/// Responds with the round-trip time of the slowest database and the time of a cache lookup, in microseconds.
async fn ping(context: &RequestContext<'_>) -> Result<Response<Body>> {
    let databases = context.databases().await?;
    let slowest = context.app.service.ping_databases(context.caller, &databases).await?;
    let started = std::time::Instant::now();
    let snapshot = context.app.service.peek_all();
    let _ = context.app.cache.get(context.path.as_bytes(), &snapshot);
    let json = format!("{{\"db\":{},\"cache\":{}}}", slowest.as_micros(), started.elapsed().as_micros());
    drop(snapshot);
    respond::text(context, &json, php::wants_xml(context.query)).await
}
