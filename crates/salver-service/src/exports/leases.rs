//! Leases: state that a client returns for, kept until the client has been away for its time to live.
//!
//! A client that takes a leased value has exclusive access and renews the lease; others get `Busy`. A value not taken
//! for a moment is parked, one not taken for its whole time to live is dropped, both by one task for all leases.

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

/// Number of leases processed before the task yields.
const SWEPT_AT_ONCE: usize = 64;

/// Longest lease, short enough that its end is representable.
const LONGEST_TTL: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// Time of the last access, and the lease's id.
type Since = (Instant, u64);

/// Value that can be leased.
pub trait Lease: Send + 'static {
    /// Releases everything that can be recreated. Called once when the value was not used for a moment.
    fn park(&mut self) {}
}

/// Reason why a lease cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseError {
    /// The lease existed and has expired.
    Expired,
    /// The lease never existed, is used up or was removed.
    Unknown,
    /// Another client has it now.
    Busy,
}

/// Table of leases, each under an id that cannot be guessed and is never reused, of 63 random bits.
pub struct Leases<T: Lease> {
    shared: Arc<Shared<T>>,
    places: Arc<Shares>,
}

struct Shared<T: Lease> {
    state: Mutex<LeaseTable<T>>,
    /// Wakes the sweeper when something is due before its next run.
    sooner: Arc<Notify>,
}

struct LeaseTable<T> {
    held: AHashMap<u64, LeaseSlot<T>>,
    /// Leases to be parked or dropped, by time; without those that are taken.
    due: BTreeSet<(Instant, u64)>,
    expired: AHashSet<u64>,
    expired_in_order: VecDeque<u64>,
    expired_count: u64,
    has_sweeper: bool,
}

struct LeaseSlot<T> {
    /// Value, locked while it is taken.
    value: Arc<Turn<T>>,
    /// Permit; declared behind the value, so that the value's resources are released first.
    share: Share,
    ttl: Duration,
    /// End of the lease.
    ends: Instant,
    /// Key of the lease in `due`.
    due: Instant,
}

impl<T: Lease> Leases<T> {
    /// Creates room for `leases_max` leases, reported as `kind` where their holders are listed.
    #[must_use]
    pub fn new(kind: &'static str, leases_max: usize) -> Self {
        let state = LeaseTable {
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

    /// Leases `value` to `holder` for `ttl`, renewed whenever it is taken. Needs a runtime. When there is no room, the
    /// longest idle lease of the largest holder ends.
    ///
    /// # Errors
    /// Returns `Overloaded` when there is no room for this holder.
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
        let (now, ttl) = (Instant::now(), ttl.min(LONGEST_TTL));
        state.held.insert(id, LeaseSlot { value: Arc::new(Turn::new(value)), share, ttl, ends: now, due: now });
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

    /// Takes the value leased under `id`. Dropping the result returns it and renews the lease.
    ///
    /// # Errors
    /// Returns the reason why the lease cannot be taken.
    pub fn take(&self, id: u64) -> std::result::Result<Taken<T>, LeaseError> {
        let mut state = self.shared.lock();
        let Some(slot) = state.held.get_mut(&id) else { return Err(state.missing(id)) };
        let Ok(value) = Arc::clone(&slot.value).try_lock_owned() else { return Err(LeaseError::Busy) };
        let due = slot.due;
        state.due.remove(&(due, id));
        Ok(Taken { id, value, shared: Arc::clone(&self.shared) })
    }

    /// Reads the value leased under `id` without renewing the lease.
    ///
    /// # Errors
    /// Returns `Expired`, `Unknown`, and `Busy` while it is taken.
    pub fn peek<R>(&self, id: u64, read: impl FnOnce(&T) -> R) -> std::result::Result<R, LeaseError> {
        let state = self.shared.lock();
        let Some(slot) = state.held.get(&id) else { return Err(state.missing(id)) };
        slot.value.try_lock().map(|value| read(&value)).map_err(|_| LeaseError::Busy)
    }

    /// Renews the lease without taking the value; `read` may access it. A client that has taken it keeps it.
    ///
    /// # Errors
    /// Returns `Expired`, `Unknown`, and `Busy` while it is taken.
    pub fn touch<R>(&self, id: u64, read: impl FnOnce(&mut T) -> R) -> std::result::Result<R, LeaseError> {
        let mut state = self.shared.lock();
        let Some(slot) = state.held.get_mut(&id) else { return Err(state.missing(id)) };
        let answer = match slot.value.try_lock() {
            Ok(mut value) => read(&mut value),
            Err(_) => return Err(LeaseError::Busy),
        };
        let due = slot.due;
        state.due.remove(&(due, id));
        if state.renew(id) {
            self.shared.sooner.notify_one();
        }
        Ok(answer)
    }

    /// Ends the lease; a value that is taken is dropped when it is returned.
    ///
    /// # Errors
    /// Returns `Expired` or `Unknown`.
    pub fn remove(&self, id: u64) -> std::result::Result<(), LeaseError> {
        let mut state = self.shared.lock();
        let Some(slot) = state.held.remove(&id) else { return Err(state.missing(id)) };
        state.due.remove(&(slot.due, id));
        drop(state);
        // Outside the lock: closing files may take its time.
        drop(slot);
        Ok(())
    }

    /// Ends every lease, as if its time had passed; a value that is taken is dropped when it is returned.
    pub fn end_all(&self) {
        let mut state = self.shared.lock();
        let gone = std::mem::take(&mut state.held);
        state.due.clear();
        gone.keys().for_each(|id| state.remember(*id));
        drop(state);
        // Outside the lock: closing files may take time.
        drop(gone);
    }

    /// Ends the longest idle lease, among those that `counts` accepts, of the holder with the most of them, if that is
    /// more than `holder` has. Returns whether there was one.
    pub fn make_room(&self, holder: &Holder, counts: impl Fn(&T) -> bool) -> bool {
        let mut state = self.shared.lock();
        let now = Instant::now();
        let mut held: AHashMap<&Holder, (usize, Option<Since>)> = AHashMap::new();
        for (id, slot) in &state.held {
            // A value that is taken is in use, and cannot be dropped.
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
        // Outside the lock: closing files may take time.
        drop(gone);
        true
    }

    /// Returns the permits of all leases.
    #[must_use]
    pub fn places(&self) -> &Arc<Shares> {
        &self.places
    }

    /// Returns the number of leases.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shared.lock().held.len()
    }

    /// Returns the number of leases that have expired so far.
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
    fn lock(&self) -> MutexGuard<'_, LeaseTable<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Lease> Drop for Shared<T> {
    fn drop(&mut self) {
        self.sooner.notify_one();
    }
}

impl<T: Lease> LeaseTable<T> {
    /// Returns an id that is neither in use nor remembered.
    fn fresh_id(&self) -> Result<u64> {
        loop {
            let id = u64::from_le_bytes(seal::random()?) >> 1;
            if !self.held.contains_key(&id) && !self.expired.contains(&id) {
                return Ok(id);
            }
        }
    }

    fn missing(&self, id: u64) -> LeaseError {
        if self.expired.contains(&id) { LeaseError::Expired } else { LeaseError::Unknown }
    }

    /// Renews the lease of `id`; returns whether it is now the first that is due.
    fn renew(&mut self, id: u64) -> bool {
        let Some(slot) = self.held.get_mut(&id) else { return false };
        let now = Instant::now();
        slot.ends = now + slot.ttl;
        slot.due = slot.ends.min(now + Duration::from_millis(PARK_MS));
        self.due.insert((slot.due, id));
        self.due.first() == Some(&(slot.due, id))
    }

    /// Parks and drops some leases that are due; returns those dropped, and whether that was all.
    fn sweep(&mut self) -> (Vec<LeaseSlot<T>>, bool) {
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

/// Parks and drops leases as they become due, as long as the table exists.
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

/// Exclusive access to a leased value.
pub struct Taken<T: Lease> {
    id: u64,
    value: OwnedMutexGuard<T>,
    shared: Arc<Shared<T>>,
}

impl<T: Lease> Taken<T> {
    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Ends the lease, because the value is used up.
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
