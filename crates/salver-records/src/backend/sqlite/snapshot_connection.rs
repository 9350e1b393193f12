//! The connection of a snapshot, which is closed when the file is replaced.

use std::fmt;

use tokio::sync::{Mutex, OwnedSemaphorePermit};

use super::read_connection::ReadConnection;

/// The connection of a snapshot; `None` once it is closed.
pub(super) type SnapshotConnection = Mutex<Option<Holder>>;

/// The connection, and the way it keeps the snapshot.
pub(super) struct Holder {
    // First, so that the transaction ends before the permit is released.
    pub(super) reader: ReadConnection,
    /// SQLite's counter of commits by other connections, where a commit ends the snapshot; `None` while a transaction
    /// is open.
    pub(super) watched: Option<i64>,
    _place: OwnedSemaphorePermit,
}

impl Holder {
    /// Creates the holder of a connection that has begun to keep or to watch a snapshot, with its permit.
    pub(super) fn new(reader: ReadConnection, watched: Option<i64>, place: OwnedSemaphorePermit) -> Self {
        Self { reader, watched, _place: place }
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holder").field("watched", &self.watched).finish_non_exhaustive()
    }
}
