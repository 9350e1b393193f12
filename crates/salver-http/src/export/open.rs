//! `POST /api/export` with `entry`: opens an export of N streams.

use std::sync::Arc;

use http::{Response, StatusCode};
use salver_model::entry::EntryKind;
use salver_model::limits::{EXPORT_STREAMS_MAX, EXPORT_TTL_S, EXPORT_TTL_S_MAX};
use salver_model::{Code, Error, Name, Permission, Result};
use serde_json::{Map, Value};

use super::json;
use super::params::{self, Parameters};
use super::state;
use crate::app::App;
use crate::body::Body;
use crate::export_state::{ExportToken, Opened};
use crate::request_context::RequestContext;
use crate::tokens::Owner;

/// The members of the body.
const FIELDS: [&str; 4] = ["entry", "streams", "columns", "ttl"];

/// The parsed body of the request.
struct Wanted {
    entry: String,
    streams: u64,
    columns: Option<Vec<String>>,
    ttl_s: u64,
}

/// Opens an export.
pub(super) async fn answer(app: &Arc<App>, context: &RequestContext<'_>) -> Result<Response<Body>> {
    Parameters::of(context, &[])?;
    let wanted = Wanted::read(&context.body)?;
    let service = &app.service;
    let snapshot = service.snapshot_with(context.caller, Permission::Export, &wanted.entry).await;
    let description = snapshot.resolve(&wanted.entry)?.describe();
    // Validated before a snapshot is taken, so that an invalid request costs nothing.
    params::indexes(wanted.columns.as_deref(), description)?;
    let parts = if description.kind == EntryKind::Table { wanted.streams } else { 1 };
    let held = service.hold(context.caller, &snapshot, &wanted.entry, usize::try_from(parts).unwrap_or(1)).await?;
    let columns = params::indexes(wanted.columns.as_deref(), held.describe())?;
    let entry = held.describe().name.clone();
    let version = held.describe().version;
    let opened = Arc::new(Opened::new(held, columns.clone(), wanted.streams));
    let lease = app.exports.sessions.open(context.caller, Arc::clone(&opened), wanted.ttl_s)?;
    let columns = wanted.columns.map(|_| columns);
    let token = ExportToken { lease, version, streams: wanted.streams, ttl_s: wanted.ttl_s, entry, columns };
    let text = token.write(&app.tokens, &Owner::of(context.caller))?;
    Ok(json(StatusCode::CREATED, state::write(app, &text, &token, &opened)))
}

impl Wanted {
    fn read(body: &[u8]) -> Result<Self> {
        let map: Map<String, Value> = serde_json::from_slice(body).map_err(|error| {
            Error::new(Code::InvalidBody, format!("the body is not a JSON object: {error}"))
                .with_hint("send something like {\"entry\":\"people\",\"streams\":4}")
        })?;
        if let Some(name) = map.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            return Err(params::unknown("field", name, &FIELDS));
        }
        let entry = match map.get("entry") {
            Some(Value::String(name)) => Name::new(name)?.to_string(),
            _ => return Err(wrong("entry", "the name of an entry, as a string")),
        };
        let streams = number(&map, "streams", 1, EXPORT_STREAMS_MAX)?;
        let ttl_s = number(&map, "ttl", EXPORT_TTL_S, EXPORT_TTL_S_MAX)?;
        let columns = match map.get("columns") {
            None | Some(Value::Null) => None,
            Some(Value::Array(names)) => {
                let names: Option<Vec<String>> = names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
                Some(names.ok_or_else(|| wrong("columns", "an array of names of columns"))?)
            }
            Some(_) => return Err(wrong("columns", "an array of names of columns")),
        };
        Ok(Self { entry, streams, columns, ttl_s })
    }
}

/// Reads an integer from 1 to `max`.
fn number(map: &Map<String, Value>, name: &str, default: u64, max: u64) -> Result<u64> {
    match map.get(name) {
        None | Some(Value::Null) => Ok(default),
        Some(value) => match value.as_u64() {
            Some(number) if (1..=max).contains(&number) => Ok(number),
            _ => Err(wrong(name, &format!("a whole number from 1 to {max}"))),
        },
    }
}

fn wrong(name: &str, what: &str) -> Error {
    Error::new(Code::InvalidRequest, format!("`{name}` is {what}"))
        .with_hint("send something like {\"entry\":\"people\",\"streams\":4}")
}
