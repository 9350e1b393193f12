//! The ids of events that the log has deleted and that are still in the window of deduplication: the file `ids`.
//!
//! After a restart the ids of recent events are read from the log. Where its size is limited, it may keep events for a
//! shorter time than their ids, so these are saved before a segment is deleted. The file begins with [`MAGIC`] and the
//! key of the hashes. Each entry has [`ENTRY_BYTES`], little-endian: the time in milliseconds since 1970 (8), the
//! offset (8), the hash (16), and the CRC-32 of these (4). An entry that was cut off, and all behind it, are ignored.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use salver_model::limits::STREAM_IDS_MAX;
use salver_model::{Code, Error, Result};

use super::dedup::{IdHasher, RecentId, RecentIds};
use crate::private_files;

const FILE: &str = "ids";
const MAGIC: &[u8; 8] = b"SLVIDS1\n";
const HEAD_BYTES: usize = MAGIC.len() + 16;
const ENTRY_BYTES: usize = 36;

/// File of ids, and where its contents end.
#[derive(Debug)]
pub(super) struct SavedIds {
    path: PathBuf,
    key: [u8; 16],
    /// Ids of the stream, shared with its appends.
    seen: Arc<Mutex<RecentIds>>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// File that more entries can be written to; `None` before the first, and when the last may not be whole: the file
    /// is replaced then.
    file: Option<File>,
    entries: usize,
    /// Offset below which the ids are in the file.
    end: u64,
}

impl SavedIds {
    /// Reads the file in `dir`, if there is one, and remembers the ids in it for `window`. Nothing is written, so that
    /// a stream on a full disk opens. Blocks.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when it can't be read.
    pub(super) fn open(dir: &Path, window: Duration, now_ms: i64) -> Result<Self> {
        let path = dir.join(FILE);
        let opened = || -> io::Result<Self> {
            let (key, saved) = read(&path)?.unwrap_or_else(|| (random_key(), Vec::new()));
            let mut seen = RecentIds::new(window, IdHasher::new(key));
            saved.into_iter().for_each(|id| seen.insert(id));
            seen.forget(now_ms);
            Ok(Self { path: path.clone(), key, seen: Arc::new(Mutex::new(seen)), inner: Mutex::default() })
        };
        opened().map_err(|error| {
            Error::new(Code::StreamUnavailable, format!("`{}` can't be used: {error}", path.display()))
                .with_hint("It has the ids of events that are not taken again. Without it, some may be.")
                .with_source(error)
        })
    }

    /// Returns the ids.
    pub(super) fn seen(&self) -> Arc<Mutex<RecentIds>> {
        Arc::clone(&self.seen)
    }

    /// Saves the ids of all events before the offset `end`. Blocks.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(super) fn save(&self, end: u64) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock is not held while the disk is waited for.
        let ids = |from| -> Vec<RecentId> {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).of_events(from..end).collect()
        };
        if end <= inner.end {
            return Ok(());
        }
        let fresh = ids(inner.end);
        if !fresh.is_empty() {
            let entries = inner.entries + fresh.len();
            *inner = match inner.file.take().filter(|_| entries <= 2 * STREAM_IDS_MAX) {
                Some(mut file) => {
                    file.write_all(&encoded(&fresh))?;
                    file.sync_data()?;
                    Inner { file: Some(file), entries, end }
                }
                None => {
                    let all = ids(0);
                    Inner { file: Some(written(&self.path, &self.key, &all)?), entries: all.len(), end }
                }
            };
        }
        inner.end = end;
        Ok(())
    }
}

/// Replaces the file by one with these ids, and returns it.
fn written(path: &Path, key: &[u8; 16], ids: &[RecentId]) -> io::Result<File> {
    let part = path.with_extension("part");
    let mut file = private_files::create(&part)?;
    file.write_all(MAGIC)?;
    file.write_all(key)?;
    file.write_all(&encoded(ids))?;
    file.sync_data()?;
    std::fs::rename(&part, path)?;
    if let Some(dir) = path.parent() {
        File::open(dir)?.sync_all()?;
    }
    Ok(file)
}

/// Reads the key and the entries; `None` when there is no such file, or another one.
fn read(path: &Path) -> io::Result<Option<([u8; 16], Vec<RecentId>)>> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(mut file) => file.read_to_end(&mut bytes)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some((head, entries)) = bytes.split_at_checked(HEAD_BYTES) else { return Ok(None) };
    let (magic, key) = head.split_at(MAGIC.len());
    let (true, Ok(key)) = (magic == MAGIC, key.try_into()) else {
        tracing::warn!(path = %path.display(), "the file of ids is damaged; those of deleted events are forgotten");
        return Ok(None);
    };
    Ok(Some((key, entries.chunks(ENTRY_BYTES).map_while(decoded).collect())))
}

fn encoded(ids: &[RecentId]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ids.len() * ENTRY_BYTES);
    for id in ids {
        let start = out.len();
        out.extend_from_slice(&id.time_ms.to_le_bytes());
        out.extend_from_slice(&id.offset.to_le_bytes());
        out.extend_from_slice(&id.hash.to_le_bytes());
        let crc = crc32fast::hash(&out[start..]);
        out.extend_from_slice(&crc.to_le_bytes());
    }
    out
}

fn decoded(entry: &[u8]) -> Option<RecentId> {
    let (body, crc) = entry.split_at_checked(ENTRY_BYTES - 4)?;
    let (time_ms, rest) = body.split_first_chunk()?;
    let (offset, hash) = rest.split_first_chunk()?;
    (u32::from_le_bytes(crc.try_into().ok()?) == crc32fast::hash(body)).then_some(())?;
    Some(RecentId {
        hash: u128::from_le_bytes(hash.try_into().ok()?),
        offset: u64::from_le_bytes(*offset),
        time_ms: i64::from_le_bytes(*time_ms),
    })
}

/// Returns a key that nobody can know: the standard library's keys are random per process.
fn random_key() -> [u8; 16] {
    let half = || RandomState::new().hash_one(FILE).to_le_bytes();
    let mut key = [0; 16];
    key[..8].copy_from_slice(&half());
    key[8..].copy_from_slice(&half());
    key
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ENTRY_BYTES, FILE, HEAD_BYTES, SavedIds};
    use crate::stream::dedup::RecentId;

    #[test]
    fn ids_outlive_the_process_and_damage_costs_only_what_follows() {
        let dir = tempfile::tempdir().unwrap();
        let open = |now_ms| SavedIds::open(dir.path(), Duration::from_secs(1), now_ms).unwrap();
        let saved = open(1_000);
        let hasher = saved.seen().lock().unwrap().hasher();
        for offset in 0..10 {
            let id =
                RecentId { hash: hasher.hash(&[offset]), offset: offset.into(), time_ms: 1_000 + i64::from(offset) };
            saved.seen().lock().unwrap().insert(id);
        }
        saved.save(4).unwrap();
        saved.save(3).unwrap();
        saved.save(6).unwrap();
        let known = |saved: &SavedIds| {
            let seen = saved.seen();
            let seen = seen.lock().unwrap();
            (0..10).filter(|offset| seen.offset(seen.hasher().hash(&[*offset])).is_some()).collect::<Vec<_>>()
        };
        assert_eq!(known(&open(1_500)), [0, 1, 2, 3, 4, 5]);
        let path = dir.path().join(FILE);
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(whole.len(), HEAD_BYTES + 6 * ENTRY_BYTES);
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert_eq!(known(&open(1_500)), [0, 1, 2, 3, 4]);
        let mut bad = whole.clone();
        bad[HEAD_BYTES + 2 * ENTRY_BYTES + 9] ^= 1;
        std::fs::write(&path, &bad).unwrap();
        assert_eq!(known(&open(1_500)), [0, 1]);
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(known(&open(2_003)), [3, 4, 5]);
        std::fs::write(&path, b"SLVIDS").unwrap();
        assert_eq!(known(&open(1_500)), Vec::<u8>::new());
    }
}
