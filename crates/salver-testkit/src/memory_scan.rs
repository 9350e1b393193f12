//! Rows in memory that grow: the plain and obviously correct [`Scan`].

use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use salver_model::entry::EntryKind;
use salver_model::ports::{Held, Scan};
use salver_model::reply::BatchStream;
use salver_model::{Description, Filter, Name, Version};

/// Rows of one schema that grow, each batch a part.
#[derive(Debug)]
pub struct MemoryScan {
    name: Name,
    schema: SchemaRef,
    tells_rows: bool,
    ascending: Option<usize>,
    parts: Mutex<Vec<RecordBatch>>,
}

impl MemoryScan {
    /// The rows `name`, which begin with `parts`. With `tells_rows` it is known how many rows a part has.
    ///
    /// # Panics
    /// When `name` is not a name.
    #[must_use]
    pub fn new(name: &str, schema: SchemaRef, parts: Vec<RecordBatch>, tells_rows: bool) -> Self {
        let name = Name::new(name).unwrap_or_else(|error| panic!("{error}"));
        Self { name, schema, tells_rows, ascending: None, parts: Mutex::new(parts) }
    }

    /// Declares the column whose values only grow.
    #[must_use]
    pub fn ascending_in(mut self, column: usize) -> Self {
        self.ascending = Some(column);
        self
    }

    /// Adds a part.
    pub fn push(&self, part: RecordBatch) {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).push(part);
    }

    fn hold_parts(&self, parts: &[RecordBatch]) -> Arc<dyn Held> {
        let rows: usize = parts.iter().map(RecordBatch::num_rows).sum();
        let about = Description {
            version: Version::of(&(self.name.as_str(), rows)),
            name: self.name.clone(),
            kind: EntryKind::Stream,
            schema: Arc::clone(&self.schema),
            key: Vec::new(),
            relations: Vec::new(),
            rows: Some(rows as u64),
            source: "memory".to_owned(),
            memory_bytes: 0,
        };
        Arc::new(MemoryHeld { about, tells_rows: self.tells_rows, ascending: self.ascending, parts: parts.to_vec() })
    }
}

impl Scan for MemoryScan {
    fn hold(&self) -> Arc<dyn Held> {
        self.hold_parts(&self.parts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn hold_at(&self, version: Version) -> Option<Arc<dyn Held>> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        (0..=parts.len()).map(|len| self.hold_parts(&parts[..len])).find(|held| held.describe().version == version)
    }
}

/// Rows in memory, each batch a part.
#[derive(Debug)]
pub(crate) struct MemoryHeld {
    pub(crate) about: Description,
    pub(crate) tells_rows: bool,
    pub(crate) ascending: Option<usize>,
    pub(crate) parts: Vec<RecordBatch>,
}

impl Held for MemoryHeld {
    fn describe(&self) -> &Description {
        &self.about
    }

    fn parts(&self) -> usize {
        self.parts.len().max(1)
    }

    /// All rows of the part, whatever the filter: the caller has to look at them.
    fn read(&self, part: usize, columns: &[usize], _: Option<&Filter>, limit: Option<u64>) -> BatchStream {
        self.rows(part, 0, columns, limit)
    }

    fn part_rows(&self, part: usize) -> Option<u64> {
        self.tells_rows.then(|| self.parts.get(part).map_or(0, |part| part.num_rows() as u64))
    }

    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        self.tells_rows.then(|| self.rows(part, skip, columns, limit))
    }

    fn ascending(&self) -> Option<usize> {
        self.ascending
    }
}

impl MemoryHeld {
    fn rows(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> BatchStream {
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let whole =
            self.parts.get(part).cloned().unwrap_or_else(|| RecordBatch::new_empty(Arc::clone(&self.about.schema)));
        let skip = size(skip).min(whole.num_rows());
        let rows = (whole.num_rows() - skip).min(size(limit.unwrap_or(u64::MAX)));
        let chosen = columns.iter().map(|column| whole.column(*column).slice(skip, rows)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema_of(columns), chosen, &options)
            .unwrap_or_else(|error| panic!("{error}"));
        // In two batches, because nothing promises one.
        let half = rows / 2;
        Box::pin(futures::stream::iter([Ok(batch.slice(0, half)), Ok(batch.slice(half, rows - half))]))
    }
}
