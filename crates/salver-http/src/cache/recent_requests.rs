//! Which requests came lately: a table of their hashes, in which a later one takes the place of an earlier. It is the
//! doorkeeper of TinyLFU (Einziger, Friedman, Manes: "TinyLFU: A Highly Efficient Cache Admission Policy", 2017,
//! section 3.4.2) with one hash and no age: what is overwritten is simply asked for once more.

use std::sync::atomic::{AtomicU64, Ordering};

use ahash::RandomState;

/// The table.
#[derive(Debug)]
pub(super) struct RecentRequests {
    hashes: Box<[AtomicU64]>,
    seed: RandomState,
}

impl RecentRequests {
    /// For about so many requests.
    pub(super) fn new(requests: usize) -> Self {
        let hashes = (0..requests.next_power_of_two()).map(|_| AtomicU64::new(0)).collect();
        Self { hashes, seed: RandomState::new() }
    }

    /// Whether `key` came lately; it has come now.
    pub(super) fn again(&self, key: &[u8]) -> bool {
        let hash = self.seed.hash_one(key);
        let place = &self.hashes[hash as usize & (self.hashes.len() - 1)];
        // Two that come at once may both be the first.
        if place.load(Ordering::Relaxed) == hash {
            return true;
        }
        place.store(hash, Ordering::Relaxed);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::RecentRequests;

    #[test]
    fn what_came_is_known_until_others_take_its_place() {
        let asked = RecentRequests::new(64);
        assert!(!asked.again(b"a"));
        assert!(asked.again(b"a"));
        let others = (0..10_000_u32).filter(|n| asked.again(&n.to_be_bytes())).count();
        assert_eq!(others, 0);
        assert!(!asked.again(b"a"));
    }
}
