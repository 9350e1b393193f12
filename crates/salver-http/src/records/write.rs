//! POST, PUT, PATCH and DELETE: changes of records, made idempotent by `Idempotency-Key` when it is given.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Response};
use salver_model::records::{Change, ChangeKind, Changed};
use salver_model::{Code, Error, Result, Version};

use super::databases::nowhere;
use super::path_keys::PathKeys;
use super::query::{self, Purpose, RecordParams};
use super::{body, etag, hooks, respond, rows, transaction};
use crate::app::App;
use crate::body::Body;
use crate::dialect::php;
use crate::idempotency::{Kept, Key, Turn};
use crate::policy::Admitted;
use crate::refuse::refuse;
use crate::request_context::RequestContext;
use crate::request_record::carried;
use crate::routes::records::RecordsTarget;
use crate::routes::{self, Found};

/// A write that must be executed once. It owns the parts of the request, so that it can outlive it.
#[derive(Clone, Debug)]
struct Once {
    app: Arc<App>,
    method: Method,
    path: String,
    query: String,
    headers: http::HeaderMap,
    admitted: Admitted,
    body: Bytes,
}

/// Executes a write, or repeats the response of its first execution.
pub(super) async fn answer(
    context: &RequestContext<'_>,
    target: RecordsTarget<'_>,
    body: Bytes,
) -> Result<Response<Body>> {
    let Some(text) = context.headers.get("idempotency-key").map(|value| value.to_str().unwrap_or_default()) else {
        return rows(context, target, body).await;
    };
    let key = Key::of(text, context.caller)?;
    let request = Version::of(&(context.method.as_str(), context.path, context.query, &body[..]));
    let once = Once {
        app: Arc::clone(context.app),
        method: context.method.clone(),
        path: context.path.to_owned(),
        query: context.query.to_owned(),
        headers: context.headers.clone(),
        admitted: context.admitted.clone(),
        body,
    };
    // Spawned as a task, so that the write completes and its response is kept even if the client disconnects.
    let done = tokio::spawn(carried(once.answer(key, request))).await;
    done.map_err(|broken| Error::internal("the server failed while it wrote").with_source(broken))
}

impl Once {
    async fn answer(self, key: Key, request: Version) -> Response<Body> {
        let Self { app, method, path, query, headers, admitted, .. } = &self;
        let context = RequestContext::new(app, admitted, method, (path, query), headers);
        let patience = Duration::from_millis(app.service.limits().queue_ms_max);
        let lead = match app.idempotency.turn(key, request, patience).await {
            Ok(Turn::Done(kept)) => return kept.answer(),
            Ok(Turn::Mine(lead)) => lead,
            Err(conflict) => return refuse(app, context.dialect(), conflict),
        };
        let answered = match routes::find(method, path, query) {
            Found::Row(_, routes::RouteTarget::Records(target)) => rows(&context, target, self.body.clone()).await,
            _ => Err(nowhere(&context)),
        };
        let response = answered.unwrap_or_else(|error| refuse(app, context.dialect(), error));
        if let Some(kept) = Kept::of(&response) {
            lead.finish(kept);
        }
        response
    }
}

/// Executes a write.
pub(super) async fn run(
    context: &RequestContext<'_>,
    target: RecordsTarget<'_>,
    body: &[u8],
) -> Result<Response<Body>> {
    // PHP-CRUD-API has no transactions, and no hints.
    let hints = matches!(target, RecordsTarget::Records);
    let changed = match (target, context.method) {
        (RecordsTarget::Records, &Method::POST) => transact(context, body).await?,
        (RecordsTarget::Table(table), &Method::POST) => create(context, &table, body).await?,
        (RecordsTarget::Table(table), method) => change_many(context, &table, kind(context, method)?, body).await?,
        (RecordsTarget::Row(table, id), method) => change(context, &table, id, kind(context, method)?, body).await?,
        _ => return Err(nowhere(context)),
    };
    respond::changed(context, changed, php::wants_xml(context.query), hints).await
}

fn kind(context: &RequestContext<'_>, method: &Method) -> Result<ChangeKind> {
    match *method {
        Method::PUT => Ok(ChangeKind::Update),
        Method::PATCH => Ok(ChangeKind::Increment),
        Method::DELETE => Ok(ChangeKind::Delete),
        _ => Err(nowhere(context)),
    }
}

/// Returns a change with the options of the query string that all kinds share.
fn begun(kind: ChangeKind, table: &str, ask: RecordParams) -> Change {
    Change {
        include: ask.query.include,
        exclude: ask.query.exclude,
        returning: ask.returning,
        strict: ask.query.strict,
        ..Change::new(kind, table)
    }
}

async fn create(context: &RequestContext<'_>, table: &str, bytes: &[u8]) -> Result<Changed> {
    let (database, table) = context.database(table).await?;
    let ask = query::read(context.query, table, Purpose::Create, database.spec())?;
    refuse_if_match(context)?;
    let read = body::read(bytes, php::wants_xml(context.query))?;
    let kind = match (ask.upsert, ask.on_conflict.is_empty()) {
        (None, true) => ChangeKind::Create,
        (ignore, _) => ChangeKind::Upsert { on: ask.on_conflict.clone(), ignore: ignore.unwrap_or(false) },
    };
    let mut change = begun(kind, table, ask);
    (change.records, change.batch) = (read.records, read.batch);
    context.app.service.change(context.caller, &database, change).await
}

async fn change(
    context: &RequestContext<'_>,
    table: &str,
    id: &str,
    kind: ChangeKind,
    bytes: &[u8],
) -> Result<Changed> {
    let (database, table) = context.database(table).await?;
    let ask = query::read(context.query, table, Purpose::Change, database.spec())?;
    let keys = PathKeys::read(id, &*database, table)?;
    let mut change = begun(kind, table, ask);
    change.batch = keys.many;
    if change.kind != ChangeKind::Delete {
        let read = body::read(bytes, php::wants_xml(context.query))?;
        // A mismatch between records and keys shows in their numbers; a single key accepts an array of one record.
        if read.batch != keys.many && read.records.len() != 1 || keys.keys.len() != read.records.len() {
            let message = format!("Argument count mismatch in '{}'", keys.text());
            return Err(Error::new(Code::ArgumentCount, message));
        }
        change.batch |= read.batch;
        change.records = read.records;
    }
    change.if_match = etag::if_match(context.headers)?;
    if change.if_match.is_some() && keys.keys.len() != 1 {
        return Err(Error::new(Code::InvalidRequest, "`If-Match` is about one record, and there are several keys")
            .with_hint("send one request for each record, or `if_match` in the operations of `POST /api/records`"));
    }
    change.keys_text = keys.text().into_owned();
    change.keys = keys.keys;
    context.app.service.change(context.caller, &database, change).await
}

/// Changes the rows that match a filter. Without its parameters the path does not exist, as in PHP-CRUD-API.
async fn change_many(context: &RequestContext<'_>, table: &str, kind: ChangeKind, bytes: &[u8]) -> Result<Changed> {
    let has = |word: &str| context.query.split('&').any(|pair| pair.starts_with(word));
    if !has("filter") && !has("max_affected") {
        return Err(nowhere(context));
    }
    let (database, table) = context.database(table).await?;
    let mut ask = query::read(context.query, table, Purpose::ChangeMany, database.spec())?;
    refuse_if_match(context)?;
    let (filter, affected_max) = (ask.query.filter.take(), ask.affected_max);
    if filter.is_none() || affected_max.is_none() {
        return Err(Error::new(Code::InvalidRequest, "a change without a key needs `filter` and `max_affected`")
            .with_hint("write `?filter=column,op,value&max_affected=10`; more rows than that are not changed"));
    }
    let mut change = begun(kind, table, ask);
    (change.filter, change.affected_max, change.strict) = (filter, affected_max, true);
    if change.kind != ChangeKind::Delete {
        let read = body::read(bytes, php::wants_xml(context.query))?;
        if read.batch {
            return Err(Error::new(Code::InvalidRequest, "a change by filter takes one object"));
        }
        change.records = read.records;
    }
    context.app.service.change(context.caller, &database, change).await
}

async fn transact(context: &RequestContext<'_>, bytes: &[u8]) -> Result<Changed> {
    let mut changes = transaction::read(bytes)?;
    refuse_if_match(context)?;
    let Some(first) = changes.first() else { return Ok(Changed::Done(b"[]".to_vec())) };
    let first = first.table.clone();
    let (database, _) = context.database(&first).await?;
    hooks::refuse_past(database.spec(), "transact")?;
    query::read(context.query, &first, Purpose::Transaction, database.spec())?;
    for change in &mut changes {
        let table = change.table.clone();
        let (other, inside) = context.app.service.database_with(&table)?;
        if database.spec().name != other.spec().name {
            let message = format!("`{first}` and `{table}` are in different databases");
            return Err(Error::new(Code::InvalidRequest, message).with_hint("send a request for each database"));
        }
        change.table = inside.to_owned();
    }
    context.app.service.transact(context.caller, &database, changes).await
}

fn refuse_if_match(context: &RequestContext<'_>) -> Result<()> {
    if context.headers.contains_key(http::header::IF_MATCH) {
        return Err(Error::new(Code::InvalidRequest, "`If-Match` is about one record, and no key is named")
            .with_hint("name the record in the path, like `/api/records/posts/1`"));
    }
    Ok(())
}
