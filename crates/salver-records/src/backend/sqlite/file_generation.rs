//! An era: the time in which one file is at the path of a database. It ends when another file is found there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::database_file::FileId;

/// The time in which one file was at the path.
#[derive(Debug)]
pub(super) struct FileGeneration {
    /// Number of the era, from 0.
    pub(super) number: u64,
    /// The file; none in memory.
    pub(super) file: Option<FileId>,
    /// Whether the file is opened as immutable.
    pub(super) still: bool,
    /// The result of [`FileGeneration::is_over`], shared with running statements.
    pub(super) over: Arc<AtomicBool>,
    /// The file's log, once there is one.
    pub(super) log: Mutex<Option<FileId>>,
}

impl FileGeneration {
    /// Returns whether another file is at the path.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}
