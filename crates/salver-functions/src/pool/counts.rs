//! Counters for monitoring.

use std::time::{Duration, Instant};

/// Time for which a wait is remembered.
const REMEMBERED: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Number of processes that ended by themselves or had to be killed.
    pub(super) lost: u64,
    /// Number of times the file was loaded.
    pub(super) loads: u64,
    longest: Option<(Instant, Duration)>,
}

impl Counts {
    /// Records the time a call waited for a worker.
    pub(super) fn waited(&mut self, wait: Duration) {
        let now = Instant::now();
        let replaces =
            self.longest.is_none_or(|(when, longest)| wait >= longest || now.duration_since(when) > REMEMBERED);
        if replaces {
            self.longest = Some((now, wait));
        }
    }

    /// Returns the longest recent wait.
    pub(super) fn wait(&self) -> Duration {
        self.longest.filter(|(when, _)| when.elapsed() <= REMEMBERED).map_or(Duration::ZERO, |(_, wait)| wait)
    }
}
