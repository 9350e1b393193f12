//! The three database systems behind one set of methods. Each has the same inherent methods with the same contract;
//! this file only dispatches.
//!
//! Contract:
//! - `reads` passed together see one snapshot of the database, in as few round trips as the driver allows (PostgreSQL
//!   pipelines them; MySQL gets them as one statement; SQLite needs none).
//! - Dropping a future cancels its work as soon as the database allows.
//! - Errors: `DuplicateKey`, `Integrity`, `Invalid` (a value the column can't hold), `DatabaseUnavailable`,
//!   `Contention`, `Timeout`, `UnknownColumn`/`UnknownTable` when the schema changed; anything else is `Execution`,
//!   with the database's own message only in the cause.

pub(crate) mod layout;
#[cfg(feature = "mysql")]
pub(crate) mod mysql;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
pub(crate) mod read_transaction;
mod receivers;
pub(crate) mod slow_clients;
pub(crate) mod snapshot;
pub(crate) mod snapshot_permits;
pub(crate) mod sqlite;

use std::sync::Arc;
use std::time::Duration;

use salver_model::records::TableInfo;
use salver_model::spec::{DatabaseKind, DatabaseSpec};
use salver_model::{Error, Result, Shares};
use tokio::sync::mpsc;

use crate::backend::layout::Layout;
use crate::backend::read_transaction::ReadTransaction;
use crate::backend::snapshot::DatabaseSnapshot;
use crate::cell::RowSink;
use crate::statement::{Bind, BulkLoad, Loaded, Program, ProgramOutcome, Read};

/// Returns the server's message about a value that does not fit its column, and the column's name if the server gives
/// it.
pub(crate) fn misfit(error: &Error) -> Option<(&str, Option<&str>)> {
    let cause = std::error::Error::source(error);
    #[cfg(feature = "postgres")]
    return cause.and_then(postgres::misfit);
    #[cfg(not(feature = "postgres"))]
    cause.and(None)
}

/// Returns whether the error says that the server has no such database, or none that the user of the URL may open.
pub(crate) fn is_nowhere(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        #[cfg(feature = "postgres")]
        if postgres::is_nowhere(error) {
            return true;
        }
        #[cfg(feature = "mysql")]
        if mysql::is_nowhere(error) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Returns the error for a system whose driver is not compiled in.
#[cfg(not(all(feature = "postgres", feature = "mysql")))]
fn left_out(spec: &DatabaseSpec, feature: &str) -> Error {
    let message = format!("database `{}`: this program was built without `{feature}`", spec.name);
    Error::new(salver_model::Code::Config, message).with_hint(format!("build it with the feature `{feature}`"))
}

/// A database system with its connections.
#[derive(Debug)]
pub(crate) enum Backend {
    Sqlite(sqlite::Sqlite),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Postgres),
    #[cfg(feature = "mysql")]
    Mysql(mysql::Mysql),
}

macro_rules! each {
    ($self:expr, $backend:ident => $call:expr) => {
        match $self {
            Backend::Sqlite($backend) => $call,
            #[cfg(feature = "postgres")]
            Backend::Postgres($backend) => $call,
            #[cfg(feature = "mysql")]
            Backend::Mysql($backend) => $call,
        }
    };
}

impl Backend {
    /// Opens the backend of `spec` without connecting: a database that is down shows up at the first use, and may come
    /// up later.
    pub(crate) fn open(spec: &DatabaseSpec) -> Result<Self> {
        Ok(match spec.kind {
            DatabaseKind::Sqlite => Self::Sqlite(sqlite::Sqlite::open(spec)?),
            #[cfg(feature = "postgres")]
            DatabaseKind::Postgres => Self::Postgres(postgres::Postgres::open(spec)?),
            #[cfg(feature = "mysql")]
            DatabaseKind::Mysql => Self::Mysql(mysql::Mysql::open(spec)?),
            #[cfg(not(feature = "postgres"))]
            DatabaseKind::Postgres => return Err(left_out(spec, "postgres")),
            #[cfg(not(feature = "mysql"))]
            DatabaseKind::Mysql => return Err(left_out(spec, "mysql")),
        })
    }

    /// Returns the connection shares of responses and loads, which keep a connection while their client is slow.
    pub(crate) fn lying(&self) -> &Arc<Shares> {
        each!(self, backend => backend.lying())
    }

    /// Reads every table and view of the database's default schema, ordered by name, under its real name (mapped names
    /// come later).
    pub(crate) async fn reflect(&self) -> Result<Vec<TableInfo>> {
        each!(self, backend => backend.reflect().await)
    }

    /// Returns a number that changes whenever the schema may have changed; cheap enough to query every second.
    pub(crate) async fn stamp(&self) -> Result<u64> {
        each!(self, backend => backend.stamp().await)
    }

    /// Runs `reads` and passes their rows to `sink`, in the order of the reads. With `out`, pieces that the sink has
    /// finished are sent there while rows arrive (waiting while the channel is full, ending when it is closed).
    pub(crate) async fn read<S: RowSink>(
        &self,
        reads: Vec<Read>,
        sink: S,
        out: Option<mpsc::Sender<Result<S::Piece>>>,
    ) -> Result<S> {
        each!(self, backend => backend.read(reads, sink, out).await)
    }

    /// Runs one read on the calling thread when the database is in the process and the read stays within a budget of
    /// microseconds; else returns `None`, with the sink reset by creating it anew.
    pub(crate) fn read_at_once<S: RowSink>(&self, read: &Read, sink: &mut dyn FnMut() -> S) -> Option<Result<S>> {
        match self {
            Self::Sqlite(backend) => backend.read_at_once(read, sink),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            _ => None,
        }
    }

    /// Runs a program that changes rows.
    pub(crate) async fn write(&self, program: Program) -> Result<ProgramOutcome> {
        each!(self, backend => backend.write(program).await)
    }

    /// Runs statements that change the schema, one after the other, in a transaction where the system supports that for
    /// them.
    pub(crate) async fn define(&self, statements: Vec<String>) -> Result<()> {
        each!(self, backend => backend.define(statements).await)
    }

    /// Loads rows as they arrive.
    pub(crate) async fn load(&self, load: BulkLoad, rows: mpsc::Receiver<Vec<Vec<Bind>>>) -> Result<Loaded> {
        each!(self, backend => backend.load(load, rows).await)
    }

    /// Takes a snapshot of the database's present state, with the rows of `tables`, and keeps it until it is dropped.
    /// Also returns how the rows of each of the tables can be told apart in it.
    pub(crate) async fn hold(&self, tables: &[TableInfo]) -> Result<(DatabaseSnapshot, Vec<Layout>)> {
        Ok(match self {
            Self::Sqlite(backend) => {
                let (snapshot, layouts) = backend.hold(tables).await?;
                (DatabaseSnapshot::Sqlite(snapshot), layouts)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(backend) => {
                let (snapshot, layouts) = backend.hold(tables).await?;
                (DatabaseSnapshot::Postgres(snapshot), layouts)
            }
            #[cfg(feature = "mysql")]
            Self::Mysql(backend) => {
                let (snapshot, layouts) = backend.hold(tables).await?;
                (DatabaseSnapshot::Mysql(snapshot), layouts)
            }
        })
    }

    /// Begins a transaction whose reads see the state of its first one.
    pub(crate) async fn begin(&self) -> Result<ReadTransaction> {
        Ok(match self {
            Self::Sqlite(backend) => ReadTransaction::Sqlite(backend.begin().await?),
            #[cfg(feature = "postgres")]
            Self::Postgres(backend) => ReadTransaction::Postgres(backend.begin().await?),
            #[cfg(feature = "mysql")]
            Self::Mysql(backend) => ReadTransaction::Mysql(backend.begin().await?),
        })
    }

    /// Measures a round trip.
    pub(crate) async fn ping(&self) -> Result<Duration> {
        each!(self, backend => backend.ping().await)
    }

    /// Returns a number that differs whenever any row may have changed, within microseconds; `None` where that needs a
    /// round trip.
    pub(crate) fn version(&self) -> Option<u64> {
        match self {
            Self::Sqlite(backend) => backend.version(),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            _ => None,
        }
    }
}
