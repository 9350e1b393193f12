//! Stands for the clients of object stores in a program that was built without them.

use salver_model::spec::ObjectStoreSpec;
use salver_model::{Code, Error, Result};

use super::Client;
use crate::buckets::address::Address;

/// Refuses every address.
pub(in crate::buckets) fn open(_: &ObjectStoreSpec, address: &Address) -> Result<Client> {
    Err(Error::new(Code::Config, format!("`{address}`: this program was built without `object-stores`"))
        .with_hint("build it with that feature, or copy the objects to files"))
}
