//! The files on disk that have parts of objects: where they are, and which have to go when there is no more room. It
//! knows names and sizes, and nothing of stores.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use salver_model::limits::{OBJECT_CACHE_BYTES_MAX, OBJECT_REQUESTS_MAX};
use salver_model::{Code, Error, Result};
use tokio::sync::Semaphore;

use super::byte_ranges::ByteRanges;
use super::object_parts::ObjectParts;
use super::parts_list::{self, PARTS};

/// Name of the file whose lock says that a process has the directory.
const LOCK: &str = "lock";

/// The directory and what is in it.
#[derive(Debug)]
pub(super) struct CacheDirectory {
    path: PathBuf,
    bytes_max: u64,
    slots: Mutex<Slots>,
    /// Permits for requests that are under way.
    pub(super) requests: Semaphore,
    /// Held as long as the directory is in use; `None` for a directory of this process.
    _lock: Option<File>,
}

#[derive(Debug, Default)]
struct Slots {
    used: u64,
    clock: u64,
    by_name: HashMap<String, Slot>,
}

/// One object's place.
#[derive(Debug, Default)]
struct Slot {
    /// Bytes of the parts that are there, or for which there is room.
    bytes: u64,
    /// When it was used last, as a count of uses.
    used_at: u64,
    /// The parts, as long as a dataset has the object.
    parts: Option<Arc<ObjectParts>>,
}

impl CacheDirectory {
    /// Opens the directory `kept` if no other process has it, else `own`, for `bytes_max` bytes at most; 0 is a quarter
    /// of the free space.
    pub(super) fn open(kept: Option<&Path>, own: &Path, bytes_max: u64) -> Result<Self> {
        let kept = kept.and_then(|path| Some((path, taken(path)?)));
        let (path, lock) = match kept {
            Some((path, lock)) => (path, Some(lock)),
            None => (own, None),
        };
        Self::open_at(path, lock, bytes_max).map_err(|cause| unwritable(path, cause))
    }

    fn open_at(path: &Path, lock: Option<File>, bytes_max: u64) -> io::Result<Self> {
        create_private(path)?;
        let bytes_max = match bytes_max {
            0 => free_bytes(path).map_or(OBJECT_CACHE_BYTES_MAX, |free| free / 4),
            bytes => bytes,
        };
        let mut slots = Slots::default();
        for (name, bytes) in parts_list::left(path)? {
            slots.clock += 1;
            slots.used += bytes;
            slots.by_name.insert(name, Slot { bytes, used_at: slots.clock, ..Slot::default() });
        }
        let requests = Semaphore::new(OBJECT_REQUESTS_MAX);
        let directory = Self { path: path.to_owned(), bytes_max, slots: Mutex::new(slots), requests, _lock: lock };
        // It may have been larger.
        directory.slots().make_room(&directory, 0, "");
        Ok(directory)
    }

    /// Returns how many bytes there may be.
    pub(super) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Returns the parts of the object called `name`, which has `bytes` bytes.
    pub(super) fn parts(&self, name: &str, bytes: u64) -> Result<Arc<ObjectParts>> {
        let mut slots = self.slots();
        // Who had it last may be about to close it.
        if let Some(parts) = slots.by_name.get(name).and_then(|slot| slot.parts.clone()) {
            return Ok(parts);
        }
        let path = self.path.join(name).with_extension(PARTS);
        let file = open_private(&path, bytes).map_err(|cause| unwritable(&path, cause))?;
        let present = match slots.by_name.contains_key(name) {
            true => parts_list::read(&path, bytes).unwrap_or_default(),
            false => ByteRanges::default(),
        };
        let there = present.bytes();
        let parts = Arc::new(ObjectParts::new(path, file, bytes, present));
        slots.clock += 1;
        let slot = Slot { bytes: there, used_at: slots.clock, parts: Some(Arc::clone(&parts)) };
        let before = slots.by_name.insert(name.to_owned(), slot);
        slots.used = (slots.used + there).saturating_sub(before.map_or(0, |slot| slot.bytes));
        Ok(parts)
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for `bytes` more of an object, and returns whether there is.
    pub(super) fn reserve(&self, name: &str, bytes: u64) -> bool {
        let mut slots = self.slots();
        if !slots.make_room(self, bytes, name) {
            return false;
        }
        slots.used += bytes;
        if let Some(slot) = slots.by_name.get_mut(name) {
            slot.bytes += bytes;
        }
        true
    }

    /// Gives room back that was not needed.
    pub(super) fn release(&self, name: &str, bytes: u64) {
        let mut slots = self.slots();
        slots.used = slots.used.saturating_sub(bytes);
        if let Some(slot) = slots.by_name.get_mut(name) {
            slot.bytes = slot.bytes.saturating_sub(bytes);
        }
    }

    /// Does `work` while nothing is removed, and notes that the object is used.
    pub(super) fn used<T>(&self, name: &str, work: impl FnOnce() -> T) -> T {
        let mut slots = self.slots();
        slots.clock += 1;
        let clock = slots.clock;
        if let Some(slot) = slots.by_name.get_mut(name) {
            slot.used_at = clock;
        }
        work()
    }

    /// Closes the file of an object unless others have its `parts` too, and forgets an object of which nothing is
    /// there.
    pub(super) fn close(&self, name: &str, parts: &Arc<ObjectParts>) {
        let mut slots = self.slots();
        // One is here, and one with the caller.
        if Arc::strong_count(parts) > 2 {
            return;
        }
        let Some(slot) = slots.by_name.get_mut(name) else { return };
        slot.parts = None;
        if slot.bytes == 0 {
            slots.by_name.remove(name);
            parts_list::remove(parts.path());
            let _ = fs::remove_file(parts.path());
        }
    }
}

impl Slots {
    /// Removes the parts of the least recently used objects that nobody reads now, until there is room for `bytes` of
    /// the object called `name`; returns whether there is.
    fn make_room(&mut self, directory: &CacheDirectory, bytes: u64, name: &str) -> bool {
        while self.used.saturating_add(bytes) > directory.bytes_max {
            let is_idle = |(own, slot): &(&String, &Slot)| {
                slot.bytes > 0 && *own != name && slot.parts.as_ref().is_none_or(|parts| !parts.is_pinned())
            };
            let oldest = self.by_name.iter().filter(is_idle).min_by_key(|(_, slot)| slot.used_at);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { return false };
            let Some(slot) = self.by_name.get_mut(&oldest) else { return false };
            self.used = self.used.saturating_sub(std::mem::take(&mut slot.bytes));
            match &slot.parts {
                Some(parts) => parts.clear(),
                None => {
                    let path = directory.path.join(&oldest).with_extension(PARTS);
                    parts_list::remove(&path);
                    let _ = fs::remove_file(path);
                    self.by_name.remove(&oldest);
                }
            }
        }
        true
    }
}

/// Takes a directory for this process; `None` if another has it or it can't be written to.
fn taken(path: &Path) -> Option<File> {
    create_private(path).ok()?;
    let mut options = OpenOptions::new();
    let lock = options.write(true).create(true).truncate(false).mode(0o600).open(path.join(LOCK)).ok()?;
    lock.try_lock().is_ok().then_some(lock)
}

/// Creates a directory that only this user can read: objects are as confidential as the credentials to read them.
fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens the file for an object: as long as the object, with holes where nothing is there.
fn open_private(path: &Path, bytes: u64) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    if file.metadata()?.len() != bytes {
        parts_list::remove(path);
        file.set_len(0)?;
        file.set_len(bytes)?;
    }
    Ok(file)
}

fn free_bytes(directory: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(directory).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Returns the error for a file or directory that can't be written.
pub(super) fn unwritable(path: &Path, cause: io::Error) -> Error {
    Error::new(Code::Source, format!("can't keep objects in `{}`: {cause}", path.display()))
        .with_hint("check the disk of `server.data_dir`, and that it may be written to")
        .with_source(cause)
}
