//! A snapshot of a dataset: the part that does not depend on the storage.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use salver_model::Filter;
use salver_model::entry::Description;
use salver_model::ports::{FileKind, Held, HeldFile};
use salver_model::reply::BatchStream;

use super::parquet_file::OpenFile;
use crate::partitioning::Cuts;
use crate::residency::SourceFile;

/// The storage of the rows.
pub(crate) trait Store: Send + Sync + Debug {
    /// Returns the number of rows.
    fn rows(&self) -> u64;

    /// Reads a range of rows, with the columns `columns`, which `schema` describes.
    fn read(&self, rows: Range<u64>, columns: &[usize], schema: SchemaRef) -> BatchStream;

    /// Returns the single file that the rows are read from; see [`Held::file`].
    fn file(&self, kind: FileKind) -> Option<Arc<dyn HeldFile>> {
        let _ = kind;
        None
    }
}

/// The rows of a dataset, in partitions of equal size.
#[derive(Debug)]
pub(crate) struct HeldDataset<S> {
    about: Description,
    cuts: Cuts,
    store: S,
    /// The source file with the same content as the rows, opened on demand.
    file: Option<Arc<SourceFile>>,
}

impl<S: Store> HeldDataset<S> {
    /// Makes a snapshot of the rows in `store` in `parts` partitions; `file` is the source file with the same content.
    pub(crate) fn new(about: Description, parts: usize, store: S, file: Option<Arc<SourceFile>>) -> Self {
        Self { about, cuts: Cuts::new(store.rows(), parts), store, file }
    }

    fn some(&self, rows: Range<u64>, columns: &[usize]) -> BatchStream {
        self.store.read(rows, columns, self.schema_of(columns))
    }
}

impl<S: Store> Held for HeldDataset<S> {
    fn describe(&self) -> &Description {
        &self.about
    }

    fn parts(&self) -> usize {
        self.cuts.parts()
    }

    fn read(&self, part: usize, columns: &[usize], _: Option<&Filter>, limit: Option<u64>) -> BatchStream {
        self.some(self.cuts.behind(part, 0, limit), columns)
    }

    fn part_rows(&self, part: usize) -> Option<u64> {
        Some(self.cuts.count(part))
    }

    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        Some(self.some(self.cuts.behind(part, skip, limit), columns))
    }

    fn file(&self, kind: FileKind) -> Option<Arc<dyn HeldFile>> {
        self.store.file(kind).or_else(|| {
            let own = self.file.as_ref().filter(|file| file.kind == kind)?;
            // A source file that was changed or removed is not offered; the rows are still served.
            let open = OpenFile::open(&own.path, Some(own.stamp)).ok()?;
            Some(Arc::new(open))
        })
    }
}
