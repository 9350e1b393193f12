//! One view of each database for all tables of a statement.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// What the tables of one statement share, so that all of its reads of a database see one state of it. Each backend
/// keeps its own part here: a transaction, for example. See [`crate::ports::Table::in_view`].
#[derive(Debug)]
pub struct ReadView {
    reads_again: bool,
    /// The parts, each with the address that identifies its database.
    parts: Mutex<Vec<(usize, Arc<dyn Any + Send + Sync>)>>,
}

impl ReadView {
    /// Creates a view for a statement; `reads_again` is whether the statement may read a table more than once.
    #[must_use]
    pub fn new(reads_again: bool) -> Arc<Self> {
        Arc::new(Self { reads_again, parts: Mutex::default() })
    }

    /// Returns whether a table may be read again after it was read to its end.
    #[must_use]
    pub fn reads_again(&self) -> bool {
        self.reads_again
    }

    /// Returns the part of a database, which the first call makes with `make`. `database` is the address of something
    /// that the part keeps alive.
    pub fn part<T: Any + Send + Sync>(&self, database: usize, make: impl FnOnce() -> T) -> Arc<T> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = parts.iter().find(|(own, _)| *own == database).map(|(_, part)| Arc::clone(part));
        if let Some(known) = known.and_then(|part| part.downcast().ok()) {
            return known;
        }
        let made = Arc::new(make());
        parts.push((database, Arc::<T>::clone(&made)));
        made
    }
}
