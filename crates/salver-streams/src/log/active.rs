//! The active segment: the file that is written to.
//!
//! The file is filled with zeros ahead of what is written, because a sync of bytes that were there before needs no
//! entry in the file system's journal, which takes about half of the time of one that makes the file longer.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::batch::Batch;
use super::frame::Head;
use super::index::Index;
use super::segment::Segment;
use crate::private;

/// Zeros that are written ahead, and the boundary they are written up to.
const STEP_BYTES: u64 = 1024 * 1024;
/// A batch of this size takes long enough by itself: nothing is written ahead of it.
const LARGE_BATCH_BYTES: u64 = 256 * 1024;

/// The active segment.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) segment: Arc<Segment>,
    file: Arc<File>,
    /// Behind the last frame that was written.
    at: u64,
    /// Behind the last frame that is on disk.
    synced_at: u64,
    /// The frames between the two.
    unsynced: Vec<Head>,
    /// How far the file was filled.
    filled: u64,
    /// Whether a sync failed: what the file holds behind the last good one is anybody's guess.
    pub(super) is_broken: bool,
    /// Whether another file is about to take its place.
    pub(super) is_sealed: bool,
    /// What is written at once; kept for its room.
    batch: Batch,
    #[cfg(test)]
    pub(super) faults: Arc<super::tests::Faults>,
}

impl Active {
    /// Makes a new segment.
    pub(super) fn create(dir: &Path, base: u64) -> io::Result<Self> {
        let segment = Segment::new(dir, Index::new(base));
        let file = private::options().read(true).write(true).create_new(true).open(segment.path())?;
        // Otherwise the whole file could be gone after a power failure, with everything in it that was synced.
        if let Err(error) = sync_dir(dir) {
            let _ = std::fs::remove_file(segment.path());
            return Err(error);
        }
        Ok(Self::new(segment, file, 0))
    }

    /// Goes on with a segment whose frames end at `at`, which is also the end of the file.
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
            batch: Batch::default(),
            #[cfg(test)]
            faults: Arc::default(),
        }
    }

    /// Bytes of its frames, on disk or not.
    pub(super) fn bytes(&self) -> u64 {
        self.at
    }

    /// Writes the batch that `fill` makes behind what was written: the offset behind it, when it has anything. It
    /// outlives this process from then on, and is on disk after the next sync; when this fails, the next batch is
    /// written over what there is of it.
    pub(super) fn write(&mut self, fill: impl FnOnce(&mut Batch)) -> io::Result<Option<u64>> {
        let mut batch = std::mem::take(&mut self.batch);
        fill(&mut batch);
        let written = self.write_batch(&mut batch);
        self.batch = batch;
        written
    }

    fn write_batch(&mut self, batch: &mut Batch) -> io::Result<Option<u64>> {
        let Some(end) = batch.end() else { return Ok(None) };
        #[cfg(test)]
        self.faults.write()?;
        self.put_ahead(batch)?;
        self.at += batch.bytes() as u64;
        self.unsynced.extend_from_slice(batch.heads());
        Ok(Some(end))
    }

    /// Puts a batch in its place, with zeros behind it where the file ends there.
    fn put_ahead(&mut self, batch: &mut Batch) -> io::Result<()> {
        let end = self.at + batch.bytes() as u64;
        let ahead = (end + STEP_BYTES).next_multiple_of(STEP_BYTES);
        if end > self.filled && (batch.bytes() as u64) < LARGE_BATCH_BYTES {
            // Without room for the zeros there may be room for the batch.
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

    fn put(&self, batch: &mut Batch, zeros: usize) -> io::Result<()> {
        let mut at = self.at;
        for piece in batch.pieces(zeros) {
            self.file.write_all_at(piece, at)?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// What was written and is not on disk, if there is anything: to be synced without holding this up.
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

    /// The first `count` frames of what was not on disk are there, and part of the segment: how many bytes.
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

    /// Cuts off what is not on disk, and keeps the index.
    pub(super) fn finish(&self) {
        if let Err(error) = self.file.set_len(self.synced_at) {
            tracing::warn!(%error, path = %self.segment.path().display(), "a log file could not be cut to its length");
        }
        self.segment.store_index();
    }
}

/// What was written and is not on disk.
#[derive(Debug)]
pub(super) struct Unsynced {
    file: Arc<File>,
    /// How many frames.
    pub(super) count: usize,
    /// The offset behind the last one.
    pub(super) end: u64,
    #[cfg(test)]
    faults: Arc<super::tests::Faults>,
}

impl Unsynced {
    /// Brings it onto the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        #[cfg(test)]
        self.faults.sync()?;
        self.file.sync_data()
    }
}

/// Makes sure that the names in a directory are on disk.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
