//! The catalog as callers see it.
//!
//! Every read begins with a snapshot for a caller and a permission. Entries that the access rules keep back are not in
//! it, and tables of which they keep something back are replaced by what is left of them, so that all that is made of
//! the snapshot shows the same: rows, schemas, statements, indexes, versions. Callers with the same rights share a view
//! until the catalog changes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ahash::AHashMap;
use arc_swap::ArcSwapOption;
use salver_model::access::Restriction;
use salver_model::observation::Observation;
use salver_model::ports::{Left, Table};
use salver_model::{Caller, Grants, Permission};

use crate::caller_views::{Peek, Views, place};
use crate::service::Service;
use crate::snapshot::{Contents, Entry, LoadFailure, LoadState, Snapshot, Store};
use crate::views::ViewCaller;

impl Service {
    /// Returns the catalog for one request of `caller`, with the entries for which it has the permission and with their
    /// current rows. Hold it for the duration of the request.
    #[must_use]
    pub fn snapshot(&self, caller: &Caller, permission: Permission) -> Arc<Snapshot> {
        match &caller.grants {
            None => self.catalog().snapshot(),
            Some(grants) => {
                let view = self.view(grants, permission);
                Arc::new(view.of_a_request().unwrap_or(view))
            }
        }
    }

    /// Returns the whole catalog, for what the server tells of itself.
    #[must_use]
    pub fn snapshot_of_all(&self) -> Arc<Snapshot> {
        self.catalog().snapshot()
    }

    /// Borrows the whole catalog, for what tells nothing of its rows.
    #[must_use]
    pub fn peek_all(&self) -> Peek {
        Peek::Whole(self.catalog().peek())
    }

    /// Borrows the same, for the hot path.
    #[must_use]
    pub fn peek(&self, caller: &Caller, permission: Permission) -> Peek {
        match &caller.grants {
            None => Peek::Whole(self.catalog().peek()),
            Some(grants) => Peek::View(self.view(grants, permission)),
        }
    }

    /// Returns the catalog for one request that reads `name`: the current one, or, while `name` is on its first load,
    /// the one after it, if that ends within `limits.queue_ms_max`.
    pub async fn snapshot_with(&self, caller: &Caller, permission: Permission, name: &str) -> Arc<Snapshot> {
        let snapshot = self.snapshot(caller, permission);
        if !matches!(snapshot.entry(name).map(|entry| &entry.state), Some(LoadState::Loading)) {
            return snapshot;
        }
        let wait = Duration::from_millis(self.limits().queue_ms_max);
        let _ = tokio::time::timeout(wait, self.catalog().loaded(name)).await;
        self.snapshot(caller, permission)
    }

    /// Returns [`Service::snapshot_with`] the entry behind the key-value store `store`.
    pub async fn snapshot_for_store(&self, caller: &Caller, store: &str) -> Arc<Snapshot> {
        let entry = self.catalog().peek().store(store).map(|found| found.entry.clone());
        match entry {
            Some(entry) => self.snapshot_with(caller, Permission::Read, entry.as_str()).await,
            None => self.snapshot(caller, Permission::Read),
        }
    }

    /// Returns the catalog for one request that may read anything that the caller may; waits for first loads like
    /// [`Service::snapshot_with`].
    pub async fn snapshot_settled(&self, caller: &Caller, permission: Permission) -> Arc<Snapshot> {
        if !self.catalog().peek().settled() {
            let wait = Duration::from_millis(self.limits().queue_ms_max);
            let _ = tokio::time::timeout(wait, self.catalog().settled()).await;
        }
        let snapshot = self.snapshot(caller, permission);
        if !snapshot.has_widened() {
            return snapshot;
        }
        // Schemas derived from the whole catalog belong to its generation.
        self.catalog().widen();
        self.snapshot(caller, permission)
    }

    /// Returns the current catalog as `snapshot` shows its own.
    pub(crate) fn snapshot_like(&self, snapshot: &Snapshot) -> Arc<Snapshot> {
        match snapshot.view() {
            None => self.catalog().snapshot(),
            Some((grants, permission)) => {
                let view = self.view(grants, permission);
                Arc::new(view.of_a_request().unwrap_or(view))
            }
        }
    }

    fn view(&self, grants: &Arc<Grants>, permission: Permission) -> Snapshot {
        let kept = grants.kept::<Views>().map(|views| &views[place(permission)]);
        let whole = self.catalog().peek();
        let current = kept.and_then(ArcSwapOption::load_full);
        if let Some(contents) = current.filter(|contents| contents.generation == whole.generation()) {
            return Snapshot::viewed(contents, grants, permission);
        }
        let permission_read = Permission::READING[place(permission)];
        let mut left = self.left_for(&whole.contents, grants, permission_read);
        if let Some(views) = &whole.contents.declared_views {
            views.make_for(&mut left, &ViewCaller { grants, permission: permission_read, whole: &whole.contents });
        }
        left.stores = whole.contents.stores.iter().filter(|store| is_whole(store, &left)).cloned().collect();
        left.count();
        let contents = Arc::new(left);
        if let Some(kept) = kept {
            kept.store(Some(Arc::clone(&contents)));
        }
        Snapshot::viewed(contents, grants, permission)
    }

    /// Returns the contents of the catalog without what is kept back, and without views.
    fn left_for(&self, whole: &Contents, grants: &Grants, permission: Permission) -> Contents {
        let (entries, index, views) = (BTreeMap::new(), AHashMap::new(), BTreeMap::new());
        let mut left = Contents { entries, index, views, ..whole.clone() };
        let is_view = |entry: &Entry| whole.declared_views.as_ref().is_some_and(|views| views.has(&entry.name));
        let is_there = |entry: &Entry| !is_view(entry) && grants.decide(permission, &entry.ruled_name).is_some();
        for (name, entry) in whole.entries.iter().filter(|(_, entry)| is_there(entry)) {
            let Some(granted) = grants.decide(permission, &entry.ruled_name) else { continue };
            let mut restriction = Restriction::of(&granted);
            let relations = entry.table().map(|table| table.describe().relations.as_slice()).unwrap_or_default();
            let targets = relations.iter().map(|relation| &relation.target);
            let is_left = |entry: &Entry| {
                !entry.table().is_some_and(|table| matches!(table.left_for(grants.caller()), Left::Nothing))
            };
            let leads_on = |entry: &Entry| is_there(entry) && is_left(entry);
            let is_hidden = |target: &&salver_model::Name| !whole.entries.get(*target).is_some_and(leads_on);
            // By masked values no row is found.
            let by_masked = |relation: &&salver_model::Relation| {
                let target = whole.entries.get(&relation.target);
                let granted = target.and_then(|target| grants.decide(permission, &target.ruled_name));
                granted.is_some_and(|granted| relation.target_columns.iter().any(|own| granted.mask(own).is_some()))
            };
            let masked = relations.iter().filter(by_masked).map(|relation| &relation.target);
            restriction.targets_hidden = targets.filter(is_hidden).chain(masked).cloned().collect();
            let restricted = |table: &Arc<dyn Table>| {
                let table = match table.left_for(grants.caller()) {
                    Left::Whole => Arc::clone(table),
                    Left::Part(table) => table,
                    Left::Nothing => return Ok(None),
                };
                if restriction == Restriction::default() {
                    return Ok(Some(table));
                }
                Arc::clone(self.engine()).restrict(&table, &restriction).map(Some).map_err(|error| {
                    self.observer().observe(&Observation::LoadFailed { name, error: &error });
                    LoadFailure { message: error.message, hint: error.hint, at: SystemTime::now() }
                })
            };
            let state = match &entry.state {
                LoadState::Ready(table) => restricted(table).map(|table| table.map(LoadState::Ready)),
                LoadState::Stale(table, failure) => {
                    restricted(table).map(|table| table.map(|table| LoadState::Stale(table, failure.clone())))
                }
                other => Ok(Some(other.clone())),
            };
            let Some(state) = state.unwrap_or_else(|failure| Some(LoadState::Failed(failure))) else { continue };
            left.entries.insert(name.clone(), entry.with_state(state));
            left = left.indexed(name);
        }
        left
    }
}

/// Returns whether the columns of a store are there.
fn is_whole(store: &Store, left: &Contents) -> bool {
    let Some(entry) = left.entries.get(&store.entry) else { return false };
    entry.table().is_none_or(|table| {
        let schema = &table.describe().schema;
        [&store.key, &store.value].iter().all(|column| schema.index_of(column).is_ok())
    })
}
