//! Record ids: UUIDs of version 7, as strictly increasing numbers.

use std::hash::{BuildHasher, RandomState};

/// Position of the 48 bits of the time.
const MS_SHIFT: u32 = 80;
/// Version and variant bits, which are constant.
const FIXED: u128 = (7 << 76) | (0b10 << 62);
/// The 62 bits behind the variant: random at the start of a millisecond, then incremented.
const LOW_MASK: u128 = (1 << 62) - 1;
/// Mask for a random start: the upper half of the low bits is left for incrementing.
const LOW_START_MASK: u128 = (1 << 61) - 1;
/// The 12 bits between version and variant.
const MIDDLE_MASK: u128 = (1 << 12) - 1;
const MS_MASK: u128 = (1 << 48) - 1;

/// Generator of frame ids: the id of the first record; ids increase by 1 within a frame.
#[derive(Debug)]
pub(super) struct Ids {
    /// Last id assigned to a record; 0 when none was.
    last: u128,
    random: u64,
}

impl Ids {
    /// Creates a generator that continues after `last`.
    pub(super) fn after(last: u128) -> Self {
        // The hasher's keys are random numbers from the system.
        Self { last, random: RandomState::new().hash_one(last) }
    }

    /// Returns the id of the first of `count` records. All of them are greater than every earlier id, whatever the
    /// clock says.
    pub(super) fn next(&mut self, now_ms: u64, count: u32) -> u128 {
        let (ms, middle, low) = (self.last >> MS_SHIFT, (self.last >> 64) & MIDDLE_MASK, self.last & LOW_MASK);
        let now = u128::from(now_ms).min(MS_MASK);
        let id = if now > ms {
            // The top bit of the middle is left free as well, for incrementing.
            let middle = u128::from(self.random() >> 53);
            self.fresh(now, middle)
        } else {
            let step = 1 + u128::from(self.random() as u32);
            if low + step + u128::from(count) <= LOW_MASK {
                (ms << MS_SHIFT) | (middle << 64) | FIXED | (low + step)
            } else if middle < MIDDLE_MASK {
                self.fresh(ms, middle + 1)
            } else {
                self.fresh(ms + 1, 0)
            }
        };
        self.last = id + u128::from(count.saturating_sub(1));
        id
    }

    fn fresh(&mut self, ms: u128, middle: u128) -> u128 {
        (ms << MS_SHIFT) | (middle << 64) | FIXED | (u128::from(self.random()) & LOW_START_MASK)
    }

    /// Returns a pseudo-random number (splitmix64): it is fast, and ids need not be unpredictable.
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut n = self.random;
        n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ (n >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::Ids;

    fn is_version_7(id: u128) -> bool {
        (id >> 76) & 0xf == 7 && (id >> 62) & 0b11 == 0b10
    }

    #[test]
    fn ids_grow_and_stay_valid() {
        let mut ids = Ids::after(0);
        let mut last = 0;
        // The clock stands still, jumps forward, and jumps back.
        for now_ms in [1_000, 1_000, 1_001, 5_000_000, 7, 7, 0, 5_000_001] {
            for _ in 0..10_000 {
                let id = ids.next(now_ms, 1_000_000);
                assert!(id > last && is_version_7(id), "{id:032x}");
                last = id + 999_999;
                assert!(is_version_7(last), "{last:032x}");
            }
        }
        assert!(Ids::after(last).next(3, 1) > last);
        assert_eq!(last >> 80, 5_000_001);
    }

    #[test]
    fn ids_grow_beyond_what_a_millisecond_holds() {
        let mut ids = Ids::after(0);
        let mut last = 0;
        for _ in 0..20_000 {
            // Forces an overflow of the counter each time.
            ids.last |= super::LOW_MASK;
            let id = ids.next(9, u32::MAX);
            assert!(id > last && is_version_7(id) && is_version_7(id + u128::from(u32::MAX - 1)));
            last = id;
        }
        assert!(last >> 80 > 9);
    }
}
