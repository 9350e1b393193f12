//! Exclusive output files: two commands with the same output would mix their data.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use salver_model::{Code, Error};

use crate::failure::CommandFailure;

/// Opens `part`, creating it if necessary, exclusively for this process until the file is dropped; `output` is its
/// final name. Existing content is kept.
///
/// # Errors
/// Returns an error when another process has it, or it cannot be written.
pub(crate) fn claim(part: &Path, output: &Path) -> Result<File, CommandFailure> {
    let shown = output.display();
    match claimed(part) {
        Ok(Some(file)) => Ok(file),
        Ok(None) => {
            let error = Error::new(Code::Overloaded, format!("another command writes `{shown}` at this moment"));
            Err(CommandFailure::Error(error.with_hint("wait for its end, or write to another file")))
        }
        Err(error) => Err(CommandFailure::writing(&format!("`{}`", part.display()), error)),
    }
}

/// Lock file that marks `output` as being written; it is removed on drop.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
    path: PathBuf,
}

impl Lock {
    /// Creates the file at `path`.
    ///
    /// # Errors
    /// Returns the errors of [`claim`].
    pub(crate) fn take(path: PathBuf, output: &Path) -> Result<Self, CommandFailure> {
        claim(&path, output).map(|file| Self { _file: file, path })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // No other process replaces it while it is locked.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn claimed(part: &Path) -> io::Result<Option<File>> {
    loop {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(part)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Its previous owner may have removed it, or renamed it to the output, since it was opened.
        let own = file.metadata()?;
        if std::fs::metadata(part).is_ok_and(|now| (now.dev(), now.ino()) == (own.dev(), own.ino())) {
            return Ok(Some(file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::claimed;

    #[test]
    fn one_has_it_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let part = directory.path().join("part");
        let first = claimed(&part).unwrap().expect("nobody has it");
        assert!(claimed(&part).unwrap().is_none());
        std::fs::rename(&part, directory.path().join("output")).unwrap();
        let second = claimed(&part).unwrap().expect("it is another one");
        drop(first);
        assert!(claimed(&part).unwrap().is_none());
        drop(second);
        assert!(claimed(&part).unwrap().is_some());
    }
}
