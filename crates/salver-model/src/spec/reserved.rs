//! Files that are declared for another purpose and never served as rows: databases, logs, code, users, keys, settings.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Distinguishes files that are declared for another purpose from files of rows.
pub trait Reserve: Send + Sync {
    /// Returns whether each of the files, as it is now, is reserved, whatever its name.
    fn are_reserved(&self, files: &[PathBuf]) -> Vec<bool>;
}

/// Files that an entry must not read. It is not a setting: two entries that differ only in it are equal.
#[derive(Clone, Default)]
pub struct Reserved(Option<Arc<dyn Reserve>>);

impl Reserved {
    /// Creates the set of files defined by `reserve`.
    #[must_use]
    pub fn new(reserve: Arc<dyn Reserve>) -> Self {
        Self(Some(reserve))
    }
}

impl Reserve for Reserved {
    fn are_reserved(&self, files: &[PathBuf]) -> Vec<bool> {
        match &self.0 {
            Some(reserve) if !files.is_empty() => reserve.are_reserved(files),
            _ => vec![false; files.len()],
        }
    }
}

impl PartialEq for Reserved {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Reserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reserved")
    }
}
