//! Rate limit on password attempts per address: high enough that a person never notices, low enough to stop guessing.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ahash::AHashMap;
use salver_model::limits::{ATTEMPT_ADDRESSES_MAX, ATTEMPTS_WINDOW_S};
use salver_model::{Code, Error, Result};

/// Time window over which attempts are counted.
const WINDOW: Duration = Duration::from_secs(ATTEMPTS_WINDOW_S);

/// The attempts of each address.
#[derive(Debug)]
pub(crate) struct Attempts {
    most: u64,
    by_address: Mutex<AHashMap<IpAddr, (Instant, u64)>>,
}

impl Attempts {
    pub(super) fn new(most: u64) -> Self {
        Self { most, by_address: Mutex::default() }
    }

    /// Counts an attempt before it is made, so that concurrent attempts can't bypass the limit.
    ///
    /// # Errors
    /// `TooManyAttempts`.
    pub(crate) fn begin(&self, address: IpAddr) -> Result<()> {
        self.begin_at(address, Instant::now())
    }

    fn begin_at(&self, address: IpAddr, now: Instant) -> Result<()> {
        let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if by_address.len() >= ATTEMPT_ADDRESSES_MAX {
            by_address.retain(|_, (since, _)| now.duration_since(*since) < WINDOW);
            if by_address.len() >= ATTEMPT_ADDRESSES_MAX {
                // Counting does not stop an attack from this many addresses.
                by_address.clear();
            }
        }
        let (since, count) = by_address.entry(network(address)).or_insert((now, 0));
        if now.duration_since(*since) >= WINDOW {
            (*since, *count) = (now, 0);
        }
        if *count >= self.most {
            return Err(Error::new(Code::TooManyAttempts, "there were too many failed logins")
                .with_hint("try again in a minute"));
        }
        *count += 1;
        Ok(())
    }

    /// Takes back an attempt whose password was right.
    pub(crate) fn forgive(&self, address: IpAddr) {
        let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, count)) = by_address.get_mut(&network(address)) {
            *count = count.saturating_sub(1);
        }
    }
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
    use std::time::Instant;

    use super::{Attempts, WINDOW};

    #[test]
    fn attempts_run_out_and_come_back() {
        let attempts = Attempts::new(2);
        let [here, there, near] = ["192.0.2.1", "2001:db8::1", "2001:db8::2"].map(|text| text.parse().unwrap());
        let now = Instant::now();
        for _ in 0..2 {
            attempts.begin_at(here, now).unwrap();
        }
        assert!(attempts.begin_at(here, now).is_err());
        attempts.begin_at(there, now).unwrap();
        attempts.begin_at(near, now).unwrap();
        assert!(attempts.begin_at(there, now).is_err(), "the same network");
        attempts.forgive(here);
        attempts.begin_at(here, now).unwrap();
        assert!(attempts.begin_at(here, now).is_err());
        attempts.begin_at(here, now + WINDOW).unwrap();
    }
}
