//! Permits that callers share fairly: a holder of many leaves some to others, waiters are served in turn, and idle
//! permits are revoked.
//!
//! A holder may take a permit as long as a third of what it then has stays free: alone it gets three quarters of all,
//! and each further holder three quarters of what those before it left. So neither one holder nor two can starve the
//! others, and a single client has nearly everything. With fewer than four permits nothing is held back.

mod yielding_rows;

use std::collections::VecDeque;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use ahash::AHashMap;
use futures::channel::oneshot;
use futures::future::{Either, select};

pub use self::yielding_rows::{Yielding, gave_up};
use crate::Holder;
use crate::limits::{SHARE_OF_FREE, YIELD_FOR_MEMORY_MS, YIELD_MS, YIELD_OWN_MS};

/// Interval at which a waiter looks for idle permits.
const LOOK: Duration = Duration::from_millis(100);
/// Number of waiters above which those that left without being served are removed.
const WAITING_KEPT: usize = 64;

/// Use of a permit that may be idle, and can be revoked.
pub trait Yields: Send + Sync {
    /// Returns since when it has been idle; `None` while it is used.
    fn idle_since(&self) -> Option<Instant>;

    /// Gives up the permit. A later use gets an error.
    fn give_up(&self);
}

/// Pool of permits of one kind.
pub struct Shares {
    kind: &'static str,
    total: usize,
    state: Mutex<ShareState>,
}

struct ShareState {
    free: usize,
    accounts: AHashMap<Holder, Account>,
    /// Number of waiters, including those that left.
    waiting: usize,
    /// Sequence number of the next waiter.
    next: u64,
    yielding: AHashMap<u64, (Holder, Weak<dyn Yields>)>,
}

#[derive(Default)]
struct Account {
    taken: usize,
    waiting: VecDeque<Waiter>,
}

struct Waiter {
    number: u64,
    count: usize,
    served: oneshot::Sender<Share>,
}

/// Usage of a kind of permit, by holder.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Kind of permit.
    pub kind: &'static str,
    /// Total number of permits.
    pub total: usize,
    /// Number of permits taken.
    pub taken: usize,
    /// Holders with their numbers of permits, largest first.
    pub holders: Vec<(Holder, usize)>,
}

impl Shares {
    /// Creates a pool with this number of permits of a kind, at least one.
    #[must_use]
    pub fn new(kind: &'static str, total: usize) -> Arc<Self> {
        let total = total.max(1);
        let state =
            ShareState { free: total, accounts: AHashMap::new(), waiting: 0, next: 0, yielding: AHashMap::new() };
        Arc::new(Self { kind, total, state: Mutex::new(state) })
    }

    /// Returns the total number of permits.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the current usage, by holder.
    #[must_use]
    pub fn taken(&self) -> Taken {
        let state = self.lock();
        let taken = self.total - state.free;
        let mut holders: Vec<_> = state.accounts.iter().map(|(holder, own)| (holder.clone(), own.taken)).collect();
        drop(state);
        holders.retain(|(_, taken)| *taken > 0);
        holders.sort_by_key(|(_, taken)| std::cmp::Reverse(*taken));
        Taken { kind: self.kind, total: self.total, taken, holders }
    }

    /// Takes one permit, if `holder` may have it now.
    #[must_use]
    pub fn try_take(self: &Arc<Self>, holder: &Holder) -> Option<Share> {
        self.try_take_many(holder, 1)
    }

    /// Takes several permits together, if `holder` may have them now.
    #[must_use]
    pub fn try_take_many(self: &Arc<Self>, holder: &Holder, count: usize) -> Option<Share> {
        self.lock().take(holder, count).then(|| self.share(holder, count))
    }

    /// Returns a share of no permits, for the use of something that was taken otherwise: it can be revoked, as others.
    #[must_use]
    pub fn none_of(self: &Arc<Self>, holder: &Holder) -> Share {
        self.share(holder, 0)
    }

    /// Takes one permit when it is the turn of `holder`. Dropping the future gives up the turn.
    pub fn take(self: &Arc<Self>, holder: &Holder) -> impl Future<Output = Share> + Send + use<> {
        let waiting = self.enter(holder);
        let shares = Arc::clone(self);
        async move {
            match waiting {
                Ok(share) => share,
                Err(served) => match served.await {
                    Ok(share) => share,
                    // The channel is never closed by others; if it were, the caller would proceed without a permit.
                    Err(_) => Share { shares, holder: Holder::Server, count: 0, number: None },
                },
            }
        }
    }

    /// Takes one permit within `patience`; idle permits are revoked if necessary. `sleep` comes from the runtime.
    pub async fn take_within<F: Future<Output = ()> + Send>(
        self: &Arc<Self>,
        holder: &Holder,
        patience: Duration,
        sleep: impl Fn(Duration) -> F + Send,
    ) -> Option<Share> {
        if let Some(share) = self.try_take(holder) {
            return Some(share);
        }
        let end = Instant::now() + patience;
        let mut turn = pin!(self.take(holder));
        loop {
            self.make_room(holder);
            let left = end.saturating_duration_since(Instant::now());
            let pause = pin!(sleep(left.min(LOOK)));
            match select(turn.as_mut(), pause).await {
                Either::Left((share, _)) => return Some(share),
                Either::Right(_) if left.is_zero() => return None,
                Either::Right(_) => {}
            }
        }
    }

    /// Returns whether `holder` could have a permit if one more were free, so that revoking one would help.
    #[must_use]
    pub fn lacks_one(&self, holder: &Holder) -> bool {
        let state = self.lock();
        let taken = state.accounts.get(holder).map_or(0, |account| account.taken);
        *holder == Holder::Server || taken < SHARE_OF_FREE * (state.free + 1)
    }

    /// Revokes the longest idle permit of the largest holder, where that helps `holder`, whose own are spared for
    /// longer. The server's permits are those of callers that are not known here. Returns whether one was revoked.
    pub fn make_room(&self, holder: &Holder) -> bool {
        let is_own = |owner: &Holder| owner == holder && *owner != Holder::Server;
        let patience = |owner: &Holder| if is_own(owner) { YIELD_OWN_MS } else { YIELD_MS };
        self.lacks_one(holder) && self.give_up_idlest(patience)
    }

    /// Revokes the longest idle permit of the largest holder, because memory is short. Returns whether one was revoked.
    pub fn relieve(&self) -> bool {
        self.give_up_idlest(|_| YIELD_FOR_MEMORY_MS)
    }

    /// Revokes a permit that was idle for at least the `patience` for its holder, in milliseconds.
    fn give_up_idlest(&self, patience: impl Fn(&Holder) -> u64) -> bool {
        // Checked outside the lock: dropping a reference here may release the permit itself.
        let lying: Vec<_> = {
            let state = self.lock();
            let taken = |owner| state.accounts.get(owner).map_or(0, |account| account.taken);
            let all = state.yielding.iter();
            all.filter_map(|(number, (owner, what))| Some((taken(owner), patience(owner), *number, what.upgrade()?)))
                .collect()
        };
        let now = Instant::now();
        let idle = lying.iter().filter_map(|(taken, patience, number, what)| {
            let idle = now.saturating_duration_since(what.idle_since()?);
            (idle >= Duration::from_millis(*patience)).then_some(((*taken, idle), *number, what))
        });
        let Some((_, number, what)) = idle.max_by_key(|(rank, ..)| *rank) else { return false };
        self.lock().yielding.remove(&number);
        what.give_up();
        true
    }

    /// Takes a permit, or a place in the queue.
    fn enter(self: &Arc<Self>, holder: &Holder) -> std::result::Result<Share, oneshot::Receiver<Share>> {
        let mut state = self.lock();
        if state.take(holder, 1) {
            drop(state);
            return Ok(self.share(holder, 1));
        }
        if state.waiting > WAITING_KEPT {
            state.forget_who_left();
        }
        let (served, waiting) = oneshot::channel();
        let number = state.number();
        state.waiting += 1;
        state.accounts.entry(holder.clone()).or_default().waiting.push_back(Waiter { number, count: 1, served });
        Err(waiting)
    }

    fn share(self: &Arc<Self>, holder: &Holder, count: usize) -> Share {
        Share { shares: Arc::clone(self), holder: holder.clone(), count, number: None }
    }

    fn release(self: &Arc<Self>, share: &Share) {
        let mut state = self.lock();
        if let Some(number) = share.number {
            state.yielding.remove(&number);
        }
        state.free += share.count;
        if let Some(account) = state.accounts.get_mut(&share.holder) {
            account.taken -= share.count;
            if account.taken == 0 && account.waiting.is_empty() {
                state.accounts.remove(&share.holder);
            }
        }
        let mut served = Vec::new();
        while let Some((holder, waiter)) = state.next_in_turn() {
            served.push((self.share(&holder, waiter.count), waiter.served));
        }
        drop(state);
        for (share, waiter) in served {
            // If the receiver is gone, the permit is dropped and goes to the next waiter.
            let _ = waiter.send(share);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ShareState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shares({}, {} of {} free)", self.kind, self.lock().free, self.total)
    }
}

impl ShareState {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Returns whether `holder`, who has `taken`, may have `count` more. The server itself is not limited.
    fn allows(&self, holder: &Holder, taken: usize, count: usize) -> bool {
        let share = self.free.saturating_mul(SHARE_OF_FREE);
        count <= self.free && (*holder == Holder::Server || taken.saturating_add(count) <= share)
    }

    fn take(&mut self, holder: &Holder, count: usize) -> bool {
        let taken = self.accounts.get(holder).map_or(0, |account| account.taken);
        let allowed = self.allows(holder, taken, count);
        if allowed {
            self.free -= count;
            self.accounts.entry(holder.clone()).or_default().taken += count;
        }
        allowed
    }

    /// Returns the next waiter to be served: among those within their share the holder with the fewest permits, and of
    /// these the first in the queue.
    fn next_in_turn(&mut self) -> Option<(Holder, Waiter)> {
        if self.waiting == 0 || self.free == 0 {
            return None;
        }
        for account in self.accounts.values_mut() {
            while account.waiting.pop_front_if(|waiter| waiter.served.is_canceled()).is_some() {
                self.waiting -= 1;
            }
        }
        let first = |(holder, account): (&Holder, &Account)| {
            let waiter = account.waiting.front()?;
            let allowed = self.allows(holder, account.taken, waiter.count);
            allowed.then(|| ((account.taken, waiter.number), holder.clone()))
        };
        let (_, holder) = self.accounts.iter().filter_map(first).min_by_key(|(rank, _)| *rank)?;
        let account = self.accounts.get_mut(&holder)?;
        let waiter = account.waiting.pop_front()?;
        account.taken += waiter.count;
        self.free -= waiter.count;
        self.waiting -= 1;
        Some((holder, waiter))
    }

    fn forget_who_left(&mut self) {
        self.accounts.retain(|_, account| {
            account.waiting.retain(|waiter| !waiter.served.is_canceled());
            account.taken > 0 || !account.waiting.is_empty()
        });
        self.waiting = self.accounts.values().map(|account| account.waiting.len()).sum();
    }
}

/// Permits taken; released on drop.
pub struct Share {
    shares: Arc<Shares>,
    holder: Holder,
    count: usize,
    number: Option<u64>,
}

impl Share {
    /// Returns the holder.
    #[must_use]
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Registers the use of the permit, which may have to be revoked for others.
    pub fn lies(&mut self, what: Weak<dyn Yields>) {
        let mut state = self.shares.lock();
        let number = state.number();
        state.yielding.insert(number, (self.holder.clone(), what));
        drop(state);
        self.number = Some(number);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shares.release(self);
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Share({} of {} for {:?})", self.count, self.shares.kind, self.holder)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use futures::executor::block_on;
    use futures::{FutureExt, StreamExt, stream};

    use super::{Share, Shares, Yielding};
    use crate::limits::YIELD_MS;
    use crate::{Holder, Result};

    fn named(name: &str) -> Holder {
        Holder::Identity(name.to_owned())
    }

    fn all(shares: &Arc<Shares>, holder: &str) -> Vec<Share> {
        std::iter::from_fn(|| shares.try_take(&named(holder))).collect()
    }

    #[test]
    fn nobody_takes_all() {
        let shares = Shares::new("places", 64);
        let (first, second, third) = (all(&shares, "a"), all(&shares, "b"), all(&shares, "c"));
        assert_eq!((first.len(), second.len(), third.len()), (48, 12, 3));
        assert!(shares.try_take(&named("d")).is_some());
        let taken = shares.taken();
        assert_eq!((taken.taken, taken.holders[0].clone()), (63, (named("a"), 48)));
        drop((first, second, third));
        assert_eq!(shares.taken().taken, 0);
        assert!(shares.lock().accounts.is_empty());
    }

    #[test]
    fn few_are_not_kept_back() {
        for total in 1..4 {
            assert_eq!(all(&Shares::new("places", total), "a").len(), total);
        }
        assert_eq!(all(&Shares::new("places", 4), "a").len(), 3);
    }

    #[test]
    fn who_has_least_is_served_first() {
        let shares = Shares::new("places", 1);
        let held = shares.try_take(&named("a")).unwrap();
        let mut greedy: Vec<_> = (0..3).map(|_| Box::pin(shares.take(&named("a")))).collect();
        let mut other = Box::pin(shares.take(&named("b")));
        assert!(greedy[0].as_mut().now_or_never().is_none() && other.as_mut().now_or_never().is_none());
        drop(greedy.remove(0));
        drop(held);
        // Both have nothing now, and this one came first; waiters that left in between are skipped.
        let first = greedy[0].as_mut().now_or_never().unwrap();
        assert!(other.as_mut().now_or_never().is_none());
        drop(first);
        assert!(greedy[1].as_mut().now_or_never().is_some_and(|share| share.holder() == &named("a")));
        assert!(other.as_mut().now_or_never().is_some());
        drop((greedy, other));
        assert_eq!(shares.taken().taken, 0);
    }

    #[test]
    fn what_lies_idle_yields() {
        let shares = Shares::new("places", 1);
        let rows = || stream::iter([Ok(1), Ok(2)]).boxed();
        let mut lying: Yielding<i32> = Yielding::new(rows(), shares.try_take(&named("a")).unwrap());
        assert!(!shares.make_room(&named("b")), "it has not begun");
        assert!(block_on(lying.next()).is_some_and(|row| row.is_ok()));
        assert!(!shares.make_room(&named("b")), "it was used a moment ago");
        thread::sleep(Duration::from_millis(YIELD_MS + 10));
        let taken = block_on(shares.take_within(&named("b"), Duration::ZERO, |_| std::future::ready(())));
        assert!(taken.is_some());
        let next: Option<Result<i32>> = block_on(lying.next());
        assert!(next.is_some_and(|row| row.is_err()));
        assert!(block_on(lying.next()).is_none());
    }
}
