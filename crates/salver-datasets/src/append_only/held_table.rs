//! A snapshot of rows as a table.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::TableProvider;
use salver_model::entry::Description;
use salver_model::ports::{Held, MaybeReady, Scan, Table};
use salver_model::{Query, Result, Rows, Version};

use super::page;
use super::provider::HeldProvider;
use super::repartition::recut;
use crate::dataset::check_having;
use crate::engine::Engine;
use crate::{plan, resolve};

/// The rows of one version.
#[derive(Debug)]
pub(crate) struct HeldTable {
    held: Arc<dyn Held>,
    /// Source of snapshots of earlier versions, to which a cursor may belong.
    scan: Arc<dyn Scan>,
    engine: Arc<Engine>,
}

impl HeldTable {
    /// Returns held rows as a table of their own.
    pub(crate) fn of(held: Arc<dyn Held>, engine: Arc<Engine>) -> Self {
        Self { scan: Arc::new(OneVersion(Arc::clone(&held))), held, engine }
    }

    pub(super) fn new(held: Arc<dyn Held>, scan: Arc<dyn Scan>, engine: Arc<Engine>) -> Self {
        Self { held, scan, engine }
    }

    /// Returns the rows as a table of the engine.
    pub(crate) fn provider(&self) -> Arc<dyn TableProvider> {
        Arc::new(HeldProvider::plain(Arc::clone(&self.held)))
    }

    /// Returns the snapshot that the query's cursor belongs to if it still exists, else the current one.
    fn of_cursor(&self, query: &Query) -> Arc<dyn Held> {
        let earlier = query.after.as_ref().filter(|cursor| cursor.version != self.held.describe().version);
        earlier.and_then(|cursor| self.scan.hold_at(cursor.version)).unwrap_or_else(|| Arc::clone(&self.held))
    }
}

/// Rows that have no other version.
#[derive(Debug)]
struct OneVersion(Arc<dyn Held>);

impl Scan for OneVersion {
    fn hold(&self) -> Arc<dyn Held> {
        Arc::clone(&self.0)
    }

    fn hold_at(&self, version: Version) -> Option<Arc<dyn Held>> {
        (self.0.describe().version == version).then(|| self.hold())
    }
}

#[async_trait]
impl Table for HeldTable {
    fn describe(&self) -> &Description {
        self.held.describe()
    }

    fn read<'a>(&'a self, query: &'a Query) -> MaybeReady<'a, Result<Rows>> {
        MaybeReady::pending(async move {
            let rows = if query.is_grouped() || query.distinct {
                plan::read_grouped(&self.engine, &self.provider(), self.describe(), query).await?
            } else {
                check_having(query)?;
                let held = self.of_cursor(query);
                let about = held.describe();
                let resolved = resolve::resolve(query, about)?;
                if page::answers(&*held, &resolved) {
                    page::read(&self.engine, &held, query, resolved).await?
                } else {
                    let placed: Arc<dyn TableProvider> = Arc::new(HeldProvider::placed(Arc::clone(&held)));
                    plan::read(&self.engine, &placed, about, query, resolved).await?
                }
            };
            // The same query returns other rows later, under the same version in the catalog.
            Ok(Rows { repeatable: false, ..rows })
        })
    }

    async fn hold(&self, parts: usize) -> Result<Arc<dyn Held>> {
        Ok(recut(Arc::clone(&self.held), parts))
    }

    async fn hold_at(&self, version: Version, parts: usize) -> Result<Option<Arc<dyn Held>>> {
        if self.held.describe().version == version {
            return self.hold(parts).await.map(Some);
        }
        Ok(self.scan.hold_at(version).map(|held| recut(held, parts)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
