//! Reads by key that come while another of the same table is under way: they wait for it and then go together, as one
//! statement. A round trip through a database server costs it and us more than the row does, most of all in waking
//! each other; a lone read waits for nobody.
//!
//! A read goes into a statement that starts after it came, so that it sees every change that was answered before.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use salver_model::Result;
use salver_model::records::ColumnKind;
use tokio::sync::oneshot;

use crate::statement::{Bind, Read};

/// Most keys of one statement, a power of two.
const KEYS_MAX: usize = 64;

/// Where reads of one table gather.
#[derive(Debug)]
pub(super) struct Gather {
    /// For 2, 4, 8 and so on keys: few statements to prepare, of which a read takes the next larger one.
    statements: Box<[Arc<str>]>,
    /// Of the row's cells, and of the key behind them.
    kinds: Arc<[ColumnKind]>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    under_way: bool,
    asked: Vec<Asked>,
}

/// Somebody's key, and where its row goes.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) key: i64,
    pub(super) answer: oneshot::Sender<Result<Option<Vec<u8>>>>,
}

impl Gather {
    /// `statement` makes the text that reads so many keys, whose answer has the key behind the row's cells.
    pub(super) fn new(kinds: Arc<[ColumnKind]>, statement: impl Fn(usize) -> Arc<str>) -> Self {
        let sizes = std::iter::successors(Some(2), |keys| Some(keys * 2)).take_while(|keys| *keys <= KEYS_MAX);
        Self { statements: sizes.map(statement).collect(), kinds, waiting: Mutex::default() }
    }

    /// The read of all these keys. Places that are left over get the last key again.
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

    /// `None` when nothing is under way, so that the key goes at once; else where its row will come from.
    pub(super) fn enter(&self, key: i64) -> Option<oneshot::Receiver<Result<Option<Vec<u8>>>>> {
        let mut waiting = self.waiting();
        if !std::mem::replace(&mut waiting.under_way, true) {
            return None;
        }
        let (answer, row) = oneshot::channel();
        waiting.asked.push(Asked { key, answer });
        Some(row)
    }

    /// Those who go next, now that what was under way has ended; `None` when nobody waits.
    pub(super) fn next(&self) -> Option<Vec<Asked>> {
        let mut waiting = self.waiting();
        let count = waiting.asked.len().min(KEYS_MAX);
        waiting.under_way = count > 0;
        (count > 0).then(|| waiting.asked.drain(..count).collect())
    }

    /// Lets go of all who wait, each of whom then reads by itself.
    pub(super) fn forget(&self) {
        *self.waiting() = Waiting::default();
    }
}
