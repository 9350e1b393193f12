//! Reads the row of a key, alone or batched in one statement with others.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ahash::AHashMap;
use salver_model::{Error, Result};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::gather::Asked;
use super::point::{Point, PointSink, ROW_BYTES};
use crate::backend::Backend;
use crate::cell::{Cell, RowSink};
use crate::statement::{Bind, Read};

/// Time after which waiting reads no longer wait for the statement in progress, so that one blocked read delays no
/// others.
const TURN_MS: u64 = 50;

/// Returns the row that `read` finds, alone or batched.
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
        // The runtime that was to run it has shut down.
        Err(_) => alone(backend, point, read).await,
    }
}

async fn alone(backend: &Backend, point: &Arc<Point>, read: Read) -> Result<Option<Vec<u8>>> {
    Ok(backend.read(vec![read], PointSink::new(point), None).await?.finish())
}

/// The read in progress. When it ends, even because its client disconnected, the next batch runs.
struct Turn {
    backend: Arc<Backend>,
    point: Arc<Point>,
}

impl Turn {
    /// Awaits the statement; ends the turn with it, or before it when that takes long.
    async fn during<T>(self, statement: impl Future<Output = T>) -> T {
        let mut statement = pin!(statement);
        match timeout(Duration::from_millis(TURN_MS), &mut statement).await {
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
            gather.forget();
            return;
        };
        // Not held while the next one is spawned, since a runtime that shuts down drops it at once.
        if let Some(asked) = gather.next() {
            let next = Self { backend: Arc::clone(&self.backend), point: Arc::clone(&self.point) };
            runtime.spawn(together(next, asked));
        }
    }
}

/// Reads all the keys, and sends each row to its waiter.
async fn together(turn: Turn, mut asked: Vec<Asked>) {
    let Some(read) = turn.point.gather.as_ref().and_then(|gather| gather.read(&asked)) else { return };
    let sink = GatherSink { point: Arc::clone(&turn.point), rows: AHashMap::with_capacity(asked.len()) };
    let backend = Arc::clone(&turn.backend);
    // The next statement is sent before the rows of this one are distributed.
    match turn.during(backend.read(vec![read], sink, None)).await {
        Ok(mut sink) => {
            // Requests for the same key are adjacent then, and the last of them takes the row itself.
            asked.sort_unstable_by_key(|one| one.key);
            let mut asked = asked.into_iter().peekable();
            while let Some(one) = asked.next() {
                let again = asked.peek().is_some_and(|next| next.key == one.key);
                let row = if again { sink.rows.get(&one.key).cloned() } else { sink.rows.remove(&one.key) };
                // The send fails if the waiter is gone.
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

/// The sink for the rows of several keys.
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
