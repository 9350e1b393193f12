//! A segment: one file of the log, `BASE.log`, with its index and its rows as Parquet beside it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

use salver_model::Result;

use super::disk_error::{damaged, unreadable};
use super::frame::Frame;
use super::frame_iterator::{Damage, FrameIterator, FrameStep};
use super::index::Index;
use super::lock::{read, write};

/// Extension of a log file.
pub(super) const LOG: &str = "log";
/// Extension of its index.
pub(super) const INDEX: &str = "index";
/// Extension of its Parquet file.
pub(super) const PARQUET: &str = "parquet";
/// Extension of a log file that is deleted, but still held by readers.
pub(super) const GONE: &str = "gone";

/// File of the log.
#[derive(Debug)]
pub(crate) struct Segment {
    base: u64,
    path: PathBuf,
    /// Index of the durable frames.
    index: RwLock<Index>,
    is_gone: AtomicBool,
}

/// Result of looking up a read's starting position.
enum StartFrames {
    Frames(Vec<Frame>),
    Damage(Damage),
}

impl Segment {
    pub(super) fn new(dir: &Path, index: Index) -> Self {
        let path = dir.join(format!("{:020}.{LOG}", index.base));
        Self { base: index.base, path, index: RwLock::new(index), is_gone: AtomicBool::new(false) }
    }

    /// Returns the offset of its first event.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Returns the offset behind its last event.
    pub(crate) fn end(&self) -> u64 {
        read(&self.index).end
    }

    /// Returns the path of its file, which exists until retention deletes it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes of its frames.
    pub(crate) fn bytes(&self) -> u64 {
        read(&self.index).bytes
    }

    /// Returns the time of its first frame, in milliseconds since 1970.
    pub(crate) fn first_time_ms(&self) -> i64 {
        read(&self.index).first_time_ms
    }

    /// Returns the latest time of its frames.
    pub(crate) fn last_time_ms(&self) -> i64 {
        read(&self.index).last_time_ms
    }

    /// Returns the path of its Parquet file, which need not exist and is deleted together with the segment.
    pub(crate) fn parquet_path(&self) -> PathBuf {
        self.path.with_extension(PARQUET)
    }

    /// Returns frames of this segment, the first containing `from`: at least one, and about `bytes_max` bytes at most.
    /// Empty at the end; `Source` when it is damaged at `from`. Blocks.
    pub(crate) fn read(&self, from: u64, bytes_max: usize) -> Result<Vec<Frame>> {
        match self.find(from, bytes_max).map_err(|error| unreadable(&self.path, error))? {
            StartFrames::Frames(frames) => Ok(frames),
            StartFrames::Damage(damage) => Err(damaged(&self.path, damage.at, damage.from, damage.to)),
        }
    }

    /// Returns the first offset from `from` on that is not damaged, at most `end`. Blocks.
    pub(crate) fn good_from(&self, from: u64) -> Result<u64> {
        match self.find(from, 0).map_err(|error| unreadable(&self.path, error))? {
            StartFrames::Frames(_) => Ok(from),
            StartFrames::Damage(damage) => Ok(damage.to),
        }
    }

    fn find(&self, from: u64, bytes_max: usize) -> io::Result<StartFrames> {
        let (place, file_end, end) = {
            let index = read(&self.index);
            (index.place_of(from), index.bytes, index.end)
        };
        let mut frames = Vec::new();
        if from >= end {
            return Ok(StartFrames::Frames(frames));
        }
        let mut walk = FrameIterator::new(self.file()?, place.at, place.offset, file_end, Some(end));
        let mut bytes = 0;
        loop {
            match walk.step()? {
                FrameStep::Frame(_, frame) if frame.head.end() <= from => {}
                FrameStep::Frame(_, frame) => {
                    bytes += frame.bytes.len();
                    frames.push(frame);
                    if bytes >= bytes_max {
                        break;
                    }
                }
                FrameStep::Damage(damage) if damage.to <= from => {}
                FrameStep::Damage(damage) if frames.is_empty() => return Ok(StartFrames::Damage(damage)),
                FrameStep::Damage(_) | FrameStep::End => break,
            }
        }
        Ok(StartFrames::Frames(frames))
    }

    /// Returns the offset of the first frame at or after a time. Blocks.
    pub(super) fn offset_at(&self, time_ms: i64) -> Result<Option<u64>> {
        let (place, file_end, end) = {
            let index = read(&self.index);
            if index.last_time_ms < time_ms {
                return Ok(None);
            }
            (index.place_at(time_ms), index.bytes, index.end)
        };
        let find = || -> io::Result<Option<u64>> {
            let mut walk = FrameIterator::new(self.file()?, place.at, place.offset, file_end, Some(end));
            loop {
                match walk.step()? {
                    FrameStep::Frame(_, frame) if frame.head.time_ms >= time_ms => return Ok(Some(frame.head.offset)),
                    FrameStep::Frame(..) | FrameStep::Damage(_) => {}
                    FrameStep::End => return Ok(None),
                }
            }
        };
        find().map_err(|error| unreadable(&self.path, error))
    }

    /// Updates the index.
    pub(super) fn learn<T>(&self, learn: impl FnOnce(&mut Index) -> T) -> T {
        learn(&mut write(&self.index))
    }

    /// Stores the index for the next start.
    pub(super) fn store_index(&self) {
        read(&self.index).store(&self.path.with_extension(INDEX));
    }

    /// Removes the segment from the log: its files are deleted when the last holder drops it.
    pub(super) fn retire(&self) {
        // Renamed, so that it is not part of the log after a restart either, whoever held it at the end.
        if let Err(error) = fs::rename(&self.path, self.path.with_extension(GONE)) {
            tracing::warn!(%error, path = %self.path.display(), "a log file could not be renamed");
        }
        self.is_gone.store(true, Ordering::Release);
    }

    fn file(&self) -> io::Result<File> {
        File::open(&self.path).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => File::open(self.path.with_extension(GONE)),
            _ => Err(error),
        })
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if !*self.is_gone.get_mut() {
            return;
        }
        let path = std::mem::take(&mut self.path);
        // Deleting large files takes a while, and other requests may wait for this thread.
        let started = std::thread::Builder::new().name("log delete".to_owned()).spawn({
            let path = path.clone();
            move || delete(&path)
        });
        if started.is_err() {
            delete(&path);
        }
    }
}

fn delete(path: &Path) {
    for ending in [LOG, GONE, INDEX, PARQUET] {
        let path = path.with_extension(ending);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, path = %path.display(), "a file of the log could not be deleted");
            }
            _ => {}
        }
    }
}
