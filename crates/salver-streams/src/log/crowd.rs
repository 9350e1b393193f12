//! How many wait for the disk at a time, and what that says about the next write.
//!
//! A write and its sync cost the processor the same for one event as for fifty. Where many clients each wait for their
//! own event, the first of them would keep the disk busy alone, and the others, one by one as they come, for few
//! at a time. So with a crowd about, a write waits until half of it is there: the other half is answered meanwhile. It
//! waits no longer than the last write took, so that nobody waits twice as long as without.

use std::thread;
use std::time::{Duration, Instant};

/// Fewest who are waited for; a few are written as they come.
const CROWD_MIN: usize = 4;
/// Longest wait for them.
const WAIT_MAX: Duration = Duration::from_millis(1);
/// How often it is looked whether they are there.
const LOOK_EVERY: Duration = Duration::from_micros(30);

/// Those who wait, as far as they were seen lately.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    seen: usize,
    took: Duration,
}

impl Crowd {
    /// Takes note of a write: how many waited at its end, and how long it took.
    pub(super) fn note(&mut self, waiting: usize, took: Duration) {
        // It is forgotten slowly: that few wait now and then does not mean that the others went home.
        self.seen = waiting.max(self.seen - self.seen.div_ceil(8));
        self.took = took;
    }

    /// Waits until half of the crowd is there.
    pub(super) fn gather(&self, waiting: impl Fn() -> usize) {
        let enough = self.seen / 2;
        if enough < CROWD_MIN {
            return;
        }
        let began = Instant::now();
        let longest = self.took.min(WAIT_MAX);
        while waiting() < enough && began.elapsed() < longest {
            thread::sleep(LOOK_EVERY);
        }
    }
}
