//! GET: lists of rows, reads by key, and GeoJSON.

use std::sync::Arc;

use http::{HeaderValue, Response};
use salver_formats::Coding;
use salver_model::ports::Database;
use salver_model::records::{Condition, Document, DocumentBody, RecordQuery, TableKind};
use salver_model::{Code, Result, Version};

use super::databases::fingerprint;
use super::path_keys::PathKeys;
use super::query::{self, Purpose};
use super::{etag, respond};
use crate::body::Body;
use crate::dialect::php;
use crate::request_context::RequestContext;

/// A parsed request to read rows.
pub(super) struct Reading<'a> {
    context: &'a RequestContext<'a>,
    database: &'a Arc<dyn Database>,
    query: RecordQuery,
    /// The version of the response, which is a part of its entity tag beside the row's own tag.
    answer: Option<Version>,
    /// Whether the response is a single row without joins, tagged by its own state: reading the row is as cheap as
    /// reading the version of the database.
    is_row: bool,
    xml: bool,
}

impl<'a> Reading<'a> {
    /// Parses a request for the rows of a table, or for those with the keys `id`.
    ///
    /// # Errors
    /// Errors in the query string.
    pub(super) fn of(
        context: &'a RequestContext<'a>,
        database: &'a Arc<dyn Database>,
        table: &str,
        id: Option<&str>,
    ) -> Result<Self> {
        let purpose = if id.is_some() { Purpose::Read } else { Purpose::List };
        let query = query::read(context.query, table, purpose, database.spec())?.query;
        let is_row = id.is_some_and(is_one) && query.joins.is_empty();
        Ok(Self::new(context, database, query, is_row))
    }

    fn new(context: &'a RequestContext<'a>, database: &'a Arc<dyn Database>, query: RecordQuery, is_row: bool) -> Self {
        // The version is read first: the rows may be newer than their tag, but never older.
        let answer = if is_row { None } else { version(context, database, &query) };
        Self { context, database, query, answer, is_row, xml: php::wants_xml(context.query) }
    }

    /// Returns 304 when the client's tag names this response.
    pub(super) fn unchanged(&self) -> Option<Response<Body>> {
        let known = etag::known(self.context.headers, self.answer?, self.context.coding())?;
        Some(respond::not_modified(known))
    }

    /// Responds when the database can do so in microseconds; `None` means "use [`Reading::answer`]", which gives the
    /// same response.
    pub(super) fn now(&self, id: Option<&str>) -> Option<Result<Response<Body>>> {
        if !self.query.joins.is_empty() || id.is_some_and(|id| !is_one(id) || id.contains('%')) {
            return None;
        }
        let document = match self.database.read_now(self.context.caller, &self.query, id)? {
            Ok(document) => document,
            // The names may exist in a newer schema.
            Err(error) if matches!(error.code, Code::UnknownTable | Code::UnknownColumn | Code::NoPrimaryKey) => {
                return None;
            }
            Err(error) => return Some(Err(error)),
        };
        match self.tag(&document) {
            Err(known) => Some(Ok(respond::not_modified(known))),
            Ok(tag) => respond::whole(self.context, document, self.xml, tag),
        }
    }

    /// Reads the rows and responds.
    async fn answer(&self, id: Option<&str>) -> Result<Response<Body>> {
        let caller = self.context.caller;
        let keys = id.map(|id| PathKeys::read(id, &self.database.schema(), &self.query.table)).transpose()?;
        let work = async {
            match &keys {
                Some(keys) => self.database.read(caller, &self.query, &keys.keys, keys.many).await,
                None => self.database.list(caller, &self.query).await,
            }
        };
        let document = self.context.app.service.bounded(caller, work).await?;
        self.finish(document).await
    }

    async fn finish(&self, document: Document) -> Result<Response<Body>> {
        match self.tag(&document) {
            Err(known) => Ok(respond::not_modified(known)),
            Ok(tag) => respond::document(self.context, document, self.xml, tag).await,
        }
    }

    /// Returns the entity tag of the response.
    ///
    /// # Errors
    /// The client's own tag, when the client has the response already.
    fn tag(&self, document: &Document) -> Result<Option<HeaderValue>, HeaderValue> {
        // Compressed and uncompressed bytes have different tags; small responses are never compressed.
        let is_small = matches!(&document.body, DocumentBody::Whole(bytes) if bytes.len() < 1_024);
        let coding = if is_small { Coding::Identity } else { self.context.coding() };
        // The tag of a row does not cover the rows joined to it.
        let row = document.tag.as_deref().filter(|_| self.is_row || self.answer.is_some());
        if let (true, Some(row)) = (self.is_row, row)
            && let Some(known) = etag::known_row(self.context.headers, row, coding)
        {
            return Err(known);
        }
        Ok(etag::of(row, self.answer, coding))
    }
}

/// Returns whether a path segment contains a single key.
fn is_one(id: &str) -> bool {
    // Most have no `%`, which is found faster than a longer text.
    !id.contains(',') && (!id.contains('%') || !id.contains("%2C") && !id.contains("%2c"))
}

/// Returns the version of a response, if the database knows its version at once and the query reads stored tables only.
/// Computed values, as in views, may change without any row changing.
fn version(context: &RequestContext<'_>, database: &Arc<dyn Database>, query: &RecordQuery) -> Option<Version> {
    let schema = database.schema();
    let is_stored = schema.table(&query.table).is_some_and(|table| table.kind == TableKind::Table);
    let is_view = |name: &String| schema.table(name).is_some_and(|table| table.kind == TableKind::View);
    let has_views = || schema.tables().iter().any(|table| table.kind == TableKind::View);
    if !is_stored || query.joins.iter().flatten().any(is_view) || looks_elsewhere(query) && has_views() {
        return None;
    }
    database.version().map(|version| fingerprint(context, schema.stamp(), version))
}

/// Returns whether a filter or an order refers to other tables.
fn looks_elsewhere(query: &RecordQuery) -> bool {
    fn condition(looked_at: &Condition) -> bool {
        match looked_at {
            Condition::All(parts) | Condition::Any(parts) => parts.iter().any(condition),
            Condition::Test { path, .. } => path.len() > 1,
        }
    }
    let children = query.children.iter().filter_map(|child| child.filter.as_ref());
    query.filter.iter().chain(children).any(condition) || query.order.iter().any(|order| order.path.len() > 1)
}

/// Handles `GET /records/{table}` and `GET /records/{table}/{id}`.
pub(super) async fn rows(context: &RequestContext<'_>, table: &str, id: Option<&str>) -> Result<Response<Body>> {
    let (database, table) = context.database(table).await?;
    let reading = Reading::of(context, &database, table, id)?;
    if let Some(response) = reading.unchanged() {
        return Ok(response);
    }
    match reading.now(id) {
        Some(answered) => answered,
        None => reading.answer(id).await,
    }
}

/// Handles `GET /geojson/{table}` and `GET /geojson/{table}/{id}`.
pub(super) async fn geojson(context: &RequestContext<'_>, table: &str, id: Option<&str>) -> Result<Response<Body>> {
    let (database, table) = context.database(table).await?;
    let purpose = if id.is_some() { Purpose::MapRow } else { Purpose::Map };
    let geo = query::read(context.query, table, purpose, database.spec())?.into_geo();
    let reading = Reading::new(context, &database, geo.query.clone(), false);
    if let Some(response) = reading.unchanged() {
        return Ok(response);
    }
    let keys = id.map(|id| PathKeys::read(id, &database.schema(), table)).transpose()?;
    if let Some(keys) = keys.as_ref().filter(|keys| keys.many) {
        return Err(salver_model::Error::new(
            salver_model::Code::RecordNotFound,
            format!("Record '{}' not found", keys.text),
        ));
    }
    let key = keys.as_ref().and_then(|keys| keys.keys.first());
    let work = database.geojson(context.caller, &geo, key);
    let document = context.app.service.bounded(context.caller, work).await?;
    reading.finish(document).await
}
