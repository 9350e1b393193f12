//! Change detection of files.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Time for which a file must be unchanged to count as completely written.
const SETTLED: Duration = Duration::from_millis(50);
/// Most waits for that.
const LOOKS: usize = 20;

/// How much older than the clock the time of a change may be.
const CLOCK_STEP: Duration = Duration::from_millis(10);

/// Metadata of a file that reveals changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl From<Metadata> for Stamp {
    fn from(found: Metadata) -> Self {
        Self { inode: found.ino(), bytes: found.len(), modified: (found.mtime(), found.mtime_nsec()) }
    }
}

impl Stamp {
    /// Returns the current stamp of a file.
    pub(super) async fn of(path: &Path) -> io::Result<Self> {
        tokio::fs::metadata(path).await.map(Self::from)
    }

    /// Returns whether the file was written at or after `time`, and not in the future.
    pub(super) fn is_since(&self, time: SystemTime) -> bool {
        let parts = |time: SystemTime| {
            let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), i64::from(since.subsec_nanos()))
        };
        (parts(time - CLOCK_STEP)..=parts(SystemTime::now())).contains(&self.modified)
    }

    /// Returns the current stamps of files; `None` for those that can't be read.
    pub(super) async fn of_all(paths: Vec<PathBuf>) -> Vec<Option<Self>> {
        let count = paths.len();
        let look = move || paths.iter().map(|path| std::fs::metadata(path).ok().map(Self::from)).collect();
        tokio::task::spawn_blocking(look).await.unwrap_or_else(|_| vec![None; count])
    }

    /// Returns the stamp of a file once it is no longer being written, since half of a file may well be a valid file.
    pub(super) async fn settled(path: &Path) -> io::Result<Self> {
        let mut stamp = Self::of(path).await?;
        for _ in 0..LOOKS {
            tokio::time::sleep(SETTLED).await;
            let later = Self::of(path).await?;
            if later == stamp {
                break;
            }
            stamp = later;
        }
        Ok(stamp)
    }
}
