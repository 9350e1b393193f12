//! Group commit: estimates how many requests wait for the disk, and delays a write until enough of them have arrived.
//!
//! A write with its fsync costs the same processor time for one event as for fifty. When many clients each wait for
//! their own event, the first would occupy the disk alone, and the others would share small writes as they arrive. With
//! many waiters, a write is therefore delayed until half of them have arrived; the other half is being answered at that
//! time. The delay is at most the duration of the last write, so that no request takes more than twice as long.

use std::thread;
use std::time::{Duration, Instant};

/// Fewest waiters for which a write is delayed.
const CROWD_WAITERS: usize = 4;
/// Longest delay.
const LONGEST_WAIT: Duration = Duration::from_millis(1);
/// Polling interval during the delay.
const LOOK_EVERY: Duration = Duration::from_micros(30);

/// Recent estimate of the number of waiters.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    seen: usize,
    took: Duration,
}

impl Crowd {
    /// Records a write: the number of waiters at its end, and its duration.
    pub(super) fn note(&mut self, waiting: usize, took: Duration) {
        // The estimate decays slowly, because a single small write does not mean that the clients are gone.
        self.seen = waiting.max(self.seen - self.seen.div_ceil(8));
        self.took = took;
    }

    /// Waits until half of the expected waiters have arrived.
    pub(super) fn gather(&self, waiting: impl Fn() -> usize) {
        let enough = self.seen / 2;
        if enough < CROWD_WAITERS {
            return;
        }
        let began = Instant::now();
        let longest = self.took.min(LONGEST_WAIT);
        while waiting() < enough && began.elapsed() < longest {
            thread::sleep(LOOK_EVERY);
        }
    }
}
