//! Exports: a snapshot of an entry's rows, read batch by batch for as long as a client takes.
//!
//! `reader` reads the rows of a snapshot from any position on. `bounded_reads` applies the limits of a query to each
//! read, so that an export holds a permit only while it works and none while it waits for its client. `leases` keeps
//! state that clients return for, and drops it when they do not.

mod bounded_reads;
mod idle_snapshots;
mod leases;
mod reader;

pub use bounded_reads::LiveRows;
pub use leases::{Lease, LeaseError, Leases, Taken};
pub use reader::{Bookmark, ExportReader, Range, count};
