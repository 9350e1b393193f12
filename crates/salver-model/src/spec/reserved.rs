//! What is declared for a purpose of its own, and is rows for nobody: databases, logs, code, users, keys, settings.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Tells files that are declared for another purpose from files of rows.
pub trait Reserve: Send + Sync {
    /// Whether each of the files, as it is there now, is reserved, whatever it is called.
    fn are_reserved(&self, files: &[PathBuf]) -> Vec<bool>;
}

/// The files that an entry may not read. It is no setting of the entry: two that differ in nothing else are equal.
#[derive(Clone, Default)]
pub struct Reserved(Option<Arc<dyn Reserve>>);

impl Reserved {
    /// The files that `reserve` tells.
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
