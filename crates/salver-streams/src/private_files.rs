//! Files and directories that only the server's own user may read, whatever its umask: events are private to the
//! server.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};

/// Creates `dir` and its missing parents. If it exists, its permissions are restricted.
pub(crate) fn create_dir_all(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    builder.mode(0o700);
    builder.create(dir)?;
    #[cfg(unix)]
    if dir.metadata()?.permissions().mode() & 0o077 != 0 {
        // This fails for a directory of another owner; the files in it are private all the same.
        let _ = std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700));
    }
    Ok(())
}

/// Returns options to create or open a private file.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(0o600);
    options
}

/// Creates a file for writing, replacing an existing one.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}

/// Writes a file with these bytes.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    create(path)?.write_all(bytes.as_ref())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nobody_else_reads_them() {
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("a/b");
        super::create_dir_all(&dir).unwrap();
        super::write(&dir.join("c"), "x").unwrap();
        assert_eq!((mode(&root.path().join("a")), mode(&dir), mode(&dir.join("c"))), (0o700, 0o700, 0o600));
        let open = root.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
        super::create_dir_all(&open).unwrap();
        assert_eq!(mode(&open), 0o700);
    }
}
