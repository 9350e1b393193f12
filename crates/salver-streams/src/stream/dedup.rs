//! Ids of recent events, for deduplication.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::time::Duration;

use ahash::{AHashMap, RandomState};
use salver_model::limits::STREAM_IDS_MAX;

/// Hashes of ids with the offsets of their events, for the length of the window. Two different ids would collide only
/// if 128 bits were equal; the hash keys are random per process, so that collisions cannot be constructed.
#[derive(Debug)]
pub(crate) struct RecentIds {
    hashers: [RandomState; 2],
    offsets: AHashMap<u128, u64>,
    order: VecDeque<(u128, i64)>,
    window_ms: i64,
}

impl RecentIds {
    pub(crate) fn new(window: Duration) -> Self {
        Self {
            hashers: [RandomState::new(), RandomState::new()],
            offsets: AHashMap::new(),
            order: VecDeque::new(),
            window_ms: i64::try_from(window.as_millis()).unwrap_or(i64::MAX),
        }
    }

    /// Returns the hashers for ids. Needs no lock.
    pub(crate) fn hasher(&self) -> [RandomState; 2] {
        self.hashers.clone()
    }

    /// Returns whether ids are remembered at all.
    pub(crate) fn remembers(&self) -> bool {
        self.window_ms > 0
    }

    /// Removes the ids that are outside of the window at `now_ms`.
    pub(crate) fn forget(&mut self, now_ms: i64) {
        while let Some((oldest, at_ms)) = self.order.front().copied() {
            if self.order.len() <= STREAM_IDS_MAX && now_ms.saturating_sub(at_ms) <= self.window_ms {
                break;
            }
            self.order.pop_front();
            self.offsets.remove(&oldest);
        }
    }

    /// Returns the offset of the event whose id has this hash, if remembered.
    pub(crate) fn offset(&self, hash: u128) -> Option<u64> {
        self.offsets.get(&hash).copied()
    }

    /// Remembers an id, and removes those that are outside of the window.
    pub(crate) fn insert(&mut self, hash: u128, offset: u64, now_ms: i64) {
        if !self.remembers() {
            return;
        }
        match self.offsets.entry(hash) {
            Entry::Occupied(_) => return,
            Entry::Vacant(free) => {
                free.insert(offset);
            }
        }
        self.order.push_back((hash, now_ms));
        self.forget(now_ms);
    }
}

/// Hashes `id` with the hashers of [`RecentIds`].
pub(crate) fn hash_of(hashers: &[RandomState; 2], id: &[u8]) -> u128 {
    let [high, low] = hashers.each_ref().map(|hasher| u128::from(hasher.hash_one(id)));
    (high << 64) | low
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{RecentIds, hash_of};

    #[test]
    fn remembers_for_the_window() {
        let mut seen = RecentIds::new(Duration::from_millis(100));
        let hashers = seen.hasher();
        let hash = |id: &str| hash_of(&hashers, id.as_bytes());
        seen.insert(hash("a"), 7, 1_000);
        seen.insert(hash("a"), 8, 1_050);
        seen.insert(hash("b"), 9, 1_100);
        assert_eq!((seen.offset(hash("a")), seen.offset(hash("b")), seen.offset(hash("c"))), (Some(7), Some(9), None));
        seen.insert(hash("c"), 10, 1_101);
        assert_eq!((seen.offset(hash("a")), seen.offset(hash("b"))), (None, Some(9)));
        // Ids also expire without new events.
        seen.forget(1_200);
        assert_eq!((seen.offset(hash("b")), seen.offset(hash("c"))), (Some(9), Some(10)));
        seen.forget(1_202);
        assert_eq!((seen.offset(hash("b")), seen.offset(hash("c"))), (None, None));
        seen.insert(hash("b"), 11, 1_202);
        assert_eq!(seen.offset(hash("b")), Some(11));
    }

    #[test]
    fn a_window_of_nothing_remembers_nothing() {
        let mut seen = RecentIds::new(Duration::ZERO);
        seen.insert(1, 7, 1_000);
        assert!(seen.offset(1).is_none() && !seen.remembers());
    }
}
