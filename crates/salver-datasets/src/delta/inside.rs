//! Whether files are in a table's directory after all links.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// The directory of a table. Directories below it are resolved once each.
#[derive(Debug)]
pub(super) struct Inside {
    root: PathBuf,
    directories: RefCell<HashMap<PathBuf, bool>>,
}

impl Inside {
    /// Returns the directory, which may itself be a link.
    pub(super) fn of(root: &Path) -> io::Result<Self> {
        Ok(Self { root: root.canonicalize()?, directories: RefCell::default() })
    }

    /// Returns whether a directory is this one or below it.
    pub(super) fn has_directory(&self, path: &Path) -> io::Result<bool> {
        if let Some(known) = self.directories.borrow().get(path) {
            return Ok(*known);
        }
        let is_inside = path.canonicalize()?.starts_with(&self.root);
        self.directories.borrow_mut().insert(path.to_owned(), is_inside);
        Ok(is_inside)
    }

    /// Returns whether a file is below it.
    pub(super) fn has_file(&self, path: &Path) -> io::Result<bool> {
        if !self.has_directory(path.parent().unwrap_or(Path::new("/")))? {
            return Ok(false);
        }
        match path.symlink_metadata()?.is_symlink() {
            true => Ok(path.canonicalize()?.starts_with(&self.root)),
            false => Ok(true),
        }
    }
}
