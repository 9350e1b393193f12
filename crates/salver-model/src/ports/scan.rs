//! The ports of full scans: snapshots of rows at one version, in parts; and rows that grow while they are served.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use crate::entry::Description;
use crate::error::Result;
use crate::filter::Filter;
use crate::reply::BatchStream;
use crate::version::Version;

/// Append-only rows.
pub trait Scan: Send + Sync + std::fmt::Debug {
    /// Returns a snapshot of the current rows; later rows are not visible in it.
    fn hold(&self) -> Arc<dyn Held>;

    /// Returns the snapshot at `version`, as long as none of its rows is gone.
    fn hold_at(&self, version: Version) -> Option<Arc<dyn Held>>;
}

/// Snapshot of the rows of one version.
///
/// Contract:
/// - All parts together are the rows, each once; part `i` comes before part `i + 1` in the order of the source, and so
///   do the rows within a part. Parts may be read concurrently and repeatedly: the order of the rows is always the
///   same.
/// - Later changes (rows written, truncated, files replaced, the entry reloaded) are not visible in it. If that cannot
///   be guaranteed, a read fails; it never returns other rows.
/// - Creating and keeping it costs nothing that grows with the rows; its resources (files, a transaction) are released
///   on drop.
pub trait Held: Send + Sync + std::fmt::Debug {
    /// Returns the description of the rows; `version` is exact, and so is `rows` where it is set, as it is for
    /// everything outside of databases.
    fn describe(&self) -> &Description;

    /// Returns the number of parts, at least one.
    fn parts(&self) -> usize;

    /// Returns the rows of a part, with the columns `columns` (indexes into the schema, in this order; none means that
    /// rows are only counted). `filter` may be pushed down: rows that do not satisfy it may be left out where that
    /// saves work, and the caller checks it again. No more than `limit` rows are needed.
    fn read(&self, part: usize, columns: &[usize], filter: Option<&Filter>, limit: Option<u64>) -> BatchStream;

    /// Returns the number of rows of a part, if known without reading it: a page far from the beginning is then found
    /// without reading the rows before it.
    fn part_rows(&self, part: usize) -> Option<u64> {
        let _ = part;
        None
    }

    /// Returns the rows of a part behind its first `skip`; `None` if they can only be reached by reading those before
    /// them.
    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        let _ = (part, skip, columns, limit);
        None
    }

    /// Returns whether any row can be found again cheaply, so that no state has to be kept while waiting for a client.
    fn finds_again(&self) -> bool {
        true
    }

    /// Returns the index of a column whose values increase from row to row: sorting by it gives the order of the rows.
    fn ascending(&self) -> Option<usize> {
        None
    }

    /// Returns the file of a format that has exactly these rows and columns, if there is one: a response in that format
    /// is a copy of it. Blocks.
    fn file(&self, kind: FileKind) -> Option<Arc<dyn HeldFile>> {
        let _ = kind;
        None
    }

    /// Returns the schema of the batches that `read` returns for `columns`.
    fn schema_of(&self, columns: &[usize]) -> SchemaRef {
        let schema = &self.describe().schema;
        let fields: Vec<_> = columns.iter().filter_map(|index| schema.fields().get(*index).cloned()).collect();
        Arc::new(arrow::datatypes::Schema::new(fields))
    }
}

/// Finds the row behind the first `skip` of the parts `parts`, and returns its part, with the number of rows to skip in
/// it. A part whose number of rows is not known ends the search; behind the last row it is `parts.end`.
pub fn locate(held: &dyn Held, parts: Range<usize>, mut skip: u64) -> (usize, u64) {
    for part in parts.clone() {
        match held.part_rows(part) {
            Some(rows) if rows <= skip => skip -= rows,
            _ => return (part, skip),
        }
    }
    (parts.end, skip)
}

/// Format of a [`HeldFile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Parquet.
    Parquet,
    /// An Arrow file (IPC with a footer).
    ArrowFile,
}

/// Open file; a file that replaces it under its name does not affect it.
pub trait HeldFile: Send + Sync + std::fmt::Debug {
    /// Returns its length.
    fn bytes(&self) -> u64;

    /// Fills `out` with the bytes from `at` on. Blocks.
    ///
    /// # Errors
    /// Returns `EntryUnavailable` when the file was overwritten, and `Source` when it cannot be read. The content of
    /// `out` is undefined then.
    fn read(&self, out: &mut [u8], at: u64) -> Result<()>;
}
