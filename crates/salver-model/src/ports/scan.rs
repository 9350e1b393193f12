//! The ports of rows that are read whole: held at one version, in parts; and of rows that grow while they are served.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use crate::entry::Description;
use crate::error::Result;
use crate::filter::Filter;
use crate::reply::BatchStream;
use crate::version::Version;

/// Rows that grow at the end.
pub trait Scan: Send + Sync + std::fmt::Debug {
    /// The rows there are now, held: what comes later does not show in them.
    fn hold(&self) -> Arc<dyn Held>;

    /// The rows as they were held at `version`, as long as none of them is gone.
    fn hold_at(&self, version: Version) -> Option<Arc<dyn Held>>;
}

/// Rows of one version.
///
/// Contract:
/// - All parts together are the rows, each once; part `i` comes before part `i + 1` in the order of the source, and so
///   do the rows of a part. Parts may be read at the same time, and again: the same rows come in the same order.
/// - Whatever changes after it was made (rows written, truncated, files replaced, the entry reloaded) shows in none of
///   them. What can't be kept so fails; it never gives other rows.
/// - Making it and keeping it costs nothing that grows with the rows; what it keeps (files, a transaction) goes when it
///   is dropped.
pub trait Held: Send + Sync + std::fmt::Debug {
    /// What the rows are; `version` is true, and so is `rows` where it is set, as it is for all that is not in a
    /// database.
    fn describe(&self) -> &Description;

    /// How many parts there are, at least one.
    fn parts(&self) -> usize;

    /// The rows of a part, with the columns `columns` (indexes into the schema, in this order; none means that rows are
    /// only counted). Rows that do not satisfy `filter` may be left out, where that saves work; the caller checks it
    /// again. No more than `limit` rows are needed.
    fn read(&self, part: usize, columns: &[usize], filter: Option<&Filter>, limit: Option<u64>) -> BatchStream;

    /// How many rows a part has, where that is known without reading it: a page far behind the beginning is then found
    /// without reading what stands before it.
    fn part_rows(&self, part: usize) -> Option<u64> {
        let _ = part;
        None
    }

    /// The rows of a part behind its first `skip`; `None` where they are reached by reading those before them only.
    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        let _ = (part, skip, columns, limit);
        None
    }

    /// Whether rows are found again at little cost wherever they are, so that nothing has to be kept to read on with
    /// while a client is waited for.
    fn finds_again(&self) -> bool {
        true
    }

    /// The column whose values only grow from row to row, by its index: the order by it is that of the rows.
    fn ascending(&self) -> Option<usize> {
        None
    }

    /// The one file of a format that has these rows, all of these columns and nothing else, where there is one: an
    /// answer in that format is a copy of it. Blocks.
    fn file(&self, kind: FileKind) -> Option<Arc<dyn HeldFile>> {
        let _ = kind;
        None
    }

    /// The columns of the batches that `read` gives for `columns`.
    fn schema_of(&self, columns: &[usize]) -> SchemaRef {
        let schema = &self.describe().schema;
        let fields: Vec<_> = columns.iter().filter_map(|index| schema.fields().get(*index).cloned()).collect();
        Arc::new(arrow::datatypes::Schema::new(fields))
    }
}

/// The formats of a [`HeldFile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Parquet.
    Parquet,
    /// An Arrow file (IPC with a footer).
    ArrowFile,
}

/// An open file; what replaces it under its name does not change it.
pub trait HeldFile: Send + Sync + std::fmt::Debug {
    /// How long it is.
    fn bytes(&self) -> u64;

    /// Fills `out` with what stands from byte `at` on. Blocks.
    ///
    /// # Errors
    /// `EntryUnavailable` when somebody wrote over the file, `Source` when it can't be read. `out` is of no use then.
    fn read(&self, out: &mut [u8], at: u64) -> Result<()>;
}
