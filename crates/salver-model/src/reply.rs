//! What comes back: rows as Arrow record batches.

use std::fmt;
use std::pin::Pin;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use futures::Stream;

use crate::cursor::Cursor;
use crate::error::Result;
use crate::name::Name;
use crate::version::Version;

/// Record batches as they are made. Dropping the stream cancels the work behind it.
pub type BatchStream = Pin<Box<dyn Stream<Item = Result<RecordBatch>> + Send>>;

/// Rows, all at hand or still to come.
pub enum Batches {
    /// Everything is here: the common, small case, which costs no task and no channel.
    Ready(Vec<RecordBatch>),
    /// More than a door should hold at once.
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

/// The reply to a query.
#[derive(Debug)]
pub struct Rows {
    /// The columns of every batch.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Batches,
    /// How many rows match without offset and limit, when that was asked.
    pub total: Option<u64>,
    /// Where the next page starts, when there is one.
    pub next: Option<Cursor>,
    /// Every entry the rows were made from, with its version: equal versions and equal request mean equal bytes.
    pub read: Vec<(Name, Version)>,
    /// Whether the same request over the same versions gives the same rows; false for `now()`, `random()` and the
    /// like, whose answers must not be cached.
    pub repeatable: bool,
}

impl Rows {
    /// Rows that are all at hand, repeatable, the last page.
    #[must_use]
    pub fn ready(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches: Batches::Ready(batches), total: None, next: None, read: Vec::new(), repeatable: true }
    }
}
