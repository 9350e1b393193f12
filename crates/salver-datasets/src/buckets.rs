//! Objects in object stores (S3, Google Cloud Storage, Azure) as files of datasets.
//!
//! `listing` finds the objects of a source, and the listing is what their version is told from. What is read of an
//! object goes through `object`, a file on disk that has the parts of the object that were fetched so far, within the
//! budget of `cache`. A format that is read as a whole has the whole object fetched first; of Parquet only the footer
//! and the column chunks that are read. `fetch` gets parts, each only of the very object that was listed. Everything
//! waits on threads of its own (`io_threads`), so that a slow store holds no thread of the engine's runtime.

mod address;
mod aws_profile;
mod byte_ranges;
mod cache;
mod client;
mod environment;
mod fault;
mod fetch;
mod io_threads;
mod listed_object;
mod listing;
mod object;
mod object_cache;
mod object_parts;
mod parts_list;
mod retries;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use salver_model::Result;
use salver_model::spec::{DatasetSpec, ObjectStoreKind, ObjectStoreSpec};

use client::BucketClient;
#[cfg(feature = "google-sheets")]
pub(crate) use environment::variable;
pub(crate) use fault::{is_change, unavailable};
pub(crate) use listed_object::ListedObject;
pub(crate) use listing::{Listing, ListingKind};
pub(crate) use object::{CachedObject, Pinned};
use object_cache::ObjectCache;

/// Most clients that are kept for later requests; they are made anew beyond that.
const KEPT_CLIENTS: usize = 256;

/// The object stores that datasets are read from, and what was fetched of them.
#[derive(Debug)]
pub(crate) struct Buckets {
    /// Clients keep connections and credentials.
    clients: Mutex<HashMap<ClientKey, Arc<BucketClient>>>,
    cache: ObjectCache,
}

/// What tells one client from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ClientKey {
    kind: ObjectStoreKind,
    bucket: String,
    settings: ObjectStoreSpec,
}

impl Buckets {
    /// Returns stores whose objects are kept in `kept` if nobody else has it, so that the next process finds them, else
    /// in `own`; `bytes_max` bytes of them at most, 0 for a quarter of the free space. Nothing is created until an
    /// object is fetched.
    pub(crate) fn new(kept: Option<PathBuf>, own: &Path, bytes_max: u64) -> Arc<Self> {
        let cache = ObjectCache::new(kept, own.join("objects"), bytes_max);
        Arc::new(Self { clients: Mutex::default(), cache })
    }

    /// Returns whether `source` is in an object store.
    pub(crate) fn has(source: &str) -> bool {
        ObjectStoreKind::of_source(source).is_some()
    }

    /// Returns the objects of a source of `spec`, in order. Blocks.
    ///
    /// # Errors
    /// If the store can't be reached or refuses.
    pub(crate) fn list(&self, spec: &DatasetSpec, source: &str) -> Result<Listing> {
        let address = address::Address::of(source)?;
        let client = self.client(spec, &address)?;
        io_threads::wait(async move {
            match listing::list(&client.current(), &address).await {
                Err(error) if fault::is_refused(&error) && client.renew() => {
                    listing::list(&client.current(), &address).await
                }
                other => other,
            }
        })?
    }

    /// Returns the objects whose addresses begin with `prefix`, and of these those after `after`, in order; all of them
    /// from a store that does not know how. Blocks.
    ///
    /// # Errors
    /// If the store can't be reached or refuses.
    pub(crate) fn list_below(
        &self,
        spec: &DatasetSpec,
        prefix: &str,
        after: Option<&str>,
    ) -> Result<Vec<Arc<ListedObject>>> {
        let address = address::Address::of(prefix)?;
        let after = after.map(|after| format!("{}{after}", address.key));
        let client = self.client(spec, &address)?;
        io_threads::wait(async move {
            match listing::below(&client.current(), &address, after.as_deref()).await {
                Err(error) if fault::is_refused(&error) && client.renew() => {
                    listing::below(&client.current(), &address, after.as_deref()).await
                }
                other => other,
            }
        })?
    }

    /// Returns the object at `source`, if there is one. Blocks.
    ///
    /// # Errors
    /// If the store can't be reached or refuses.
    pub(crate) fn head(&self, spec: &DatasetSpec, source: &str) -> Result<Option<Arc<ListedObject>>> {
        let address = address::Address::of(source)?;
        let client = self.client(spec, &address)?;
        let found = io_threads::wait(async move {
            match listing::head(&client.current(), &address).await {
                Err(error) if fault::is_refused(&error) && client.renew() => {
                    listing::head(&client.current(), &address).await
                }
                other => other,
            }
        })??;
        Ok(found.map(Arc::new))
    }

    /// Returns the file on disk of an object of `spec`, with what was fetched of it. Blocks.
    pub(crate) fn object(&self, spec: &DatasetSpec, listed: &Arc<ListedObject>) -> Result<Arc<CachedObject>> {
        let client = self.client(spec, &listed.address)?;
        self.cache.object(client, listed, spec.object_store.endpoint.as_deref())
    }

    /// Returns how many bytes of objects may be on disk. Blocks.
    pub(crate) fn bytes_max(&self) -> Result<u64> {
        self.cache.bytes_max()
    }

    fn client(&self, spec: &DatasetSpec, address: &address::Address) -> Result<Arc<BucketClient>> {
        let (kind, bucket, settings) = (address.kind, address.bucket.clone(), spec.object_store.clone());
        let key = ClientKey { kind, bucket, settings };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(Arc::clone(client));
        }
        let client = Arc::new(BucketClient::new(&key.settings, address)?);
        if clients.len() >= KEPT_CLIENTS {
            clients.clear();
        }
        clients.insert(key, Arc::clone(&client));
        Ok(client)
    }
}

/// Fetches what is missing of all `objects`, several at a time. Blocks.
///
/// # Errors
/// The first failure.
pub(crate) fn fetch_whole(objects: Vec<Arc<CachedObject>>) -> Result<()> {
    io_threads::wait(object::fetch_all(objects, object::Wanted::Whole))?
}

/// Fetches the footers of the Parquet files `objects`, several at a time. Blocks.
///
/// # Errors
/// The first failure.
pub(crate) fn fetch_footers(objects: Vec<Arc<CachedObject>>) -> Result<()> {
    io_threads::wait(object::fetch_all(objects, object::Wanted::Footer))?
}
