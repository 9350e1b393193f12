//! The client of one bucket.

#[cfg(feature = "object-stores")]
mod systems;
#[cfg(not(feature = "object-stores"))]
#[path = "client/without_systems.rs"]
mod systems;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use object_store::ObjectStore;
use object_store::list::PaginatedListStore;
use salver_model::Result;
use salver_model::spec::ObjectStoreSpec;

use super::address::Address;

/// Shortest time between two looks for other credentials.
const RENEWED_EVERY: Duration = Duration::from_secs(10);

/// The client of a bucket, which is made anew when its credentials are refused: others may be there by then, in a file
/// or a variable.
#[derive(Debug)]
pub(super) struct BucketClient {
    settings: ObjectStoreSpec,
    address: Address,
    current: Mutex<(Arc<Client>, Instant)>,
}

impl BucketClient {
    /// Returns a client for the bucket of `address`.
    pub(super) fn new(settings: &ObjectStoreSpec, address: &Address) -> Result<Self> {
        let client = Arc::new(systems::open(settings, address)?);
        let current = Mutex::new((client, Instant::now()));
        Ok(Self { settings: settings.clone(), address: address.with_key(""), current })
    }

    /// Returns the client for a request.
    pub(super) fn current(&self) -> Arc<Client> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Looks for other credentials, and returns whether there may be some. May block for a moment.
    pub(super) fn renew(&self) -> bool {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.1.elapsed() < RENEWED_EVERY {
            return false;
        }
        current.1 = Instant::now();
        match systems::open(&self.settings, &self.address) {
            Ok(client) => {
                current.0 = Arc::new(client);
                true
            }
            // The message of the refusal says more.
            Err(_) => false,
        }
    }
}

/// Asks one bucket, with the connections and credentials it has for it.
#[derive(Debug)]
pub(super) struct Client {
    /// Reads objects.
    pub(super) objects: Arc<dyn ObjectStore>,
    /// Lists objects.
    pub(super) listing: Listing,
}

/// What lists the objects of a bucket.
pub(super) struct Listing(pub(super) Arc<dyn PaginatedListStore>);

impl std::fmt::Debug for Listing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listing")
    }
}
