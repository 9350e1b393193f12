//! What is counted for whoever watches.

use std::time::{Duration, Instant};

/// How long a wait is remembered.
const REMEMBERED: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Processes that ended by themselves or had to be ended.
    pub(super) lost: u64,
    /// How often the file was loaded.
    pub(super) loads: u64,
    longest: Option<(Instant, Duration)>,
}

impl Counts {
    /// A call waited so long for a worker.
    pub(super) fn waited(&mut self, wait: Duration) {
        let now = Instant::now();
        let replaces =
            self.longest.is_none_or(|(when, longest)| wait >= longest || now.duration_since(when) > REMEMBERED);
        if replaces {
            self.longest = Some((now, wait));
        }
    }

    /// The longest wait of late.
    pub(super) fn wait(&self) -> Duration {
        self.longest.filter(|(when, _)| when.elapsed() <= REMEMBERED).map_or(Duration::ZERO, |(_, wait)| wait)
    }
}
