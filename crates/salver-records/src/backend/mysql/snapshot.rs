//! Snapshots of a MySQL or MariaDB database: a transaction with a consistent snapshot on a connection of its own, which
//! its readers use in turn.
//!
//! Only transactional engines keep earlier row versions; a table of another engine is refused. The transaction has read
//! from the table, so a statement that changes it as a whole (`TRUNCATE`, `ALTER`, `DROP`) waits for the transaction's
//! end or fails at its own lock timeout.

use std::sync::Arc;

use mysql_async::Error as Failure;
use salver_model::limits::SNAPSHOT_TRIES_MAX;
use salver_model::records::{TableInfo, TableKind};
use salver_model::{Code, Error, Result};
use tokio::sync::mpsc::Sender;
use tokio::sync::{Mutex, OwnedSemaphorePermit};

use super::client::Client;
use super::{Mysql, error_numbers};
use crate::backend::layout::Layout;
use crate::backend::snapshot_permits::{Queue, lost};
use crate::cell::RowSink;
use crate::dialect::{Dialect, Sql};
use crate::statement::{Bind, Read};

/// Additional settings of the snapshot's session: long timeouts for slow readers. The lease bounds that time.
const SETTINGS: &str = "SET SESSION wait_timeout = 2000000, net_write_timeout = 2000000";
/// No statement timeout, because the time for which rows wait for their reader would count. Waiting for the server's
/// response is still bounded by the statement timeout.
const UNLIMITED: &str = "SET SESSION max_execution_time = 0";
const UNLIMITED_MARIADB: &str = "SET SESSION max_statement_time = 0";
/// MariaDB has timeouts for idle transactions.
const SETTINGS_MARIADB: &str = "SET SESSION idle_transaction_timeout = 0, idle_readonly_transaction_timeout = 0";
const REPEATABLE: &str = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ";
const BEGIN: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";
/// Queries whether the engine of a table is transactional; null for views.
const TRANSACTIONS: &str = "SELECT e.TRANSACTIONS, t.ENGINE FROM information_schema.TABLES t \
    LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE \
    WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = ";
/// The server's error for a table that was changed as a whole between the snapshot and its first use.
const DEFINITION_CHANGED: u16 = 1412;

/// A snapshot of the database.
#[derive(Debug)]
pub(crate) struct MysqlSnapshot {
    /// The connection in its transaction; `None` once anything on it failed, since the transaction may then be another.
    held: Arc<Mutex<Option<Holder>>>,
    place: String,
    queue: Queue,
}

#[derive(Debug)]
struct Holder {
    client: Client,
    _place: OwnedSemaphorePermit,
}

impl Mysql {
    /// See [`crate::backend::Backend::hold`].
    pub(crate) async fn hold(&self, tables: &[TableInfo]) -> Result<(MysqlSnapshot, Vec<Layout>)> {
        let permit = self.snapshots.take(self.pool.place())?;
        let mut client = self.pool.apart().await?;
        begin(&mut client, tables).await.map_err(|ended| match ended {
            SnapshotEnd::Failure(failure) => error_numbers::error(failure, self.pool.place()),
            SnapshotEnd::Error(error) => error,
        })?;
        client.rest();
        let held = Arc::new(Mutex::new(Some(Holder { client, _place: permit })));
        let layouts = tables.iter().map(|table| Layout { address: None, keyed: table.kind == TableKind::Table });
        let snapshot = MysqlSnapshot { held, place: self.pool.place().to_owned(), queue: Queue::default() };
        Ok((snapshot, layouts.collect()))
    }
}

/// Reason for an early end.
enum SnapshotEnd {
    /// The database, or the connection to it.
    Failure(Failure),
    /// Salver itself.
    Error(Error),
}

impl From<Failure> for SnapshotEnd {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

async fn begin(client: &mut Client, tables: &[TableInfo]) -> Result<(), SnapshotEnd> {
    client.run(SETTINGS).await?;
    client.run(if client.is_mariadb() { UNLIMITED_MARIADB } else { UNLIMITED }).await?;
    if client.is_mariadb() {
        // Versions without these variables have no such timeouts.
        if let Err(failure) = client.run(SETTINGS_MARIADB).await
            && error_numbers::is_lost(&failure)
        {
            return Err(failure.into());
        }
    }
    client.run(REPEATABLE).await?;
    for table in tables {
        keeps_rows(client, table).await?;
    }
    let mut tries = 1;
    loop {
        client.run(BEGIN).await?;
        match touch(client, tables).await {
            Ok(()) => return Ok(()),
            Err(Failure::Server(cause)) if cause.code == DEFINITION_CHANGED && tries < SNAPSHOT_TRIES_MAX => {
                client.run("ROLLBACK").await?;
                tries += 1;
            }
            Err(failure) => return Err(failure.into()),
        }
    }
}

/// Reads from the tables: from then on, they can't be changed under the transaction.
async fn touch(client: &mut Client, tables: &[TableInfo]) -> Result<(), Failure> {
    for table in tables {
        let mut read = Sql::new(Dialect::Mysql);
        read.push("SELECT 1 FROM ").name(&table.real_name).push(" LIMIT 1");
        client.run(&read.text).await?;
    }
    Ok(())
}

/// Checks that the table's engine is transactional.
async fn keeps_rows(client: &mut Client, table: &TableInfo) -> Result<(), SnapshotEnd> {
    client.start(&format!("{TRANSACTIONS}?").into(), &[&[Bind::Text(table.real_name.clone())]]).await?;
    let row = client.next().await?;
    if row.is_some() {
        client.skip().await?;
    }
    let Some(row) = row else { return Ok(()) };
    let transactions: Option<String> = row.get_opt(0).and_then(|value| value.ok()).flatten();
    let engine: Option<String> = row.get_opt(1).and_then(|value| value.ok()).flatten();
    match (transactions.as_deref(), engine) {
        (Some("YES"), _) | (_, None) => Ok(()),
        (_, Some(engine)) => Err(SnapshotEnd::Error(
            Error::new(
                Code::Unsupported,
                format!("`{}` can't be exported: its engine {engine} does not keep rows as they were", table.name),
            )
            .with_hint(format!("`ALTER TABLE {} ENGINE = InnoDB` makes it one that does", table.real_name)),
        )),
    }
}

impl MysqlSnapshot {
    /// See [`crate::backend::snapshot::MysqlSnapshot::read`].
    pub(crate) async fn read<S: RowSink>(&self, read: Read, mut sink: S) -> Result<S> {
        self.run(async |client| rows(client, &read, &mut sink).await).await?;
        Ok(sink)
    }

    /// See [`crate::backend::snapshot::MysqlSnapshot::scan`].
    pub(crate) async fn scan<S: RowSink>(&self, read: Read, mut sink: S, out: &Sender<S::Piece>) -> Result<(S, bool)> {
        let whole = self.run(async |client| sent(client, &read, &mut sink, (out, &self.queue)).await).await?;
        Ok((sink, whole))
    }

    async fn run<T>(&self, work: impl AsyncFnOnce(&mut Client) -> Result<T, SnapshotEnd>) -> Result<T> {
        let mut held = match self.held.try_lock() {
            Ok(held) => held,
            Err(_) => self.queue.wait(self.held.lock()).await,
        };
        let Some(holder) = held.as_mut() else { return Err(self.gone()) };
        match work(&mut holder.client).await {
            Ok(done) => {
                if !holder.client.rest() {
                    *held = None;
                }
                Ok(done)
            }
            Err(ended) => {
                *held = None;
                Err(match ended {
                    SnapshotEnd::Failure(failure) if error_numbers::is_lost(&failure) => {
                        self.gone().with_source(failure)
                    }
                    SnapshotEnd::Failure(failure) => error_numbers::error(failure, &self.place),
                    SnapshotEnd::Error(error) => error,
                })
            }
        }
    }

    fn gone(&self) -> Error {
        lost(&self.place, "the connection to it was lost")
    }
}

async fn rows<S: RowSink>(client: &mut Client, read: &Read, sink: &mut S) -> Result<(), SnapshotEnd> {
    client.start(&read.sql, &[&read.binds]).await?;
    while let Some(row) = client.next().await? {
        client.buffer.hand_over(&row, &read.kinds, 0, sink).map_err(SnapshotEnd::Error)?;
        if sink.full() {
            return Ok(client.skip().await?);
        }
    }
    Ok(())
}

/// Sends rows as they arrive; returns whether all of them were sent.
async fn sent<S: RowSink>(
    client: &mut Client,
    read: &Read,
    sink: &mut S,
    (out, queue): (&Sender<S::Piece>, &Queue),
) -> Result<bool, SnapshotEnd> {
    client.start(&read.sql, &[&read.binds]).await?;
    let mut sent = 0;
    while let Some(row) = client.next().await? {
        client.buffer.hand_over(&row, &read.kinds, 0, sink).map_err(SnapshotEnd::Error)?;
        if !sink.full() {
            continue;
        }
        let Some(place) = Queue::place([queue], out, &mut sent).await else {
            client.skip().await?;
            return Ok(false);
        };
        if let Some(piece) = sink.piece() {
            place.send(piece);
        }
    }
    Ok(true)
}
