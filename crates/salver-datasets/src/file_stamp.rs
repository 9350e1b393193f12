//! Detects whether a file is still the one that was loaded.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use salver_model::{Code, Error};

/// Size, modification time and inode of a file when it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

impl Stamp {
    /// Returns the stamp of the file with the metadata `about`.
    pub(crate) fn of(about: &Metadata) -> Self {
        Self { bytes: about.len(), modified: about.modified().ok(), inode: inode(about) }
    }

    /// Returns whether a file is certainly unchanged; never true without a modification time.
    pub(crate) fn is_of(self, about: &Metadata) -> bool {
        self.modified.is_some() && self == Self::of(about)
    }
}

/// Returns the name of a file in messages.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the error for a file that differs from the one that was loaded.
pub(crate) fn changed(name: &str) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{name}` was changed or removed since it was loaded"))
        .with_hint("it is loaded again in a few seconds; try again then")
}

/// Returns the error for a file that is unchanged since it was loaded but can't be read.
pub(crate) fn damaged(name: &str) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{name}` can't be read: it is damaged, or the disk is"))
        .with_hint("put a whole file in its place: it is loaded in a few seconds; the log has the cause")
}

/// Returns the inode, which tells a file from its replacement with the same size and modification time.
#[cfg(unix)]
pub(crate) fn inode(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
pub(crate) fn inode(_: &Metadata) -> u64 {
    0
}
