//! A relation of the system catalog, for one statement.

use std::any::Any;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::Result as EngineResult;
use salver_model::ports::{Held, MaybeReady, Table};
use salver_model::{Description, EntryKind, Error, Name, Query, Result, Rows, Version};

/// A relation with its rows.
#[derive(Debug)]
pub(crate) struct SystemTable {
    about: Description,
    rows: RecordBatch,
}

impl SystemTable {
    pub(super) fn new(name: Name, rows: RecordBatch) -> Self {
        let about = Description {
            name,
            // As for a table of a database, the same version says nothing of its rows.
            kind: EntryKind::Table,
            schema: rows.schema(),
            key: Vec::new(),
            relations: Vec::new(),
            rows: Some(rows.num_rows() as u64),
            version: Version::default(),
            source: "the system catalog".to_owned(),
            memory_bytes: 0,
        };
        Self { about, rows }
    }

    /// Returns the rows as a table of the engine.
    ///
    /// # Errors
    /// Those of the engine.
    pub(crate) fn provider(&self) -> EngineResult<Arc<dyn TableProvider>> {
        Ok(Arc::new(MemTable::try_new(self.rows.schema(), vec![vec![self.rows.clone()]])?))
    }
}

#[async_trait]
impl Table for SystemTable {
    fn describe(&self) -> &Description {
        &self.about
    }

    fn read<'a>(&'a self, _: &'a Query) -> MaybeReady<'a, Result<Rows>> {
        MaybeReady::Ready(Err(by_statements(&self.about.name)))
    }

    async fn hold(&self, _: usize) -> Result<Arc<dyn Held>> {
        Err(by_statements(&self.about.name))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Returns the error for a read that is no statement, of which there is none: the catalog has no such entry.
fn by_statements(name: &Name) -> Error {
    Error::internal(format!("`{name}` is read by statements alone"))
}
