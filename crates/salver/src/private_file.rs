//! Creates small files of the data directory as a whole: after a crash there is all of one or nothing, and of several
//! processes that start at the same time one creates a file that is made once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use salver_model::seal;

/// Creates the file `name` in `dir`, and `dir` itself, for the user of this process alone, unless it exists by then.
pub(crate) fn create_once(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let path = dir.join(name);
    let unnamed = write(dir, name, text)?;
    // A hard link is only created if the name is free. Without support for links, the last of several concurrent
    // processes wins.
    match fs::hard_link(&unnamed.0, &path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(_) => fs::rename(&unnamed.0, &path)?,
        Ok(()) => {}
    }
    // What is not durable yet is created again after a crash.
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(())
}

/// Creates the file `name` in `dir`, and `dir` itself, for the user of this process alone, in place of the one that is
/// there.
#[cfg(feature = "acme")]
pub(crate) fn replace(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let unnamed = write(dir, name, text)?;
    fs::rename(&unnamed.0, dir.join(name))?;
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(())
}

/// Does the same, but for a file that others may read: it keeps its mode.
pub(crate) fn replace_in_kind(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let unnamed = write(dir, name, text)?;
    let path = dir.join(name);
    if let Ok(before) = fs::metadata(&path) {
        fs::set_permissions(&unnamed.0, before.permissions())?;
    }
    fs::rename(&unnamed.0, path)?;
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(())
}

/// Removes a file, durably.
pub(crate) fn remove(dir: &Path, name: &str) -> io::Result<()> {
    fs::remove_file(dir.join(name))?;
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(())
}

/// Writes a file in `dir` that is to be called `name`, and makes its content durable.
fn write(dir: &Path, name: &str, text: &str) -> io::Result<Unnamed> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)?;
    let suffix: [u8; 8] = seal::random().map_err(io::Error::other)?;
    let unnamed = Unnamed(dir.join(format!("{name}.{:016x}", u64::from_le_bytes(suffix))));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&unnamed.0)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(unnamed)
}

/// File that is removed on drop.
struct Unnamed(PathBuf);

impl Drop for Unnamed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
