//! Leases: what a client comes back for, kept until it has not come for their time.
//!
//! Whoever takes a leased thing has it alone and renews the lease; others hear that it is busy. What nobody took for a
//! moment is parked, what nobody took for its whole time is dropped, both by one task for all.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ahash::{AHashMap, AHashSet};
use salver_model::limits::{EXPIRED_LEASES_MAX, PARK_MS, YIELD_MS};
use salver_model::{Code, Error, Holder, Result, Share, Shares, seal};
use tokio::sync::Mutex as Turn;
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio::time::Instant;

/// How many leases are looked after before others may go on.
const SWEPT_AT_ONCE: usize = 64;

/// Longest lease: a moment that far from now can be said.
const TTL_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// Since when nobody came for which lease.
type Since = (Instant, u64);

/// What can be leased.
pub trait Lease: Send + 'static {
    /// Nobody came for a moment: drop what can be had again. Called once in a pause.
    fn park(&mut self) {}
}

/// Why there is nothing to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It was there, and nobody came for it in time.
    Expired,
    /// It was never there, is used up or was removed.
    Unknown,
    /// Somebody else has it now.
    Busy,
}

/// Things under lease, each under an id that nobody can guess and that is not given twice: of 63 random bits.
pub struct Leases<T: Lease> {
    shared: Arc<Shared<T>>,
    places: Arc<Shares>,
}

struct Shared<T: Lease> {
    state: Mutex<State<T>>,
    /// Wakes who sweeps, when something is due before the sweep that is planned.
    sooner: Arc<Notify>,
}

struct State<T> {
    held: AHashMap<u64, Slot<T>>,
    /// What is to be parked or dropped, and when; nothing that is taken.
    due: BTreeSet<(Instant, u64)>,
    expired: AHashSet<u64>,
    expired_in_order: VecDeque<u64>,
    expired_count: u64,
    has_sweeper: bool,
}

struct Slot<T> {
    /// Locked while it is taken.
    value: Arc<Turn<T>>,
    /// Behind the value, so that what it keeps goes before its place is free.
    share: Share,
    ttl: Duration,
    /// When the lease ends.
    ends: Instant,
    /// Under which moment it stands in `due`.
    due: Instant,
}

impl<T: Lease> Leases<T> {
    /// Room for `leases_max` leases, which are called `kind` where it is told who has them.
    #[must_use]
    pub fn new(kind: &'static str, leases_max: usize) -> Self {
        let state = State {
            held: AHashMap::new(),
            due: BTreeSet::new(),
            expired: AHashSet::new(),
            expired_in_order: VecDeque::new(),
            expired_count: 0,
            has_sweeper: false,
        };
        Self {
            shared: Arc::new(Shared { state: Mutex::new(state), sooner: Arc::default() }),
            places: Shares::new(kind, leases_max),
        }
    }

    /// Leases `value` to `holder` for `ttl`, renewed whenever it is taken. Needs a runtime. When all room is taken, the
    /// idlest lease of who has most ends.
    ///
    /// # Errors
    /// `Overloaded` when there is no room for this holder.
    pub fn open(&self, holder: &Holder, value: T, ttl: Duration) -> Result<u64> {
        let mut share = self.places.try_take(holder);
        if share.is_none() && self.places.lacks_one(holder) && self.make_room(holder, |_| true) {
            share = self.places.try_take(holder);
        }
        let share = share.ok_or_else(|| {
            Error::new(Code::Overloaded, format!("{} cursors and exports are open", self.places.taken().taken))
                .with_hint("read those that are open to their end, delete them, or wait for their `ttl` to pass")
        })?;
        let mut state = self.shared.lock();
        let id = state.fresh_id()?;
        let (now, ttl) = (Instant::now(), ttl.min(TTL_MAX));
        state.held.insert(id, Slot { value: Arc::new(Turn::new(value)), share, ttl, ends: now, due: now });
        let is_next = state.renew(id);
        let needs_sweeper = !std::mem::replace(&mut state.has_sweeper, true);
        drop(state);
        if needs_sweeper {
            tokio::spawn(sweep(Arc::downgrade(&self.shared), Arc::clone(&self.shared.sooner)));
        } else if is_next {
            self.shared.sooner.notify_one();
        }
        Ok(id)
    }

    /// Takes what is leased under `id`; it comes back, and its lease begins anew, when the answer is dropped.
    ///
    /// # Errors
    /// Why there is nothing to take.
    pub fn take(&self, id: u64) -> std::result::Result<Taken<T>, Refusal> {
        let mut state = self.shared.lock();
        let Some(slot) = state.held.get_mut(&id) else { return Err(state.missing(id)) };
        let Ok(value) = Arc::clone(&slot.value).try_lock_owned() else { return Err(Refusal::Busy) };
        let due = slot.due;
        state.due.remove(&(due, id));
        Ok(Taken { id, value, shared: Arc::clone(&self.shared) })
    }

    /// Looks at what is leased under `id`, which renews nothing.
    ///
    /// # Errors
    /// `Expired`, `Unknown`; `Busy` while it is taken.
    pub fn peek<R>(&self, id: u64, read: impl FnOnce(&T) -> R) -> std::result::Result<R, Refusal> {
        let state = self.shared.lock();
        let Some(slot) = state.held.get(&id) else { return Err(state.missing(id)) };
        slot.value.try_lock().map(|value| read(&value)).map_err(|_| Refusal::Busy)
    }

    /// Begins the lease anew, without taking anything; `read` may look at it. Who has it taken keeps it.
    ///
    /// # Errors
    /// `Expired`, `Unknown`; `Busy` while it is taken.
    pub fn touch<R>(&self, id: u64, read: impl FnOnce(&mut T) -> R) -> std::result::Result<R, Refusal> {
        let mut state = self.shared.lock();
        let Some(slot) = state.held.get_mut(&id) else { return Err(state.missing(id)) };
        let answer = match slot.value.try_lock() {
            Ok(mut value) => read(&mut value),
            Err(_) => return Err(Refusal::Busy),
        };
        let due = slot.due;
        state.due.remove(&(due, id));
        if state.renew(id) {
            self.shared.sooner.notify_one();
        }
        Ok(answer)
    }

    /// Ends the lease; what is taken goes when it would come back.
    ///
    /// # Errors
    /// `Expired`, `Unknown`.
    pub fn remove(&self, id: u64) -> std::result::Result<(), Refusal> {
        let mut state = self.shared.lock();
        let Some(slot) = state.held.remove(&id) else { return Err(state.missing(id)) };
        state.due.remove(&(slot.due, id));
        drop(state);
        // Outside the lock: closing files may take its time.
        drop(slot);
        Ok(())
    }

    /// Ends the lease, among those that `counts` counts, that nobody came for longest, of the holder who has most of
    /// them, if that is more than `holder` has. Whether there was one.
    pub fn make_room(&self, holder: &Holder, counts: impl Fn(&T) -> bool) -> bool {
        let mut state = self.shared.lock();
        let now = Instant::now();
        let mut held: AHashMap<&Holder, (usize, Option<Since>)> = AHashMap::new();
        for (id, slot) in &state.held {
            // What is taken is used, and is not one of those that could go.
            let Ok(value) = slot.value.try_lock() else { continue };
            if !counts(&value) {
                continue;
            }
            let (count, idlest) = held.entry(slot.share.holder()).or_default();
            *count += 1;
            let used = slot.ends.checked_sub(slot.ttl).unwrap_or(now);
            if now.saturating_duration_since(used) >= Duration::from_millis(YIELD_MS) {
                *idlest = Some(idlest.map_or((used, *id), |other| other.min((used, *id))));
            }
        }
        let own = held.get(holder).map_or(0, |(count, _)| *count);
        let most = held.into_values().filter(|(count, _)| *count > own).max_by_key(|(count, _)| *count);
        let Some((_, id)) = most.and_then(|(_, idlest)| idlest) else { return false };
        let gone = state.held.remove(&id);
        if let Some(slot) = &gone {
            state.due.remove(&(slot.due, id));
            state.remember(id);
        }
        drop(state);
        // Outside the lock: closing files may take its time.
        drop(gone);
        true
    }

    /// The places of all leases.
    #[must_use]
    pub fn places(&self) -> &Arc<Shares> {
        &self.places
    }

    /// How many leases there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shared.lock().held.len()
    }

    /// How many ended because nobody came, so far.
    #[must_use]
    pub fn expired(&self) -> u64 {
        self.shared.lock().expired_count
    }
}

impl<T: Lease> fmt::Debug for Leases<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Leases({} of {})", self.count(), self.places.total())
    }
}

impl<T: Lease> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Lease> Drop for Shared<T> {
    fn drop(&mut self) {
        self.sooner.notify_one();
    }
}

impl<T: Lease> State<T> {
    /// An id that names nothing, and named nothing that is remembered.
    fn fresh_id(&self) -> Result<u64> {
        loop {
            let id = u64::from_le_bytes(seal::random()?) >> 1;
            if !self.held.contains_key(&id) && !self.expired.contains(&id) {
                return Ok(id);
            }
        }
    }

    fn missing(&self, id: u64) -> Refusal {
        if self.expired.contains(&id) { Refusal::Expired } else { Refusal::Unknown }
    }

    /// Begins the lease of `id` anew; whether it is now the first that is due.
    fn renew(&mut self, id: u64) -> bool {
        let Some(slot) = self.held.get_mut(&id) else { return false };
        let now = Instant::now();
        slot.ends = now + slot.ttl;
        slot.due = slot.ends.min(now + Duration::from_millis(PARK_MS));
        self.due.insert((slot.due, id));
        self.due.first() == Some(&(slot.due, id))
    }

    /// Parks and drops some of what is due; what was dropped, and whether that was all.
    fn sweep(&mut self) -> (Vec<Slot<T>>, bool) {
        let now = Instant::now();
        let mut gone = Vec::new();
        for _ in 0..SWEPT_AT_ONCE {
            let Some((due, id)) = self.due.first().copied().filter(|(due, _)| *due <= now) else {
                return (gone, true);
            };
            self.due.remove(&(due, id));
            let Some(slot) = self.held.get_mut(&id) else { continue };
            if slot.ends <= now {
                gone.extend(self.held.remove(&id));
                self.remember(id);
            } else {
                slot.due = slot.ends;
                if let Ok(mut value) = slot.value.try_lock() {
                    value.park();
                }
                self.due.insert((slot.due, id));
            }
        }
        (gone, false)
    }

    fn remember(&mut self, id: u64) {
        self.expired_count += 1;
        if self.expired_in_order.len() >= EXPIRED_LEASES_MAX
            && let Some(oldest) = self.expired_in_order.pop_front()
        {
            self.expired.remove(&oldest);
        }
        self.expired.insert(id);
        self.expired_in_order.push_back(id);
    }
}

/// Parks and drops what is due for as long as there are leases to look after.
async fn sweep<T: Lease>(shared: Weak<Shared<T>>, sooner: Arc<Notify>) {
    loop {
        let Some(shared) = shared.upgrade() else { return };
        let (gone, is_all) = shared.lock().sweep();
        drop(gone);
        let next = shared.lock().due.first().map(|(due, _)| *due);
        drop(shared);
        match next {
            _ if !is_all => tokio::task::yield_now().await,
            Some(next) => {
                let _ = tokio::time::timeout_at(next, sooner.notified()).await;
            }
            None => sooner.notified().await,
        }
    }
}

/// What was taken; nobody else has it meanwhile.
pub struct Taken<T: Lease> {
    id: u64,
    value: OwnedMutexGuard<T>,
    shared: Arc<Shared<T>>,
}

impl<T: Lease> Taken<T> {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Ends the lease: it is used up.
    pub fn end(self) {
        let slot = self.shared.lock().held.remove(&self.id);
        drop(slot);
    }
}

impl<T: Lease> Deref for Taken<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Lease> DerefMut for Taken<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: Lease> Drop for Taken<T> {
    fn drop(&mut self) {
        if self.shared.lock().renew(self.id) {
            self.shared.sooner.notify_one();
        }
    }
}

impl<T: Lease> fmt::Debug for Taken<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Taken({})", self.id)
    }
}
