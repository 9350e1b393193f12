//! The file of a fetched stream.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::batch::FetchedBatch;
use super::resume_state::{ExportState, StreamProgress};
use crate::failure::CommandFailure;
use crate::output;

/// Bytes read at a time.
const READ_BYTES: usize = 1024 * 1024;

/// File of one stream, positioned at its end.
#[derive(Debug)]
pub(super) struct StreamFile {
    file: File,
    path: PathBuf,
    /// Offset of the next row; `None` when all are there.
    pub(super) next: Option<u64>,
    /// Number of rows.
    pub(super) rows: u64,
    /// Number of bytes.
    pub(super) bytes: u64,
    sum: crc32fast::Hasher,
}

impl StreamFile {
    /// Resumes the file of a stream. A file that does not match the recorded progress, because a crash lost unsynced
    /// data, starts over.
    pub(super) fn open(state: &ExportState, stream: usize) -> Result<Self, CommandFailure> {
        let path = state.part(stream);
        let failed = |error| CommandFailure::writing(&format!("`{}`", path.display()), error);
        let noted = state.progress(stream);
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = options.map_err(failed)?;
        let sum = sum_of(&mut file, noted.bytes).map_err(failed)?;
        let noted = match sum.clone().finalize() == noted.sum && length(&file).is_some_and(|bytes| bytes >= noted.bytes)
        {
            true => noted,
            false => {
                output::note(&format!("{}: is not what it was; it is fetched anew", path.display()));
                StreamProgress::default()
            }
        };
        let sum = if noted.bytes == 0 { crc32fast::Hasher::new() } else { sum };
        file.set_len(noted.bytes).map_err(failed)?;
        file.seek(SeekFrom::Start(noted.bytes)).map_err(failed)?;
        let next = (!noted.is_done).then_some(noted.rows);
        Ok(Self { file, path, next, rows: noted.rows, bytes: noted.bytes, sum })
    }

    /// Appends a batch.
    pub(super) fn append(&mut self, batch: &FetchedBatch) -> Result<(), CommandFailure> {
        let failed = |error| CommandFailure::writing(&format!("`{}`", self.path.display()), error);
        self.file.write_all(&batch.bytes).map_err(failed)?;
        self.sum.update(&batch.bytes);
        (self.bytes, self.rows) = (self.bytes + batch.bytes.len() as u64, self.rows + batch.rows);
        self.next = batch.next;
        Ok(())
    }

    /// Returns the progress to record.
    pub(super) fn progress(&self) -> StreamProgress {
        let sum = self.sum.clone().finalize();
        StreamProgress { rows: self.rows, bytes: self.bytes, sum, is_done: self.next.is_none() }
    }
}

fn length(file: &File) -> Option<u64> {
    file.metadata().ok().map(|about| about.len())
}

/// Computes the checksum of the first bytes of a file.
fn sum_of(file: &mut File, bytes: u64) -> std::io::Result<crc32fast::Hasher> {
    let mut sum = crc32fast::Hasher::new();
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::with_capacity(READ_BYTES, file).take(bytes);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            return Ok(sum);
        }
        sum.update(&buffer[..count]);
    }
}
