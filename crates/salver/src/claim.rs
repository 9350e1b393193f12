//! A file that one process at a time writes to: two commands with one output would mix theirs.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use salver_model::{Code, Error};

use crate::failure::Failure;

/// Opens `part`, which is made where there is none, for this process alone until the file is dropped; `output` is what
/// it becomes. What is in it stays.
///
/// # Errors
/// When another process has it, or it can't be written.
pub(crate) fn claim(part: &Path, output: &Path) -> Result<File, Failure> {
    let shown = output.display();
    match claimed(part) {
        Ok(Some(file)) => Ok(file),
        Ok(None) => {
            let error = Error::new(Code::Overloaded, format!("another command writes `{shown}` at this moment"));
            Err(Failure::Error(error.with_hint("wait for its end, or write to another file")))
        }
        Err(error) => Err(Failure::writing(&format!("`{}`", part.display()), error)),
    }
}

/// A file that only says that somebody writes `output`; it goes with its holder.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
    path: PathBuf,
}

impl Lock {
    /// Makes the file at `path`.
    ///
    /// # Errors
    /// As [`claim`].
    pub(crate) fn take(path: PathBuf, output: &Path) -> Result<Self, Failure> {
        claim(&path, output).map(|file| Self { _file: file, path })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is held nobody puts another in its place.
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
        // Who had it before may have removed it, or made it the output, since it was opened.
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
