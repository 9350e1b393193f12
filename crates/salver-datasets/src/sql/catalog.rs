//! Catalog snapshot as the engine sees it, which records what is read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::common::DataFusionError;
use salver_model::ports::{Table, Tables};
use salver_model::{Description, EntryKind, Name, Version};

use crate::append_only::HeldTable;
use crate::dataset::Dataset;
use crate::engine::{CATALOG, SCHEMA};
use crate::federate;

/// One snapshot, for one statement.
#[derive(Debug)]
pub(super) struct StatementSnapshot {
    tables: Arc<Entries>,
}

#[derive(Debug)]
struct Entries {
    tables: Arc<dyn Tables>,
    read: Mutex<Vec<(Name, Version)>>,
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
            self.tables.note(table.describe());
        }
    }

    /// Returns whether a table was read, such as one of a database, whose rows may differ the next time.
    pub(super) fn is_changing(&self) -> bool {
        self.tables.changing.load(Ordering::Relaxed)
    }

    /// Returns the tables that have been read, with their versions.
    pub(super) fn read(&self) -> Vec<(Name, Version)> {
        let mut read = self.tables.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        read.sort();
        read
    }
}

impl Entries {
    fn note(&self, about: &Description) {
        if about.kind != EntryKind::Dataset {
            self.changing.store(true, Ordering::Relaxed);
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if !read.iter().any(|(noted, _)| *noted == about.name) {
            read.push((about.name.clone(), about.version));
        }
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
        Ok(found.map(|table| {
            self.note(table.describe());
            provider(&table)
        }))
    }

    fn table_exist(&self, name: &str) -> bool {
        matches!(self.tables.table(name), Ok(Some(_)))
    }
}

/// Returns the entry as a table provider of the engine.
fn provider(table: &Arc<dyn Table>) -> Arc<dyn TableProvider> {
    let own = table.as_any();
    if let Some(dataset) = own.downcast_ref::<Dataset>() {
        return dataset.provider();
    }
    match own.downcast_ref::<HeldTable>() {
        Some(held) => held.provider(),
        None => federate::provider(table),
    }
}
