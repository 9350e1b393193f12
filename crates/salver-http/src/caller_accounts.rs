//! Accounts of callers whose requests are limited: a token bucket for how often each may ask, and a count of the
//! requests that are being answered.
//!
//! A bucket is one number, the time at which it will be full again (the generic cell rate algorithm): a request moves
//! it by its share of a second, and is refused if the bucket has no such share left. So a bucket that is not touched
//! needs no care, and one that is full again says nothing and can be forgotten.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ahash::{AHashMap, RandomState};
use salver_model::access::{ConcurrentRequests, LimitedQuantity, RequestRate};
use salver_model::limits::LIMITED_CALLERS_MAX;
use salver_model::{Caller, Error, Holder, Principal, Result};

/// Parts of the accounts, each with a lock of its own.
const SHARDS: usize = 16;
/// Time between two sweeps of a part.
const SWEEP: Duration = Duration::from_secs(60);
/// Share of the accounts that is forgotten when there are too many, as a divisor.
const FORGOTTEN_SHARE: usize = 8;

/// The accounts of callers.
#[derive(Debug)]
pub(crate) struct CallerAccounts {
    shards: [Mutex<Shard>; SHARDS],
    hashing: RandomState,
    began: Instant,
}

/// The accounts by the hash of their caller and limit, so that long names need no memory.
#[derive(Debug, Default)]
struct Shard {
    accounts: AHashMap<u64, Account>,
    swept_ns: u64,
}

/// Times are in nanoseconds since the accounts began.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// When the bucket is full again.
    full_ns: u64,
    /// Requests that are being answered.
    running: u32,
}

impl Account {
    fn is_idle(self, now_ns: u64) -> bool {
        self.running == 0 && self.full_ns <= now_ns
    }
}

/// A request that counts among those of its caller until it is dropped.
#[derive(Debug)]
pub(crate) struct RunningRequest {
    accounts: Arc<CallerAccounts>,
    key: u64,
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        if let Some(account) = self.accounts.shard(self.key).accounts.get_mut(&self.key) {
            account.running = account.running.saturating_sub(1);
        }
    }
}

/// What a request was charged. It is charged once, wherever it is answered.
#[derive(Debug, Default)]
pub(crate) enum Charge {
    /// Nothing yet.
    #[default]
    Due,
    /// It may be answered, and counts as running where that is limited.
    Paid(Option<RunningRequest>),
    /// It is refused.
    Refused(Box<Error>),
}

impl Charge {
    /// Charges the request to its caller, unless that was done.
    ///
    /// # Errors
    /// `TooManyRequests`.
    pub(crate) fn settle(&mut self, accounts: &Arc<CallerAccounts>, caller: &Caller) -> Result<()> {
        if matches!(self, Self::Due) && caller.limits.counts_requests() {
            *self = match accounts.charge(caller, accounts.now_ns()) {
                Ok(running) => Self::Paid(running),
                Err(error) => Self::Refused(Box::new(error)),
            };
        }
        match self {
            Self::Refused(error) => Err(error.shared()),
            Self::Due | Self::Paid(_) => Ok(()),
        }
    }

    /// Returns the running request, to be kept until the response is sent.
    pub(crate) fn into_running(self) -> Option<RunningRequest> {
        match self {
            Self::Paid(running) => running,
            Self::Due | Self::Refused(_) => None,
        }
    }
}

impl CallerAccounts {
    pub(crate) fn new() -> Arc<Self> {
        let shards = std::array::from_fn(|_| Mutex::default());
        Arc::new(Self { shards, hashing: RandomState::new(), began: Instant::now() })
    }

    /// Charges a request to its caller.
    fn charge(self: &Arc<Self>, caller: &Caller, now_ns: u64) -> Result<Option<RunningRequest>> {
        let (rate, concurrency) = (caller.limits.rate, caller.limits.concurrency);
        // First, so that a request that is refused for it takes nothing out of the bucket.
        let running = match concurrency {
            Some(limit) => Some(self.begin(self.key(caller, limit.rule), limit, now_ns).ok_or_else(|| at_once(limit))?),
            None => None,
        };
        if let Some(rate) = rate {
            self.spend(self.key(caller, rate.rule), rate, now_ns).map_err(|wait| too_often(rate, wait))?;
        }
        Ok(running)
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Begins a request, unless as many are running as may.
    fn begin(self: &Arc<Self>, key: u64, limit: ConcurrentRequests, now_ns: u64) -> Option<RunningRequest> {
        let mut shard = self.shard(key);
        let account = shard.account(key, now_ns);
        if account.running >= limit.most {
            return None;
        }
        account.running += 1;
        Some(RunningRequest { accounts: Arc::clone(self), key })
    }

    /// Takes a request out of the bucket; returns the time until there is one, if there is none.
    fn spend(&self, key: u64, rate: RequestRate, now_ns: u64) -> Result<(), Duration> {
        let interval = 1_000_000_000 / u64::from(rate.per_second.max(1));
        let whole = interval.saturating_mul(u64::from(rate.burst));
        let mut shard = self.shard(key);
        let account = shard.account(key, now_ns);
        // A bucket may be from before a reload, when it was larger.
        let full_ns = account.full_ns.clamp(now_ns, now_ns.saturating_add(whole));
        let after = full_ns.saturating_add(interval);
        let empty_ns = now_ns.saturating_add(whole);
        if after > empty_ns {
            return Err(Duration::from_nanos(after - empty_ns));
        }
        account.full_ns = after;
        Ok(())
    }

    /// Returns the key of the caller's account for a limit. Nothing is allocated for it.
    fn key(&self, caller: &Principal, rule: u32) -> u64 {
        match (caller.identity(), caller.address) {
            (Some(identity), _) => self.hashing.hash_one((rule, 0_u8, identity)),
            (None, Some(address)) => self.hashing.hash_one((rule, 1_u8, Holder::of_address(address))),
            (None, None) => self.hashing.hash_one((rule, 2_u8, caller.local_user)),
        }
    }

    fn shard(&self, key: u64) -> MutexGuard<'_, Shard> {
        let index = usize::try_from(key % SHARDS as u64).unwrap_or_default();
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    /// Returns the account, a new one if there is none.
    fn account(&mut self, key: u64, now_ns: u64) -> &mut Account {
        if !self.accounts.contains_key(&key) {
            self.make_room(now_ns);
        }
        self.accounts.entry(key).or_default()
    }

    /// Forgets accounts that say nothing, from time to time and when there are too many; then also those that lack the
    /// least. Accounts of running requests stay: the server bounds their number.
    #[cold]
    fn make_room(&mut self, now_ns: u64) {
        let is_full = self.accounts.len() >= LIMITED_CALLERS_MAX / SHARDS;
        if !is_full && now_ns.saturating_sub(self.swept_ns) < SWEEP.as_nanos() as u64 {
            return;
        }
        self.swept_ns = now_ns;
        self.accounts.retain(|_, account| !account.is_idle(now_ns));
        if self.accounts.len() < LIMITED_CALLERS_MAX / SHARDS {
            return;
        }
        let resting = self.accounts.values().filter(|account| account.running == 0);
        let mut times: Vec<u64> = resting.map(|account| account.full_ns).collect();
        if times.is_empty() {
            return;
        }
        let nth = times.len() / FORGOTTEN_SHARE;
        let (_, bound_ns, _) = times.select_nth_unstable(nth);
        let bound_ns = *bound_ns;
        self.accounts.retain(|_, account| account.running > 0 || account.full_ns > bound_ns);
    }
}

fn too_often(rate: RequestRate, wait: Duration) -> Error {
    let quantity = LimitedQuantity::RequestsPerSecond;
    let RequestRate { per_second, burst, .. } = rate;
    let message =
        format!("more requests came than `{}` of [[limit]] allows: {per_second}, {burst} at once", quantity.key());
    quantity.refuse(message).with_hint("wait as long as `Retry-After` says").with_retry_after(wait)
}

fn at_once(limit: ConcurrentRequests) -> Error {
    let quantity = LimitedQuantity::ConcurrentRequests;
    let message = format!("more requests are running than `{}` of [[limit]] allows: {}", quantity.key(), limit.most);
    quantity.refuse(message).with_hint("wait until one of them is answered").with_retry_after(Duration::from_secs(1))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use salver_model::access::{ConcurrentRequests, LimitPolicy, LimitRule, RequestRate};
    use salver_model::limits::LIMITED_CALLERS_MAX;
    use salver_model::{Caller, Principal};

    use super::{CallerAccounts, Charge, SHARDS};

    const SECOND_NS: u64 = 1_000_000_000;

    fn rate(per_second: u32, burst: u32) -> RequestRate {
        RequestRate { rule: 0, per_second, burst }
    }

    fn limited(address: &str, rule: LimitRule) -> Caller {
        let principal = Principal { address: address.parse().ok(), ..Principal::default() };
        let limits = LimitPolicy::new(Vec::new(), vec![rule]).limits_of(&principal);
        Caller { principal, grants: None, limits }
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let accounts = CallerAccounts::new();
        let spend = |key, rate, now_ns| accounts.spend(key, rate, now_ns);
        for _ in 0..5 {
            assert_eq!(spend(1, rate(2, 5), 0), Ok(()));
        }
        assert_eq!(spend(1, rate(2, 5), 0), Err(Duration::from_millis(500)));
        assert_eq!(spend(2, rate(2, 5), 0), Ok(()), "another caller");
        assert_eq!(spend(1, rate(2, 5), SECOND_NS / 4), Err(Duration::from_millis(250)));
        assert_eq!(spend(1, rate(2, 5), SECOND_NS / 2), Ok(()));
        assert_eq!(spend(1, rate(2, 5), SECOND_NS / 2), Err(Duration::from_millis(500)), "a refusal takes nothing");
        for _ in 0..5 {
            assert_eq!(spend(1, rate(2, 5), 100 * SECOND_NS), Ok(()), "it is never fuller than full");
        }
        assert!(spend(1, rate(2, 5), 100 * SECOND_NS).is_err());
        // Another limit, after a reload: what a larger bucket lacked is not kept against its caller.
        assert_eq!(spend(3, rate(1, 1_000), 0), Ok(()));
        for _ in 0..999 {
            assert_eq!(spend(3, rate(1, 1_000), 0), Ok(()));
        }
        assert_eq!(spend(3, rate(1, 2), 0), Err(Duration::from_secs(1)));
        assert_eq!(spend(4, rate(u32::MAX, u32::MAX), u64::MAX), Ok(()));
    }

    #[test]
    fn a_request_runs_until_it_is_dropped() {
        let accounts = CallerAccounts::new();
        let limit = ConcurrentRequests { rule: 0, most: 2 };
        let first = accounts.begin(1, limit, 0).unwrap();
        let _second = accounts.begin(1, limit, 0).unwrap();
        assert!(accounts.begin(1, limit, 0).is_none());
        assert!(accounts.begin(2, limit, 0).is_some());
        drop(first);
        assert!(accounts.begin(1, limit, 0).is_some());
    }

    #[test]
    fn a_request_is_charged_once() {
        let accounts = CallerAccounts::new();
        let caller = limited("192.0.2.1", LimitRule { concurrent_requests_max: Some(1), ..LimitRule::default() });
        let mut charge = Charge::default();
        charge.settle(&accounts, &caller).unwrap();
        charge.settle(&accounts, &caller).unwrap();
        let mut other = Charge::default();
        let refused = other.settle(&accounts, &caller).unwrap_err();
        assert_eq!(refused.retry_after_s, Some(1));
        assert!(refused.message.contains("`concurrent_requests_max` of [[limit]]"), "{refused}");
        drop(charge);
        assert!(other.settle(&accounts, &caller).is_err(), "it stays refused");
        Charge::default().settle(&accounts, &caller).unwrap();
    }

    #[test]
    fn what_is_refused_for_one_limit_costs_nothing_of_the_other() {
        let accounts = CallerAccounts::new();
        let rule = LimitRule {
            requests_per_second: Some(1),
            burst: Some(2),
            concurrent_requests_max: Some(1),
            ..LimitRule::default()
        };
        let caller = limited("2001:db8::1", rule.clone());
        let charge = |caller: &Caller| accounts.charge(caller, 0);
        let running = charge(&caller).unwrap();
        let same_network = limited("2001:db8::2", rule.clone());
        for _ in 0..10 {
            assert!(charge(&same_network).is_err());
        }
        assert!(charge(&limited("2001:db8:0:1::1", rule)).is_ok());
        drop(running);
        assert!(charge(&same_network).is_ok());
        let last = charge(&same_network).unwrap_err();
        assert!(last.message.contains("requests_per_second"), "{last}");
        // The request that was refused for the rate does not go on running.
        assert!(charge(&same_network).unwrap_err().message.contains("requests_per_second"));
    }

    #[test]
    fn accounts_are_bounded_and_forgotten() {
        let accounts = CallerAccounts::new();
        let limit = ConcurrentRequests { rule: 0, most: 1 };
        let _running = accounts.begin(0, limit, 0).unwrap();
        // All in one part; the one that lacks most is the first.
        let key = |number: u64| number * SHARDS as u64;
        for _ in 0..10 {
            accounts.spend(key(1), rate(1, 10), 0).unwrap();
        }
        for number in 2..2 * LIMITED_CALLERS_MAX as u64 / SHARDS as u64 {
            accounts.spend(key(number), rate(1, 10), 0).unwrap();
            assert!(accounts.shard(0).accounts.len() <= LIMITED_CALLERS_MAX / SHARDS);
        }
        assert!(accounts.spend(key(1), rate(1, 10), 0).is_err(), "who sent the most is remembered");
        assert!(accounts.begin(0, limit, 0).is_none(), "what runs is counted");
        accounts.spend(key(u64::from(u32::MAX)), rate(1, 10), 1_000 * SECOND_NS).unwrap();
        assert_eq!(accounts.shard(0).accounts.len(), 2, "what is full again is swept");
        assert_eq!(Arc::strong_count(&accounts), 2);
    }
}
