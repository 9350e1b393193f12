//! Batches concurrent reads by key: reads that arrive while another of the same table is in progress wait for it and
//! then run together, as one statement. A round trip to a database server costs both sides more than the row, mostly in
//! wake-ups; a single read does not wait.
//!
//! A read joins a statement that starts after its arrival, so that it sees every change that was acknowledged before.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use salver_model::Result;
use salver_model::records::ColumnKind;
use tokio::sync::oneshot;

use crate::statement::{Bind, Read};

/// Most keys of one statement, a power of two.
const STATEMENT_KEYS: usize = 64;

/// The queue of reads of one table.
#[derive(Debug)]
pub(super) struct Gather {
    /// Statements for 2, 4, 8 and so on keys: few to prepare, of which a batch takes the next larger one.
    statements: Box<[Arc<str>]>,
    /// Kinds of the row's cells, and of the key after them.
    kinds: Arc<[ColumnKind]>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    under_way: bool,
    asked: Vec<Asked>,
}

/// A requested key, and the channel for its row.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) key: i64,
    pub(super) answer: oneshot::Sender<Result<Option<Vec<u8>>>>,
}

impl Gather {
    /// Creates the queue; `statement` returns the text that reads so many keys, whose result has the key after the
    /// row's cells.
    pub(super) fn new(kinds: Arc<[ColumnKind]>, statement: impl Fn(usize) -> Arc<str>) -> Self {
        let sizes = std::iter::successors(Some(2), |keys| Some(keys * 2)).take_while(|keys| *keys <= STATEMENT_KEYS);
        Self { statements: sizes.map(statement).collect(), kinds, waiting: Mutex::default() }
    }

    /// Returns the read of all these keys. Unused placeholders repeat the last key.
    pub(super) fn read(&self, asked: &[Asked]) -> Option<Read> {
        let keys = asked.len().next_power_of_two().max(2);
        let sql = self.statements.get(keys.ilog2() as usize - 1)?;
        let last = asked.last()?.key;
        let own = asked.iter().map(|one| one.key).chain(std::iter::repeat(last)).take(keys);
        let binds = own.map(Bind::Int).collect();
        Some(Read { sql: Arc::clone(sql), binds, kinds: Arc::clone(&self.kinds), point: true })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `None` when no read is in progress, so that the caller must read at once; else the channel that its row
    /// will come from.
    pub(super) fn enter(&self, key: i64) -> Option<oneshot::Receiver<Result<Option<Vec<u8>>>>> {
        let mut waiting = self.waiting();
        if !std::mem::replace(&mut waiting.under_way, true) {
            return None;
        }
        let (answer, row) = oneshot::channel();
        waiting.asked.push(Asked { key, answer });
        Some(row)
    }

    /// Returns the next batch, after the statement in progress has ended; `None` when the queue is empty.
    pub(super) fn next(&self) -> Option<Vec<Asked>> {
        let mut waiting = self.waiting();
        let count = waiting.asked.len().min(STATEMENT_KEYS);
        waiting.under_way = count > 0;
        (count > 0).then(|| waiting.asked.drain(..count).collect())
    }

    /// Drops the queue; each waiter then reads by itself.
    pub(super) fn forget(&self) {
        *self.waiting() = Waiting::default();
    }
}
