//! The sessions of users in a file of the data directory, beside the key that their names are hashed with.
//!
//! The file is private to the user who runs the server, and belongs to one process at a time: a lock on a file beside
//! it is held as long as the process lives.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use salver_model::limits::SESSIONS_FILE_BYTES_MAX;
use salver_model::ports::SessionStore;
use salver_model::{Code, Error, Result};

/// Name of the file.
const NAME: &str = "sessions.journal";
/// Name of the next one, until it is whole.
const NEXT: &str = "sessions.next";
/// Name of the locked file.
const LOCK: &str = "sessions.lock";

/// The file of sessions.
#[derive(Debug)]
pub(crate) struct SessionFile {
    directory: PathBuf,
    path: PathBuf,
    _lock: File,
}

impl SessionFile {
    /// Opens the file in `directory`, which is there.
    ///
    /// # Errors
    /// Returns `Source` when another process has it, or the directory can't be written to.
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        let path = directory.join(NAME);
        let failed = |why: String| {
            Error::new(Code::Source, format!("can't use the sessions in `{}`: {why}", path.display()))
                .with_hint("give each server a `server.data_dir` of its own, which its user may write to")
        };
        let lock = private().create(true).truncate(false).write(true).open(directory.join(LOCK));
        let lock = lock.map_err(|error| failed(error.to_string()).with_source(error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { directory: directory.to_owned(), path, _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => Err(failed("another server has them".to_owned())),
            Err(fs::TryLockError::Error(error)) => Err(failed(error.to_string()).with_source(error)),
        }
    }

    fn failed(&self, what: &str, error: io::Error) -> Error {
        Error::new(Code::Source, format!("can't {what} `{}`: {error}", self.path.display())).with_source(error)
    }

    fn text(&self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(text),
            // A pipe would keep the server from starting.
            Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("it is not a file")),
            _ => {}
        }
        File::open(&self.path)?.take(SESSIONS_FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
        if text.len() as u64 > SESSIONS_FILE_BYTES_MAX {
            return Err(io::Error::other(format!("it has more than {SESSIONS_FILE_BYTES_MAX} bytes")));
        }
        Ok(text)
    }

    fn write(&self, lines: &[u8]) -> io::Result<()> {
        let next = self.directory.join(NEXT);
        // Left over if a process was killed.
        let _ = fs::remove_file(&next);
        let written = (|| {
            let mut file = private().create_new(true).write(true).open(&next)?;
            file.write_all(lines)?;
            file.sync_all()?;
            fs::rename(&next, &self.path)
        })();
        if written.is_err() {
            let _ = fs::remove_file(&next);
        }
        written.and_then(|()| self.settle())
    }

    /// Makes a change of the directory durable.
    fn settle(&self) -> io::Result<()> {
        #[cfg(unix)]
        File::open(&self.directory)?.sync_all()?;
        Ok(())
    }
}

impl SessionStore for SessionFile {
    fn place(&self) -> String {
        format!("the file of sessions `{}`", self.path.display())
    }

    fn read(&self) -> Result<Vec<u8>> {
        self.text().map_err(|error| self.failed("read", error))
    }

    fn append(&self, lines: &[u8]) -> Result<()> {
        let added = OpenOptions::new().append(true).open(&self.path).and_then(|mut file| {
            file.write_all(lines)?;
            file.sync_data()
        });
        added.map_err(|error| self.failed("write to", error))
    }

    fn replace(&self, lines: &[u8]) -> Result<()> {
        self.write(lines).map_err(|error| self.failed("write", error))
    }

    fn remove(&self) -> Result<()> {
        let removed = match fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| self.settle()),
        };
        removed.map_err(|error| self.failed("remove", error))
    }
}

/// Returns the options for a file that only its owner may read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::{NAME, NEXT, SessionFile};

    #[test]
    fn the_contract_of_the_port() {
        let directory = tempfile::tempdir().unwrap();
        let store = SessionFile::open(directory.path()).unwrap();
        salver_testkit::contract::session_store::run(&store);
        assert!(SessionFile::open(directory.path()).unwrap_err().message.contains("another server"));
        drop(store);
        // What a killed process left is in nobody's way, and what is no file is read by nobody.
        std::fs::write(directory.path().join(NEXT), "half").unwrap();
        let store = SessionFile::open(directory.path()).unwrap();
        salver_testkit::contract::session_store::run(&store);
        std::fs::create_dir(directory.path().join(NAME)).unwrap();
        assert!(salver_model::ports::SessionStore::read(&store).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_it() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().unwrap();
        let store = SessionFile::open(directory.path()).unwrap();
        salver_model::ports::SessionStore::replace(&store, b"x").unwrap();
        for entry in std::fs::read_dir(directory.path()).unwrap() {
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{mode:o}");
        }
    }
}
