//! The connection of a snapshot, which goes when the file is replaced.

use std::fmt;

use tokio::sync::{Mutex, OwnedSemaphorePermit};

use super::reader::Reader;

/// The connection of a snapshot, which goes when the file is replaced.
pub(super) type Held = Mutex<Option<Holder>>;

/// The connection, and how it keeps the state.
pub(super) struct Holder {
    // First, so that the transaction ends before its place is free.
    pub(super) reader: Reader,
    /// SQLite's count of the commits of others, where a commit ends the snapshot; `None` while a transaction is open.
    pub(super) watched: Option<i64>,
    _place: OwnedSemaphorePermit,
}

impl Holder {
    /// A connection that has begun to keep or to watch a state, and its place.
    pub(super) fn new(reader: Reader, watched: Option<i64>, place: OwnedSemaphorePermit) -> Self {
        Self { reader, watched, _place: place }
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holder").field("watched", &self.watched).finish_non_exhaustive()
    }
}
