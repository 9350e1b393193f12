//! The directory for spilled queries and converted files. Each process has its own, below the configured directory or a
//! common one, and removes it at exit; directories left by killed processes are removed by the next.
//!
//! A running process holds a lock on a file in its directory: the operating system releases it however the process
//! ends, and a reused process id cannot be mistaken for it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use salver_model::{Code, Error, Result};

const PREFIX: &str = "salver-run-";
const LOCK: &str = "lock";

/// Directory of this process, removed on drop.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Creates a directory in the one `named` by the operator, or in the common one.
    pub(crate) fn open(named: Option<&Path>) -> Result<Self> {
        let base = named.map_or_else(base, Path::to_owned);
        sweep(&base);
        own(&base).map_err(|error| {
            Error::new(Code::Config, format!("can't make a directory in `{}`: {error}", base.display()))
                .with_hint("name one that can be written to with `--data-dir`")
                .with_source(error)
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Returns `$XDG_CACHE_HOME/salver`, or the temporary directory.
fn base() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    cache.map_or_else(std::env::temp_dir, |cache| cache.join("salver"))
}

fn own(base: &Path) -> io::Result<DataDir> {
    create_base(base)?;
    let mut attempt = 0_u32;
    let path = loop {
        let path = base.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
        match create_private(&path) {
            Ok(()) => break path,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1_000 => attempt += 1,
            Err(error) => return Err(error),
        }
    };
    // Locked before it gets its name, so that no other process finds it unlocked and takes this one for dead.
    let unnamed = path.join("unlocked");
    let lock = File::create(&unnamed)?;
    lock.lock()?;
    fs::rename(&unnamed, path.join(LOCK))?;
    Ok(DataDir { path, _lock: lock })
}

/// Creates the common directory and its missing parents, privately; an existing one is unchanged.
fn create_base(base: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(base)
}

/// Creates a private directory, since spilled rows are confidential.
fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Removes the directories of processes that have ended.
fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
