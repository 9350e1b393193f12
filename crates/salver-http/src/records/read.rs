//! GET: lists, reads by key and GeoJSON.

use std::sync::Arc;

use http::Response;
use salver_model::ports::Database;
use salver_model::records::{Condition, DatabaseSchema, Document, DocumentBody, RecordQuery, TableKind};
use salver_model::{Result, Version};

use super::databases::fingerprint;
use super::keys::Keys;
use super::query::{self, Purpose};
use super::{respond, tag};
use crate::body::Body;
use crate::exchange::Exchange;

/// The version of an answer, when the database can tell it at once. What is computed may differ though no row does.
pub(super) fn version(
    database: &Arc<dyn Database>,
    schema: &DatabaseSchema,
    table: &str,
    of: impl FnOnce(u64) -> Version,
) -> Option<Version> {
    let is_stored = schema.table(table).is_some_and(|table| table.kind == TableKind::Table);
    if !is_stored { None } else { database.version().map(of) }
}

/// Makes an answer of a read, unless the client has it: `answer` is what its tag names beside the row.
struct Reading<'a> {
    exchange: &'a Exchange<'a>,
    database: &'a Arc<dyn Database>,
    answer: Option<Version>,
    xml: bool,
}

impl<'a> Reading<'a> {
    /// Prepares a read of `table` that shows rows of tables only, and of no other than those joined by `joins`.
    ///
    /// A record alone is known by its row: to find it costs as little as to ask for the version.
    fn new(
        exchange: &'a Exchange<'a>,
        database: &'a Arc<dyn Database>,
        table: &str,
        query: &query::Ask,
        alone: bool,
    ) -> Self {
        let schema = database.schema();
        let is_view = |name: &String| schema.table(name).is_some_and(|table| table.kind == TableKind::View);
        // The version is taken before anything is read: what is read may be newer than its tag, never older.
        let answer =
            if alone || query.query.joins.iter().flatten().any(is_view) || conditions_name_views(&schema, query) {
                None
            } else {
                version(database, &schema, table, |version| fingerprint(exchange, schema.stamp(), version))
            };
        Self { exchange, database, answer, xml: query::wants_xml(exchange.query) }
    }

    /// 304, when the client's tag names this very answer.
    fn unchanged(&self) -> Option<Response<Body>> {
        let known = tag::known(self.exchange.headers, self.answer?, self.exchange.coding())?;
        Some(respond::not_modified(known))
    }

    /// The answer. `rows_only` says that nothing but the row itself makes it.
    async fn finish(&self, document: Document, rows_only: bool) -> Result<Response<Body>> {
        // A tag for compressed bytes and one for plain ones: small answers are never compressed.
        let is_small = matches!(&document.body, DocumentBody::Whole(bytes) if bytes.len() < 1_024);
        let coding = if is_small { salver_formats::Coding::Identity } else { self.exchange.coding() };
        // The tag of a row says nothing of what is joined to it.
        let row = document.tag.as_deref().filter(|_| rows_only || self.answer.is_some());
        if let (true, Some(row)) = (rows_only, row)
            && let Some(known) = tag::known_row(self.exchange.headers, row, coding)
        {
            return Ok(respond::not_modified(known));
        }
        let tag = tag::of(row, self.answer, coding);
        respond::document(self.exchange, document, self.xml, tag).await
    }
}

/// Whether a filter or an order looks into a view, or into the rows of a table by way of one.
fn conditions_name_views(schema: &DatabaseSchema, ask: &query::Ask) -> bool {
    let has_views = || schema.tables().iter().any(|table| table.kind == TableKind::View);
    looks_elsewhere(&ask.query) && has_views()
}

/// Whether a filter or an order looks into other tables.
pub(super) fn looks_elsewhere(query: &RecordQuery) -> bool {
    fn condition(looked_at: &Condition) -> bool {
        match looked_at {
            Condition::All(parts) | Condition::Any(parts) => parts.iter().any(condition),
            Condition::Test { path, .. } => path.len() > 1,
        }
    }
    let children = query.children.iter().filter_map(|child| child.filter.as_ref());
    query.filter.iter().chain(children).any(condition) || query.order.iter().any(|order| order.path.len() > 1)
}

/// `GET /records/{table}`
pub(super) async fn list(exchange: &Exchange<'_>, table: &str) -> Result<Response<Body>> {
    let (database, table) = exchange.database(table).await?;
    let ask = query::read(exchange.query, table, Purpose::List, database.spec())?;
    let reading = Reading::new(exchange, &database, table, &ask, false);
    if let Some(response) = reading.unchanged() {
        return Ok(response);
    }
    let (caller, query) = (reading.exchange.caller, &ask.query);
    let document = match reading.database.read_now(caller, query, None) {
        Some(document) => document?,
        None => exchange.app.service.bounded(caller, reading.database.list(caller, query)).await?,
    };
    reading.finish(document, false).await
}

/// `GET /records/{table}/{id}`
pub(super) async fn by_key(exchange: &Exchange<'_>, table: &str, id: &str) -> Result<Response<Body>> {
    let (database, table) = exchange.database(table).await?;
    let ask = query::read(exchange.query, table, Purpose::Read, database.spec())?;
    let keys = Keys::read(id, &database.schema(), table)?;
    let alone = ask.query.joins.is_empty() && !keys.many;
    let reading = Reading::new(exchange, &database, table, &ask, alone);
    if let Some(response) = reading.unchanged() {
        return Ok(response);
    }
    let work = database.read(reading.exchange.caller, &ask.query, &keys.keys, keys.many);
    let document = exchange.app.service.bounded(reading.exchange.caller, work).await?;
    reading.finish(document, alone).await
}

/// `GET /geojson/{table}` and `GET /geojson/{table}/{id}`
pub(super) async fn geojson(exchange: &Exchange<'_>, table: &str, id: Option<&str>) -> Result<Response<Body>> {
    let (database, table) = exchange.database(table).await?;
    let purpose = if id.is_some() { Purpose::MapRow } else { Purpose::Map };
    let ask = query::read(exchange.query, table, purpose, database.spec())?;
    let reading = Reading::new(exchange, &database, table, &ask, false);
    if let Some(response) = reading.unchanged() {
        return Ok(response);
    }
    let geo = ask.into_geo();
    let keys = id.map(|id| Keys::read(id, &database.schema(), table)).transpose()?;
    if let Some(keys) = keys.as_ref().filter(|keys| keys.many) {
        return Err(salver_model::Error::new(
            salver_model::Code::RecordNotFound,
            format!("Record '{}' not found", keys.text),
        ));
    }
    let key = keys.as_ref().and_then(|keys| keys.keys.first());
    let document = exchange
        .app
        .service
        .bounded(reading.exchange.caller, database.geojson(reading.exchange.caller, &geo, key))
        .await?;
    reading.finish(document, false).await
}
