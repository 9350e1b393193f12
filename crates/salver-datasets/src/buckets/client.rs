//! The client of one bucket.

#[cfg(feature = "object-stores")]
mod systems;
#[cfg(not(feature = "object-stores"))]
#[path = "client/without_systems.rs"]
mod systems;

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::list::PaginatedListStore;

pub(super) use systems::open;

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
