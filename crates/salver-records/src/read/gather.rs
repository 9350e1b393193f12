//! Reads by key that come while another of the same table is under way: they wait for it and then go together, as one
//! statement. A round trip through a database server costs it and us more than the row does, most of all in waking
//! each other; a lone read waits for nobody.
//!
//! A read goes into a statement that starts after it came, so that it sees every change that was answered before.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ahash::AHashMap;
use salver_model::records::ColumnKind;
use salver_model::{Error, Result};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::point::{Point, PointSink, ROW_BYTES};
use crate::backend::Backend;
use crate::cell::{Cell, RowSink};
use crate::statement::{Bind, Read};

/// Most keys of one statement, a power of two.
const KEYS_MAX: usize = 64;
/// Who waits for a statement that takes longer waits no more, so that one read that is stuck holds up nobody.
const TURN_MS_MAX: u64 = 50;

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
struct Asked {
    key: i64,
    answer: oneshot::Sender<Result<Option<Vec<u8>>>>,
}

impl Gather {
    /// `statement` makes the text that reads so many keys, whose answer has the key behind the row's cells.
    pub(super) fn new(kinds: Arc<[ColumnKind]>, statement: impl Fn(usize) -> Arc<str>) -> Self {
        let sizes = std::iter::successors(Some(2), |keys| Some(keys * 2)).take_while(|keys| *keys <= KEYS_MAX);
        Self { statements: sizes.map(statement).collect(), kinds, waiting: Mutex::default() }
    }

    /// The read of all these keys. Places that are left over get the last key again.
    fn read(&self, asked: &[Asked]) -> Option<Read> {
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
    fn enter(&self, key: i64) -> Option<oneshot::Receiver<Result<Option<Vec<u8>>>>> {
        let mut waiting = self.waiting();
        if !std::mem::replace(&mut waiting.under_way, true) {
            return None;
        }
        let (answer, row) = oneshot::channel();
        waiting.asked.push(Asked { key, answer });
        Some(row)
    }

    /// Those who go next, now that what was under way has ended; `None` when nobody waits.
    fn next(&self) -> Option<Vec<Asked>> {
        let mut waiting = self.waiting();
        let count = waiting.asked.len().min(KEYS_MAX);
        waiting.under_way = count > 0;
        (count > 0).then(|| waiting.asked.drain(..count).collect())
    }
}

/// The row that `read` finds, by itself or together with others.
pub(super) async fn row(backend: &Arc<Backend>, point: &Arc<Point>, read: Read) -> Result<Option<Vec<u8>>> {
    let (Some(gather), [Bind::Int(key)]) = (&point.gather, read.binds.as_slice()) else {
        return alone(backend, point, read).await;
    };
    let Some(row) = gather.enter(*key) else {
        let turn = Turn { backend: Arc::clone(backend), point: Arc::clone(point) };
        return turn.during(alone(backend, point, read)).await;
    };
    match row.await {
        Ok(row) => row,
        // The runtime that was to run it has ended.
        Err(_) => alone(backend, point, read).await,
    }
}

async fn alone(backend: &Backend, point: &Arc<Point>, read: Read) -> Result<Option<Vec<u8>>> {
    Ok(backend.read(vec![read], PointSink::new(point), None).await?.finish())
}

/// What is under way. When it ends, also when its client went away, those who waited go.
struct Turn {
    backend: Arc<Backend>,
    point: Arc<Point>,
}

impl Turn {
    /// Ends with the statement, or before it when that takes long.
    async fn during<T>(self, statement: impl Future<Output = T>) -> T {
        let mut statement = pin!(statement);
        match timeout(Duration::from_millis(TURN_MS_MAX), &mut statement).await {
            Ok(done) => done,
            Err(_) => {
                drop(self);
                statement.await
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(gather) = &self.point.gather else { return };
        let Ok(runtime) = Handle::try_current() else {
            *gather.waiting() = Waiting::default();
            return;
        };
        // Not held while the next one is spawned, which a runtime that ends drops at once.
        if let Some(asked) = gather.next() {
            let next = Self { backend: Arc::clone(&self.backend), point: Arc::clone(&self.point) };
            runtime.spawn(together(next, asked));
        }
    }
}

/// Reads all the keys, and gives each its row.
async fn together(turn: Turn, mut asked: Vec<Asked>) {
    let Some(read) = turn.point.gather.as_ref().and_then(|gather| gather.read(&asked)) else { return };
    let sink = GatherSink { point: Arc::clone(&turn.point), rows: AHashMap::with_capacity(asked.len()) };
    let backend = Arc::clone(&turn.backend);
    // The next statement is on its way before the rows of this one are handed out.
    match turn.during(backend.read(vec![read], sink, None)).await {
        Ok(mut sink) => {
            // Those who asked for the same stand together then, and the last of them takes the row itself.
            asked.sort_unstable_by_key(|one| one.key);
            let mut asked = asked.into_iter().peekable();
            while let Some(one) = asked.next() {
                let again = asked.peek().is_some_and(|next| next.key == one.key);
                let row = if again { sink.rows.get(&one.key).cloned() } else { sink.rows.remove(&one.key) };
                // Nobody is there any more where it can't be sent.
                let _ = one.answer.send(Ok(row));
            }
        }
        Err(error) => {
            for one in asked {
                let _ = one.answer.send(Err(error.shared()));
            }
        }
    }
}

/// Takes the rows of several keys.
#[derive(Debug)]
struct GatherSink {
    point: Arc<Point>,
    rows: AHashMap<i64, Vec<u8>>,
}

impl RowSink for GatherSink {
    type Piece = ();

    fn row(&mut self, _: usize, cells: &[Cell<'_>]) -> Result<()> {
        let Some((Cell::Int(key), cells)) = cells.split_last() else {
            return Err(Error::internal("a row came without its key"));
        };
        let mut row = Vec::with_capacity(ROW_BYTES);
        self.point.write(cells, &mut row);
        self.rows.insert(*key, row);
        Ok(())
    }
}
