//! The directory of a published table: who may read it, and how files get there whole.
//!
//! Whoever may read the directory may read what is written to it: a directory that is made here is private, and one
//! that its operator has opened to a group or to everybody passes that on to its files.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::crash::CrashPoints;
use crate::private_files;

/// Directory of the table's log in it.
const LOG: &str = "_delta_log";
/// File that becomes another by its name.
const UNFINISHED: &str = ".unfinished";

/// Directory of a table.
#[derive(Debug)]
pub(super) struct TableDir {
    root: PathBuf,
    log: PathBuf,
    file_mode: u32,
    pub(super) crash: CrashPoints,
}

impl TableDir {
    /// Opens the directory, and creates it and that of its log if missing.
    pub(super) fn open(root: &Path, crash: CrashPoints) -> io::Result<Self> {
        if !root.is_dir() {
            private_files::create_dir_all(root)?;
        }
        let mode = root.metadata()?.permissions().mode();
        let log = root.join(LOG);
        if !log.is_dir() {
            fs::create_dir(&log)?;
        }
        // The bit for the group of new files comes along.
        let log_mode = 0o700 | (mode & 0o2055);
        if log.metadata()?.permissions().mode() & 0o7777 != log_mode {
            fs::set_permissions(&log, Permissions::from_mode(log_mode))?;
        }
        sync_dir(root)?;
        Ok(Self { root: root.to_owned(), log, file_mode: 0o600 | (mode & 0o044), crash })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of the table's log.
    pub(super) fn log(&self) -> &Path {
        &self.log
    }

    /// Creates a file; what is there under this name is not changed, but replaced.
    pub(super) fn create(&self, path: &Path) -> io::Result<File> {
        // It may be a second name of a file of the log, left by a crash.
        remove(path)?;
        let file = private_files::options().write(true).create_new(true).open(path)?;
        file.set_permissions(Permissions::from_mode(self.file_mode))?;
        Ok(file)
    }

    /// Makes the names of files with events durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        sync_dir(&self.root)
    }

    /// Writes a file of the log, unless there is one of this name: then the error is `AlreadyExists`. It is there as a
    /// whole or not at all, whenever the process or the machine ends.
    pub(super) fn put_new(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let (unfinished, path) = (self.unfinished(bytes)?, self.log.join(name));
        match fs::hard_link(&unfinished, &path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has links. This stream is the only writer, so that nobody is between the two.
            Err(_) if path.try_exists()? => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(&unfinished, &path)?,
        }
        self.crash.pass()?;
        sync_dir(&self.log)?;
        self.crash.pass()?;
        remove(&unfinished)
    }

    /// Writes a file of the log, in place of one with this name.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let unfinished = self.unfinished(bytes)?;
        fs::rename(unfinished, self.log.join(name))?;
        self.crash.pass()?;
        sync_dir(&self.log)
    }

    fn unfinished(&self, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.log.join(UNFINISHED);
        let mut file = self.create(&path)?;
        file.write_all(bytes)?;
        self.crash.pass()?;
        file.sync_all()?;
        self.crash.pass()?;
        Ok(path)
    }
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Makes the names in a directory durable.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::io;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::{CrashPoints, TableDir};

    fn mode(path: &Path) -> u32 {
        path.metadata().expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn readers_of_the_directory_read_its_files() {
        let root = tempfile::tempdir().expect("a directory");
        let own = root.path().join("a/b");
        let dir = TableDir::open(&own, CrashPoints::default()).expect("a table");
        dir.put_new("0.json", b"x").expect("a file");
        assert_eq!((mode(&own), mode(dir.log()), mode(&dir.log().join("0.json"))), (0o700, 0o700, 0o600));
        fs::set_permissions(&own, Permissions::from_mode(0o750)).expect("permissions");
        let dir = TableDir::open(&own, CrashPoints::default()).expect("a table");
        dir.put_new("1.json", b"x").expect("a file");
        assert_eq!((mode(dir.log()), mode(&dir.log().join("1.json"))), (0o750, 0o640));
    }

    #[test]
    fn what_is_there_stays() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = TableDir::open(root.path(), CrashPoints::default()).expect("a table");
        dir.put_new("0.json", b"first").expect("a file");
        let again = dir.put_new("0.json", b"second").expect_err("it is there");
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        // As a crash leaves it between the two names of the same file.
        fs::remove_file(dir.log().join(super::UNFINISHED)).expect("left");
        fs::hard_link(dir.log().join("0.json"), dir.log().join(super::UNFINISHED)).expect("a link");
        dir.put_new("1.json", b"third").expect("a file");
        assert_eq!(fs::read(dir.log().join("0.json")).expect("a file"), b"first");
        dir.replace("0.json", b"fourth").expect("a file");
        assert_eq!(fs::read(dir.log().join("0.json")).expect("a file"), b"fourth");
    }
}
