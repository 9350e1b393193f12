//! Snapshots of a PostgreSQL database: a repeatable-read, read-only transaction on a connection of its own, and further
//! connections with the same snapshot while several readers run concurrently.
//!
//! The transaction holds an `ACCESS SHARE` lock on its tables, which conflicts with no reader and no writer of rows. A
//! statement that changes one as a whole (`TRUNCATE`, `ALTER`, `DROP`, `VACUUM FULL`) waits for it, and later
//! statements on the table queue behind that.

mod connections;
pub(crate) mod copy;
mod cursor;
mod numeric;

use std::fmt::Write;
use std::pin::pin;
use std::sync::Arc;

use ahash::AHashMap;
use futures::TryStreamExt;
use salver_model::records::TableInfo;
use salver_model::{Code, Error, Result};
use tokio::sync::mpsc::Sender;
use tokio_postgres::{SimpleQueryMessage, SimpleQueryRow};

use self::connections::{SnapshotConnection, SnapshotConnections};
use self::copy::Copied;
use super::Postgres;
use super::bind::Wire;
use super::connection::Connection;
use super::decode::{cells, forms, recycle};
use super::sqlstate::Fault;
use crate::backend::layout::{Address, Layout};
use crate::cell::RowSink;
use crate::dialect::Sql;
use crate::statement::{Bind, Read};

/// Run before the transaction: no timeout when idle, since the lease bounds that; and plans that return rows in the
/// same order each time.
const SETTINGS: &str = "\
SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings
WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout', 'idle_session_timeout');
SET synchronize_seqscans = off; SET max_parallel_workers_per_gather = 0; SET standard_conforming_strings = on";
/// Begins a transaction with one snapshot, which its first query takes.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// The savepoint to which the transaction returns after a failed statement, so that the snapshot survives it.
pub(super) const RETURN_TO: &str = "held";

/// A snapshot of the database.
#[derive(Debug)]
pub(crate) struct PostgresSnapshot {
    lines: Arc<SnapshotConnections>,
}

impl Postgres {
    /// See [`crate::backend::Backend::hold`].
    pub(crate) async fn hold(&self, tables: &[TableInfo]) -> Result<(PostgresSnapshot, Vec<Layout>)> {
        let place = self.snapshots.take(&format!("`{}`", self.target.entry))?;
        let connection = Connection::open(&self.target).await.map_err(|refusal| refusal.error)?;
        let begun = begin(&connection, tables).await;
        let (state, layouts) = begun.map_err(|fault| fault.into_error(&self.target.entry))?;
        let target = Arc::clone(&self.target);
        let lines =
            SnapshotConnections::new(target, self.snapshots.clone(), state, SnapshotConnection::new(connection, place));
        Ok((PostgresSnapshot { lines }, layouts))
    }
}

/// Begins the transaction and takes its snapshot; returns the snapshot's name, and the row identity of each table.
async fn begin(connection: &Connection, tables: &[TableInfo]) -> Result<(String, Vec<Layout>), Fault> {
    let client = &connection.client;
    let names: Vec<String> = tables.iter().map(quoted).collect();
    let classes = classes(client.simple_query(&class_query(&names)).await?);
    client.batch_execute(BEGIN).await?;
    // Locked before the snapshot, so that no row of them can be gone by then: TRUNCATE removes rows from older
    // snapshots too. A user with read access only can't lock views; the query below names them, which is nearly as
    // good.
    let locked = names.iter().zip(&classes).filter(|(_, class)| matches!(class.kind.as_str(), "r" | "p"));
    let locked: Vec<&str> = locked.map(|(name, _)| name.as_str()).collect();
    if !locked.is_empty() {
        client.batch_execute(&format!("LOCK TABLE {} IN ACCESS SHARE MODE", locked.join(", "))).await?;
    }
    let mut state = "SELECT pg_catalog.pg_export_snapshot() FROM (SELECT 1) one".to_owned();
    for (at, name) in names.iter().enumerate() {
        let _ = write!(state, " LEFT JOIN (SELECT FROM {name} LIMIT 0) t{at} ON true");
    }
    let state = rows_of(client.simple_query(&state).await?).into_iter().next().and_then(|row| cell(&row, 0));
    let state = state.ok_or_else(|| Error::internal("a state of PostgreSQL has no name"))?;
    for (table, name) in tables.iter().zip(&names) {
        same_columns(connection, table, name).await?;
    }
    client.batch_execute(&format!("SAVEPOINT {RETURN_TO}")).await?;
    Ok((state, classes.iter().map(TableClass::layout).collect()))
}

/// Returns the name of a table as SQL.
fn quoted(table: &TableInfo) -> String {
    let mut name = Sql::literal();
    name.name(&table.real_name);
    name.text
}

/// Returns the statement that sets what a snapshot needs, and asks for the classes of tables, in their order.
fn class_query(names: &[String]) -> String {
    let mut sql = Sql::literal();
    sql.push(SETTINGS).push("; SELECT relkind::text, relhassubclass::text, pg_catalog.pg_relation_size(oid)::text ");
    sql.push("FROM pg_catalog.unnest(ARRAY[");
    for (at, name) in names.iter().enumerate() {
        sql.push(if at == 0 { "" } else { ", " }).bind(Bind::Text(name.clone()));
    }
    sql.push("]) WITH ORDINALITY AS named(name, at) ");
    sql.push("LEFT JOIN pg_catalog.pg_class ON oid = pg_catalog.to_regclass(name) ORDER BY at");
    sql.text
}

/// What `pg_class` says of a table.
struct TableClass {
    /// Its `relkind`; empty for a table that is not there.
    kind: String,
    is_inherited: bool,
    pages: Option<u64>,
}

impl TableClass {
    /// Returns the identity of the table's rows.
    fn layout(&self) -> Layout {
        let is_alone = self.kind == "r" && !self.is_inherited;
        // In a plain table without partitions, rows visible to the snapshot keep their `ctid` for as long as it lasts.
        let address =
            is_alone.then(|| Address { sql: "ctid".to_owned(), number: false, sorted: false, pages: self.pages });
        // Tables that inherit from another are read with it, and have keys of their own.
        Layout { address, keyed: self.kind == "p" || is_alone }
    }
}

/// Reads the answer to [`class_query`].
fn classes(answer: Vec<SimpleQueryMessage>) -> Vec<TableClass> {
    // The settings have rows of one column.
    let rows = rows_of(answer).into_iter().filter(|row| row.len() == 3);
    let class = |row: SimpleQueryRow| TableClass {
        kind: cell(&row, 0).unwrap_or_default(),
        is_inherited: row.get(1) != Some("false"),
        pages: row.get(2).and_then(|bytes| bytes.parse::<u64>().ok()).map(|bytes| bytes.div_ceil(PAGE_BYTES)),
    };
    rows.map(class).collect()
}

/// Checks that the columns have the types that are known of them: rows are sent in the binary forms of these, so that
/// one that was altered a moment ago would break off in the middle. The lock keeps them from being altered any more.
async fn same_columns(connection: &Connection, table: &TableInfo, name: &str) -> Result<(), Fault> {
    let mut sql = Sql::literal();
    sql.push("SELECT attname::text, pg_catalog.format_type(atttypid, atttypmod) FROM pg_catalog.pg_attribute ");
    sql.push("WHERE attnum > 0 AND NOT attisdropped AND attrelid = pg_catalog.to_regclass(");
    sql.bind(Bind::Text(name.to_owned())).push(")");
    let mut types = AHashMap::new();
    for row in rows_of(connection.client.simple_query(&sql.text).await?) {
        if let (Some(column), Some(native)) = (row.get(0), row.get(1)) {
            types.insert(column.to_owned(), native.to_owned());
        }
    }
    // Whether a name has its schema depends on the search path.
    let bare = |native: &str| native.rsplit('.').next().unwrap_or(native).to_owned();
    let is_other = |native: &String, known: &str| bare(native) != bare(known);
    let mut columns = table.columns.iter();
    let other = columns.find(|own| types.get(&own.real_name).is_none_or(|native| is_other(native, &own.native)));
    match other {
        None => Ok(()),
        Some(column) => {
            let message = format!("`{}` of `{}` is not what it was any more", column.name, table.name);
            Err(Error::new(Code::UnknownColumn, message)
                .with_hint("the table was altered a moment ago: ask again")
                .into())
        }
    }
}

/// Page size of the server. If a server was built with another, the parts are uneven and nothing else changes.
const PAGE_BYTES: u64 = 8192;

/// Returns the rows of an answer.
fn rows_of(messages: Vec<SimpleQueryMessage>) -> Vec<SimpleQueryRow> {
    let row = |message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    };
    messages.into_iter().filter_map(row).collect()
}

fn cell(row: &SimpleQueryRow, column: usize) -> Option<String> {
    row.get(column).map(str::to_owned)
}

impl PostgresSnapshot {
    /// See [`crate::backend::snapshot::PostgresSnapshot::read`].
    pub(crate) async fn read<S: RowSink>(&self, read: Read, mut sink: S) -> Result<S> {
        let line = self.lines.take().await?;
        let ended = rows(&line.connection, &read, &mut sink).await;
        self.lines.settle(line, ended).await?;
        Ok(sink)
    }

    /// Runs the select `sql` with `COPY` and collects its rows as columns.
    pub(crate) async fn copy(&self, sql: &str, mut rows: Copied) -> Result<Copied> {
        let line = self.lines.take().await?;
        let ended = copied(&line.connection, sql, &mut rows).await;
        self.lines.settle(line, ended).await?;
        Ok(rows)
    }
}

impl PostgresSnapshot {
    /// See [`crate::backend::snapshot::PostgresSnapshot::scan`].
    pub(crate) async fn scan<S: RowSink>(&self, read: Read, mut sink: S, out: &Sender<S::Piece>) -> Result<(S, bool)> {
        let line = self.lines.take().await?;
        let mut whole = false;
        let ended = cursor::sent(&line.connection, &read, &mut sink, (out, &self.lines.queue)).await;
        let ended = ended.map(|all| whole = all);
        self.lines.settle(line, ended).await?;
        Ok((sink, whole))
    }
}

async fn copied(connection: &Connection, sql: &str, rows: &mut Copied) -> Result<(), Fault> {
    let messages = {
        let copy = format!("COPY ({sql}) TO STDOUT (FORMAT binary)");
        connection.within(connection.client.copy_out(&copy)).await?
    };
    let mut messages = pin!(messages);
    let mut taken = Ok(());
    // The rest is received even if unwanted: cancelling a statement blocks the connection for longer.
    while let Some(message) = connection.within(messages.try_next()).await? {
        if taken.is_ok() {
            taken = rows.take(message);
        }
    }
    Ok(taken?)
}

async fn rows<S: RowSink>(connection: &Connection, read: &Read, sink: &mut S) -> Result<(), Fault> {
    let statement = connection.within(connection.client.prepare(&read.sql)).await?;
    let forms = forms(&statement, &read.kinds)?;
    let asked = connection.client.query_raw(&statement, read.binds.iter().map(Wire));
    let mut rows = pin!(connection.within(asked).await?);
    let mut spare = Vec::with_capacity(forms.len());
    let mut taken = Ok(());
    while let Some(row) = connection.within(rows.try_next()).await? {
        if taken.is_err() || sink.full() {
            continue;
        }
        let mut values = recycle(spare);
        taken = cells(&row, &forms, &mut values).and_then(|()| sink.row(0, &values));
        spare = recycle(values);
    }
    Ok(taken?)
}
