//! How far a load is, for whoever waits for it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Files of an entry that is being loaded. Written by the loader, read by anybody at any time.
#[derive(Debug, Default)]
pub struct Progress {
    files: AtomicU64,
    steps: AtomicU64,
}

/// Steps that a file takes: it is looked at, then read.
const STEPS: u64 = 2;

impl Progress {
    /// A load of so many files begins.
    pub fn begin(&self, files: usize) {
        self.files.store(files as u64, Ordering::Relaxed);
        self.steps.store(0, Ordering::Relaxed);
    }

    /// So many files have been looked at, or, with `read`, read.
    pub fn reach(&self, files: usize, read: bool) {
        let before = if read { self.files.load(Ordering::Relaxed) } else { 0 };
        self.steps.store(before + files as u64, Ordering::Relaxed);
    }

    /// How many files there are, and what share of the work on them is done, in percent; `None` before it is known.
    #[must_use]
    pub fn told(&self) -> Option<(u64, u64)> {
        let files = self.files.load(Ordering::Relaxed);
        let percent = (self.steps.load(Ordering::Relaxed) * 100).checked_div(files * STEPS)?;
        Some((files, percent.min(100)))
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn half_is_looked_at_and_half_is_read() {
        let progress = Progress::default();
        assert_eq!(progress.told(), None);
        progress.begin(200);
        assert_eq!(progress.told(), Some((200, 0)));
        progress.reach(100, false);
        assert_eq!(progress.told(), Some((200, 25)));
        progress.reach(100, true);
        assert_eq!(progress.told(), Some((200, 75)));
        progress.reach(200, true);
        assert_eq!(progress.told(), Some((200, 100)));
    }
}
