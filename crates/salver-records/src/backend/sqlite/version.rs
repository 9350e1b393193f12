//! The version of a database's content: a number that changes with every commit of any connection.
//!
//! SQLite has a counter per connection that tells whether another connection committed. To make one commit change the
//! version once, and not once per connection that notices it, one connection, the sentinel, decides; it is queried only
//! by readers whose own counter changed, and the others query nothing more.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use super::read_connection::ReadConnection;

/// Counts commits.
pub(super) struct Clock {
    number: AtomicU64,
    sentinel: Mutex<Sentinel>,
}

#[derive(Default)]
struct Sentinel {
    reader: Option<ReadConnection>,
    seen: Option<i64>,
}

impl Clock {
    /// Starts at the time, in nanoseconds, so that no number repeats after a restart.
    pub(super) fn new() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = u64::try_from(since.as_nanos()).unwrap_or(0);
        Self { number: AtomicU64::new(number), sentinel: Mutex::default() }
    }

    /// Returns the version of what `reader` would read now; opens the sentinel with `open` when there is none.
    ///
    /// The reader's counter is read before the sentinel's. A commit between the two is visible to the caller, who reads
    /// after both, and the version is already that of the sentinel.
    pub(super) fn version(&self, reader: &mut ReadConnection, open: impl FnOnce() -> Option<ReadConnection>) -> u64 {
        reader.watch.begin_at_once();
        reader.refresh();
        let Ok(counter) = data_version(&reader.connection) else { return self.moved() };
        if let Some((seen, version)) = reader.seen
            && seen == counter
        {
            return version;
        }
        let version = self.ask(open);
        reader.seen = Some((counter, version));
        version
    }

    /// Closes the sentinel of a file that was replaced.
    pub(super) fn close(&self) {
        if let Ok(mut sentinel) = self.sentinel.try_lock() {
            sentinel.reader.take_if(|reader| reader.era.is_over());
        }
    }

    fn ask(&self, open: impl FnOnce() -> Option<ReadConnection>) -> u64 {
        let mut sentinel = self.sentinel.lock().unwrap_or_else(PoisonError::into_inner);
        if sentinel.reader.as_ref().is_none_or(|reader| reader.era.is_over()) {
            *sentinel = Sentinel::default();
            sentinel.reader = open();
        }
        let counter = sentinel.reader.as_ref().and_then(|reader| {
            reader.watch.begin_at_once();
            data_version(&reader.connection).ok()
        });
        let version = match counter {
            Some(counter) if sentinel.seen == Some(counter) => self.number.load(Ordering::Relaxed),
            _ => self.moved(),
        };
        sentinel.seen = counter;
        sentinel.reader.take_if(|reader| reader.era.is_over());
        version
    }

    /// Returns a new number: where SQLite can't tell, everything may have changed.
    fn moved(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Returns SQLite's counter of changes by other connections, as this connection sees it now.
pub(super) fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached("PRAGMA data_version")?;
    let mut rows = statement.raw_query();
    rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?.get(0)
}
