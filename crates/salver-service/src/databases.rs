//! Keeps the tables of databases in the catalog up to date: every schema change, whoever made it, is published; a
//! database that cannot be reached is reported and retried.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use salver_model::observation::{Observation, Observer};
use salver_model::ports::Database;
use salver_model::records::DatabaseSchema;
use salver_model::{Name, Version};
use tokio::task::JoinSet;

use crate::catalog::Catalog;

/// Delay before a database that could not be reached is retried.
const RETRY: Duration = Duration::from_secs(1);

/// Databases in the order of their declaration, with what is known of each.
struct Keeper {
    catalog: Arc<Catalog>,
    databases: Vec<Arc<dyn Database>>,
    /// What came of the last attempt to reach each; `None` before the first one.
    reached: Mutex<Vec<Option<bool>>>,
    observer: Arc<dyn Observer>,
}

/// Starts the tasks that watch `databases` in `keepers`. Dropping the set stops them. What came of an earlier attempt
/// to reach a database is in `reached`, by its index.
pub fn start(
    catalog: &Arc<Catalog>,
    databases: &[Arc<dyn Database>],
    mut reached: Vec<Option<bool>>,
    observer: &Arc<dyn Observer>,
    keepers: &mut JoinSet<()>,
) {
    reached.resize(databases.len(), None);
    let keeper = Arc::new(Keeper {
        catalog: Arc::clone(catalog),
        databases: databases.to_vec(),
        reached: Mutex::new(reached),
        observer: Arc::clone(observer),
    });
    for place in 0..databases.len() {
        let keeper = Arc::clone(&keeper);
        keepers.spawn(async move { keeper.keep(place).await });
    }
}

/// Returns the tables of the database called `owner` that can't be entries, whose names follow more rules.
#[must_use]
pub fn unfit_tables(owner: &Name, schema: &DatabaseSchema) -> Vec<String> {
    let names = schema.tables().iter().map(|table| &table.name);
    names.filter(|table| Name::new(&format!("{owner}.{table}")).is_err()).cloned().collect()
}

impl Keeper {
    async fn keep(&self, place: usize) {
        let Some(database) = self.databases.get(place) else { return };
        let name = &database.spec().name;
        let (mut stamp, mut failing) = (0, false);
        loop {
            let started = Instant::now();
            match database.changed(stamp).await {
                Ok(()) => {
                    let schema = database.schema();
                    stamp = schema.stamp();
                    self.publish(place, true);
                    let source = format!("{} tables", schema.tables().len());
                    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                    self.observer.observe(&Observation::Loaded { name, version: Version(stamp), ms, source: &source });
                    let tables = unfit_tables(name, &schema);
                    if !tables.is_empty() {
                        self.observer.observe(&Observation::LeftOut { name, tables: &tables });
                    }
                    failing = false;
                }
                Err(error) => {
                    // Report a failure once, and not every second.
                    if !failing {
                        self.catalog.report(name, &error);
                        self.observer.observe(&Observation::LoadFailed { name, error: &error });
                        self.publish(place, false);
                    }
                    failing = true;
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Publishes the tables of the databases that were reached, after an attempt to reach the one at `place`. A
    /// database waits for the first attempts of those before it, which take their tables' names first: a name must not
    /// mean one table now and another a moment later.
    fn publish(&self, place: usize, is_reached: bool) {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = reached.get_mut(place) else { return };
        // The tables of a database that was reached before stay as they are.
        if !is_reached && own.is_some() {
            return;
        }
        *own = Some(is_reached);
        let tried = self.databases.iter().zip(&*reached).take_while(|(_, reached)| reached.is_some());
        let known = tried.filter(|(_, reached)| **reached == Some(true)).map(|(database, _)| &**database);
        self.catalog.publish_tables(&known.collect::<Vec<_>>());
    }
}
