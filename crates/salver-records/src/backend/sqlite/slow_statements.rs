//! Remembers statements that took too long for request threads. For a while they are not tried there again: each try
//! blocks the thread for the whole budget, and a client can send hundreds of requests at once.

use std::hash::{Hash, Hasher};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use ahash::AHasher;

use crate::statement::Read;

/// Number of slots for statements; those that share a slot evict each other.
const PLACES: usize = 64;
/// Time for which a statement is remembered, in milliseconds.
const KEPT_MS: u64 = 2_000;
/// Bits of a slot for the time; the others identify the statement.
const MOMENT_BITS: u32 = 40;

/// The epoch of the times.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Statements that took long, each with the time when it did.
#[derive(Debug)]
pub(super) struct LongReads([AtomicU64; PLACES]);

impl Default for LongReads {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl LongReads {
    /// Returns whether the statement took long a moment ago.
    pub(super) fn is_known(&self, read: &Read) -> bool {
        let (place, name) = self.place(read);
        let known = place.load(Relaxed);
        known != 0 && known >> MOMENT_BITS == name && now_ms().wrapping_sub(known & moment_mask()) < KEPT_MS
    }

    /// Records that the statement took long.
    pub(super) fn remember(&self, read: &Read) {
        let (place, name) = self.place(read);
        place.store(name << MOMENT_BITS | now_ms(), Relaxed);
    }

    fn place(&self, read: &Read) -> (&AtomicU64, u64) {
        let mut hasher = AHasher::default();
        if read.point {
            // Prepared once for its table, so that its address identifies it without hashing the text.
            read.sql.as_ptr().hash(&mut hasher);
        } else {
            read.sql.hash(&mut hasher);
        }
        let hash = hasher.finish();
        (&self.0[hash as usize % PLACES], hash >> MOMENT_BITS)
    }
}

/// Returns the time, never 0, which marks an empty slot.
fn now_ms() -> u64 {
    (u64::try_from(EPOCH.elapsed().as_millis()).unwrap_or(u64::MAX) & moment_mask()).max(1)
}

fn moment_mask() -> u64 {
    (1 << MOMENT_BITS) - 1
}
