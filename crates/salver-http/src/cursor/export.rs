//! Opens a cursor over all documents of an entry, on a snapshot.

use std::sync::Arc;

use http::Response;
use salver_model::{Code, Permission};
use salver_service::exports::{ExportReader, Range};
use serde_json::Value as Json;

use super::body::Members;
use super::step;
use crate::aql::ResultShape;
use crate::body::Body;
use crate::cursor_state::{BatchRows, Cursor, CursorKind, Facts, SnapshotRows, Supply};
use crate::dialect::{Refusal, arangodb};
use crate::request_context::{RequestContext, parameters};

/// Handles `POST /api/export?collection=`.
pub(super) async fn open(context: &RequestContext<'_>, body: &[u8]) -> Result<Response<Body>, Refusal> {
    let given = parameters(context.query)?.into_iter().find(|(name, _)| name == "collection");
    let Some((_, name)) = given.filter(|(_, name)| !name.is_empty()) else { return Err(arangodb::no_collection()) };
    let members = if body.is_empty() { Members::none() } else { Members::read(body)? };
    // Writes are visible at once, so there is nothing to flush.
    members.boolean("flush")?;
    members.number("flushWait")?;
    let wants_count = members.boolean("count")?;
    let batch_rows = context.rows_of_part(members.batch_rows()?);
    let limit = members.whole("limit")?.filter(|limit| *limit > 0);
    let ttl = members.ttl()?;
    let restriction = Restriction::read(&members)?;

    let service = &context.app.service;
    let snapshot = service.snapshot_with(context.caller, Permission::Export, &name).await;
    let held = service.hold(context.caller, &snapshot, &name, 1).await;
    let held = held.map_err(|error| match error.code {
        Code::UnknownEntry => arangodb::of_entry(error, &name, ("", "")),
        _ => Refusal::from(error),
    })?;
    let fields = held.describe().schema.fields();
    let columns: Vec<usize> =
        fields.iter().enumerate().filter(|(_, field)| restriction.keeps(field.name())).map(|(at, _)| at).collect();
    let count = if wants_count {
        let rows = service.count(context.caller, &*held).await?;
        Some(limit.map_or(rows, |limit| limit.min(rows)))
    } else {
        None
    };
    let shape = if columns.is_empty() { ResultShape::Empty } else { ResultShape::Objects };
    let range = Range { rows: limit, ..Range::all(&*held) };
    let reader = ExportReader::new(held, columns, range);
    let schema = Arc::clone(reader.schema());
    let source = BatchRows::Held(SnapshotRows::new(reader, &context.app.exports.turns));
    let supply = Supply::new(service, context.caller, source, shape, &schema).within(batch_rows, None, None);
    let facts = Facts { kind: CursorKind::Export, count, full_count: None, is_stream: true, allows_retry: false };
    step::first(context, Cursor::new(facts, supply, &context.app.cursors.prepared), ttl).await
}

/// The fields that are included or excluded.
#[derive(Debug)]
enum Restriction {
    All,
    Include(Vec<String>),
    Exclude(Vec<String>),
}

impl Restriction {
    fn read(members: &Members) -> Result<Self, Refusal> {
        let Some(restrict) = members.object("restrict")? else { return Ok(Self::All) };
        let Some(kind) = restrict.get("type").and_then(Json::as_str) else {
            return Err(arangodb::bad_parameter("expecting string for 'restrict.type'"));
        };
        let make = match kind {
            "include" => Self::Include,
            "exclude" => Self::Exclude,
            _ => {
                let message = "expecting either 'include' or 'exclude' for 'restrict.type'";
                return Err(arangodb::bad_parameter(message));
            }
        };
        let Some(fields) = restrict.get("fields").and_then(Json::as_array) else {
            return Err(arangodb::bad_parameter("expecting array for 'restrict.fields'"));
        };
        Ok(make(fields.iter().filter_map(Json::as_str).map(str::to_owned).collect()))
    }

    fn keeps(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Include(names) => names.iter().any(|own| own == name),
            Self::Exclude(names) => !names.iter().any(|own| own == name),
        }
    }
}
