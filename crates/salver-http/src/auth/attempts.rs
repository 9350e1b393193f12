//! Rate limit on password attempts, per address and per user: high enough that a person never notices, low enough to
//! stop guessing.
//!
//! A user's limit is [`USER_SHARE`] times that of an address. It stops guessing from many addresses; with the same
//! limit, anybody could lock a user out from one. It does not hold for an address from which the user has logged in, so
//! that whoever is at work stays in.

use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ahash::{AHashMap, AHashSet, RandomState};
use salver_model::limits::{ATTEMPT_HOLDERS_MAX, ATTEMPTS_WINDOW_S};
use salver_model::{Code, Error, Result};

/// Time window over which attempts are counted.
const WINDOW: Duration = Duration::from_secs(ATTEMPTS_WINDOW_S);
/// Factor by which more attempts at one user are allowed than from one address.
const USER_SHARE: u64 = 10;

/// The attempts of each address and at each user.
#[derive(Debug)]
pub(crate) struct Attempts {
    most: u64,
    by_address: Mutex<Counts<IpAddr>>,
    /// By hashes of names, so that long names need no memory.
    by_user: Mutex<Counts<u64>>,
    /// Addresses from which a user has logged in, which the limit of that user spares.
    proven: Mutex<AHashSet<(IpAddr, u64)>>,
    hasher: RandomState,
}

impl Attempts {
    pub(super) fn new(most: u64) -> Self {
        Self {
            most,
            by_address: Mutex::default(),
            by_user: Mutex::default(),
            proven: Mutex::default(),
            hasher: RandomState::new(),
        }
    }

    /// Returns whether this is the limit of an address.
    pub(super) fn has_limit(&self, most: u64) -> bool {
        self.most == most
    }

    /// Counts an attempt before it is made, so that concurrent attempts can't bypass the limit. It is an attempt at a
    /// user, or to find out which users there are.
    ///
    /// # Errors
    /// `TooManyAttempts`.
    pub(crate) fn begin(&self, address: IpAddr, user: Option<&str>) -> Result<()> {
        self.begin_at(address, user, Instant::now())
    }

    fn begin_at(&self, address: IpAddr, user: Option<&str>, now: Instant) -> Result<()> {
        lock(&self.by_address).add(network(address), self.most, now).map_err(too_many)?;
        let Some(number) = user.map(|user| self.number(user)) else { return Ok(()) };
        if lock(&self.proven).contains(&(network(address), number)) {
            return Ok(());
        }
        let most = self.most.saturating_mul(USER_SHARE);
        lock(&self.by_user).add(number, most, now).map_err(too_many)
    }

    /// Takes back an attempt whose password was right.
    pub(crate) fn forgive(&self, address: IpAddr, user: &str) {
        let (network, number) = (network(address), self.number(user));
        lock(&self.by_address).take_back(&network);
        lock(&self.by_user).take_back(&number);
        let mut proven = lock(&self.proven);
        if proven.len() >= ATTEMPT_HOLDERS_MAX {
            proven.clear();
        }
        proven.insert((network, number));
    }

    /// Returns the number that stands for a user, however the name is written.
    fn number(&self, user: &str) -> u64 {
        self.hasher.hash_one(super::loosely(user))
    }
}

/// Attempts within a window that begins with the first.
#[derive(Debug)]
struct Counts<K>(AHashMap<K, (Instant, u64)>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self(AHashMap::new())
    }
}

impl<K: Eq + Hash> Counts<K> {
    /// Counts one more of `key`. If there were as many as allowed, it returns the time until there are none again.
    fn add(&mut self, key: K, most: u64, now: Instant) -> Result<(), Duration> {
        if self.0.len() >= ATTEMPT_HOLDERS_MAX {
            self.0.retain(|_, (since, _)| now.duration_since(*since) < WINDOW);
            if self.0.len() >= ATTEMPT_HOLDERS_MAX {
                // Counting does not stop an attack from this many addresses.
                self.0.clear();
            }
        }
        let (since, count) = self.0.entry(key).or_insert((now, 0));
        if now.duration_since(*since) >= WINDOW {
            (*since, *count) = (now, 0);
        }
        if *count >= most {
            return Err(WINDOW.saturating_sub(now.duration_since(*since)));
        }
        *count += 1;
        Ok(())
    }

    fn take_back(&mut self, key: &K) {
        if let Some((_, count)) = self.0.get_mut(key) {
            *count = count.saturating_sub(1);
        }
    }
}

fn too_many(wait: Duration) -> Error {
    let error = Error::new(Code::TooManyAttempts, "there were too many failed logins").with_retry_after(wait);
    let seconds = error.retry_after_s.unwrap_or_default();
    error.with_hint(format!("try again in {seconds} s"))
}

fn lock<T>(counts: &Mutex<T>) -> MutexGuard<'_, T> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reduces an IPv6 address to its /64 network, since a client that has one address has all 64 bits of it.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(own) => Ipv6Addr::from_bits(own.to_bits() >> 64 << 64).into(),
        own @ IpAddr::V4(_) => own,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::{Duration, Instant};

    use super::{Attempts, USER_SHARE, WINDOW};

    #[test]
    fn attempts_run_out_and_come_back() {
        let attempts = Attempts::new(2);
        let [here, there, near] = ["192.0.2.1", "2001:db8::1", "2001:db8::2"].map(|text| text.parse().unwrap());
        let now = Instant::now();
        for name in ["ann", "ben"] {
            attempts.begin_at(here, Some(name), now).unwrap();
        }
        assert_eq!(attempts.begin_at(here, None, now).unwrap_err().retry_after_s, Some(60));
        let later = now + Duration::from_millis(15_500);
        assert_eq!(attempts.begin_at(here, None, later).unwrap_err().retry_after_s, Some(45), "the whole second after");
        attempts.begin_at(there, Some("ann"), now).unwrap();
        attempts.begin_at(near, Some("ann"), now).unwrap();
        assert!(attempts.begin_at(there, Some("ann"), now).is_err(), "the same network");
        attempts.forgive(here, "ann");
        attempts.begin_at(here, Some("ann"), now).unwrap();
        assert!(attempts.begin_at(here, Some("ann"), now).is_err());
        attempts.begin_at(here, Some("ann"), now + WINDOW).unwrap();
    }

    #[test]
    fn a_user_is_not_guessed_from_everywhere() {
        let attempts = Attempts::new(2);
        let now = Instant::now();
        let begin = |place: u64, user: &str| {
            let address = IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(place).unwrap()));
            attempts.begin_at(address, Some(user), now)
        };
        for place in 0..2 * USER_SHARE {
            begin(place, if place % 2 == 0 { "ann" } else { " Ann" }).unwrap();
        }
        assert_eq!(begin(1_000, "ann").unwrap_err().retry_after_s, Some(60));
        begin(1_001, "ben").unwrap();
        // From where she has logged in, she still may.
        attempts.forgive(IpAddr::V4(Ipv4Addr::from_bits(2_000)), "ann");
        begin(1_002, "ann").unwrap();
        assert!(begin(1_003, "ann").is_err());
        begin(2_000, "ann").unwrap();
    }
}
