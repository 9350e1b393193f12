//! Opens a cursor over the result of a query, in AQL or SQL.

use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::{Field, Schema, SchemaRef};
use http::Response;
use salver_model::limits::RESULT_BYTES_MAX;
use salver_model::ports::Held;
use salver_model::{Code, Error, Item, Permission, Query, SqlParameters, SqlQuery, Value};
use salver_service::Snapshot;
use salver_service::exports::{ExportReader, LiveRows, Range};
use serde_json::{Map, Value as Json};

use super::body::Members;
use super::step;
use crate::aql::{self, Binds, Compiled, ResultShape};
use crate::body::Body;
use crate::cursor_state::{BatchRows, Cursor, CursorKind, Facts, SnapshotRows, Supply};
use crate::dialect::{Refusal, arangodb};
use crate::request_context::RequestContext;
use crate::row_size;

/// The options of a request, beside the query.
#[derive(Debug)]
struct Options {
    batch_rows: usize,
    ttl: Duration,
    memory_bytes_max: Option<u64>,
    runtime: Option<Duration>,
    wants_count: bool,
    wants_full_count: bool,
    is_stream: bool,
    allows_retry: bool,
}

/// The rows of a query, with their shape and counts.
#[derive(Debug)]
struct Found {
    source: BatchRows,
    shape: ResultShape,
    /// The schema, with the names of the members in the result.
    schema: SchemaRef,
    count: Option<u64>,
    full_count: Option<u64>,
}

/// Handles `POST /api/cursor`.
pub(super) async fn open(context: &RequestContext<'_>, body: &[u8]) -> Result<Response<Body>, Refusal> {
    if body.is_empty() {
        return Err(arangodb::empty_query());
    }
    let members = Members::read(body)?;
    // A query that is not a string counts as missing, as in ArangoDB.
    let text = members.get("query").and_then(Json::as_str).unwrap_or_default();
    if text.trim().is_empty() {
        return Err(arangodb::empty_query());
    }
    if context.headers.contains_key("x-arango-trx-id") {
        return Err(arangodb::not_implemented(
            "a cursor in a transaction is not possible here; leave out x-arango-trx-id",
        ));
    }
    let options = Options::read(&members)?;
    let bind_vars = members.object("bindVars")?;
    let finding = find(context, text, bind_vars, &options);
    let found = match options.runtime {
        None => finding.await?,
        Some(time) => tokio::time::timeout(time, finding).await.map_err(|_| arangodb::killed())??,
    };
    let Found { source, shape, schema, count, full_count } = found;
    let supply = Supply::new(&context.app.service, context.caller, source, shape, &schema);
    let supply = supply.within(context.rows_of_part(options.batch_rows), options.memory_bytes_max, options.runtime);
    let Options { is_stream, allows_retry, .. } = options;
    let facts = Facts { kind: CursorKind::Query, count, full_count, is_stream, allows_retry };
    step::first(context, Cursor::new(facts, supply, &context.app.cursors.prepared), options.ttl).await
}

impl Options {
    fn read(members: &Members) -> Result<Self, Refusal> {
        let options = members.members("options")?;
        let is_stream = options.boolean("stream")?;
        // These control ArangoDB's optimizer and warnings. Here everything that would cause a warning is an error.
        options.boolean("failOnWarning")?;
        let runtime = options.number("maxRuntime")?.filter(|seconds| *seconds > 0.0);
        Ok(Self {
            batch_rows: members.batch_rows()?,
            ttl: members.ttl()?,
            memory_bytes_max: members.whole("memoryLimit")?.filter(|bytes| *bytes > 0),
            runtime: runtime.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
            // A streamed result is not counted: that would require reading it first.
            wants_count: members.boolean("count")? && !is_stream,
            wants_full_count: options.boolean("fullCount")? && !is_stream,
            is_stream,
            allows_retry: options.boolean("allowRetry")?,
        })
    }
}

async fn find(
    context: &RequestContext<'_>,
    text: &str,
    bind_vars: Option<&Map<String, Json>>,
    options: &Options,
) -> Result<Found, Refusal> {
    if is_sql(text) {
        return find_sql(context, text, bind_vars, options).await;
    }
    let statement = aql::parse(text)?;
    let binds = Binds::new(bind_vars);
    let name = statement.entry(&binds)?;
    let service = &context.app.service;
    let snapshot = service.snapshot_with(context.caller, Permission::Export, name).await;
    let table = match snapshot.resolve(name) {
        Ok(table) => table,
        Err(error) => return Err(arangodb::of_entry(error, name, ("AQL: ", " (while parsing)"))),
    };
    let schema = Arc::clone(&table.describe().schema);
    let compiled = aql::compile(&statement, &schema, &binds)?;
    match whole(&compiled, &schema, name)? {
        Some(columns) => {
            let held = service.hold(context.caller, &snapshot, name, 1).await?;
            find_held(context, held, columns, compiled, options).await
        }
        None => find_live(context, &snapshot, name, compiled, options).await,
    }
}

/// Returns the columns of a statement that is a plain scan of an entry, with their names in the result; `None` when it
/// filters, sorts or removes duplicates, or selects anything but top-level columns.
fn whole(compiled: &Compiled, schema: &SchemaRef, name: &str) -> Result<Option<Vec<(usize, String)>>, Refusal> {
    let Query { items, filter, sort, distinct, .. } = &compiled.query;
    if filter.is_some() || !sort.is_empty() || *distinct {
        return Ok(None);
    }
    if items.is_empty() && compiled.shape == ResultShape::Objects {
        let fields = schema.fields().iter().map(|field| field.name().clone());
        return Ok(Some(fields.enumerate().collect()));
    }
    let mut columns = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Item::Column { path, name: alias } if path.fields.is_empty() => {
                let at = schema.index_of(&path.column).map_err(|_| {
                    let known: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                    Error::unknown_column(Code::InvalidColumn, &path.column, name, known)
                })?;
                columns.push((at, alias.clone()));
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(columns))
}

/// Reads an entry from a snapshot, however long the client takes.
async fn find_held(
    context: &RequestContext<'_>,
    held: Arc<dyn Held>,
    columns: Vec<(usize, String)>,
    compiled: Compiled,
    options: &Options,
) -> Result<Found, Refusal> {
    let Query { offset, limit, .. } = compiled.query;
    let total = if options.wants_count || options.wants_full_count {
        Some(context.app.service.count(context.caller, &*held).await?)
    } else {
        None
    };
    let fields = held.describe().schema.fields();
    let renamed = columns.iter().filter_map(|(at, name)| Some(fields.get(*at)?.as_ref().clone().with_name(name)));
    let schema = Arc::new(Schema::new(renamed.collect::<Vec<Field>>()));
    let range = Range { skip: offset, rows: limit, ..Range::all(&*held) };
    let reader = ExportReader::new(held, columns.into_iter().map(|(at, _)| at).collect(), range);
    Ok(Found {
        source: BatchRows::Held(SnapshotRows::new(reader, &context.app.exports.turns)),
        shape: compiled.shape,
        schema,
        count: total.filter(|_| options.wants_count).map(|total| within(total, offset, limit)),
        full_count: total.filter(|_| options.wants_full_count),
    })
}

/// Streams the rows of a query.
async fn find_live(
    context: &RequestContext<'_>,
    snapshot: &Snapshot,
    name: &str,
    compiled: Compiled,
    options: &Options,
) -> Result<Found, Refusal> {
    let Compiled { mut query, shape } = compiled;
    query.count = options.wants_count || options.wants_full_count;
    if shape == ResultShape::Empty {
        // No values are returned, but the number of rows matters.
        let first = snapshot.resolve(name)?.describe().schema.fields().first().cloned();
        query.items = first.iter().map(|field| Item::column(field.name().as_str())).collect();
    }
    let (offset, limit) = (query.offset, query.limit);
    let rows = context.app.service.read_live(context.caller, snapshot, name, &query).await?;
    let total = rows.total;
    Ok(Found {
        schema: Arc::clone(rows.schema()),
        source: BatchRows::Live(rows),
        shape,
        count: total.filter(|_| options.wants_count).map(|total| within(total, offset, limit)),
        full_count: total.filter(|_| options.wants_full_count),
    })
}

/// Returns the number of `total` rows that remain after an offset and a limit.
fn within(total: u64, offset: u64, limit: Option<u64>) -> u64 {
    let left = total.saturating_sub(offset);
    limit.map_or(left, |limit| limit.min(left))
}

async fn find_sql(
    context: &RequestContext<'_>,
    text: &str,
    bind_vars: Option<&Map<String, Json>>,
    options: &Options,
) -> Result<Found, Refusal> {
    if options.wants_full_count {
        return Err(arangodb::bad_parameter("`fullCount` is for AQL; in SQL, count in a query of its own"));
    }
    let service = &context.app.service;
    let query = SqlQuery { text: text.to_owned(), parameters: bind(bind_vars)?, is_safe: false, ..SqlQuery::default() };
    let snapshot = service.snapshot(context.caller, Permission::Sql);
    let mut rows = match service.sql_live(context.caller, &snapshot, &query).await {
        // A table it names is still loading for the first time; only such queries wait for it.
        Err(error) if error.code == Code::EntryUnavailable && !snapshot.settled() => {
            service
                .sql_live(context.caller, &service.snapshot_settled(context.caller, Permission::Sql).await, &query)
                .await?
        }
        rows => rows?,
    };
    let count = if options.wants_count { Some(count(context, &mut rows, options).await?) } else { None };
    let schema = Arc::clone(rows.schema());
    Ok(Found { source: BatchRows::Live(rows), shape: ResultShape::Objects, schema, count, full_count: None })
}

/// Counts the rows of a statement, for which all of them are buffered.
async fn count(context: &RequestContext<'_>, rows: &mut LiveRows, options: &Options) -> Result<u64, Refusal> {
    let allowed = options.memory_bytes_max.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usize::MAX);
    if context.app.service.settle_live(context.caller, rows, allowed.min(RESULT_BYTES_MAX), row_size::of).await? {
        Ok(rows.waiting_rows() as u64)
    } else {
        Err(arangodb::memory("leave out `count`, so that the rows need not all be there before the first goes out"))
    }
}

/// Converts the bind variables to the values of `$1`, `$2`, or of `$name`.
fn bind(bind_vars: Option<&Map<String, Json>>) -> Result<SqlParameters, Refusal> {
    let Some(bind_vars) = bind_vars.filter(|values| !values.is_empty()) else { return Ok(SqlParameters::None) };
    let value =
        |name: &str, value: &Json| aql::scalar(value).ok_or_else(|| aql::wrong_type(name)).map_err(Refusal::from);
    let positional: Option<Vec<&Json>> = (1..=bind_vars.len()).map(|at| bind_vars.get(&at.to_string())).collect();
    Ok(match positional {
        Some(values) => {
            let values = values.into_iter().enumerate().map(|(at, own)| value(&(at + 1).to_string(), own));
            SqlParameters::Positional(values.collect::<Result<Vec<Value>, Refusal>>()?)
        }
        None => {
            let values = bind_vars.iter().map(|(name, own)| Ok((name.clone(), value(name, own)?)));
            SqlParameters::Named(values.collect::<Result<_, Refusal>>()?)
        }
    })
}

/// Returns whether a text is SQL: decided by its first word, since only `WITH` begins queries of both languages.
fn is_sql(text: &str) -> bool {
    let text = without_comments(text);
    let mut words = text.split(|c: char| c.is_whitespace() || c == '(').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_ascii_uppercase();
    match first.as_str() {
        "SELECT" | "VALUES" | "TABLE" | "EXPLAIN" | "DESCRIBE" | "SHOW" => true,
        "WITH" => words.take(3).any(|word| word.eq_ignore_ascii_case("AS") || word.eq_ignore_ascii_case("RECURSIVE")),
        _ => false,
    }
}

/// Returns the text after leading comments of either language.
fn without_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let end = match text.get(..2) {
            Some("--" | "//") => text.find('\n'),
            Some("/*") => text.find("*/").map(|at| at + 2),
            _ => return text,
        };
        text = end.and_then(|end| text.get(end..)).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::is_sql;

    #[test]
    fn languages() {
        for sql in ["select 1", "-- x\n SELECT 1", "/* FOR */ with t as (select 1) select * from t", "(select 1)"] {
            assert!(is_sql(sql), "{sql}");
        }
        for aql in
            ["FOR d IN c RETURN d", "// SELECT\nfor d in c return d", "WITH a, b FOR d IN a RETURN d", "selected", ""]
        {
            assert!(!is_sql(aql), "{aql}");
        }
    }
}
