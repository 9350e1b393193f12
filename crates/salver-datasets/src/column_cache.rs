//! A cache of decoded columns of Parquet files that statements read again and again. It fills memory that datasets have
//! left, and gives way to them: it holds nothing that can't be read from the files once more.
//!
//! A column is read ahead when the second statement asks for it. The columns that no statement has read for longest
//! make room for others, and those that none has read for some minutes are dropped.

mod column;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use salver_model::limits::COLUMN_CACHE_IDLE_MS_MAX;

pub(crate) use column::CachedColumn;

use crate::residency::Budget;

/// Number of statements that have asked for a column when it is cached.
const STATEMENTS: u32 = 2;
/// Time for which a column is kept after a statement has read it, even if others want its room.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// Time after which columns that did not fit are tried again.
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(600);

/// Files that the cache has columns of: one version of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey(u64);

/// A statement, which asks for a column once however often the planner looks at its scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatementId(pub(crate) u64);

/// The cached columns of all datasets.
pub(crate) struct ColumnCache {
    /// Memory for datasets, which comes first.
    rows: Arc<Budget>,
    /// Memory for columns: at most half of that.
    own: Arc<Budget>,
    columns: Mutex<HashMap<(CacheKey, usize), Slot>>,
    next_key: AtomicU64,
    /// Whether columns are being read: one thread does that for all datasets.
    is_reading: AtomicBool,
}

/// What is known of a column.
#[derive(Default)]
struct Slot {
    /// Number of statements that asked for it.
    asked: u32,
    /// The last of them.
    asker: Option<StatementId>,
    /// When a statement last read it.
    read_at: Option<Instant>,
    /// Until when it is not tried again, because it did not fit.
    refused_until: Option<Instant>,
    held: Option<Arc<CachedColumn>>,
}

impl fmt::Debug for ColumnCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColumnCache({:?})", self.own)
    }
}

impl ColumnCache {
    /// Makes an empty cache beside the datasets whose memory is `rows`.
    pub(crate) fn new(rows: &Arc<Budget>) -> Arc<Self> {
        let cache = Arc::new(Self {
            rows: Arc::clone(rows),
            own: Budget::new(rows.bytes_max() / 2),
            columns: Mutex::default(),
            next_key: AtomicU64::new(0),
            is_reading: AtomicBool::new(false),
        });
        let own = Arc::downgrade(&cache);
        rows.on_growth(move || {
            if let Some(cache) = own.upgrade() {
                cache.give_way();
            }
        });
        cache
    }

    /// Returns a key for the files of a dataset. Who has it calls [`ColumnCache::forget`] when the files are not read
    /// any more.
    pub(crate) fn key(&self) -> CacheKey {
        CacheKey(self.next_key.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the memory for columns.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.own
    }

    /// Returns `columns`, if all of them are held.
    pub(crate) fn held(&self, key: CacheKey, columns: &[usize]) -> Option<Vec<Arc<CachedColumn>>> {
        let mut slots = self.slots();
        let own = |column: &usize| slots.get(&(key, *column))?.held.clone();
        let held = columns.iter().map(own).collect::<Option<Vec<_>>>()?;
        let now = Instant::now();
        for column in columns {
            if let Some(slot) = slots.get_mut(&(key, *column)) {
                slot.read_at = Some(now);
            }
        }
        Some(held)
    }

    /// Notes that a statement asks for `columns`; returns those that are to be cached now, so that all of them are held
    /// afterwards.
    pub(crate) fn wanted(&self, key: CacheKey, columns: &[usize], asker: StatementId) -> Option<Vec<usize>> {
        let (mut slots, now) = (self.slots(), Instant::now());
        for column in columns {
            let slot = slots.entry((key, *column)).or_default();
            if slot.asker.replace(asker) != Some(asker) {
                slot.asked = slot.asked.saturating_add(1);
            }
            slot.read_at = Some(now);
        }
        let slot = |column: &usize| slots.get(&(key, *column));
        let is_ready = |column: &usize| {
            slot(column)
                .is_some_and(|slot| slot.asked >= STATEMENTS && slot.refused_until.is_none_or(|until| until <= now))
        };
        let missing: Vec<usize> =
            columns.iter().copied().filter(|column| slot(column).is_none_or(|slot| slot.held.is_none())).collect();
        (!missing.is_empty() && missing.iter().all(is_ready)).then_some(missing)
    }

    /// Makes room for columns of at least `bytes`; returns the room that there is for them, or `None` if they won't
    /// fit. Columns that a statement has read lately are left.
    pub(crate) fn make_room(&self, bytes: u64) -> Option<u64> {
        let most = self.bytes_max();
        let others = most.checked_sub(bytes)?;
        self.shrink(others, KEPT_FOR);
        most.checked_sub(self.own.used()).filter(|room| *room >= bytes)
    }

    /// Returns the turn to read columns, if no others are being read.
    pub(crate) fn turn(self: &Arc<Self>) -> Option<ReadingTurn> {
        let is_free = !self.is_reading.swap(true, Ordering::AcqRel);
        is_free.then(|| ReadingTurn(Arc::clone(self)))
    }

    /// Keeps a column that was read.
    pub(crate) fn keep(&self, key: CacheKey, column: usize, held: CachedColumn) {
        self.slots().entry((key, column)).or_default().held = Some(Arc::new(held));
        self.give_way();
    }

    /// Notes that columns did not fit, or could not be read.
    pub(crate) fn refuse(&self, key: CacheKey, columns: &[usize]) {
        let (mut slots, until) = (self.slots(), Instant::now() + TRIED_AGAIN_AFTER);
        for column in columns {
            slots.entry((key, *column)).or_default().refused_until = Some(until);
        }
    }

    /// Drops all that is known of a dataset's files.
    pub(crate) fn forget(&self, key: CacheKey) {
        self.slots().retain(|(own, _), _| *own != key);
    }

    /// Drops the columns that no statement has read for some minutes.
    pub(crate) fn drop_idle(&self) {
        self.shrink(0, Duration::from_millis(COLUMN_CACHE_IDLE_MS_MAX));
    }

    /// Drops all columns, because memory is short; returns whether there were any.
    pub(crate) fn clear(&self) -> bool {
        let used = self.own.used();
        self.shrink(0, Duration::ZERO);
        used > 0
    }

    /// Drops what datasets need.
    fn give_way(&self) {
        self.shrink(self.bytes_max(), Duration::ZERO);
    }

    /// Returns the memory that columns may take now.
    fn bytes_max(&self) -> u64 {
        self.own.bytes_max().min(self.rows.remaining())
    }

    /// Drops columns that were not read for `unread_for`, in the order in which they were read, until at most `bytes`
    /// are held.
    fn shrink(&self, bytes: u64, unread_for: Duration) {
        let mut held = self.own.used();
        if held <= bytes {
            return;
        }
        let mut slots = self.slots();
        let now = Instant::now();
        let since = |slot: &Slot| slot.read_at.map_or(Duration::MAX, |at| now.saturating_duration_since(at));
        let mut droppable: Vec<&mut Slot> =
            slots.values_mut().filter(|slot| slot.held.is_some() && since(slot) >= unread_for).collect();
        droppable.sort_unstable_by_key(|slot| slot.read_at);
        for slot in droppable {
            if held <= bytes {
                return;
            }
            // Its memory is free when the statements that read it have ended.
            held = held.saturating_sub(slot.held.take().map_or(0, |column| column.bytes()));
            slot.asked = 0;
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<(CacheKey, usize), Slot>> {
        self.columns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn to read columns, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ReadingTurn(Arc<ColumnCache>);

impl ReadingTurn {
    /// Returns the cache.
    pub(crate) fn cache(&self) -> &Arc<ColumnCache> {
        &self.0
    }
}

impl Drop for ReadingTurn {
    fn drop(&mut self) {
        self.0.is_reading.store(false, Ordering::Release);
    }
}
