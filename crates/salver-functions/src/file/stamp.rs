//! Change detection of files.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Time for which a file must be unchanged to count as completely written.
const SETTLED: Duration = Duration::from_millis(50);
/// Most waits for that.
const LOOKS: usize = 20;

/// Metadata of a file that reveals changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    /// Returns the current stamp of a file.
    pub(super) async fn of(path: &Path) -> io::Result<Self> {
        let found = tokio::fs::metadata(path).await?;
        Ok(Self { inode: found.ino(), bytes: found.len(), modified: (found.mtime(), found.mtime_nsec()) })
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
