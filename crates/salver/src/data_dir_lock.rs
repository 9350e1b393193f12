//! One server at a time for a data directory. A second one waits, before it listens, and takes over when the first
//! ends. Several may have it together if all of them share it.
//!
//! The lock is the operating system's, on a file in the directory: it is released however the process ends, also by
//! `kill -9`. The file stays, and has the number of the process that holds the lock, for the message alone.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use salver_config::WhenInUse;
use salver_model::{Code, Error, Result};

/// Name of the file.
const NAME: &str = "server.lock";
/// Upper bound of what is read of the file.
const FILE_BYTES: u64 = 64;

/// The lock on a data directory; released on drop.
#[derive(Debug)]
pub(crate) struct DataDirLock {
    file: File,
    path: PathBuf,
}

/// What became of an attempt.
#[derive(Debug)]
pub(crate) enum Taken {
    /// The directory is this server's.
    Now(DataDirLock),
    /// It is, after another server ended: meanwhile the settings may have changed.
    Later(DataDirLock),
    /// Nothing is locked: another server has the directory, which the operator did not name, or locks do not work.
    Unlocked,
}

/// Takes the lock on `dir`, together with others if `when` says to share it. A directory that the operator did not name
/// is used beside those who have it, and need not be there. Blocks while it waits.
///
/// # Errors
/// Returns `Config` when another server has it and `when` says to end, or the named directory can't be written to.
pub(crate) fn take(dir: &Path, named: bool, when: WhenInUse) -> Result<Taken> {
    let opened = match open(dir, named) {
        Ok(opened) => opened,
        Err(_) if !named => return Ok(Taken::Unlocked),
        Err(error) => return Err(failed(dir, error)),
    };
    let Some(lock) = opened else { return Ok(Taken::Unlocked) };
    let shares = !named || when == WhenInUse::Share;
    match if shares { lock.file.try_lock_shared() } else { lock.file.try_lock() } {
        Ok(()) => return Ok(Taken::Now(lock.signed())),
        Err(TryLockError::Error(error)) => {
            tracing::warn!(
                "the data directory `{}` can't be locked, so that nothing keeps a second server from it: {error}",
                dir.display()
            );
            return Ok(Taken::Unlocked);
        }
        Err(TryLockError::WouldBlock) => {}
    }
    let holder = lock.holder();
    match when {
        _ if !named => Ok(Taken::Unlocked),
        WhenInUse::End => Err(Error::new(
            Code::Config,
            format!("another server has the data directory `{}`: {holder}", dir.display()),
        )
        .with_hint("end it, name another `server.data_dir`, or wait for its end with `server.data_dir_in_use`")),
        WhenInUse::Wait | WhenInUse::Share => {
            let alone = if shares { " for itself, without `server.data_dir_in_use = \"share\"`" } else { "" };
            tracing::warn!(
                "waiting for {holder}, another server, which has the data directory `{}`{alone}; this one listens when \
                 that one ends",
                dir.display()
            );
            while let Err(error) = if shares { lock.file.lock_shared() } else { lock.file.lock() } {
                // A signal that does not end the process.
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(failed(dir, error));
                }
            }
            tracing::info!("the other server ended; the data directory `{}` is this server's", dir.display());
            Ok(Taken::Later(lock.signed()))
        }
    }
}

/// Opens the file in `dir`, which is created if it is `named`; `None` if it is not there and not named.
fn open(dir: &Path, named: bool) -> io::Result<Option<DataDirLock>> {
    if named {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(dir)?;
    } else if !dir.is_dir() {
        return Ok(None);
    }
    let path = dir.join(NAME);
    // Opening a pipe would wait for its other end, and a link may lead anywhere.
    match fs::symlink_metadata(&path) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{NAME}` is not a file")));
        }
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path).map(|file| Some(DataDirLock { file, path }))
}

impl DataDirLock {
    /// Writes this process's number into the file, for the messages of others.
    fn signed(mut self) -> Self {
        let text = format!("{}\n", std::process::id());
        let written = self.file.set_len(0).and_then(|()| self.file.rewind());
        if let Err(error) = written.and_then(|()| self.file.write_all(text.as_bytes())) {
            tracing::warn!("can't write the number of this process into `{}`: {error}", self.path.display());
        }
        self
    }

    /// Returns who has the lock, as far as the file tells.
    fn holder(&self) -> String {
        let mut text = String::new();
        let read = (&self.file).take(FILE_BYTES).read_to_string(&mut text);
        match read.ok().and_then(|_| text.trim().parse::<u32>().ok()) {
            Some(pid) => format!("the process {pid}"),
            None => "a process that did not tell its number".to_owned(),
        }
    }
}

fn failed(dir: &Path, error: io::Error) -> Error {
    Error::new(Code::Config, format!("can't lock the data directory `{}`: {error}", dir.display()))
        .with_hint("name a directory of the user who runs the server with `server.data_dir` or `--data-dir`")
        .with_source(error)
}

#[cfg(test)]
mod tests {
    use salver_config::WhenInUse;

    use super::{NAME, Taken, take};

    #[test]
    fn one_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("kept");
        // Nobody named it, so it is not made.
        assert!(matches!(take(&dir, false, WhenInUse::Wait), Ok(Taken::Unlocked)));
        assert!(!dir.exists());
        let Ok(Taken::Now(first)) = take(&dir, true, WhenInUse::Wait) else { panic!("it is free") };
        let refused = take(&dir, true, WhenInUse::End).unwrap_err();
        assert!(refused.message.contains(&format!("the process {}", std::process::id())), "{refused:?}");
        assert!(matches!(take(&dir, false, WhenInUse::Wait), Ok(Taken::Unlocked)));
        let own = dir.clone();
        let waiting = std::thread::spawn(move || take(&own, true, WhenInUse::Wait));
        drop(first);
        let taken = waiting.join().unwrap();
        assert!(matches!(taken, Ok(Taken::Now(_) | Taken::Later(_))), "{taken:?}");
        drop(taken);
        assert!(matches!(take(&dir, true, WhenInUse::End), Ok(Taken::Now(_))));
    }

    #[test]
    fn together_only_with_those_who_share() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path();
        let Ok(Taken::Now(first)) = take(dir, true, WhenInUse::Share) else { panic!("it is free") };
        let Ok(Taken::Now(second)) = take(dir, true, WhenInUse::Share) else { panic!("it is shared") };
        drop(first);
        take(dir, true, WhenInUse::End).unwrap_err();
        drop(second);
        let Ok(Taken::Now(alone)) = take(dir, true, WhenInUse::End) else { panic!("it is free again") };
        let own = dir.to_owned();
        let waiting = std::thread::spawn(move || take(&own, true, WhenInUse::Share));
        drop(alone);
        assert!(matches!(waiting.join().unwrap(), Ok(Taken::Now(_) | Taken::Later(_))));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_or_a_directory_is_no_lock() {
        let place = tempfile::tempdir().unwrap();
        let precious = place.path().join("precious");
        std::fs::write(&precious, "1\n").unwrap();
        std::os::unix::fs::symlink(&precious, place.path().join(NAME)).unwrap();
        let refused = take(place.path(), true, WhenInUse::Wait).unwrap_err();
        assert!(refused.message.contains("is not a file") && refused.hint.is_some(), "{refused:?}");
        assert_eq!(std::fs::read_to_string(precious).unwrap(), "1\n");
    }
}
