//! The objects that datasets have, each once, whoever has it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ring::digest::{Context, SHA256};
use salver_model::Result;

use super::cache::CacheDirectory;
use super::client::BucketClient;
use super::listed_object::ListedObject;
use super::object::CachedObject;

/// The objects. Their directory is created with the first one.
#[derive(Debug)]
pub(super) struct ObjectCache {
    kept: Option<PathBuf>,
    own: PathBuf,
    bytes_max: u64,
    directory: Mutex<Option<Arc<CacheDirectory>>>,
    objects: Mutex<HashMap<String, Weak<CachedObject>>>,
}

impl ObjectCache {
    /// Returns a cache in `kept` if no other process has that, else in `own`.
    pub(super) fn new(kept: Option<PathBuf>, own: PathBuf, bytes_max: u64) -> Self {
        Self { kept, own, bytes_max, directory: Mutex::default(), objects: Mutex::default() }
    }

    /// Returns how many bytes it may have.
    pub(super) fn bytes_max(&self) -> Result<u64> {
        Ok(self.directory()?.bytes_max())
    }

    fn directory(&self) -> Result<Arc<CacheDirectory>> {
        let mut directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(directory) = &*directory {
            return Ok(Arc::clone(directory));
        }
        let new = Arc::new(CacheDirectory::open(self.kept.as_deref(), &self.own, self.bytes_max)?);
        Ok(Arc::clone(directory.insert(new)))
    }

    /// Returns an object, the same for all who have it at a time.
    pub(super) fn object(
        &self,
        client: Arc<BucketClient>,
        listed: &Arc<ListedObject>,
        endpoint: Option<&str>,
    ) -> Result<Arc<CachedObject>> {
        let directory = self.directory()?;
        let name = name_of(listed, endpoint);
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(object) = objects.get(&name).and_then(Weak::upgrade) {
            return Ok(object);
        }
        let parts = directory.parts(&name, listed.bytes)?;
        let object = Arc::new(CachedObject::new(client, listed, directory, name.clone(), parts));
        // Those that nobody has any more are found when there are twice as many as at the last time.
        if objects.len() == objects.capacity() {
            objects.retain(|_, object| object.strong_count() > 0);
        }
        objects.insert(name, Arc::downgrade(&object));
        Ok(object)
    }
}

/// Returns the name of the files of an object: the same for the same content, and for nothing else.
fn name_of(listed: &ListedObject, endpoint: Option<&str>) -> String {
    let mut digest = Context::new(&SHA256);
    let tag = listed.e_tag.clone().unwrap_or_else(|| listed.modified.timestamp_micros().to_string());
    let (address, bytes) = (listed.address.to_string(), listed.bytes.to_string());
    for part in [endpoint.unwrap_or_default(), &address, &bytes, &tag] {
        digest.update(&(part.len() as u64).to_le_bytes());
        digest.update(part.as_bytes());
    }
    digest.finish().as_ref().iter().fold(String::with_capacity(64), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}
