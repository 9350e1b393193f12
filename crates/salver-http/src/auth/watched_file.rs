//! A file of callers that is loaded again when it was modified, so that keys and users change without a restart.

use std::fmt::{self, Debug};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use arc_swap::{ArcSwap, Guard};
use salver_model::{Code, Error, Result};

/// Interval at which the file is checked for changes, in milliseconds.
const LOOK_MS: u64 = 1_000;

/// The content of a file.
pub(super) struct WatchedFile<T> {
    path: PathBuf,
    read: fn(&Path) -> Result<T>,
    content: ArcSwap<T>,
    started: Instant,
    looked_ms: AtomicU64,
    seen: Mutex<Stamp>,
}

/// Length and time of modification, which tell that a file is another than before.
type Stamp = Option<(u64, Option<SystemTime>)>;

impl<T> WatchedFile<T> {
    /// Reads the file.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn open(path: PathBuf, read: fn(&Path) -> Result<T>) -> Result<Self> {
        // Before the content, so that a change in between is seen.
        let seen = Mutex::new(stamp(&path));
        let content = ArcSwap::from_pointee(read_file(&path, read)?);
        Ok(Self { path, read, content, started: Instant::now(), looked_ms: AtomicU64::new(0), seen })
    }

    /// Returns the content, which is at most a second old.
    pub(super) fn content(&self) -> Guard<Arc<T>> {
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let looked_ms = self.looked_ms.load(Ordering::Relaxed);
        if now_ms.saturating_sub(looked_ms) >= LOOK_MS
            && self.looked_ms.compare_exchange(looked_ms, now_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.look();
        }
        self.content.load()
    }

    /// Reads the file again if it was modified. If it can't be read, the content stays and a warning is logged.
    fn look(&self) {
        let stamp = stamp(&self.path);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == stamp {
            return;
        }
        *seen = stamp;
        match read_file(&self.path, self.read) {
            Ok(content) => self.content.store(Arc::new(content)),
            Err(error) => tracing::warn!("{}; what it said before still counts", error.chain()),
        }
    }
}

impl<T> Debug for WatchedFile<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Reads a file, unless it is none: a pipe would keep requests waiting.
fn read_file<T>(path: &Path, read: fn(&Path) -> Result<T>) -> Result<T> {
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(Error::new(Code::Config, format!("`{}` is not a file", path.display()))
            .with_hint("name a file that the user of this program may read"));
    }
    read(path)
}

fn stamp(path: &Path) -> Stamp {
    std::fs::metadata(path).ok().map(|file| (file.len(), file.modified().ok()))
}
