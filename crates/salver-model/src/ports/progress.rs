//! Progress of a load.

use std::sync::atomic::{AtomicU64, Ordering};

/// Progress over the files of an entry being loaded. Written by the loader, readable at any time.
#[derive(Debug, Default)]
pub struct Progress {
    files: AtomicU64,
    steps: AtomicU64,
}

/// Number of steps per file: inspecting, then reading.
const STEPS: u64 = 2;

impl Progress {
    /// Starts a load of this number of files.
    pub fn begin(&self, files: usize) {
        self.files.store(files as u64, Ordering::Relaxed);
        self.steps.store(0, Ordering::Relaxed);
    }

    /// Records the number of files that were inspected or, with `read`, read.
    pub fn reach(&self, files: usize, read: bool) {
        let before = if read { self.files.load(Ordering::Relaxed) } else { 0 };
        self.steps.store(before + files as u64, Ordering::Relaxed);
    }

    /// Returns the number of files, and the progress in percent; `None` before it is known.
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
