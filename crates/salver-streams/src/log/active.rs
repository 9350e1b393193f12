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
    file: File,
    /// Behind the last frame that was written.
    at: u64,
    /// Behind the last frame that is on disk.
    synced_at: u64,
    /// The frames between the two.
    unsynced: Vec<Head>,
    /// How far the file was filled.
    filled: u64,
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
            file,
            at,
            synced_at: at,
            unsynced: Vec::new(),
            filled: at,
            #[cfg(test)]
            faults: Arc::default(),
        }
    }

    /// Bytes of its frames, on disk or not.
    pub(super) fn bytes(&self) -> u64 {
        self.at
    }

    /// Writes a batch behind what was written. It outlives this process from then on, and is on disk after the next
    /// [`Active::sync`]; when this fails, the next batch is written over what there is of it.
    pub(super) fn write(&mut self, batch: &mut Batch) -> io::Result<()> {
        #[cfg(test)]
        self.faults.write()?;
        self.put_ahead(batch)?;
        self.at += batch.bytes() as u64;
        self.unsynced.extend_from_slice(batch.heads());
        Ok(())
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

    /// Brings onto the disk what was written, and makes it part of the segment: how many bytes.
    pub(super) fn sync(&mut self) -> io::Result<u64> {
        if self.unsynced.is_empty() {
            return Ok(0);
        }
        #[cfg(test)]
        self.faults.sync()?;
        self.file.sync_data()?;
        let mut at = self.synced_at;
        self.segment.learn(|index| {
            for head in self.unsynced.drain(..) {
                index.add(at, &head);
                at += head.frame_bytes() as u64;
            }
        });
        let bytes = at - self.synced_at;
        self.synced_at = at;
        Ok(bytes)
    }

    /// Cuts off what is not on disk, and keeps the index.
    pub(super) fn finish(&self) {
        if let Err(error) = self.file.set_len(self.synced_at) {
            tracing::warn!(%error, path = %self.segment.path().display(), "a log file could not be cut to its length");
        }
        self.segment.store_index();
    }
}

/// Makes sure that the names in a directory are on disk.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
