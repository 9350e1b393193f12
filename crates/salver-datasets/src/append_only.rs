//! Tables whose rows grow while they are served, such as streams. Every request gets a snapshot of the rows present at
//! its start, and reads that like any other entry. Pages of unfiltered rows in storage order are read without the
//! planner; filters, sorts and groups go through the engine.

mod held_table;
mod page;
mod provider;
mod reader;
mod repartition;
mod scan;

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use salver_model::entry::Description;
use salver_model::ports::{Held, MaybeReady, Scan, Table};
use salver_model::{Query, Result, Rows, Version};

use crate::engine::Engine;
pub(crate) use held_table::HeldTable;

/// Returns the rows of `scan` as a table. Its description is of now; [`Table::current`] takes a later snapshot.
#[must_use]
pub fn growing(scan: Arc<dyn Scan>, engine: &Arc<Engine>) -> Arc<dyn Table> {
    let about = scan.hold().describe().clone();
    Arc::new(Growing { about, scan, engine: Arc::clone(engine) })
}

#[derive(Debug)]
struct Growing {
    about: Description,
    scan: Arc<dyn Scan>,
    engine: Arc<Engine>,
}

impl Growing {
    fn now(&self) -> HeldTable {
        HeldTable::new(self.scan.hold(), Arc::clone(&self.scan), Arc::clone(&self.engine))
    }
}

#[async_trait]
impl Table for Growing {
    fn describe(&self) -> &Description {
        &self.about
    }

    fn read<'a>(&'a self, query: &'a Query) -> MaybeReady<'a, Result<Rows>> {
        MaybeReady::pending(async move { self.now().read(query).await })
    }

    fn current(&self) -> Option<Arc<dyn Table>> {
        Some(Arc::new(self.now()))
    }

    async fn hold(&self, parts: usize) -> Result<Arc<dyn Held>> {
        Ok(repartition::recut(self.scan.hold(), parts))
    }

    async fn hold_at(&self, version: Version, parts: usize) -> Result<Option<Arc<dyn Held>>> {
        Ok(self.scan.hold_at(version).map(|held| repartition::recut(held, parts)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
