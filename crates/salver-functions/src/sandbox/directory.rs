//! The directory of a file's sockets and program files, where another user needs it.
//!
//! It stays the server's: in a directory of the other user, a name could lead elsewhere by the time that the server
//! uses it.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};

use super::Account;

/// Name of the subdirectory that belongs to the user.
const PRIVATE: &str = "private";

/// Returns the user id that owns the directory, which is the server's.
pub(super) fn owner(directory: &Path) -> io::Result<u32> {
    Ok(fs::symlink_metadata(directory)?.uid())
}

/// Lets the user read what is in the directory, whatever the server's umask, and returns a subdirectory of its own.
pub(super) fn open_to(directory: &Path, account: &Account) -> io::Result<PathBuf> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        // A subdirectory of an earlier attempt may have anything in it.
        if entry.file_name() != PRIVATE {
            let_read(&entry.path())?;
        }
    }
    let private = directory.join(PRIVATE);
    match DirBuilder::new().mode(0o700).create(&private) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => lchown(&private, Some(account.user), Some(account.group))?,
    }
    // Python lists a directory to import from it. What is secret has permissions of its own.
    fs::set_permissions(directory, Permissions::from_mode(0o755))?;
    Ok(private)
}

/// Lets everybody read a file, or a directory with all its files.
fn let_read(path: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_dir() {
        fs::set_permissions(path, Permissions::from_mode(0o755))?;
        return fs::read_dir(path)?.try_for_each(|entry| let_read(&entry?.path()));
    }
    if kind.is_file() { fs::set_permissions(path, Permissions::from_mode(0o644)) } else { Ok(()) }
}

/// Gives the socket of workers to the user alone.
pub(crate) fn give_socket(socket: &Path, account: &Account) -> io::Result<()> {
    fs::set_permissions(socket, Permissions::from_mode(0o600))?;
    lchown(socket, Some(account.user), Some(account.group))
}
