//! The databases of a server: opened at the start, and at a reload opened beside those that they replace.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use salver_config::Checked;
use salver_model::observation::{Observation, Observer};
use salver_model::ports::Database;
use salver_model::records::DatabaseSchema;
use salver_model::spec::{DatabaseSpec, RecordRule};
use salver_model::{Name, Result};
use salver_records::{PerCallerDatabases, RecordsDatabase};
use salver_service::{Catalog, Entry, Snapshot, databases};
use tokio::task::JoinSet;

/// Longest wait at a reload for a database to be reached before it takes the place of another.
const REACHING: Duration = Duration::from_secs(5);

/// Databases, with the tasks that keep their tables fresh until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Databases {
    opened: Vec<Opened>,
    keeping: JoinSet<()>,
}

#[derive(Clone, Debug)]
struct Opened {
    /// How it was opened.
    spec: DatabaseSpec,
    database: Arc<dyn Database>,
}

/// Databases that are about to take the place of others.
#[derive(Debug)]
pub(crate) struct NextDatabases {
    opened: Vec<Opened>,
    /// Those that were opened.
    pub(crate) new: Vec<Name>,
    /// Those of them that were reached.
    reached: Vec<Name>,
    /// Those that are closed without a successor.
    pub(crate) gone: Vec<Name>,
    /// Whether they have other names than those before, or another order.
    is_moved: bool,
    /// Whether one of those before is not served any more as it was.
    ends_others: bool,
}

impl Databases {
    /// Opens the databases of `checked`. One that cannot even be opened is reported and left out; the others are
    /// served.
    pub(crate) fn open(checked: &Checked, catalog: &Arc<Catalog>, observer: &Arc<dyn Observer>) -> Self {
        let mut own = Self::default();
        for spec in checked.databases.iter().map(|spec| shielded(spec, checked)) {
            match database(spec.clone()) {
                Ok(database) => own.opened.push(Opened { spec, database }),
                Err(error) => {
                    catalog.report(&spec.name, &error);
                    observer.observe(&Observation::LoadFailed { name: &spec.name, error: &error });
                }
            }
        }
        own.watch(Vec::new(), catalog, observer);
        own
    }

    /// Returns all of them.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Database>> {
        all(&self.opened)
    }

    /// Opens those of `checked` that are others than these.
    ///
    /// # Errors
    /// Returns an error for a malformed URL.
    pub(crate) fn next(&self, checked: &Checked) -> Result<NextDatabases> {
        let (mut opened, mut new) = (Vec::new(), Vec::new());
        for spec in checked.databases.iter().map(|spec| shielded(spec, checked)) {
            match self.opened.iter().find(|own| own.spec == spec) {
                Some(own) => opened.push(own.clone()),
                None => {
                    new.push(spec.name.clone());
                    opened.push(Opened { database: database(spec.clone())?, spec });
                }
            }
        }
        let names = |list: &[Opened]| list.iter().map(|own| own.spec.name.clone()).collect::<Vec<_>>();
        let (before, after) = (names(&self.opened), names(&opened));
        let gone: Vec<Name> = before.iter().filter(|name| !after.contains(name)).cloned().collect();
        let ends_others = !gone.is_empty() || before.iter().any(|name| new.contains(name));
        Ok(NextDatabases { opened, new, reached: Vec::new(), gone, is_moved: before != after, ends_others })
    }

    /// Stops looking at the databases, and takes out of the catalog what is not served any more: after this, nothing is
    /// published of those before.
    pub(crate) async fn take_out(&mut self, next: &NextDatabases, catalog: &Catalog) {
        if !next.differs() {
            return;
        }
        self.keeping.shutdown().await;
        let (replaced, awaited): (Vec<_>, Vec<_>) =
            next.new.iter().cloned().partition(|name| next.reached.contains(name));
        catalog.withhold(&next.gone, &replaced, &awaited);
    }

    /// Puts `next` in the place of these, and its tables into the catalog.
    pub(crate) fn put_in(&mut self, next: NextDatabases, catalog: &Arc<Catalog>, observer: &Arc<dyn Observer>) {
        if !next.differs() {
            return;
        }
        let snapshot = catalog.snapshot();
        let reached = next.opened.iter().map(|own| match &own.spec.name {
            name if next.reached.contains(name) => None,
            // It must not keep those behind it waiting.
            name if next.new.contains(name) => Some(false),
            name => was_reached(&snapshot, name),
        });
        let reached = reached.collect();
        self.opened = next.opened;
        self.watch(reached, catalog, observer);
    }

    fn watch(&mut self, reached: Vec<Option<bool>>, catalog: &Arc<Catalog>, observer: &Arc<dyn Observer>) {
        databases::start(catalog, &self.all(), reached, observer, &mut self.keeping);
    }
}

impl NextDatabases {
    /// Returns all of them.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Database>> {
        all(&self.opened)
    }

    /// Returns whether they are others than those before, or in another order.
    pub(crate) fn differs(&self) -> bool {
        self.is_moved || !self.new.is_empty()
    }

    /// Returns whether one of those before is gone, or declared otherwise, with which its rules may be others.
    pub(crate) fn ends_others(&self) -> bool {
        self.ends_others
    }

    /// Waits until the new ones were reached, for a while.
    pub(crate) async fn reach(&mut self) {
        let new = self.opened.iter().filter(|own| self.new.contains(&own.spec.name));
        let reaching = new.map(|own| async move {
            let reached = tokio::time::timeout(REACHING, own.database.changed(0)).await;
            matches!(reached, Ok(Ok(()))).then(|| own.spec.name.clone())
        });
        self.reached = join_all(reaching).await.into_iter().flatten().collect();
    }
}

fn all(opened: &[Opened]) -> Vec<Arc<dyn Database>> {
    opened.iter().map(|own| Arc::clone(&own.database)).collect()
}

/// Returns what came of the attempts to reach a database so far, as the catalog tells it.
fn was_reached(snapshot: &Snapshot, name: &Name) -> Option<bool> {
    let mut own = snapshot.entries().filter(|entry| entry.database.as_ref() == Some(name)).peekable();
    own.peek()?;
    let is_failed = |entry: &Entry| entry.table().is_none() && entry.failure().is_some();
    if own.any(|entry| entry.table().is_some()) {
        return Some(true);
    }
    snapshot.entry(name.as_str()).is_some_and(is_failed).then_some(false)
}

/// Returns the database of `spec`, or the databases of its callers.
///
/// # Errors
/// Returns an error for a malformed URL.
pub(crate) fn database(spec: DatabaseSpec) -> Result<Arc<dyn Database>> {
    match PerCallerDatabases::of(&spec) {
        Some(own) => Ok(Arc::new(own)),
        None => Ok(Arc::new(RecordsDatabase::open(spec)?)),
    }
}

/// Reads the schema of a database.
///
/// # Errors
/// If it can't be reached or read.
pub(crate) async fn schema(spec: &DatabaseSpec) -> Result<Arc<DatabaseSchema>> {
    let database = database(spec.clone())?;
    database.refresh().await?;
    Ok(database.schema())
}

/// Returns the database's spec without what only authentication may see: the table of users, or its secrets.
fn shielded(spec: &DatabaseSpec, checked: &Checked) -> DatabaseSpec {
    let mut spec = spec.clone();
    spec.rows_max = checked.limits.rows_max;
    let Some(users) = checked.auth.as_ref().and_then(|auth| auth.users.as_ref()) else { return spec };
    let home = checked.databases.iter().find(|database| database.name == users.database);
    if !home.is_some_and(|home| home.name == spec.name || salver_config::is_same_database(&spec, home)) {
        return spec;
    }
    spec.rules.extend(users.wordpress_meta().map(|table| RecordRule {
        tables: vec![table],
        deny: true,
        ..RecordRule::default()
    }));
    spec.rules.push(RecordRule {
        tables: [Some(&users.table), users.login_table.as_ref()].into_iter().flatten().cloned().collect(),
        deny: !users.shown,
        columns_hidden: users.secret_columns().map(str::to_owned).collect(),
        ..RecordRule::default()
    });
    spec
}
