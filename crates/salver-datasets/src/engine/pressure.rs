//! The last bound on memory: on what the process really has, where all others are on what queries reckon.
//!
//! What operators hold between two reckonings, the states of aggregates above all, can be several times what they
//! tell. While queries run, a thread looks at the memory of the process every few milliseconds; when that is beyond the
//! bound, it has somebody let go of what nobody uses, and where there is nothing, it ends the query that came last of
//! those since whose beginning much was added. Ended work notices at its next checkpoint.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use datafusion::common::config::{ConfigEntry, ConfigExtension, ExtensionOptions};
use datafusion::common::{DataFusionError, Result};
use salver_model::limits::PROCESS_BYTES_BESIDE;

use super::work_state::State;

/// How often the process is looked at while queries run.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a query that was ended may take to give back what it had, before another one is.
const GIVE_BACK_WITHIN: Duration = Duration::from_millis(200);
/// Looks without a query until the thread ends: about a second.
const IDLE_LOOKS_MAX: u32 = 50;

/// Has somebody let go of memory that is not worked with; whether there was any.
pub(super) type Relief = Box<dyn Fn() -> bool + Send + Sync>;

/// The bound, and the queries that run under it. Clones are the same.
#[derive(Clone)]
pub(crate) struct Pressure(Arc<Watch>);

struct Watch {
    /// What the process may have.
    bytes_max: u64,
    /// What must have been added since a query began, before it is taken for the cause.
    added_bytes_min: u64,
    running: Mutex<Running>,
    /// What the process had when the thread last looked.
    seen: AtomicU64,
    /// Who is asked before a query is ended.
    relief: OnceLock<Relief>,
}

impl fmt::Debug for Pressure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pressure({} bytes)", self.0.bytes_max)
    }
}

#[derive(Debug, Default)]
struct Running {
    /// In the order in which they began, each with what the process had then.
    queries: Vec<(Weak<State>, u64)>,
    /// Whether the thread is there.
    is_watched: bool,
}

impl Pressure {
    /// The bound for an engine that may have `memory_bytes`.
    pub(super) fn new(memory_bytes: u64) -> Self {
        let bytes_max = memory_bytes.saturating_add(memory_bytes / 4).saturating_add(PROCESS_BYTES_BESIDE);
        let (running, seen, relief) = (Mutex::default(), AtomicU64::new(0), OnceLock::new());
        Self(Arc::new(Watch { bytes_max, added_bytes_min: memory_bytes / 8, running, seen, relief }))
    }

    /// What the process may have.
    pub(super) fn bytes_max(&self) -> u64 {
        self.0.bytes_max
    }

    /// From now on this one is asked before a query is ended.
    pub(super) fn relieve_with(&self, relief: Relief) {
        // Said once, when the server is put together.
        let _ = self.0.relief.set(relief);
    }

    /// Watches one more query, for as long as it lives.
    pub(super) fn watch(&self, query: &Arc<State>) {
        let mut running = self.0.lock();
        if !running.is_watched {
            // While the thread runs, what it saw is at most a look old; asking the system again costs more than many a
            // query does.
            let Some(bytes) = own_bytes() else { return };
            self.0.seen.store(bytes, Ordering::Relaxed);
        }
        running.queries.retain(|(query, _)| query.strong_count() > 0);
        running.queries.push((Arc::downgrade(query), self.0.seen.load(Ordering::Relaxed)));
        if !running.is_watched {
            let watch = Arc::clone(&self.0);
            let thread = std::thread::Builder::new().name("salver-pressure".into()).spawn(move || watch.run());
            // Without a thread the other bounds hold; the next query tries again.
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
            if idle > IDLE_LOOKS_MAX {
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

/// What the process has in memory of its own, in bytes, without the pages of files that the system takes back when it
/// needs them; `None` where the system does not say.
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
        Err(DataFusionError::Configuration(format!("`{key}` is no setting")))
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        Vec::new()
    }
}
