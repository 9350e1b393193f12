//! What tells that a file is still the one that was loaded.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use salver_model::{Code, Error};

/// What a file looked like when it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

impl Stamp {
    /// What the file looks like that `about` is of.
    pub(crate) fn of(about: &Metadata) -> Self {
        Self { bytes: about.len(), modified: about.modified().ok(), inode: inode(about) }
    }

    /// Whether a file that looks so is surely the same: one without a time can't be told from another.
    pub(crate) fn is_of(self, about: &Metadata) -> bool {
        self.modified.is_some() && self == Self::of(about)
    }
}

/// A file in messages.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The failure when a file is another than the one that was loaded.
pub(crate) fn changed(name: &str) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{name}` was changed or removed since it was loaded"))
        .with_hint("it is loaded again in a few seconds; try again then")
}

/// The failure when a file that is the one that was loaded can't be read all the same.
pub(crate) fn damaged(name: &str) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{name}` can't be read: it is damaged, or the disk is"))
        .with_hint("put a whole file in its place: it is loaded in a few seconds; the log has the cause")
}

/// Tells a file from another that was moved to its place with the same size and time.
#[cfg(unix)]
pub(crate) fn inode(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
pub(crate) fn inode(_: &Metadata) -> u64 {
    0
}
