//! A transaction for the reads of one statement of the SQL engine.
//!
//! With a write-ahead log it stays open from the first read to the last. With any other journal it keeps writers
//! waiting, so that it stays open between reads for a moment only ([`HELD`]). A read that comes later has one of its
//! own, and checks that nothing was committed since the first.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use salver_model::{Code, Error, Result};
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;
use tokio::sync::{Mutex, OwnedSemaphorePermit};
use tokio::task::spawn_blocking;

use super::connections::Connections;
use super::interrupt::Watch;
use super::read::send;
use super::read_connection::ReadConnection;
use super::rows::{self, RowsEnd};
use super::{Sqlite, version};
use crate::backend::receivers::{is_unwanted, unwanted};
use crate::cell::RowSink;
use crate::statement::Read;

/// Time in which a transaction that keeps writers waiting stays open between reads.
const HELD: Duration = Duration::from_millis(100);

/// A transaction on a connection of the pool, which gets it back when this is dropped.
pub(crate) struct SqliteTransaction {
    connections: Arc<Connections>,
    ms_max: u64,
    /// `None` after a failure. Locked while it reads.
    held: Arc<Mutex<Option<HeldReader>>>,
}

impl fmt::Debug for SqliteTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTransaction").field("database", &self.connections.name).finish_non_exhaustive()
    }
}

/// The connection, and how it keeps to its state.
struct HeldReader {
    // First, so that it is closed before the permit is released.
    reader: ReadConnection,
    _place: OwnedSemaphorePermit,
    /// SQLite's counter of commits by other connections at the first read, and the end of the time in which the
    /// transaction stays open; `None` if it keeps nobody waiting.
    watched: Option<(i64, Instant)>,
    /// Number of the last read, so that stopping one stops no other.
    last_run: u64,
}

impl Sqlite {
    /// See [`crate::backend::Backend::begin`].
    pub(crate) async fn begin(&self) -> Result<SqliteTransaction> {
        let (connections, ms_max) = (Arc::clone(&self.connections), self.ms_max);
        connections.look();
        let place = connections.place(ms_max).await?;
        let begun = spawn_blocking(move || {
            let mut reader = connections.take_reader()?;
            let watch = Arc::new(Watch::new());
            watch.begin(0, ms_max);
            reader.under(&watch)?;
            let watched = begin(&mut reader).map_err(|error| watch.explain(error))?;
            let held = HeldReader { reader, _place: place, watched, last_run: 0 };
            Ok::<_, Error>((connections, held))
        });
        let (connections, held) = begun.await.map_err(broke_off)??;
        let is_watched = held.watched.is_some();
        let held = Arc::new(Mutex::new(Some(held)));
        if is_watched {
            let held = Arc::downgrade(&held);
            tokio::spawn(async move {
                tokio::time::sleep(HELD).await;
                let Some(held) = held.upgrade() else { return };
                if let Some(held) = held.lock().await.as_mut() {
                    held.let_writers_in();
                }
            });
        }
        Ok(SqliteTransaction { connections, ms_max, held })
    }
}

/// Begins to keep, or to watch, the present state.
fn begin(reader: &mut ReadConnection) -> rusqlite::Result<Option<(i64, Instant)>> {
    let connection = &reader.connection;
    let journal: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    connection.execute_batch("BEGIN")?;
    // The first read of the file takes the state.
    let _: i64 = connection.query_row("PRAGMA schema_version", [], |row| row.get(0))?;
    if journal == "wal" && !reader.era.still {
        return Ok(None);
    }
    Ok(Some((version::data_version(connection)?, Instant::now() + HELD)))
}

impl SqliteTransaction {
    /// See [`crate::backend::read_transaction::ReadTransaction::read`].
    pub(crate) async fn read<S: RowSink>(
        &mut self,
        reads: Vec<Read>,
        mut sink: S,
        out: Option<Sender<Result<S::Piece>>>,
    ) -> Result<S> {
        let mut idle = self.held.lock().await;
        let Some(mut held) = idle.take() else {
            return Err(Error::internal("a transaction was used after it failed"));
        };
        held.last_run += 1;
        let (run, ms_max, watch) = (held.last_run, self.ms_max, Arc::clone(&held.reader.watch));
        let (connections, receiver) = (Arc::clone(&self.connections), out.clone());
        let mut task = pin!(spawn_blocking(move || {
            let ended = held.read(&connections, (run, ms_max), &reads, &mut sink, receiver.as_ref());
            (held, sink, ended)
        }));
        let done = tokio::select! {
            biased;
            done = task.as_mut() => done,
            () = unwanted(out.clone()) => {
                watch.stop(run);
                task.await
            }
        };
        let (held, sink, ended) = done.map_err(broke_off)?;
        match ended {
            Err(_) if is_unwanted(out.as_ref()) => {}
            Err(RowsEnd::Sqlite(error)) => return Err(watch.explain(error)),
            Err(RowsEnd::Own(error)) => return Err(error),
            Ok(()) => {}
        }
        // Rows read while the file was overwritten are discarded.
        if held.reader.era.is_over() {
            return Err(changed(&self.connections.name, "its file was replaced"));
        }
        *idle = Some(held);
        Ok(sink)
    }
}

impl HeldReader {
    fn read<S: RowSink>(
        &mut self,
        connections: &Connections,
        (run, ms_max): (u64, u64),
        reads: &[Read],
        sink: &mut S,
        out: Option<&Sender<Result<S::Piece>>>,
    ) -> Result<(), RowsEnd> {
        let Some((watched, end)) = self.watched else { return self.feed((run, ms_max), reads, sink, out) };
        // A file without locks must be checked for replacement.
        connections.look();
        if self.reader.connection.is_autocommit() {
            self.reader.connection.execute_batch("BEGIN")?;
            if version::data_version(&self.reader.connection)? != watched {
                let why = "it was changed, and without a write-ahead log it keeps no earlier rows";
                return Err(RowsEnd::Own(changed(&connections.name, why)));
            }
        }
        let ended = self.feed((run, ms_max), reads, sink, out);
        if Instant::now() >= end {
            self.let_writers_in();
        }
        connections.look();
        ended
    }

    /// Ends the transaction, if one is open.
    fn let_writers_in(&mut self) {
        if self.watched.is_some() && !self.reader.connection.is_autocommit() {
            // Ending a read-only transaction can't fail.
            let _ = self.reader.connection.execute_batch("ROLLBACK");
        }
    }

    fn feed<S: RowSink>(
        &mut self,
        (run, ms_max): (u64, u64),
        reads: &[Read],
        sink: &mut S,
        out: Option<&Sender<Result<S::Piece>>>,
    ) -> Result<(), RowsEnd> {
        let watch = Arc::clone(&self.reader.watch);
        for (index, read) in reads.iter().enumerate() {
            watch.begin(run, ms_max);
            let parts: (&Connection, _) = (&self.reader.connection, &mut self.reader.spare);
            rows::feed(parts, (index, read), sink, |sink| match out {
                None => Ok(()),
                Some(out) => send(sink, out, &watch),
            })?;
        }
        Ok(())
    }
}

impl Drop for SqliteTransaction {
    fn drop(&mut self) {
        let Some(held) = self.held.try_lock().ok().and_then(|mut held| held.take()) else { return };
        // Without a runtime the connection is closed.
        let Ok(runtime) = Handle::try_current() else { return };
        let connections = Arc::clone(&self.connections);
        runtime.spawn_blocking(move || {
            let HeldReader { reader, _place: place, .. } = held;
            if reader.connection.is_autocommit() || reader.connection.execute_batch("ROLLBACK").is_ok() {
                connections.keep_reader(reader);
            }
            drop(place);
        });
    }
}

fn broke_off(error: tokio::task::JoinError) -> Error {
    Error::internal("reading the database broke off").with_source(error)
}

/// The error of a statement whose reads would see more than one state.
fn changed(database: &str, why: &str) -> Error {
    let message = format!("the database `{database}` was read in several places of a statement: {why}");
    Error::new(Code::Contention, message).with_hint("ask again, or set `PRAGMA journal_mode = wal` in the database")
}
