//! Keeps the tables of databases in the catalog up to date: every schema change, whoever made it, is published; a
//! database that cannot be reached is reported and retried.

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_model::Version;
use salver_model::observation::{Observation, Observer};
use salver_model::ports::Database;
use tokio::task::JoinSet;

use crate::catalog::Catalog;

/// Delay before a database that could not be reached is retried.
const RETRY: Duration = Duration::from_secs(1);

/// Starts the tasks that watch `databases` in `keepers`. Dropping the set stops them.
pub fn start(
    catalog: &Arc<Catalog>,
    databases: &[Arc<dyn Database>],
    observer: &Arc<dyn Observer>,
    keepers: &mut JoinSet<()>,
) {
    for database in databases {
        keepers.spawn(keep(Arc::clone(catalog), Arc::clone(database), Arc::clone(observer)));
    }
}

async fn keep(catalog: Arc<Catalog>, database: Arc<dyn Database>, observer: Arc<dyn Observer>) {
    let name = &database.spec().name;
    let (mut stamp, mut failing) = (0, false);
    loop {
        let started = Instant::now();
        match database.changed(stamp).await {
            Ok(()) => {
                stamp = database.schema().stamp();
                let tables = database.tables();
                let source = format!("{} tables", tables.len());
                catalog.publish_tables(name, tables);
                let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                observer.observe(&Observation::Loaded { name, version: Version(stamp), ms, source: &source });
                failing = false;
            }
            Err(error) => {
                // Report a failure once, and not every second.
                if !failing {
                    catalog.report(name, &error);
                    observer.observe(&Observation::LoadFailed { name, error: &error });
                }
                failing = true;
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}
