//! The location of a SQLite database, parsed from its URL, and the identity of the file that is there now.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use salver_model::{Code, Error, Result};

/// The location of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A file, by an absolute path: it must mean the same file for ever, and must not begin with `file:`.
    File(PathBuf),
    /// Memory, by a name that every connection of this process shares.
    Memory(String),
}

/// Number of in-memory databases so far; each gets a name of its own.
static MEMORIES: AtomicU64 = AtomicU64::new(0);

impl Location {
    /// Parses a URL: `sqlite:PATH`, `sqlite://PATH` or `sqlite::memory:`.
    pub(super) fn of_url(url: &str) -> Result<Self> {
        let path = match url.split_once(':') {
            Some((scheme, path)) if scheme.eq_ignore_ascii_case("sqlite") => path,
            _ => return Err(Error::new(Code::Config, "the URL of a SQLite database begins with `sqlite:`")),
        };
        let path = path.strip_prefix("//").unwrap_or(path);
        if path == ":memory:" {
            let number = MEMORIES.fetch_add(1, Ordering::Relaxed);
            return Ok(Self::Memory(format!("file:/salver-{number}?vfs=memdb")));
        }
        if path.is_empty() || path.contains('\0') {
            return Err(Error::new(Code::Config, "the URL of the SQLite database names no file")
                .with_hint("write it as `sqlite:PATH`"));
        }
        let path = std::path::absolute(path)
            .map_err(|error| Error::new(Code::Config, format!("`{path}` is not a path")).with_source(error))?;
        Ok(Self::File(path))
    }
}

/// Returns the path beside the database with this suffix, like `-wal`.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// The identity of a file, independent of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
    /// A hash of size and time, for files that SQLite can't watch for changes.
    content: u64,
}

impl FileId {
    /// Returns the identity of the file at `path`; with `content` its size and time count too.
    pub(super) fn of(path: &Path, content: bool) -> io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        let (device, inode) = device_and_inode(&metadata);
        let content = if content { size_and_time(&metadata) } else { 0 };
        Ok(Self { device, inode, content })
    }

    /// Mixes all of it into one number.
    pub(super) fn mixed(self) -> u64 {
        let odd = 0x9E37_79B9_7F4A_7C15_u64;
        [self.device, self.inode, self.content]
            .into_iter()
            .fold(0, |sum: u64, part| (sum ^ part).wrapping_mul(odd).rotate_left(29))
    }
}

#[cfg(unix)]
fn device_and_inode(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Returns zeros: on other systems an open file can't be replaced, so that there is nothing to distinguish.
#[cfg(not(unix))]
fn device_and_inode(_metadata: &Metadata) -> (u64, u64) {
    (0, 0)
}

fn size_and_time(metadata: &Metadata) -> u64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let time = since.map_or(0, |since| since.as_secs().wrapping_mul(1_000_000_000) + u64::from(since.subsec_nanos()));
    time.rotate_left(17) ^ metadata.len()
}
