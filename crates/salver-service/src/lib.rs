//! The service: the only path from a door (protocol handler) to data.
//!
//! [`Service`] resolves a name in one catalog [`Snapshot`], applies the limits and runs the work. It knows no protocol,
//! no format and no concrete backend.

mod access;
pub mod caller_catalog;
pub mod caller_queries;
pub mod caller_views;
pub mod catalog;
pub mod databases;
mod declared_views;
pub mod exports;
pub mod functions;
pub mod named_query;
mod permitted_changes;
mod queries;
mod query_edits;
pub mod query_limits;
pub mod reception;
pub mod records;
pub mod refresh;
pub mod rights;
pub mod served_stream;
pub mod service;
pub mod snapshot;
pub mod stream_columns;
pub mod streams;
pub mod trace;
mod views;

pub use caller_queries::{CallerQueries, DescribedQuery};
pub use catalog::Catalog;
pub use functions::FunctionFile;
pub use named_query::{NamedQuery, QueryState};
pub use permitted_changes::sees_all;
pub use rights::{RightsVersion, WaitPermit};
pub use served_stream::{Appender, Consumer};
pub use service::Service;
pub use snapshot::{Entry, LoadFailure, LoadState, Snapshot, Store};
