//! The catalog of served entries, a value that is swapped atomically. Readers take the current snapshot without a lock;
//! writers (the loads) are serialized.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use arc_swap::ArcSwap;
use salver_model::observation::{Observation, Observer};
use salver_model::ports::{Database, SqlEngine, Table};
use salver_model::spec::ViewSpec;
use salver_model::{Code, Error, Name};
use tokio::sync::watch;

use crate::declared_views::Views;
use crate::snapshot::{Contents, Entry, LoadFailure, LoadState, Snapshot, Store};

/// Catalog of entries.
#[derive(Debug)]
pub struct Catalog {
    current: ArcSwap<Snapshot>,
    writing: Mutex<()>,
    generation: watch::Sender<u64>,
}

impl Catalog {
    /// Creates a catalog of entries that are not loaded yet, and of databases whose tables are not known yet.
    #[must_use]
    pub fn new(
        names: impl IntoIterator<Item = Name>,
        databases: impl IntoIterator<Item = Name>,
        stores: Vec<Store>,
    ) -> Self {
        let snapshot = Snapshot::shared(Contents::new(names, databases, stores));
        Self { current: ArcSwap::from_pointee(snapshot), writing: Mutex::new(()), generation: watch::Sender::new(0) }
    }

    /// Returns the current catalog with its current rows. Hold it for the duration of one request.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let current = self.current.load();
        match current.of_a_request() {
            Some(own) => Arc::new(own),
            None => arc_swap::Guard::into_inner(current),
        }
    }

    /// Borrows the current catalog without touching its reference count, for the hot path. Entries that grow cannot be
    /// read in it.
    #[must_use]
    pub fn peek(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        self.current.load()
    }

    /// Declares other entries and stores: what is not there yet counts as loading from now on, what is `gone` is taken
    /// out.
    pub fn declare(&self, names: impl IntoIterator<Item = Name>, gone: &[Name], stores: Vec<Store>) {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Contents::clone(&self.current.load().contents);
        for name in gone {
            next.entries.remove(name);
            next.index.remove(name);
        }
        for name in names {
            next.entries.entry(name.clone()).or_insert_with(|| Entry::new(name, LoadState::Loading, None));
        }
        next.stores = stores.into();
        self.put(next);
    }

    /// Declares the views, in place of those of before, which `engine` makes of the other entries. A view takes no name
    /// that an entry has. Those called as in `awaited` count as loading until the next declaration.
    pub fn declare_views(
        &self,
        specs: Vec<ViewSpec>,
        mut awaited: Vec<Name>,
        engine: Arc<dyn SqlEngine>,
        observer: Arc<dyn Observer>,
    ) {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Contents::clone(&self.current.load().contents);
        for name in next.declared_views.take().iter().flat_map(|views| views.names()) {
            next.entries.remove(name);
            next.index.remove(name);
        }
        next.views = BTreeMap::new();
        let (taken, free): (Vec<_>, Vec<_>) =
            specs.into_iter().partition(|spec: &ViewSpec| next.entries.contains_key(&spec.name));
        for spec in taken {
            let error =
                Error::new(Code::Config, format!("the view `{}` is left out: an entry has its name", spec.name));
            observer.observe(&Observation::LoadFailed { name: &spec.name, error: &error });
        }
        awaited.retain(|name| !next.entries.contains_key(name));
        let views = Views::new(free, awaited, engine, observer);
        for name in views.names() {
            next.entries.insert(name.clone(), Entry::new(name.clone(), LoadState::Loading, None));
        }
        next.declared_views = Some(Arc::new(views));
        self.put(next);
    }

    /// Publishes a loaded table, replacing the entry's previous state or adding the entry.
    pub fn publish(&self, table: Arc<dyn Table>) {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Contents::clone(&self.current.load().contents);
        let name = table.describe().name.clone();
        next.entries.insert(name.clone(), Entry::new(name.clone(), LoadState::Ready(table), None));
        self.put(next.indexed(&name));
    }

    /// Takes out the tables of the databases in `gone`. Those of the databases in `replaced` count as loading until the
    /// tables of their successors are published. For each of the databases in `awaited`, which can't be reached yet, an
    /// entry of its name counts as loading in place of its tables.
    pub fn withhold(&self, gone: &[Name], replaced: &[Name], awaited: &[Name]) {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Contents::clone(&self.current.load().contents);
        let Contents { entries, index, .. } = &mut next;
        entries.retain(|name, entry| {
            let Some(owner) = &entry.database else { return true };
            let stays = !(gone.contains(owner) || awaited.contains(owner));
            if !stays || replaced.contains(owner) {
                entry.state = LoadState::Loading;
                index.remove(name);
            }
            stays
        });
        for name in awaited {
            let entry = || Entry::new(name.clone(), LoadState::Loading, Some(name.clone()));
            entries.entry(name.clone()).or_insert_with(entry);
        }
        self.put(next);
    }

    /// Updates the columns of entries that grow.
    pub fn widen(&self) {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.current.load();
        if current.of_a_request().is_some_and(|own| own.has_widened()) {
            self.put(Contents::clone(&current.contents));
        }
    }

    /// Publishes the tables of databases, replacing their previous ones. A name that is taken by another entry, or by a
    /// table of a database before it, becomes `database.table`.
    pub fn publish_tables(&self, databases: &[&dyn Database]) {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Contents::clone(&self.current.load().contents);
        let is_of = |owner: &Name| databases.iter().any(|database| database.spec().name == *owner);
        let owned = next.entries.values().filter(|entry| entry.database.as_ref().is_some_and(is_of));
        let gone: Vec<Name> = owned.map(|entry| entry.name.clone()).collect();
        for name in gone {
            next.entries.remove(&name);
            next.index.remove(&name);
        }
        for database in databases {
            let owner = &database.spec().name;
            // The name in the database, by that of the entry.
            let mut taken = BTreeMap::new();
            let mut free = |table: &str| {
                let mut wanted = [table.to_owned(), format!("{owner}.{table}")].into_iter();
                let name = wanted.find_map(|name| {
                    Name::new(&name).ok().filter(|name| !next.entries.contains_key(name) && !taken.contains_key(name))
                })?;
                taken.insert(name.clone(), format!("{owner}.{table}"));
                Some(name)
            };
            let tables = database.tables(&mut free);
            for table in tables {
                let name = table.describe().name.clone();
                next.index.insert(name.clone(), Arc::clone(&table));
                let mut entry = Entry::new(name.clone(), LoadState::Ready(table), Some(owner.clone()));
                entry.ruled_name = taken.remove(&name).unwrap_or(entry.ruled_name);
                next.entries.insert(name, entry);
            }
        }
        self.put(next);
    }

    /// Reports a failed load. The last good version stays, unless its rows must no longer be read by anyone.
    pub fn report(&self, name: &Name, error: &Error) {
        let failure = LoadFailure { message: error.message.clone(), hint: error.hint.clone(), at: SystemTime::now() };
        let is_gone = error.code == Code::Forbidden;
        self.change(name, |state| match state {
            LoadState::Ready(table) | LoadState::Stale(table, _) if !is_gone => {
                LoadState::Stale(Arc::clone(table), failure)
            }
            LoadState::Ready(_) | LoadState::Stale(..) | LoadState::Loading | LoadState::Failed(_) => {
                LoadState::Failed(failure)
            }
        });
    }

    /// Clears a reported failure, when the source turned out to match the served version.
    pub fn clear(&self, name: &Name) {
        let stale = matches!(self.peek().entry(name.as_str()).map(|e| &e.state), Some(LoadState::Stale(..)));
        if stale {
            self.change(name, |state| match state {
                LoadState::Stale(table, _) => LoadState::Ready(Arc::clone(table)),
                other => other.clone(),
            });
        }
    }

    /// Waits until every entry is loaded or has failed.
    pub async fn settled(&self) {
        let mut generation = self.generation.subscribe();
        while !self.peek().settled() {
            if generation.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until a generation other than this one is served.
    pub async fn moved(&self, from: u64) {
        let mut generation = self.generation.subscribe();
        while self.peek().generation() == from {
            if generation.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until the first load of `name` has ended.
    pub async fn loaded(&self, name: &str) {
        let mut generation = self.generation.subscribe();
        while matches!(self.peek().entry(name).map(|e| &e.state), Some(LoadState::Loading)) {
            if generation.changed().await.is_err() {
                return;
            }
        }
    }

    fn change(&self, name: &Name, state: impl FnOnce(&LoadState) -> LoadState) {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Contents::clone(&self.current.load().contents);
        let Some(entry) = next.entries.get_mut(name.as_str()) else { return };
        entry.state = state(&entry.state);
        self.put(next.indexed(name));
    }

    fn put(&self, mut next: Contents) {
        if let Some(views) = next.declared_views.clone() {
            views.make(&mut next, &self.current.load().contents);
        }
        next.count();
        next.generation += 1;
        let generation = next.generation;
        self.current.store(Arc::new(Snapshot::shared(next)));
        self.generation.send_replace(generation);
    }
}
