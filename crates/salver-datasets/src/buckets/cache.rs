//! The files on disk that have parts of objects: where they are, and who has to go when there is no more room. It knows
//! names and sizes, and nothing of stores.

mod parts_list;

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use salver_model::limits::{OBJECT_CACHE_BYTES_MAX, OBJECT_REQUESTS_MAX};
use salver_model::{Code, Error, Result};
use tokio::sync::Semaphore;

use super::byte_ranges::ByteRanges;
use super::client::BucketClient;
use super::listing::ListedObject;
use super::object::CachedObject;
use super::object_parts::ObjectParts;

/// Name of the file whose lock says that a process has the directory.
const LOCK: &str = "lock";
/// Suffix of the files that have parts of objects.
const PARTS: &str = "parts";

/// The directory, which is created with the first object.
#[derive(Debug)]
pub(super) struct ObjectCache {
    kept: Option<PathBuf>,
    own: PathBuf,
    bytes_max: u64,
    directory: Mutex<Option<Arc<CacheDirectory>>>,
}

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
    /// The object, as long as a dataset has it.
    object: Weak<CachedObject>,
    /// Its parts, as long as a dataset has it. They are held here since the last one who has an object would come back
    /// for the slots, which are locked while room is made.
    parts: Option<Arc<ObjectParts>>,
}

impl ObjectCache {
    /// Returns a cache in `kept` if no other process has that, else in `own`.
    pub(super) fn new(kept: Option<PathBuf>, own: PathBuf, bytes_max: u64) -> Arc<Self> {
        Arc::new(Self { kept, own, bytes_max, directory: Mutex::default() })
    }

    /// Returns how many bytes it may have.
    pub(super) fn bytes_max(&self) -> Result<u64> {
        Ok(self.directory()?.bytes_max)
    }

    fn directory(&self) -> Result<Arc<CacheDirectory>> {
        let mut directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(directory) = &*directory {
            return Ok(Arc::clone(directory));
        }
        let kept = self.kept.as_ref().and_then(|path| Some((path, taken(path)?)));
        let (path, lock) = match kept {
            Some((path, lock)) => (path, Some(lock)),
            None => (&self.own, None),
        };
        let new = CacheDirectory::open(path, lock, self.bytes_max).map_err(|cause| unwritable(path, cause))?;
        Ok(Arc::clone(directory.insert(Arc::new(new))))
    }

    /// Returns the file for an object, the same for all who have it at a time.
    pub(super) fn object(
        &self,
        client: Arc<BucketClient>,
        listed: &Arc<ListedObject>,
        endpoint: Option<&str>,
    ) -> Result<Arc<CachedObject>> {
        let directory = self.directory()?;
        let name = parts_list::name_of(listed, endpoint);
        let mut slots = directory.slots();
        if let Some(object) = slots.by_name.get(&name).and_then(|slot| slot.object.upgrade()) {
            return Ok(object);
        }
        let path = directory.path.join(&name).with_extension(PARTS);
        let file = open_private(&path, listed.bytes).map_err(|cause| unwritable(&path, cause))?;
        let present = match slots.by_name.contains_key(&name) {
            true => parts_list::read(&path, listed.bytes).unwrap_or_default(),
            false => ByteRanges::default(),
        };
        let bytes = present.bytes();
        let parts = Arc::new(ObjectParts::new(path, file, listed.bytes, present));
        let object = CachedObject::new(client, listed, Arc::clone(&directory), name.clone(), Arc::clone(&parts));
        let object = Arc::new(object);
        slots.clock += 1;
        let used_at = slots.clock;
        let before =
            slots.by_name.insert(name, Slot { bytes, used_at, object: Arc::downgrade(&object), parts: Some(parts) });
        slots.used = (slots.used + bytes).saturating_sub(before.map_or(0, |slot| slot.bytes));
        Ok(object)
    }
}

impl CacheDirectory {
    fn open(path: &Path, lock: Option<File>, bytes_max: u64) -> io::Result<Self> {
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

    /// Closes the file of an object that nobody has any more, and forgets an object of which nothing is there.
    pub(super) fn close(&self, name: &str, path: &Path) {
        let mut slots = self.slots();
        let Some(slot) = slots.by_name.get_mut(name).filter(|slot| slot.object.strong_count() == 0) else { return };
        slot.parts = None;
        if slot.bytes == 0 {
            slots.by_name.remove(name);
            parts_list::remove(path);
            let _ = fs::remove_file(path);
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

pub(super) use parts_list::{remove as remove_parts_list, write as write_parts_list};
