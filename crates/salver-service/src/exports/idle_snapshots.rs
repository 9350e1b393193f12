//! Snapshots of databases, each holding a shared permit: one that has been idle for a while is released when another
//! caller needs the permit.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Instant;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use futures::{Stream, StreamExt, stream};
use salver_model::ports::{FileKind, Held, HeldFile};
use salver_model::reply::BatchStream;
use salver_model::shares::Yields;
use salver_model::{Code, Description, Error, Filter, Result, Share};

/// Snapshot that is kept until its permit is needed more urgently by others.
pub(super) struct IdleSnapshot {
    description: Description,
    parts: usize,
    ascending: Option<usize>,
    finds_again: bool,
    slot: Arc<SnapshotSlot>,
}

struct SnapshotSlot(Mutex<SnapshotState>);

/// Stream of the snapshot's rows.
struct SharedStream(Mutex<RowStream>);

struct RowStream {
    /// Stream, until it is revoked.
    stream: Option<BatchStream>,
    /// Whether the consumer is waiting for the stream, and not the stream for its client.
    is_working: bool,
}

impl SharedStream {
    fn lock(&self) -> MutexGuard<'_, RowStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct SnapshotState {
    /// Snapshot; declared first so that it is dropped before the permit is released.
    held: Option<Arc<dyn Held>>,
    /// Active readers.
    running: Vec<Weak<SharedStream>>,
    share: Option<Share>,
    used: Instant,
}

impl IdleSnapshot {
    /// Keeps `held` under the permit `share`.
    pub(super) fn new(held: Arc<dyn Held>, mut share: Share) -> Self {
        let (description, parts, ascending) = (held.describe().clone(), held.parts(), held.ascending());
        let finds_again = held.finds_again();
        let state = SnapshotState { held: Some(held), running: Vec::new(), share: None, used: Instant::now() };
        let slot = Arc::new(SnapshotSlot(Mutex::new(state)));
        let weak: Weak<SnapshotSlot> = Arc::downgrade(&slot);
        share.lies(weak);
        slot.lock().share = Some(share);
        Self { description, parts, ascending, finds_again, slot }
    }

    fn held(&self) -> Option<Arc<dyn Held>> {
        let mut state = self.slot.lock();
        state.used = Instant::now();
        state.held.clone()
    }

    fn read_with(&self, read: impl FnOnce(&dyn Held) -> Option<BatchStream>) -> Option<BatchStream> {
        let Some(held) = self.held() else {
            let gone = gone(self.description.name.as_str());
            return Some(stream::once(std::future::ready(Err(gone))).boxed());
        };
        let source = RowStream { stream: Some(read(&*held)?), is_working: false };
        let running = Arc::new(SharedStream(Mutex::new(source)));
        let mut state = self.slot.lock();
        state.running.retain(|other| other.strong_count() > 0);
        state.running.push(Arc::downgrade(&running));
        drop(state);
        let (slot, name) = (Arc::clone(&self.slot), self.description.name.to_string());
        Some(Box::pin(StreamReading { running, slot, name: Some(name) }))
    }
}

impl SnapshotSlot {
    fn lock(&self) -> MutexGuard<'_, SnapshotState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Yields for SnapshotSlot {
    fn idle_since(&self) -> Option<Instant> {
        let state = self.0.try_lock().ok()?;
        // A locked source is being read at this moment.
        let works = |running: Arc<SharedStream>| running.0.try_lock().map_or(true, |source| source.is_working);
        (!state.running.iter().filter_map(Weak::upgrade).any(works)).then_some(state.used)
    }

    fn give_up(&self) {
        let mut state = self.lock();
        let running: Vec<_> = state.running.drain(..).filter_map(|running| running.upgrade()).collect();
        let gone = (state.held.take(), state.share.take());
        drop(state);
        for running in running {
            let stream = running.lock().stream.take();
            drop(stream);
        }
        drop(gone);
    }
}

/// Stream of rows being read.
struct StreamReading {
    running: Arc<SharedStream>,
    slot: Arc<SnapshotSlot>,
    /// Name of the entry; `None` once the loss of the rows is reported.
    name: Option<String>,
}

impl Stream for StreamReading {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = {
            let mut source = self.running.lock();
            let polled = source.stream.as_mut().map(|stream| stream.poll_next_unpin(context));
            source.is_working = matches!(polled, Some(Poll::Pending));
            polled
        };
        match polled {
            None => Poll::Ready(self.name.take().map(|name| Err(gone(&name)))),
            Some(Poll::Ready(rows)) => {
                self.slot.lock().used = Instant::now();
                Poll::Ready(rows)
            }
            Some(Poll::Pending) => Poll::Pending,
        }
    }
}

fn gone(name: &str) -> Error {
    Error::new(
        Code::ExpiredCursor,
        format!(
            "the rows that were held of `{name}` are gone: nobody read them for a while, and others needed the place"
        ),
    )
    .with_hint("begin again")
}

impl Held for IdleSnapshot {
    fn describe(&self) -> &Description {
        &self.description
    }

    fn parts(&self) -> usize {
        self.parts
    }

    fn read(&self, part: usize, columns: &[usize], filter: Option<&Filter>, limit: Option<u64>) -> BatchStream {
        let read = self.read_with(|held| Some(held.read(part, columns, filter, limit)));
        read.unwrap_or_else(|| stream::empty().boxed())
    }

    fn part_rows(&self, part: usize) -> Option<u64> {
        self.held()?.part_rows(part)
    }

    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        self.read_with(|held| held.read_behind(part, skip, columns, limit))
    }

    fn finds_again(&self) -> bool {
        self.finds_again
    }

    fn ascending(&self) -> Option<usize> {
        self.ascending
    }

    fn file(&self, kind: FileKind) -> Option<Arc<dyn HeldFile>> {
        self.held()?.file(kind)
    }

    fn schema_of(&self, columns: &[usize]) -> SchemaRef {
        match self.held() {
            Some(held) => held.schema_of(columns),
            None => {
                let fields = self.description.schema.fields();
                let fields: Vec<_> = columns.iter().filter_map(|index| fields.get(*index).cloned()).collect();
                Arc::new(arrow::datatypes::Schema::new(fields))
            }
        }
    }
}

impl fmt::Debug for IdleSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdleSnapshot").field("name", &self.description.name).finish_non_exhaustive()
    }
}
