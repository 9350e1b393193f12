//! Connections shared by concurrent reads by key.
//!
//! Requests of all tasks are pipelined on a few connections, without waiting for each other's responses: the server
//! works through them, and one system call carries many. So a read costs no check-out and no round trip but its own. A
//! connection whose responses stop coming is avoided, so that a blocked read does not block all others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use arc_swap::ArcSwapOption;
use salver_model::{Code, Error, Result};
use tokio::sync::Mutex;

use super::connect_options::ConnectOptions;
use super::connection::{ConnectError, Connection};

/// Time without a response, while requests wait, after which a line is avoided.
const BLOCKED_MS: u64 = 50;
/// Difference in waiting requests from which another line is preferred.
const WAITING_ALIKE: usize = 4;
/// Time for which a line that was given up for others stays closed.
const GIVEN_UP_MS: u64 = 60_000;

/// The shared connections.
#[derive(Debug)]
pub(super) struct SharedConnections {
    target: Arc<ConnectOptions>,
    slots: Box<[ConnectionSlot]>,
    /// Number of slots that may be used, and since when it is reduced.
    allowed: AtomicUsize,
    reduced_ms: AtomicU64,
    epoch: Instant,
}

#[derive(Debug, Default)]
struct ConnectionSlot {
    line: ArcSwapOption<SharedConnection>,
    /// Lets only one task connect; tasks that waited for it share its failure.
    gate: Mutex<Option<RecentFailure>>,
}

#[derive(Debug)]
struct RecentFailure {
    at: Instant,
    full: bool,
    message: String,
    hint: Option<String>,
}

/// One shared connection.
#[derive(Debug)]
pub(super) struct SharedConnection {
    pub(super) connection: Connection,
    waiting: AtomicUsize,
    /// Time of the last response, or of the last idle moment: milliseconds since the epoch of [`SharedConnections`].
    moved_ms: AtomicU64,
}

impl SharedConnections {
    pub(super) fn new(target: Arc<ConnectOptions>, connections: usize) -> Self {
        Self {
            target,
            slots: (0..connections).map(|_| ConnectionSlot::default()).collect(),
            allowed: AtomicUsize::new(connections),
            reduced_ms: AtomicU64::new(0),
            epoch: Instant::now(),
        }
    }

    /// Takes a place on a line; returns `None` when every line is blocked by another statement.
    pub(super) async fn ticket(&self) -> Result<Option<Ticket<'_>>> {
        let now_ms = self.now_ms();
        let slots = &self.slots[..self.allowed(now_ms)];
        for connects in [true, false] {
            let Some(slot) = least(slots, now_ms, connects) else { continue };
            let line = match slot.line.load_full() {
                Some(line) if !line.connection.is_closed() => Some(line),
                _ if connects => self.connect(slot).await?,
                _ => None,
            };
            if let Some(line) = line {
                return Ok(Some(Ticket::new(self, line)));
            }
        }
        Ok(None)
    }

    /// Fills a slot. Returns `None` when the server is out of connections.
    async fn connect(&self, slot: &ConnectionSlot) -> Result<Option<Arc<SharedConnection>>> {
        let began = Instant::now();
        let mut gate = slot.gate.lock().await;
        if let Some(line) = slot.line.load_full()
            && !line.connection.is_closed()
        {
            return Ok(Some(line));
        }
        if let Some(failure) = &*gate
            && failure.at >= began
        {
            return failure.again();
        }
        match Connection::open(&self.target).await {
            Ok(connection) => {
                let line = Arc::new(SharedConnection {
                    connection,
                    waiting: AtomicUsize::new(0),
                    moved_ms: AtomicU64::new(self.now_ms()),
                });
                slot.line.store(Some(Arc::clone(&line)));
                *gate = None;
                Ok(Some(line))
            }
            Err(ConnectError { error, full }) => {
                *gate = Some(RecentFailure {
                    at: Instant::now(),
                    full,
                    message: error.message.clone(),
                    hint: error.hint.clone(),
                });
                if full { Ok(None) } else { Err(error) }
            }
        }
    }

    /// Retires the lines opened `before`: pending requests finish, and new ones get a new line.
    pub(super) fn clear(&self, before: Instant) {
        for slot in &self.slots {
            let current = slot.line.load();
            if current.as_ref().is_some_and(|line| line.connection.opened < before) {
                slot.line.compare_and_swap(&current, None);
            }
        }
    }

    /// Closes a line, because the server has no connection left for users that need an exclusive one.
    pub(super) fn give_up_one(&self) {
        let left = self.allowed.load(Ordering::Relaxed).saturating_sub(1);
        self.reduced_ms.store(self.now_ms(), Ordering::Relaxed);
        self.allowed.store(left, Ordering::Relaxed);
        for slot in &self.slots[left..] {
            slot.line.store(None);
        }
    }

    fn allowed(&self, now_ms: u64) -> usize {
        let allowed = self.allowed.load(Ordering::Relaxed);
        if allowed == self.slots.len() || now_ms.saturating_sub(self.reduced_ms.load(Ordering::Relaxed)) < GIVEN_UP_MS {
            return allowed;
        }
        self.allowed.store(self.slots.len(), Ordering::Relaxed);
        self.slots.len()
    }

    /// Drops the statements prepared on the lines, because the schema changed.
    pub(super) fn forget(&self) {
        for slot in &self.slots {
            if let Some(line) = &*slot.line.load() {
                line.connection.forget();
            }
        }
    }

    /// Aborts a line that no longer responds.
    fn retire(&self, line: &Arc<SharedConnection>) {
        line.connection.abort();
        for slot in &self.slots {
            let current = slot.line.load();
            if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, line)) {
                slot.line.compare_and_swap(&current, None);
            }
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Returns the slot with the fewest waiting requests, the first of them: a server process that gets the next request at
/// once is still awake, so that few readers do better on the same line. Empty slots are considered only with
/// `connects`.
fn least(slots: &[ConnectionSlot], now_ms: u64, connects: bool) -> Option<&ConnectionSlot> {
    let mut best: Option<(usize, &ConnectionSlot)> = None;
    for slot in slots {
        let load = match &*slot.line.load() {
            Some(line) if line.connection.is_closed() && connects => 0,
            Some(line) if line.connection.is_closed() || line.is_blocked(now_ms) => continue,
            Some(line) => line.waiting.load(Ordering::Relaxed) / WAITING_ALIKE,
            None if connects => 0,
            None => continue,
        };
        if load == 0 {
            return Some(slot);
        }
        if best.is_none_or(|(least, _)| load < least) {
            best = Some((load, slot));
        }
    }
    best.map(|(_, slot)| slot)
}

impl RecentFailure {
    fn again(&self) -> Result<Option<Arc<SharedConnection>>> {
        if self.full {
            return Ok(None);
        }
        Err(Error::new(Code::DatabaseUnavailable, self.message.clone()).with_hint_if(self.hint.clone()))
    }
}

impl SharedConnection {
    fn is_blocked(&self, now_ms: u64) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
            && now_ms.saturating_sub(self.moved_ms.load(Ordering::Relaxed)) > BLOCKED_MS
    }
}

/// A request in progress on a line.
#[derive(Debug)]
pub(super) struct Ticket<'a> {
    shared: &'a SharedConnections,
    line: Arc<SharedConnection>,
}

impl<'a> Ticket<'a> {
    fn new(shared: &'a SharedConnections, line: Arc<SharedConnection>) -> Self {
        if line.waiting.fetch_add(1, Ordering::Relaxed) == 0 {
            line.moved_ms.store(shared.now_ms(), Ordering::Relaxed);
        }
        Self { shared, line }
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.line.connection
    }

    /// Records that the response has come.
    pub(super) fn answered(&self) {
        self.line.moved_ms.store(self.shared.now_ms(), Ordering::Relaxed);
    }

    /// Retires the line, because no response will come.
    pub(super) fn dead(&self) {
        self.shared.retire(&self.line);
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.line.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
