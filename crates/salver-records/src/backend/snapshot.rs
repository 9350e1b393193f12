//! One state of a database, kept for whoever reads its rows: a connection of its own with a transaction that sees
//! nothing of what is written later.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::select_all;
use salver_model::limits::SNAPSHOTS_PER_DATABASE_MAX;
use salver_model::{Code, Error, Result};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Permit, Sender};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

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

/// How the rows of a table can be told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// What the database itself calls each row by.
    pub(crate) address: Option<Address>,
    /// Whether each key that the table has is unique among the rows that come when it is read.
    pub(crate) keyed: bool,
}

/// What the database itself calls each row by, where it has such a name and keeps it as long as the snapshot lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The expression.
    pub(crate) sql: String,
    /// Whether it is a number, else text.
    pub(crate) number: bool,
    /// Whether rows must be asked to come in its order; else they do by themselves, and asking would sort them.
    pub(crate) sorted: bool,
    /// In how many pages the rows lie, when their addresses begin with the number of the page.
    pub(crate) pages: Option<u64>,
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

/// Pieces that are sent before it is somebody else's turn.
const TURN_PIECES: usize = 32;

/// Who waits for something that a scan may use for long.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: AtomicUsize,
    came: Notify,
}

/// Counts one who waits, for as long as that lasts.
struct Waiting<'a>(&'a Queue);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Queue {
    /// Waits for `turn`, and lets those know who have theirs.
    pub(crate) async fn wait<T>(&self, turn: impl Future<Output = T>) -> T {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let _waiting = Waiting(self);
        self.came.notify_waiters();
        turn.await
    }

    /// A place in `out` for the next piece of a scan that uses what those of `queues` wait for; `None` when it should
    /// end.
    pub(crate) async fn place<'a, M, const N: usize>(
        queues: [&Self; N],
        out: &'a Sender<M>,
        sent: &mut usize,
    ) -> Option<Permit<'a, M>> {
        let came = queues.map(|queue| Box::pin(queue.came.notified()));
        let waits = queues.iter().any(|queue| queue.waiting.load(Ordering::Acquire) > 0);
        *sent += 1;
        match out.try_reserve() {
            Ok(place) if !waits || *sent <= TURN_PIECES => return Some(place),
            Ok(_) | Err(TrySendError::Closed(())) => return None,
            Err(TrySendError::Full(())) if waits => return None,
            Err(TrySendError::Full(())) => {}
        }
        tokio::select! {
            place = out.reserve() => place.ok(),
            _ = select_all(came) => None,
        }
    }
}

/// Places for the connections of snapshots; apart from those of queries, so that neither takes the other's.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    /// Those that make an export quicker, and that it does without when there are none.
    spare: Arc<Semaphore>,
}

impl Default for Places {
    fn default() -> Self {
        let spare = SNAPSHOTS_PER_DATABASE_MAX / 2;
        Self { free: Arc::new(Semaphore::new(SNAPSHOTS_PER_DATABASE_MAX)), spare: Arc::new(Semaphore::new(spare)) }
    }
}

impl Places {
    /// One place, for the database that messages call `database`.
    ///
    /// # Errors
    /// `Overloaded` when there is none.
    pub(crate) fn take(&self, database: &str) -> Result<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok().ok_or_else(|| {
            Error::new(
                Code::Overloaded,
                format!("{SNAPSHOTS_PER_DATABASE_MAX} exports of the database {database} are open, and no more can be"),
            )
            .with_hint("finish or delete one, or try again when one has expired")
        })
    }

    /// One place, if there is one.
    pub(crate) fn spare(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.spare).try_acquire_owned().ok()
    }
}

/// That the state is not kept any more, and never comes again; `why` is part of a sentence.
pub(crate) fn lost(database: &str, why: &str) -> Error {
    Error::new(Code::ExpiredCursor, format!("the rows that were held in the database {database} are gone: {why}"))
        .with_hint("begin the export again")
}
