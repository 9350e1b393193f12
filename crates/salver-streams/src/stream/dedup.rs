//! Ids of recent events, for deduplication.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::time::Duration;

use ahash::AHashMap;
use salver_model::limits::STREAM_IDS_MAX;
use siphasher::sip128::SipHasher13;

/// Hasher of ids: SipHash-1-3 with 128 bits, whose results mean the same after a restart. Two different ids would
/// collide only if all bits were equal; the key is random per stream, so that collisions cannot be constructed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdHasher {
    key: [u8; 16],
}

impl IdHasher {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    /// Returns the hash of an id.
    pub(crate) fn hash(self, id: &[u8]) -> u128 {
        SipHasher13::new_with_key(&self.key).hash(id).as_u128()
    }
}

/// Id that is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecentId {
    pub(crate) hash: u128,
    /// Offset of its event.
    pub(crate) offset: u64,
    /// Time at which the event was taken, in milliseconds since 1970.
    pub(crate) time_ms: i64,
}

/// Hashes of ids with the offsets of their events, for the length of the window.
#[derive(Debug)]
pub(crate) struct RecentIds {
    hasher: IdHasher,
    offsets: AHashMap<u128, u64>,
    /// In the order of the offsets.
    order: VecDeque<RecentId>,
    window_ms: i64,
}

impl RecentIds {
    pub(crate) fn new(window: Duration, hasher: IdHasher) -> Self {
        Self {
            hasher,
            offsets: AHashMap::new(),
            order: VecDeque::new(),
            window_ms: i64::try_from(window.as_millis()).unwrap_or(i64::MAX),
        }
    }

    /// Returns the hasher for ids.
    pub(crate) fn hasher(&self) -> IdHasher {
        self.hasher
    }

    /// Returns whether ids are remembered at all.
    pub(crate) fn remembers(&self) -> bool {
        self.window_ms > 0
    }

    /// Removes the ids that are outside of the window at `now_ms`.
    pub(crate) fn forget(&mut self, now_ms: i64) {
        while let Some(oldest) = self.order.front().copied() {
            if self.order.len() <= STREAM_IDS_MAX && now_ms.saturating_sub(oldest.time_ms) <= self.window_ms {
                break;
            }
            self.order.pop_front();
            self.offsets.remove(&oldest.hash);
        }
    }

    /// Returns the offset of the event whose id has this hash, if remembered.
    pub(crate) fn offset(&self, hash: u128) -> Option<u64> {
        self.offsets.get(&hash).copied()
    }

    /// Returns the ids of the events in a range of offsets.
    pub(crate) fn of_events(&self, range: std::ops::Range<u64>) -> impl Iterator<Item = RecentId> {
        let first = self.order.partition_point(|id| id.offset < range.start);
        let end = self.order.partition_point(|id| id.offset < range.end);
        self.order.range(first..end.max(first)).copied()
    }

    /// Remembers an id, and removes those that are outside of the window.
    pub(crate) fn insert(&mut self, id: RecentId) {
        if !self.remembers() {
            return;
        }
        match self.offsets.entry(id.hash) {
            Entry::Occupied(_) => return,
            Entry::Vacant(free) => {
                free.insert(id.offset);
            }
        }
        self.order.push_back(id);
        self.forget(id.time_ms);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{IdHasher, RecentId, RecentIds};

    #[test]
    fn remembers_for_the_window() {
        let mut seen = RecentIds::new(Duration::from_millis(100), IdHasher::new([7; 16]));
        let hasher = seen.hasher();
        let hash = |id: &str| hasher.hash(id.as_bytes());
        let id = |id: &str, offset, time_ms| RecentId { hash: hash(id), offset, time_ms };
        seen.insert(id("a", 7, 1_000));
        seen.insert(id("a", 8, 1_050));
        seen.insert(id("b", 9, 1_100));
        assert_eq!((seen.offset(hash("a")), seen.offset(hash("b")), seen.offset(hash("c"))), (Some(7), Some(9), None));
        seen.insert(id("c", 10, 1_101));
        assert_eq!((seen.offset(hash("a")), seen.offset(hash("b"))), (None, Some(9)));
        // Ids also expire without new events.
        seen.forget(1_200);
        assert_eq!((seen.offset(hash("b")), seen.offset(hash("c"))), (Some(9), Some(10)));
        assert_eq!(seen.of_events(8..10).map(|id| id.offset).collect::<Vec<_>>(), [9]);
        seen.forget(1_202);
        assert_eq!((seen.offset(hash("b")), seen.offset(hash("c"))), (None, None));
        seen.insert(id("b", 11, 1_202));
        assert_eq!(seen.offset(hash("b")), Some(11));
    }

    #[test]
    fn a_window_of_nothing_remembers_nothing() {
        let mut seen = RecentIds::new(Duration::ZERO, IdHasher::new([7; 16]));
        seen.insert(RecentId { hash: 1, offset: 7, time_ms: 1_000 });
        assert!(seen.offset(1).is_none() && !seen.remembers());
    }
}
