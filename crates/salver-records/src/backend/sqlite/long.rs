//! Statements that took too long for the threads that answer requests. For a while they are not tried there again:
//! each try costs all that share the thread what it may take at most, and a client can ask hundreds of times at once.

use std::hash::{Hash, Hasher};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use ahash::AHasher;

use crate::statement::Read;

/// How many statements are remembered; those that share a place forget each other.
const PLACES: usize = 64;
/// For how long one is remembered, in milliseconds.
const KEPT_MS: u64 = 2_000;
/// Bits of a place that say when; the others say which.
const MOMENT_BITS: u32 = 40;

/// What moments are counted from.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Statements that took long, each with the moment when it did.
#[derive(Debug)]
pub(super) struct LongReads([AtomicU64; PLACES]);

impl Default for LongReads {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl LongReads {
    /// Whether the statement took long a moment ago.
    pub(super) fn is_known(&self, read: &Read) -> bool {
        let (place, name) = self.place(read);
        let known = place.load(Relaxed);
        known != 0 && known >> MOMENT_BITS == name && now_ms().wrapping_sub(known & moment_mask()) < KEPT_MS
    }

    /// It took long.
    pub(super) fn remember(&self, read: &Read) {
        let (place, name) = self.place(read);
        place.store(name << MOMENT_BITS | now_ms(), Relaxed);
    }

    fn place(&self, read: &Read) -> (&AtomicU64, u64) {
        let mut hasher = AHasher::default();
        if read.point {
            // Prepared once for its table, so that the text need not be gone through each time.
            read.sql.as_ptr().hash(&mut hasher);
        } else {
            read.sql.hash(&mut hasher);
        }
        let hash = hasher.finish();
        (&self.0[hash as usize % PLACES], hash >> MOMENT_BITS)
    }
}

/// Never 0, which stands for nothing.
fn now_ms() -> u64 {
    (u64::try_from(EPOCH.elapsed().as_millis()).unwrap_or(u64::MAX) & moment_mask()).max(1)
}

fn moment_mask() -> u64 {
    (1 << MOMENT_BITS) - 1
}
