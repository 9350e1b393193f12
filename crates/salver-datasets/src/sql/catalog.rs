//! Catalog snapshot as the engine sees it, which records what is read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::common::DataFusionError;
use salver_model::ports::{Table, Tables};
use salver_model::{Description, EntryKind, Error, Name, Version};

use super::view::ViewTable;
use crate::append_only::HeldTable;
use crate::dataset::Dataset;
use crate::engine::{CATALOG, SCHEMA};
use crate::system_catalog::SystemTable;
use crate::{fault, federate};

/// One snapshot, for one statement.
#[derive(Debug)]
pub(super) struct StatementSnapshot {
    tables: Arc<Entries>,
}

#[derive(Debug)]
struct Entries {
    tables: Arc<dyn Tables>,
    read: Mutex<Vec<Arc<dyn Table>>>,
    /// Whether a table was read whose rows may change under the same version.
    changing: AtomicBool,
}

impl StatementSnapshot {
    /// Creates a snapshot of `tables`.
    pub(super) fn new(tables: Arc<dyn Tables>) -> Self {
        Self { tables: Arc::new(Entries { tables, read: Mutex::default(), changing: AtomicBool::new(false) }) }
    }

    /// Records every table as read: the statement lists the tables.
    pub(super) fn note_all(&self) {
        for (_, table) in self.tables.tables.list() {
            self.tables.note(&table);
        }
    }

    /// Returns whether a table was read, such as one of a database, whose rows may differ the next time.
    pub(super) fn is_changing(&self) -> bool {
        self.tables.changing.load(Ordering::Relaxed)
    }

    /// Returns the tables that have been read, with their versions.
    pub(super) fn read(&self) -> Vec<(Name, Version)> {
        let read = self.tables_read();
        let mut read: Vec<_> = read.iter().map(|table| table.describe()).map(version).collect();
        read.sort();
        read
    }

    /// Returns the tables that have been read, each once.
    pub(super) fn tables_read(&self) -> Vec<Arc<dyn Table>> {
        self.tables.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Entries {
    fn note(&self, table: &Arc<dyn Table>) {
        if is_changing(table) {
            self.changing.store(true, Ordering::Relaxed);
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if !read.iter().any(|noted| noted.describe().name == table.describe().name) {
            read.push(Arc::clone(table));
        }
    }
}

fn version(about: &Description) -> (Name, Version) {
    (about.name.clone(), about.version)
}

/// Returns whether the rows of the table may be others the next time, under the same version.
fn is_changing(table: &Arc<dyn Table>) -> bool {
    match table.describe().kind {
        EntryKind::Dataset => false,
        EntryKind::Table | EntryKind::Stream => true,
        EntryKind::View => !ViewTable::behind(table).is_some_and(ViewTable::is_repeatable),
    }
}

impl CatalogProviderList for StatementSnapshot {
    fn register_catalog(&self, _: String, _: Arc<dyn CatalogProvider>) -> Option<Arc<dyn CatalogProvider>> {
        None
    }

    fn catalog_names(&self) -> Vec<String> {
        vec![CATALOG.to_owned()]
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        (name == CATALOG).then(|| Arc::new(OneSchema(Arc::clone(&self.tables))) as _)
    }
}

#[derive(Debug)]
struct OneSchema(Arc<Entries>);

impl CatalogProvider for OneSchema {
    fn schema_names(&self) -> Vec<String> {
        vec![SCHEMA.to_owned()]
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        (name == SCHEMA).then(|| Arc::clone(&self.0) as _)
    }
}

#[async_trait]
impl SchemaProvider for Entries {
    fn table_names(&self) -> Vec<String> {
        self.tables.list().into_iter().map(|(name, _)| name.as_str().to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let found = self.tables.table(name).map_err(|error| DataFusionError::External(Box::new(error)))?;
        let Some(table) = found else { return Ok(None) };
        self.note(&table);
        provider(&table).await.map(Some).map_err(|error| DataFusionError::External(Box::new(error)))
    }

    fn table_exist(&self, name: &str) -> bool {
        matches!(self.tables.table(name), Ok(Some(_)))
    }
}

/// Returns the entry as a table provider of the engine.
async fn provider(table: &Arc<dyn Table>) -> Result<Arc<dyn TableProvider>, Error> {
    let own = table.as_any();
    if let Some(system) = own.downcast_ref::<SystemTable>() {
        return system.provider().map_err(fault::planning);
    }
    if let Some(dataset) = own.downcast_ref::<Dataset>() {
        return Ok(dataset.provider());
    }
    // A statement must not see into a view that sees more than its caller.
    if let Some(view) = own.downcast_ref::<ViewTable>().filter(|view| view.has_rights_of_caller()) {
        return view.provider().await;
    }
    Ok(match own.downcast_ref::<HeldTable>() {
        Some(held) => held.provider(),
        None => federate::provider(table),
    })
}
