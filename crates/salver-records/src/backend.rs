//! The three database systems behind one set of methods. Each has the same inherent methods with the same meaning; this
//! file only chooses.
//!
//! Meaning:
//! - `reads` that come together see one state of the database, and take as few round trips as the driver can make of
//!   them (PostgreSQL pipelines them; MySQL gets them as one statement; SQLite has none).
//! - Dropping a future stops its work as soon as the database lets it.
//! - Errors: `DuplicateKey`, `Integrity`, `Invalid` (a value the column can't hold), `DatabaseUnavailable`,
//!   `Contention`, `Timeout`, `UnknownColumn`/`UnknownTable` when the schema moved; anything else is `Execution`, with
//!   the database's own words only in the cause.

pub(crate) mod holding;
pub(crate) mod layout;
pub(crate) mod lying;
pub(crate) mod mysql;
pub(crate) mod postgres;
pub(crate) mod snapshot;
pub(crate) mod sqlite;

use std::sync::Arc;
use std::time::Duration;

use salver_model::records::TableInfo;
use salver_model::spec::{DatabaseKind, DatabaseSpec};
use salver_model::{Error, Result, Shares};
use tokio::sync::mpsc;

use crate::backend::snapshot::Snapshot;
use crate::cell::RowSink;
use crate::statement::{Bind, BulkLoad, Loaded, Outcome, Program, Read};

/// The server's words of a value that does not fit its column, and the column's name where it is told.
pub(crate) fn misfit(error: &Error) -> Option<(&str, Option<&str>)> {
    std::error::Error::source(error).and_then(postgres::misfit)
}

/// Whether the error says that the server has no such database, or none for the user of the URL.
pub(crate) fn is_nowhere(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if postgres::is_nowhere(error) || mysql::is_nowhere(error) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// A database system with its connections.
#[derive(Debug)]
pub(crate) enum Backend {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
    Mysql(mysql::Mysql),
}

macro_rules! each {
    ($self:expr, $backend:ident => $call:expr) => {
        match $self {
            Backend::Sqlite($backend) => $call,
            Backend::Postgres($backend) => $call,
            Backend::Mysql($backend) => $call,
        }
    };
}

impl Backend {
    /// The backend of `spec`. Nothing is connected yet: a database that is down is found out by the first use, and may
    /// come up later.
    pub(crate) fn open(spec: &DatabaseSpec) -> Result<Self> {
        Ok(match spec.kind {
            DatabaseKind::Sqlite => Self::Sqlite(sqlite::Sqlite::open(spec)?),
            DatabaseKind::Postgres => Self::Postgres(postgres::Postgres::open(spec)?),
            DatabaseKind::Mysql => Self::Mysql(mysql::Mysql::open(spec)?),
        })
    }

    /// Places of answers and loads that keep a connection while their client is slow.
    pub(crate) fn lying(&self) -> &Arc<Shares> {
        each!(self, backend => backend.lying())
    }

    /// Every table and view with its real names (names to the outside are the same here; mapping comes later), in the
    /// database's default schema, ordered by name.
    pub(crate) async fn reflect(&self) -> Result<Vec<TableInfo>> {
        each!(self, backend => backend.reflect().await)
    }

    /// A number that moves when the schema may have; cheap enough to ask every second.
    pub(crate) async fn stamp(&self) -> Result<u64> {
        each!(self, backend => backend.stamp().await)
    }

    /// Runs `reads` and hands their rows to `sink`, first those of the first read, and so on. With `out`, pieces that
    /// the sink has finished are sent there while rows come (waiting while it is full, ending when it is closed).
    pub(crate) async fn read<S: RowSink>(
        &self,
        reads: Vec<Read>,
        sink: S,
        out: Option<mpsc::Sender<Result<S::Piece>>>,
    ) -> Result<S> {
        each!(self, backend => backend.read(reads, sink, out).await)
    }

    /// One read on the calling thread, when the database is inside the process and the read keeps within a budget of
    /// microseconds; else `None`, and the sink has been reset by being made anew.
    pub(crate) fn read_now<S: RowSink>(&self, read: &Read, sink: &mut dyn FnMut() -> S) -> Option<Result<S>> {
        match self {
            Self::Sqlite(backend) => backend.read_now(read, sink),
            Self::Postgres(_) | Self::Mysql(_) => None,
        }
    }

    /// Runs a program that changes rows.
    pub(crate) async fn write(&self, program: Program) -> Result<Outcome> {
        each!(self, backend => backend.write(program).await)
    }

    /// Runs statements that change the schema, one after the other, in a transaction where the system has that for
    /// them.
    pub(crate) async fn define(&self, statements: Vec<String>) -> Result<()> {
        each!(self, backend => backend.define(statements).await)
    }

    /// Loads rows as they arrive.
    pub(crate) async fn load(&self, load: BulkLoad, rows: mpsc::Receiver<Vec<Vec<Bind>>>) -> Result<Loaded> {
        each!(self, backend => backend.load(load, rows).await)
    }

    /// Keeps the state in which the database is now, with the rows of `table`, for as long as the answer lives.
    pub(crate) async fn hold(&self, table: &TableInfo) -> Result<Snapshot> {
        Ok(match self {
            Self::Sqlite(backend) => Snapshot::Sqlite(backend.hold(table).await?),
            Self::Postgres(backend) => Snapshot::Postgres(backend.hold(table).await?),
            Self::Mysql(backend) => Snapshot::Mysql(backend.hold(table).await?),
        })
    }

    /// How long a round trip takes.
    pub(crate) async fn ping(&self) -> Result<Duration> {
        each!(self, backend => backend.ping().await)
    }

    /// A number that differs whenever any row may, told in microseconds; `None` where only a round trip could tell.
    pub(crate) fn version(&self) -> Option<u64> {
        match self {
            Self::Sqlite(backend) => backend.version(),
            Self::Postgres(_) | Self::Mysql(_) => None,
        }
    }
}
