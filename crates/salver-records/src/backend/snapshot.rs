//! One state of a database, kept for whoever reads its rows: a connection of its own with a transaction that sees
//! nothing of what is written later.

use salver_model::Result;
use tokio::sync::mpsc::Sender;

use super::layout::Layout;
use super::{mysql, postgres, sqlite};
use crate::cell::RowSink;
use crate::statement::Read;

/// A state that is kept. Dropping it lets go of it, without waiting for the database.
#[derive(Debug)]
pub(crate) enum Snapshot {
    Sqlite(sqlite::Snapshot),
    Postgres(postgres::Snapshot),
    Mysql(mysql::Snapshot),
}

impl Snapshot {
    /// How the rows can be told apart of the table it was made for.
    pub(crate) fn layout(&self) -> &Layout {
        match self {
            Self::Sqlite(snapshot) => snapshot.layout(),
            Self::Postgres(snapshot) => snapshot.layout(),
            Self::Mysql(snapshot) => snapshot.layout(),
        }
    }

    /// Runs one statement and hands its rows to `sink`, until it is full. Nobody else uses the connection meanwhile, so
    /// that a statement should have a bound.
    ///
    /// The future must not be dropped before it is done: see [`crate::table`], where it has a task of its own.
    pub(crate) async fn read<S: RowSink>(&self, read: Read, sink: S) -> Result<S> {
        match self {
            Self::Sqlite(snapshot) => snapshot.read(read, sink).await,
            Self::Postgres(snapshot) => snapshot.read(read, sink).await,
            Self::Mysql(snapshot) => snapshot.read(read, sink).await,
        }
    }

    /// How a statement without a bound may be read; see [`Snapshot::scan`].
    pub(crate) fn scans(&self) -> Scans {
        match self {
            Self::Sqlite(snapshot) if snapshot.is_in_the_way() => Scans::Never,
            Self::Sqlite(_) | Self::Postgres(_) => Scans::Whole,
            Self::Mysql(_) => Scans::Windows,
        }
    }

    /// Runs one statement and sends what `sink` has finished whenever it is full. The statement ends early when nobody
    /// takes the rows, or not at once while somebody else waits for the connection. Answers the sink with what is left
    /// in it, and whether all rows have come.
    pub(crate) async fn scan<S: RowSink>(&self, read: Read, sink: S, out: &Sender<S::Piece>) -> Result<(S, bool)> {
        match self {
            Self::Sqlite(snapshot) => snapshot.scan(read, sink, out.clone()).await,
            Self::Postgres(snapshot) => snapshot.scan(read, sink, out).await,
            Self::Mysql(snapshot) => snapshot.scan(read, sink, out).await,
        }
    }
}

/// How statements without a bound are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scans {
    /// One that ends early costs nothing.
    Whole,
    /// The rows that are left of one must come all the same, so that it should not be much longer than what was read
    /// before it.
    Windows,
    /// One that waits for its reader would be in the way of writers.
    Never,
}
