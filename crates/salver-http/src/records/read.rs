//! GET: lists of rows, reads by key, and GeoJSON.

use std::sync::Arc;

use http::{HeaderValue, Response};
use salver_formats::Coding;
use salver_model::ports::{Database, MaybeReady};
use salver_model::records::{Condition, Document, DocumentBody, RecordQuery, RecordRead, TableKind};
use salver_model::{Code, Error, Result, Version};
use salver_service::sees_all;

use super::databases::fingerprint;
use super::etag::{self, Form};
use super::path_keys::PathKeys;
use super::query::{self, Purpose};
use super::respond;
use crate::body::Body;
use crate::dialect::php;
use crate::request_context::RequestContext;

/// What the entity tag of a response is made of, beside the tag of a row.
enum Tagging {
    /// Nothing: what the response has may change without a sign.
    None,
    /// Everything that determines the response, the version of the database among it.
    Version(Version),
    /// The response itself. The version of the database would tell of changes of what is kept back from the caller.
    Body,
}

/// A parsed request to read rows.
pub(super) struct Reading<'a> {
    context: &'a RequestContext<'a>,
    database: &'a Arc<dyn Database>,
    read: RecordRead,
    /// What the entity tag of the response is made of, beside the row's own tag.
    tagging: Tagging,
    /// Whether the response is a single row without joins, tagged by its own state: reading the row is as cheap as
    /// reading the version of the database.
    is_row: bool,
    xml: bool,
}

impl<'a> Reading<'a> {
    /// Parses a request for the rows of a table, or for those with the keys `id`.
    ///
    /// # Errors
    /// Errors in the query string, and too many keys.
    pub(super) fn of(
        context: &'a RequestContext<'a>,
        database: &'a Arc<dyn Database>,
        table: &str,
        id: Option<&str>,
    ) -> Result<Self> {
        let purpose = if id.is_some() { Purpose::Read } else { Purpose::List };
        // Most requests for one row have no parameters.
        let query = match context.query {
            "" => None,
            given => Some(Box::new(query::read(given, table, purpose, database.spec())?.query)),
        };
        let or_plain =
            |query: Option<Box<RecordQuery>>| query.unwrap_or_else(|| Box::new(query::plain(table, database.spec())));
        let Some(id) = id else { return Ok(Self::new(context, database, RecordRead::List(or_plain(query)))) };
        let PathKeys { mut keys, many, .. } = PathKeys::read(id, &**database, table)?;
        let is_plain = !many && query.as_deref().is_none_or(RecordQuery::is_plain);
        let read = if is_plain && let Some(key) = keys.pop() {
            RecordRead::Row { table: table.to_owned(), key }
        } else {
            RecordRead::Keys { query: or_plain(query), keys, many }
        };
        Ok(Self::new(context, database, read))
    }

    fn new(context: &'a RequestContext<'a>, database: &'a Arc<dyn Database>, read: RecordRead) -> Self {
        // The version is read first: the rows may be newer than their tag, but never older.
        let (is_row, version) = match &read {
            RecordRead::Row { .. } => (true, None),
            RecordRead::Keys { query, many: false, .. } if query.joins.is_empty() => (true, None),
            RecordRead::List(query) | RecordRead::Keys { query, .. } => (false, version(context, database, query)),
            RecordRead::Features(geo, _) => (false, version(context, database, &geo.query)),
        };
        let tagging = match version {
            None => Tagging::None,
            Some(version) if sees_all(context.caller, &**database) => Tagging::Version(version),
            Some(_) => Tagging::Body,
        };
        Self { context, database, read, tagging, is_row, xml: php::wants_xml(context.query) }
    }

    /// Reads the rows and responds, at once if that takes microseconds. A client that has the response already, by its
    /// tag, gets 304.
    pub(super) fn answer(&self) -> MaybeReady<'_, Result<Response<Body>>> {
        if let Tagging::Version(version) = self.tagging
            && let Some(known) = etag::known(self.context.headers, version, self.form(self.context.coding()))
        {
            return MaybeReady::Ready(Ok(respond::not_modified(known)));
        }
        let service = &self.context.app.service;
        service.read_records(self.context.caller, self.database, &self.read).then(|document| match document {
            Ok(document) => self.finish(document),
            Err(error) => MaybeReady::Ready(Err(error)),
        })
    }

    fn finish(&self, document: Document) -> MaybeReady<'_, Result<Response<Body>>> {
        let document = match respond::in_format(document, self.xml) {
            Ok(document) => document,
            Err(error) => return MaybeReady::Ready(Err(error)),
        };
        match self.tag(&document) {
            Err(known) => MaybeReady::Ready(Ok(respond::not_modified(known))),
            Ok(tag) => respond::formatted(self.context, document, self.xml, tag),
        }
    }

    /// Returns the entity tag of the response.
    ///
    /// # Errors
    /// The client's own tag, when the client has the response already.
    fn tag(&self, document: &Document) -> Result<Option<HeaderValue>, HeaderValue> {
        // Compressed and uncompressed bytes have different tags.
        let form = self.form(respond::coding(self.context, &document.body));
        let answer = match (&self.tagging, &document.body) {
            (Tagging::Version(version), _) => Some(*version),
            (Tagging::Body, DocumentBody::Whole(bytes)) => Some(Version::of(bytes)),
            // Its end is not known yet.
            (Tagging::Body, DocumentBody::Stream(_)) | (Tagging::None, _) => None,
        };
        if let (Tagging::Body, Some(answer)) = (&self.tagging, answer)
            && let Some(known) = etag::known(self.context.headers, answer, form)
        {
            return Err(known);
        }
        // The tag of a row does not cover the rows joined to it.
        let row = document.tag.as_deref().filter(|_| self.is_row || answer.is_some());
        if let (true, Some(row)) = (self.is_row, row)
            && let Some(known) = etag::known_row(self.context.headers, row, form)
        {
            return Err(known);
        }
        Ok(etag::of(row, answer, form))
    }

    fn form(&self, coding: Coding) -> Form {
        Form { xml: self.xml, coding }
    }
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
    Reading::of(context, &database, table, id)?.answer().await
}

/// Handles `GET /geojson/{table}` and `GET /geojson/{table}/{id}`.
pub(super) async fn geojson(context: &RequestContext<'_>, table: &str, id: Option<&str>) -> Result<Response<Body>> {
    let (database, table) = context.database(table).await?;
    let purpose = if id.is_some() { Purpose::MapRow } else { Purpose::Map };
    let geo = query::read(context.query, table, purpose, database.spec())?.into_geo();
    let keys = id.map(|id| PathKeys::read(id, &*database, table)).transpose()?;
    if let Some(keys) = keys.as_ref().filter(|keys| keys.many) {
        return Err(Error::new(Code::RecordNotFound, format!("Record '{}' not found", keys.text())));
    }
    let key = keys.and_then(|keys| keys.keys.into_iter().next());
    Reading::new(context, &database, RecordRead::Features(Box::new(geo), key)).answer().await
}
