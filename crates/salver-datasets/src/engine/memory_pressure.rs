//! The last limit on memory: on what the process actually uses, while all others apply to what queries account for.
//!
//! Memory that operators allocate between two updates of their reservations, above all the states of aggregates, can be
//! several times what they report. While queries run, a thread checks the memory of the process every few milliseconds.
//! Above the limit it first releases unused memory. If there is none, it cancels the most recent of the queries since
//! whose start memory has grown much. A cancelled query ends at its next checkpoint.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use datafusion::common::config::{ConfigEntry, ConfigExtension, ExtensionOptions};
use datafusion::common::{DataFusionError, Result};
use salver_model::limits::PROCESS_BYTES_BESIDE;

use super::work_state::WorkState;

/// Interval between two checks while queries run.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Time for a cancelled query to free its memory, before another one is cancelled.
const GIVE_BACK_WITHIN: Duration = Duration::from_millis(200);
/// Checks without a query after which the thread ends: about a second.
const IDLE_LOOKS: u32 = 50;

/// Function that releases unused memory; returns whether it released any.
pub(super) type Relief = Box<dyn Fn() -> bool + Send + Sync>;

/// Has the system give the process no huge pages (prctl(2), `PR_SET_THP_DISABLE`). Where only a part of one is used,
/// all of it counts.
pub(super) fn without_huge_pages() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(%error, "huge pages stay");
    }
}

/// The limit, and the queries that run under it. Clones share their state.
#[derive(Clone)]
pub(crate) struct Pressure(Arc<Watch>);

struct Watch {
    /// Memory that the process may use.
    bytes_max: u64,
    /// Minimum growth since a query began for it to be considered the cause.
    added_bytes_min: u64,
    running: Mutex<Running>,
    /// Memory of the process at the last check.
    seen: AtomicU64,
    /// Function that is called before a query is cancelled.
    relief: OnceLock<Relief>,
}

impl fmt::Debug for Pressure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pressure({} bytes)", self.0.bytes_max)
    }
}

#[derive(Debug, Default)]
struct Running {
    /// Running queries in the order of their start, each with the memory of the process at that time.
    queries: Vec<(Weak<WorkState>, u64)>,
    /// Whether the thread is running.
    is_watched: bool,
}

impl Pressure {
    /// Returns the limit for an engine with `memory_bytes`.
    pub(super) fn new(memory_bytes: u64) -> Self {
        let bytes_max = memory_bytes.saturating_add(memory_bytes / 4).saturating_add(PROCESS_BYTES_BESIDE);
        let (running, seen, relief) = (Mutex::default(), AtomicU64::new(0), OnceLock::new());
        Self(Arc::new(Watch { bytes_max, added_bytes_min: memory_bytes / 8, running, seen, relief }))
    }

    /// Returns the memory that the process may use.
    pub(super) fn bytes_max(&self) -> u64 {
        self.0.bytes_max
    }

    /// Sets the function that is called before a query is cancelled.
    pub(super) fn relieve_with(&self, relief: Relief) {
        // This is called once, while the server is set up.
        let _ = self.0.relief.set(relief);
    }

    /// Watches another query as long as it lives.
    pub(super) fn watch(&self, query: &Arc<WorkState>) {
        let mut running = self.0.lock();
        if !running.is_watched {
            // While the thread runs, the last value is recent enough; reading it again costs more than many a query.
            let Some(bytes) = own_bytes() else { return };
            self.0.seen.store(bytes, Ordering::Relaxed);
        }
        running.queries.retain(|(query, _)| query.strong_count() > 0);
        running.queries.push((Arc::downgrade(query), self.0.seen.load(Ordering::Relaxed)));
        if !running.is_watched {
            let watch = Arc::clone(&self.0);
            let thread = std::thread::Builder::new().name("salver-pressure".into()).spawn(move || watch.run());
            // Without a thread the other limits hold; the next query tries again.
            running.is_watched = thread.is_ok();
        }
    }
}

impl Watch {
    fn lock(&self) -> std::sync::MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut idle = 0;
        loop {
            std::thread::sleep(LOOK_EVERY);
            let bytes = own_bytes().unwrap_or(0);
            self.seen.store(bytes, Ordering::Relaxed);
            let mut running = self.lock();
            running.queries.retain(|(query, _)| query.strong_count() > 0);
            idle = if running.queries.is_empty() { idle + 1 } else { 0 };
            if idle > IDLE_LOOKS {
                running.is_watched = false;
                return;
            }
            if bytes <= self.bytes_max {
                continue;
            }
            drop(running);
            if self.relief.get().is_some_and(|relief| relief()) {
                std::thread::sleep(GIVE_BACK_WITHIN);
                continue;
            }
            let running = self.lock();
            let last =
                running.queries.iter().rev().filter(|(_, then)| bytes.saturating_sub(*then) > self.added_bytes_min);
            let Some(query) = last.filter_map(|(query, _)| query.upgrade()).find(|query| !query.is_cancelled()) else {
                continue;
            };
            drop(running);
            tracing::warn!(bytes, "a query was ended because the process has more in memory than it may");
            query.press();
            drop(query);
            std::thread::sleep(GIVE_BACK_WITHIN);
        }
    }
}

/// Returns the anonymous memory of the process, in bytes, without file pages that the system can reclaim; `None` if the
/// system does not report it.
#[must_use]
pub fn own_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

impl ConfigExtension for Pressure {
    const PREFIX: &'static str = "salver_memory";
}

impl ExtensionOptions for Pressure {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, _: &str) -> Result<()> {
        Err(DataFusionError::Configuration(format!("`{key}` is not a setting")))
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        Vec::new()
    }
}
