//! Query results: rows as Arrow record batches.

use std::fmt;
use std::pin::Pin;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use futures::Stream;

use crate::cursor::Cursor;
use crate::error::Result;
use crate::name::Name;
use crate::version::Version;

/// Stream of record batches. Dropping it cancels the work behind it.
pub type BatchStream = Pin<Box<dyn Stream<Item = Result<RecordBatch>> + Send>>;

/// Rows, materialized or streamed.
pub enum Batches {
    /// All rows in memory: the common, small case, which needs no task and no channel.
    Ready(Vec<RecordBatch>),
    /// More rows than a door should hold at once.
    Stream(BatchStream),
}

impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(batches) => write!(f, "Ready({} batches)", batches.len()),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

/// Result of a query.
#[derive(Debug)]
pub struct Rows {
    /// Schema of every batch.
    pub schema: SchemaRef,
    /// Batches of rows.
    pub batches: Batches,
    /// Number of matching rows without offset and limit, if requested.
    pub total: Option<u64>,
    /// Start of the next page, if there is one.
    pub next: Option<Cursor>,
    /// Entries that the rows were made from, with their versions: equal versions and an equal request mean equal bytes.
    pub read: Vec<(Name, Version)>,
    /// Whether the same request over the same versions gives the same rows; false for `now()`, `random()` and the like,
    /// whose results must not be cached.
    pub repeatable: bool,
}

impl Rows {
    /// Creates a result that is complete in memory, repeatable, and the last page.
    #[must_use]
    pub fn ready(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches: Batches::Ready(batches), total: None, next: None, read: Vec::new(), repeatable: true }
    }
}
