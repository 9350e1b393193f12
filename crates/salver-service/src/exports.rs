//! Exports: the rows of an entry, held at one version and read batch by batch for as long as a client takes.
//!
//! `reader` reads held rows from any position on; `bounded` puts each read within the bounds of a query, so that an
//! export takes a place only while it works and none while its client thinks; `leases` keeps what a client comes back
//! for, and drops it when nobody does.

mod bounded;
mod kept;
mod leases;
mod reader;

pub use bounded::LiveRows;
pub use leases::{Lease, Leases, Refusal, Taken};
pub use reader::{Bookmark, Range, Reader, count};
