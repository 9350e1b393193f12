//! The SQLite backend: the database is in the process, so that a read by key is a function call, and concurrent writes
//! share one fsync.

mod connections;
mod database_file;
mod declared_types;
mod error_codes;
mod file_generation;
mod group_commit;
mod idle_sweep;
mod init_script;
mod interrupt;
mod load;
mod load_feed;
mod load_spool;
mod load_transaction;
mod lock_window;
mod log_index;
mod open;
mod program;
mod read;
mod read_connection;
mod read_transaction;
mod reflect;
mod rows;
mod slow_statements;
mod snapshot;
mod snapshot_connection;
mod sql_functions;
#[cfg(test)]
mod tests;
mod version;
mod writer;
mod writer_job;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use salver_model::records::TableInfo;
use salver_model::spec::DatabaseSpec;
use salver_model::{Error, Result, Shares};
use tokio::sync::{mpsc, oneshot};

use crate::backend::sqlite::connections::Connections;
use crate::backend::sqlite::database_file::Location;
use crate::backend::sqlite::read::StopOnDrop;
pub(crate) use crate::backend::sqlite::read_transaction::SqliteTransaction;
use crate::backend::sqlite::rows::RowsEnd;
pub(crate) use crate::backend::sqlite::snapshot::SqliteSnapshot;
use crate::backend::sqlite::writer::Queue;
use crate::backend::sqlite::writer_job::{Job, WaitingProgram};
use crate::cell::RowSink;
use crate::statement::{Bind, BulkLoad, Loaded, Program, ProgramOutcome, Read};

/// A SQLite database.
pub(crate) struct Sqlite {
    connections: Arc<Connections>,
    queue: Queue,
    ms_max: u64,
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite").field("connections", &self.connections).finish_non_exhaustive()
    }
}

impl Sqlite {
    pub(crate) fn open(spec: &DatabaseSpec) -> Result<Self> {
        if let (Some(statements), Location::File(path)) = (&spec.init, Location::of_url(&spec.url)?) {
            init_script::make(&path, statements)?;
        }
        let connections = Arc::new(Connections::new(spec)?);
        let ms_max = spec.statement_ms_max;
        Ok(Self { queue: Queue::new(Arc::clone(&connections), ms_max), connections, ms_max })
    }

    pub(crate) fn lying(&self) -> &Arc<Shares> {
        &self.connections.lying
    }

    pub(crate) async fn reflect(&self) -> Result<Vec<TableInfo>> {
        self.on_reader(|connection| {
            connection.execute_batch("BEGIN")?;
            let tables = reflect::reflect(connection)?;
            connection.execute_batch("COMMIT")?;
            Ok(tables)
        })
        .await
    }

    /// Reads SQLite's schema version from the file, which changes with every change of the schema, combined with the
    /// file's identity.
    pub(crate) async fn stamp(&self) -> Result<u64> {
        self.connections.look();
        read::on_reader(&self.connections, self.ms_max, |reader| {
            let version: i64 = reader.connection.query_row("PRAGMA schema_version", [], |row| row.get(0))?;
            let file = reader.era.file.map_or(0, database_file::FileId::mixed);
            Ok(version.cast_unsigned() ^ file ^ reader.era.number.rotate_left(32))
        })
        .await
    }

    pub(crate) async fn read<S: RowSink>(
        &self,
        reads: Vec<Read>,
        sink: S,
        out: Option<mpsc::Sender<Result<S::Piece>>>,
    ) -> Result<S> {
        read::read(&self.connections, self.ms_max, reads, sink, out).await
    }

    pub(crate) fn read_at_once<S: RowSink>(&self, read: &Read, sink: &mut dyn FnMut() -> S) -> Option<Result<S>> {
        read::read_at_once(&self.connections, read, sink)
    }

    pub(crate) async fn write(&self, program: Program) -> Result<ProgramOutcome> {
        if program.steps.is_empty() {
            return Ok(ProgramOutcome { steps: Vec::new(), committed: !program.dry_run });
        }
        let stop = self.new_run();
        let (answer, answered) = oneshot::channel();
        self.queue.put(Job::Program(WaitingProgram { program, run: stop.run, answer })).await?;
        answered.await.map_err(|_| Error::internal("the change broke off"))?
    }

    pub(crate) async fn define(&self, statements: Vec<String>) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        self.queue.put(Job::Define { statements, answer }).await?;
        answered.await.map_err(|_| Error::internal("the change of the schema broke off"))?
    }

    pub(crate) async fn load(&self, load: BulkLoad, rows: mpsc::Receiver<Vec<Vec<Bind>>>) -> Result<Loaded> {
        load::load(&self.queue, load, rows, self.new_run()).await
    }

    pub(crate) async fn ping(&self) -> Result<Duration> {
        self.on_reader(|connection| {
            let since = Instant::now();
            connection.query_row("PRAGMA schema_version", [], |_| Ok(()))?;
            Ok(since.elapsed())
        })
        .await
    }

    pub(crate) fn version(&self) -> Option<u64> {
        let open = || self.connections.open_reader(Duration::ZERO).ok();
        self.connections.on_lane(|reader| self.connections.clock.version(reader, open))
    }

    async fn on_reader<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<R> + Send + 'static,
    ) -> Result<R> {
        read::on_reader(&self.connections, self.ms_max, |reader| work(&reader.connection).map_err(RowsEnd::Sqlite))
            .await
    }

    /// Registers a run of the writer that is stopped when its caller is gone. A run that has ended is stopped too,
    /// without effect: no other has its number.
    fn new_run(&self) -> StopOnDrop {
        let run = self.connections.runs.fetch_add(1, Ordering::Relaxed);
        StopOnDrop { watch: Arc::clone(&self.connections.writer_watch), run }
    }
}
