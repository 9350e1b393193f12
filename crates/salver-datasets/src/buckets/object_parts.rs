//! The parts of an object that are on disk: a file as long as the object, with holes where nothing was fetched yet.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::byte_ranges::ByteRanges;
use super::parts_list;

/// Parts of one object.
#[derive(Debug)]
pub(super) struct ObjectParts {
    path: PathBuf,
    file: File,
    /// Length of the object.
    bytes: u64,
    present: Mutex<ByteRanges>,
    /// How many read them now; they stay as long as anybody does.
    pub(super) pins: AtomicUsize,
}

impl ObjectParts {
    /// Returns the parts `present` of an object of `bytes` bytes in `file`.
    pub(super) fn new(path: PathBuf, file: File, bytes: u64, present: ByteRanges) -> Self {
        Self { path, file, bytes, present: Mutex::new(present), pins: AtomicUsize::new(0) }
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether somebody reads them now.
    pub(super) fn is_pinned(&self) -> bool {
        self.pins.load(Ordering::Acquire) > 0
    }

    /// Removes all of them. Nobody reads them.
    pub(super) fn clear(&self) {
        parts_list::remove(&self.path);
        *self.present() = ByteRanges::default();
        if let Err(cause) = self.file.set_len(0).and_then(|()| self.file.set_len(self.bytes)) {
            tracing::warn!(%cause, path = %self.path.display(), "parts of an object can't be removed");
        }
    }

    /// Returns which there are.
    pub(super) fn present(&self) -> MutexGuard<'_, ByteRanges> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a part.
    pub(super) fn write(&self, range: Range<u64>, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, range.start)?;
        self.present().insert(range);
        Ok(())
    }

    /// Reads bytes that are there.
    pub(super) fn read(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_exact_at(out, at)
    }
}
