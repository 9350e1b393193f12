//! Files that user code answers with, where the server must not read for the code what the code itself can't.
//!
//! The server opens such a file, and then looks at what it has opened: by then, the path may lead elsewhere.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::{StreamExt, stream};
use salver_model::functions::{Answer, AnswerBody};
use salver_model::{Code, Error, Result};
use tokio::io::AsyncReadExt;

use super::FunctionFile;
use crate::sandbox::Account;

/// Bytes per read.
const PIECE_BYTES: usize = 256 * 1024;
/// File systems whose files tell of the process that reads them, and of the machine.
const OF_THE_KERNEL: [&str; 2] = ["/proc", "/sys"];

/// Bit of a mode, for others, that allows to read a file.
const READ: u32 = 0o4;
/// The same, to write in a directory.
const WRITE: u32 = 0o2;
/// The same, to enter a directory.
const ENTER: u32 = 0o1;
/// Bit of a mode that lets only owners remove files of a directory.
const STICKY: u32 = 0o1000;

impl FunctionFile {
    /// Opens the file that an answer is, if the code is kept apart and could read it itself.
    pub(super) fn reachable(&self, answer: Answer) -> Result<Answer> {
        let AnswerBody::File { path, temporary } = &answer.body else { return Ok(answer) };
        if !self.spec.sandbox.is_apart() {
            return Ok(answer);
        }
        let account = self.sandbox.get().and_then(|sandbox| sandbox.account.as_ref());
        let unreadable = |error: io::Error| {
            Error::new(Code::FunctionFailed, "the file that the function answers can't be read")
                .with_hint("it must be a regular file that the function itself can read")
                .with_source(format!("{}: {error}", path.display()))
        };
        let opened = open(path, account).map_err(unreadable)?;
        if *temporary && let Err(error) = remove(path, account) {
            tracing::warn!(%error, path = %path.display(), "a temporary file of a function can't be removed");
        }
        Ok(Answer { body: body(opened, path.clone()), ..answer })
    }
}

/// Opens a regular file, if `account` can read it.
fn open(path: &Path, account: Option<&Account>) -> io::Result<File> {
    // Otherwise opening a named pipe might never end.
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let found = opened.metadata()?;
    let real = fs::read_link(through(&opened))?;
    if !found.is_file() || OF_THE_KERNEL.iter().any(|kernel| real.starts_with(kernel)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let Some(account) = account else { return Ok(opened) };
    let mut is_reached = allows(&found, account, READ);
    for directory in real.ancestors().skip(1) {
        is_reached = is_reached && allows(&fs::metadata(directory)?, account, ENTER);
    }
    if is_reached {
        return Ok(opened);
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("`{}` can't read it", account.name)))
}

/// Removes a file, if `account` can do that.
fn remove(path: &Path, account: Option<&Account>) -> io::Result<()> {
    let Some(account) = account else { return fs::remove_file(path) };
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let directory = File::open(directory)?;
    let holder = directory.metadata()?;
    let file = through(&directory).join(name);
    let is_free = holder.mode() & STICKY == 0 || holder.uid() == account.user;
    let is_removable =
        allows(&holder, account, WRITE | ENTER) && (is_free || fs::symlink_metadata(&file)?.uid() == account.user);
    if is_removable { fs::remove_file(file) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Returns a path that leads to what is open, wherever it is now.
fn through(opened: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()))
}

/// Returns whether the account, which has one group, may do what `bits` say. Lists of rights beyond the mode are not
/// looked at.
fn allows(found: &Metadata, account: &Account, bits: u32) -> bool {
    let shift = if found.uid() == account.user {
        6
    } else if found.gid() == account.group {
        3
    } else {
        0
    };
    (found.mode() >> shift) & bits == bits
}

/// Returns the content of a file as a body.
fn body(opened: File, path: PathBuf) -> AnswerBody {
    let opened = tokio::fs::File::from_std(opened);
    let pieces = stream::try_unfold((opened, path), |(mut opened, path)| async move {
        let mut piece = vec![0; PIECE_BYTES];
        let count = opened.read(&mut piece).await.map_err(|error| {
            Error::new(Code::FunctionFailed, "the file that the function answers can't be read")
                .with_source(format!("{}: {error}", path.display()))
        })?;
        piece.truncate(count);
        Ok((count > 0).then_some((Bytes::from(piece), (opened, path))))
    });
    AnswerBody::Stream(pieces.boxed())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

    use super::{Account, open, remove};

    /// A user that is not there, and so not the one that runs the tests.
    fn stranger() -> Account {
        Account { name: "stranger".to_owned(), user: 4_000_000_001, group: 4_000_000_001, ..Account::default() }
    }

    #[test]
    fn a_file_is_read_only_for_who_can_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let (inner, file) = (directory.path().join("inner"), directory.path().join("inner/file"));
        fs::create_dir(&inner).unwrap();
        fs::write(&file, "text").unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let (uid, gid) = (fs::metadata(&file).unwrap().uid(), fs::metadata(&file).unwrap().gid());
        let (owner, member) = (Account { user: uid, group: gid, ..stranger() }, Account { group: gid, ..stranger() });
        set(directory.path(), 0o755);
        for (inner_mode, mode, accounts) in [
            (0o755, 0o644, [true, true, true]),
            (0o755, 0o640, [true, true, false]),
            (0o755, 0o604, [true, false, true]),
            (0o755, 0o600, [true, false, false]),
            (0o750, 0o644, [true, true, false]),
            (0o700, 0o644, [true, false, false]),
        ] {
            set(&inner, inner_mode);
            set(&file, mode);
            let opened = [&owner, &member, &stranger()].map(|account| open(&file, Some(account)).is_ok());
            assert_eq!(opened, accounts, "{inner_mode:o} {mode:o}");
        }
    }

    #[test]
    fn files_of_the_kernel_and_pipes_are_none() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("/proc/self/environ", &link).unwrap();
        for path in [Path::new("/proc/self/environ"), &link, Path::new("/dev/null"), directory.path()] {
            assert!(open(path, None).is_err(), "{}", path.display());
        }
        let pipe = directory.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success() && open(&pipe, None).is_err());
    }

    #[test]
    fn nobody_removes_files_of_others() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        for mode in [0o755, 0o1777] {
            fs::set_permissions(directory.path(), Permissions::from_mode(mode)).unwrap();
            assert!(remove(&file, Some(&stranger())).is_err(), "{mode:o}");
        }
        fs::set_permissions(directory.path(), Permissions::from_mode(0o777)).unwrap();
        remove(&file, Some(&stranger())).unwrap();
        assert!(!file.exists());
    }
}
