//! The active segment: the file that appends are written to.
//!
//! The file is preallocated with zeros ahead of the writes, because syncing existing bytes needs no entry in the file
//! system's journal, which takes about half the time of a sync that extends the file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::batch::FrameBatch;
use super::frame::Head;
use super::index::Index;
use super::segment::Segment;
use crate::private_files;

/// Number of zeros written ahead, and their alignment.
const STEP_BYTES: u64 = 1024 * 1024;
/// Size from which on a batch is slow enough by itself: no zeros are written ahead of it.
const LARGE_BATCH_BYTES: u64 = 256 * 1024;

/// The active segment.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) segment: Arc<Segment>,
    file: Arc<File>,
    /// End of the last frame written.
    at: u64,
    /// End of the last durable frame.
    synced_at: u64,
    /// Frames that are written but not durable.
    unsynced: Vec<Head>,
    /// End of the preallocated zeros.
    filled: u64,
    /// Whether a sync failed: the content of the file behind the last successful sync is undefined.
    pub(super) is_broken: bool,
    /// Whether another file is about to replace this one.
    pub(super) is_sealed: bool,
    /// Buffer of a batch, reused.
    batch: FrameBatch,
    #[cfg(test)]
    pub(super) faults: Arc<super::tests::Faults>,
}

impl Active {
    /// Creates a new segment.
    pub(super) fn create(dir: &Path, base: u64) -> io::Result<Self> {
        let segment = Segment::new(dir, Index::new(base));
        let file = private_files::options().read(true).write(true).create_new(true).open(segment.path())?;
        // Otherwise a power failure could remove the whole file, including synced frames.
        if let Err(error) = sync_dir(dir) {
            let _ = std::fs::remove_file(segment.path());
            return Err(error);
        }
        Ok(Self::new(segment, file, 0))
    }

    /// Resumes a segment whose frames end at `at`, which is also the end of the file.
    pub(super) fn resume(segment: Segment, file: File, at: u64) -> Self {
        Self::new(segment, file, at)
    }

    fn new(segment: Segment, file: File, at: u64) -> Self {
        Self {
            segment: Arc::new(segment),
            file: Arc::new(file),
            at,
            synced_at: at,
            unsynced: Vec::new(),
            filled: at,
            is_broken: false,
            is_sealed: false,
            batch: FrameBatch::default(),
            #[cfg(test)]
            faults: Arc::default(),
        }
    }

    /// Returns the bytes of its frames, durable or not.
    pub(super) fn bytes(&self) -> u64 {
        self.at
    }

    /// Writes the batch that `fill` produces, and returns the offset behind it, if it is not empty. The events then
    /// survive the end of the process, and are durable after the next sync. After an error the next batch overwrites
    /// what was written.
    pub(super) fn write(&mut self, fill: impl FnOnce(&mut FrameBatch)) -> io::Result<Option<u64>> {
        let mut batch = std::mem::take(&mut self.batch);
        fill(&mut batch);
        let written = self.write_batch(&mut batch);
        self.batch = batch;
        written
    }

    fn write_batch(&mut self, batch: &mut FrameBatch) -> io::Result<Option<u64>> {
        let Some(end) = batch.end() else { return Ok(None) };
        #[cfg(test)]
        self.faults.write()?;
        self.put_ahead(batch)?;
        self.at += batch.bytes() as u64;
        self.unsynced.extend_from_slice(batch.heads());
        Ok(Some(end))
    }

    /// Writes a batch, followed by zeros if the file ends there.
    fn put_ahead(&mut self, batch: &mut FrameBatch) -> io::Result<()> {
        let end = self.at + batch.bytes() as u64;
        let ahead = (end + STEP_BYTES).next_multiple_of(STEP_BYTES);
        if end > self.filled && (batch.bytes() as u64) < LARGE_BATCH_BYTES {
            // The batch may fit where the zeros do not.
            match self.put(batch, (ahead - end) as usize) {
                Ok(()) => {
                    self.filled = ahead;
                    return Ok(());
                }
                Err(error) if error.kind() != io::ErrorKind::StorageFull => return Err(error),
                Err(_) => {}
            }
        }
        self.put(batch, 0)?;
        self.filled = self.filled.max(end);
        Ok(())
    }

    fn put(&self, batch: &mut FrameBatch, zeros: usize) -> io::Result<()> {
        let mut at = self.at;
        for piece in batch.pieces(zeros) {
            self.file.write_all_at(piece, at)?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Returns the frames that are not durable, if any, so that the caller can sync them without blocking writes.
    pub(super) fn unsynced(&self) -> Option<Unsynced> {
        let end = self.unsynced.last()?.end();
        Some(Unsynced {
            file: Arc::clone(&self.file),
            count: self.unsynced.len(),
            end,
            #[cfg(test)]
            faults: Arc::clone(&self.faults),
        })
    }

    /// Marks the first `count` unsynced frames as durable and adds them to the segment; returns their bytes.
    pub(super) fn synced(&mut self, count: usize) -> u64 {
        let mut at = self.synced_at;
        self.segment.learn(|index| {
            for head in self.unsynced.drain(..count.min(self.unsynced.len())) {
                index.add(at, &head);
                at += head.frame_bytes() as u64;
            }
        });
        let bytes = at - self.synced_at;
        self.synced_at = at;
        bytes
    }

    /// Truncates the file to its durable frames, and stores the index.
    pub(super) fn finish(&self) {
        if let Err(error) = self.file.set_len(self.synced_at) {
            tracing::warn!(%error, path = %self.segment.path().display(), "a log file could not be cut to its length");
        }
        self.segment.store_index();
    }
}

/// Frames that are written but not durable.
#[derive(Debug)]
pub(super) struct Unsynced {
    file: Arc<File>,
    /// Number of frames.
    pub(super) count: usize,
    /// Offset behind the last one.
    pub(super) end: u64,
    #[cfg(test)]
    faults: Arc<super::tests::Faults>,
}

impl Unsynced {
    /// Syncs them to disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        #[cfg(test)]
        self.faults.sync()?;
        self.file.sync_data()
    }
}

/// Syncs the entries of a directory to disk.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
