//! The file of a Unix socket: made with its permissions, in place of one that a server left behind, and removed at the
//! end.

use std::fs::{self, File, Metadata, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

/// Connections that the system accepts ahead of the server, as many as at an address.
const BACKLOG: i32 = 1024;

/// Longest wait for another server that starts beside this one, in steps of [`STEP`].
const STEPS: u32 = 20;
/// Pause between two looks at it.
const STEP: Duration = Duration::from_millis(50);

/// The file of a Unix socket. On drop, for which nobody may listen there any more, it is removed if it is still the one
/// that was made.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    id: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _locked = locked(&self.path);
        // The number of a file may be used again: a server that answers has come in place of this one.
        if fs::symlink_metadata(&self.path).is_ok_and(|metadata| id(&metadata) == self.id)
            && let Ok(address) = SockAddr::unix(&self.path)
        {
            // What can't be removed is replaced at the next start.
            let _ = clear(&self.path, &address);
        }
    }
}

fn id(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Locks the directory of a socket: two servers that start at once must not both take the file of a third for one that
/// was left behind. `None` where it can't be locked, or not in time, which leaves that to chance.
fn locked(path: &Path) -> Option<File> {
    let directory = File::open(path.parent()?).ok()?;
    for _ in 0..STEPS {
        match directory.try_lock() {
            Ok(()) => return Some(directory),
            Err(TryLockError::WouldBlock) => std::thread::sleep(STEP),
            Err(TryLockError::Error(_)) => return None,
        }
    }
    None
}

/// Listens on `path`. The file gets its permissions before anybody can connect.
pub(super) fn bind(path: &Path, mode: u32) -> io::Result<(UnixListener, SocketFile)> {
    let _locked = locked(path);
    let address = SockAddr::unix(path)?;
    clear(path, &address)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&address)?;
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    let file = SocketFile { path: path.to_owned(), id: id(&fs::symlink_metadata(path)?) };
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok((socket.into(), file))
}

/// Removes the file that a server left behind.
fn clear(path: &Path, address: &SockAddr) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !metadata.file_type().is_socket() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let caller = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // A server that has no room for more is there, too.
    caller.set_nonblocking(true)?;
    match caller.connect(address) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
        _ => Err(io::ErrorKind::AddrInUse.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::PathBuf;

    use super::bind;

    /// A path for a socket of this test, removed with the value.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let directory = std::env::temp_dir().join(format!("salver-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&directory).unwrap();
            Self(directory.join("s"))
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(self.0.parent().unwrap());
        }
    }

    #[test]
    fn a_file_that_was_left_is_replaced_and_no_other() {
        let place = Place::new("socket-file");
        let path = &place.0;
        drop(UnixListener::bind(path).unwrap());
        assert!(UnixStream::connect(path).is_err());
        let (listener, file) = bind(path, 0o640).unwrap();
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o7777, 0o640);
        drop(UnixStream::connect(path).unwrap());
        assert_eq!(bind(path, 0o600).unwrap_err().kind(), ErrorKind::AddrInUse);
        drop((listener, file));
        assert!(!path.exists());
        std::fs::write(path, "precious").unwrap();
        assert_eq!(bind(path, 0o600).unwrap_err().kind(), ErrorKind::AlreadyExists);
        std::fs::rename(path, path.with_extension("kept")).unwrap();
        std::os::unix::fs::symlink(path.with_extension("kept"), path).unwrap();
        assert_eq!(bind(path, 0o600).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(path).unwrap(), "precious");
    }

    #[test]
    fn the_file_of_another_server_stays() {
        let place = Place::new("socket-file-of-another");
        let path = &place.0;
        let (listener, file) = bind(path, 0o600).unwrap();
        std::fs::remove_file(path).unwrap();
        let other = bind(path, 0o600).unwrap();
        drop((listener, file));
        drop(UnixStream::connect(path).unwrap());
        drop(other);
        assert!(!path.exists());
    }
}
