//! The time in which one file lies at the path of a database: when another lies there, it is over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::location::FileId;

/// The time in which one file lay at the path.
#[derive(Debug)]
pub(super) struct Era {
    /// Which one, from 0.
    pub(super) number: u64,
    /// The file; none in memory.
    pub(super) file: Option<FileId>,
    /// The file is read as if nothing ever changed it.
    pub(super) still: bool,
    /// What [`Era::is_over`] says, for those who look at it while a statement runs.
    pub(super) over: Arc<AtomicBool>,
    /// The file's log, once there is one.
    pub(super) log: Mutex<Option<FileId>>,
}

impl Era {
    /// Whether another file lies at the path.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}
