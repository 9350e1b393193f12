//! What tells that a file is still the one that was loaded.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// How long a file must look the same to be taken for finished.
const SETTLED: Duration = Duration::from_millis(50);
/// How often that is waited for.
const LOOKS_MAX: usize = 20;

/// What a file looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    /// What the file looks like now.
    pub(super) async fn of(path: &Path) -> io::Result<Self> {
        let found = tokio::fs::metadata(path).await?;
        Ok(Self { inode: found.ino(), bytes: found.len(), modified: (found.mtime(), found.mtime_nsec()) })
    }

    /// What the file looks like when nobody writes to it any more: half of a file may well be a valid file.
    pub(super) async fn settled(path: &Path) -> io::Result<Self> {
        let mut stamp = Self::of(path).await?;
        for _ in 0..LOOKS_MAX {
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
