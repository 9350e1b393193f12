//! A snapshot of a database, kept for the readers of its rows: a connection of its own with a transaction that does not
//! see later writes.

use salver_model::Result;
use tokio::sync::mpsc::Sender;

#[cfg(feature = "mysql")]
use super::mysql;
#[cfg(feature = "postgres")]
use super::postgres;
use super::sqlite;
use crate::cell::RowSink;
use crate::statement::Read;

/// A snapshot that is kept. Dropping it releases it, without waiting for the database.
#[derive(Debug)]
pub(crate) enum DatabaseSnapshot {
    Sqlite(sqlite::SqliteSnapshot),
    #[cfg(feature = "postgres")]
    Postgres(postgres::PostgresSnapshot),
    #[cfg(feature = "mysql")]
    Mysql(mysql::MysqlSnapshot),
}

impl DatabaseSnapshot {
    /// Runs one statement and passes its rows to `sink`, until it is full. The connection is locked meanwhile, so the
    /// statement should have a limit.
    ///
    /// Unless the snapshot [survives](Self::survives_stops) it, the future must not be dropped before it is done: see
    /// [`crate::table`], which runs it in a task of its own.
    pub(crate) async fn read<S: RowSink>(&self, read: Read, sink: S) -> Result<S> {
        match self {
            Self::Sqlite(snapshot) => snapshot.read(read, sink).await,
            #[cfg(feature = "postgres")]
            Self::Postgres(snapshot) => snapshot.read(read, sink).await,
            #[cfg(feature = "mysql")]
            Self::Mysql(snapshot) => snapshot.read(read, sink).await,
        }
    }

    /// Returns whether a statement can be stopped in the middle without losing the snapshot.
    pub(crate) fn survives_stops(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// Returns how a statement without a limit may be read; see [`DatabaseSnapshot::scan`].
    pub(crate) fn scans(&self) -> Scans {
        match self {
            Self::Sqlite(snapshot) if snapshot.is_in_the_way() => Scans::Never,
            Self::Sqlite(_) => Scans::Whole,
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Scans::Whole,
            #[cfg(feature = "mysql")]
            Self::Mysql(_) => Scans::Windows,
        }
    }

    /// Runs one statement and sends what `sink` has finished whenever it is full. The statement ends early when the
    /// receiver is gone, or is not ready while another reader waits for the connection. Returns the sink with its
    /// remainder, and whether all rows have come.
    pub(crate) async fn scan<S: RowSink>(&self, read: Read, sink: S, out: &Sender<S::Piece>) -> Result<(S, bool)> {
        match self {
            Self::Sqlite(snapshot) => snapshot.scan(read, sink, out.clone()).await,
            #[cfg(feature = "postgres")]
            Self::Postgres(snapshot) => snapshot.scan(read, sink, out).await,
            #[cfg(feature = "mysql")]
            Self::Mysql(snapshot) => snapshot.scan(read, sink, out).await,
        }
    }
}

/// The ways to read a statement without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scans {
    /// As a whole: ending a statement early costs nothing.
    Whole,
    /// In windows: the remaining rows of a statement must be received all the same, so that it should not be much
    /// longer than what was read before it.
    Windows,
    /// Never: a statement that waits for its reader would block writers.
    Never,
}
