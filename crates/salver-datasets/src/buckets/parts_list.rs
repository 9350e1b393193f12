//! What is written down beside the parts of an object, so that the next process finds them: a list of the parts, and
//! since which start of the machine they are there. Nothing is synced, so that parts from before a crash of the machine
//! may not be whole, and are not believed.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use salver_model::limits::OBJECT_PARTS_BYTES_MAX;
use serde::{Deserialize, Serialize};

use super::byte_ranges::ByteRanges;

/// Suffix of the files that have parts of objects.
pub(super) const PARTS: &str = "parts";
/// Suffix of the lists.
const LIST: &str = "json";

#[derive(Debug, Serialize, Deserialize)]
struct PartsList {
    /// What the system calls the time since its last start.
    boot: String,
    /// Length of the object.
    bytes: u64,
    parts: Vec<(u64, u64)>,
}

/// Returns the id of the running system; `None` where it has none, and then nothing is found again.
fn boot() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    let read = || fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned());
    BOOT.get_or_init(read).as_deref()
}

fn list_of(path: &Path) -> PathBuf {
    path.with_extension(LIST)
}

/// Returns which parts of an object of `bytes` bytes the file at `path` has; `None` if that is not certain.
pub(super) fn read(path: &Path, bytes: u64) -> Option<ByteRanges> {
    let mut text = Vec::new();
    fs::File::open(list_of(path)).ok()?.take(OBJECT_PARTS_BYTES_MAX).read_to_end(&mut text).ok()?;
    let list: PartsList = serde_json::from_slice(&text).ok()?;
    let is_whole = list.parts.iter().all(|(start, end)| start < end && *end <= bytes);
    if list.bytes != bytes || Some(list.boot.as_str()) != boot() || !is_whole {
        return None;
    }
    let mut ranges = ByteRanges::default();
    list.parts.into_iter().for_each(|(start, end)| ranges.insert(start..end));
    Some(ranges)
}

/// Writes down which parts the file at `path` has.
pub(super) fn write(path: &Path, bytes: u64, parts: &[Range<u64>]) -> io::Result<()> {
    let Some(boot) = boot() else { return Ok(()) };
    let parts = parts.iter().map(|range| (range.start, range.end)).collect();
    let text = serde_json::to_vec(&PartsList { boot: boot.to_owned(), bytes, parts })?;
    let new = path.with_extension("new");
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(&text)?;
    fs::rename(new, list_of(path))
}

/// Removes the list for the file at `path`: before its parts go.
pub(super) fn remove(path: &Path) {
    let _ = fs::remove_file(list_of(path));
}

/// Returns the names and the bytes of the objects that an earlier process left in a directory, the oldest first, and
/// removes what is of no use.
pub(super) fn left(directory: &Path) -> io::Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)?.flatten() {
        let path = entry.path();
        let is = |suffix: &str| path.extension().is_some_and(|own| own == suffix);
        if is("new") {
            let _ = fs::remove_file(&path);
        }
        if !is(PARTS) {
            continue;
        }
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let about = entry.metadata()?;
        match read(&path, about.len()) {
            Some(ranges) => found.push((about.modified().ok(), name, ranges.bytes())),
            None => {
                remove(&path);
                let _ = fs::remove_file(&path);
            }
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, name, bytes)| (name, bytes)).collect())
}
