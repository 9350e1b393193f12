//! The tables that a statement about the system catalog may name: entries, and the relations of the catalog.

use std::sync::Arc;

use salver_model::ports::{Table, Tables};
use salver_model::{Error, Name, Result};

use super::relations::Relations;
use super::system_table::SystemTable;
use super::{definitions, filled_table, information_schema};

/// Entries, and the relations of the system catalog that tell of them.
#[derive(Debug)]
pub(crate) struct SystemTables {
    entries: Arc<dyn Tables>,
    pub(super) relations: Arc<Relations>,
}

impl SystemTables {
    /// Returns the relations of these entries beside them.
    pub(crate) fn new(entries: Arc<dyn Tables>) -> Self {
        let relations = Arc::new(Relations::new(entries.list()));
        Self { entries, relations }
    }
}

impl SystemTables {
    /// Returns whether a relation of the catalog has no rows, which is so of most.
    pub(super) fn is_without_rows(&self, name: &str) -> bool {
        let is_of_catalog = !name.starts_with(definitions::INFORMATION_PREFIX) && definitions::columns(name).is_some();
        is_of_catalog && !Relations::KNOWN.contains(&name)
    }
}

impl Tables for SystemTables {
    fn table(&self, name: &str) -> Result<Option<Arc<dyn Table>>> {
        let Some(schema) = definitions::columns(name) else { return self.entries.table(name) };
        let (count, known) = match name.strip_prefix(definitions::INFORMATION_PREFIX) {
            Some(view) => information_schema::rows(view, &self.relations),
            None => self.relations.rows(name),
        };
        let rows = filled_table::rows(schema, count, known)
            .map_err(|error| Error::internal(format!("`{name}` can't be made")).with_source(error))?;
        Ok(Some(Arc::new(SystemTable::new(Name::new(name)?, rows))))
    }

    fn list(&self) -> Vec<(Name, Arc<dyn Table>)> {
        self.entries.list()
    }

    fn calls(&self, file: &str) -> bool {
        self.entries.calls(file)
    }

    fn generation(&self) -> u64 {
        self.entries.generation()
    }
}
