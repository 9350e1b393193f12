//! Discovers the SQLite databases in the directory of `salver serve DIRECTORY`, which are served read-only beside files
//! of rows.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use salver_model::Name;
use salver_model::spec::{DatabaseKind, DatabaseSpec};

/// The first bytes of every SQLite database (<https://www.sqlite.org/fileformat.html>).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Suffixes of SQLite database files.
const SUFFIXES: [&str; 4] = ["db", "db3", "sqlite", "sqlite3"];

/// Returns a database for each SQLite file directly in `dir`, by name. Unreadable files are skipped.
#[must_use]
pub fn discover(dir: &Path) -> Vec<DatabaseSpec> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut specs: Vec<DatabaseSpec> = files.filter(is_database).filter_map(|path| spec(&path)).collect();
    specs.sort_by(|a, b| a.name.cmp(&b.name));
    specs.dedup_by(|a, b| a.name == b.name);
    specs
}

fn is_database(path: &PathBuf) -> bool {
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    let mut start = [0; 16];
    let is_hidden = |path: &Path| path.file_name().is_none_or(|name| name.to_string_lossy().starts_with(['.', '_']));
    // A symlink does not expose a hidden file.
    let hidden = is_hidden(path) || path.is_symlink() && path.canonicalize().is_ok_and(|real| is_hidden(&real));
    !hidden
        && SUFFIXES.iter().any(|known| known.eq_ignore_ascii_case(suffix))
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *MAGIC
}

fn spec(path: &Path) -> Option<DatabaseSpec> {
    let name = Name::new(path.file_stem()?.to_str()?).ok()?;
    let path = std::path::absolute(path).ok()?;
    Some(DatabaseSpec::new(name, DatabaseKind::Sqlite, format!("sqlite:{}", path.to_str()?)))
}
