//! The columns of one dataset's files in the cache: which statements ask for them, how they are read ahead, and how a
//! plan scans them.

mod cached_source;
mod chunk_pruning;
mod read_ahead;
mod scanned_columns;

use std::sync::Arc;

pub(crate) use cached_source::CachedSource;
pub(crate) use scanned_columns::{Piece, ScannedColumns};

use crate::column_cache::{CacheKey, CachedColumn, ColumnCache, StatementId};
use crate::held_rows::Files;

/// The columns of one version of a dataset.
#[derive(Debug)]
pub(crate) struct CachedColumns {
    cache: Arc<ColumnCache>,
    key: CacheKey,
    files: Arc<Files>,
}

impl CachedColumns {
    /// Returns the columns of `files` in `cache`, which are none yet.
    pub(crate) fn new(cache: &Arc<ColumnCache>, files: &Arc<Files>) -> Self {
        Self { key: cache.key(), cache: Arc::clone(cache), files: Arc::clone(files) }
    }

    /// Returns the files.
    pub(crate) fn files(&self) -> &Arc<Files> {
        &self.files
    }

    /// Returns `columns` if all of them are in memory. If they are not, notes that the statement `asker` asks for them,
    /// and has them read ahead if several do.
    pub(crate) fn held(
        self: &Arc<Self>,
        columns: &[usize],
        asker: Option<StatementId>,
    ) -> Option<Vec<Arc<CachedColumn>>> {
        if let Some(held) = self.cache.held(self.key, columns) {
            return Some(held);
        }
        if let Some(missing) = asker.and_then(|asker| self.cache.wanted(self.key, columns, asker)) {
            read_ahead::start(self, missing);
        }
        None
    }
}

impl Drop for CachedColumns {
    fn drop(&mut self) {
        self.cache.forget(self.key);
    }
}
