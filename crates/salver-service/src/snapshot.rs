//! The catalog at one moment. A request uses one snapshot from start to end; a reload creates a new one and never
//! changes those in use. For an entry whose rows grow, a request's snapshot holds the rows that existed at its first
//! access.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use ahash::AHashMap;
use arrow::datatypes::SchemaRef;
use salver_model::ports::{Progress, Table, Tables};
use salver_model::{Code, Error, Grants, Name, Permission, Result, SqlFault, Version, suggest};

use crate::declared_views::{MadeView, Views};

/// Reason why an entry could not be loaded, for clients.
#[derive(Clone, Debug)]
pub struct LoadFailure {
    /// Error message.
    pub message: String,
    /// Suggested remedy.
    pub hint: Option<String>,
    /// Time of the last attempt.
    pub at: SystemTime,
}

/// Load state of an entry.
#[derive(Clone, Debug)]
pub enum LoadState {
    /// The first load is running.
    Loading,
    /// Loaded.
    Ready(Arc<dyn Table>),
    /// The last good version is served; a later load failed.
    Stale(Arc<dyn Table>, LoadFailure),
    /// Never loaded.
    Failed(LoadFailure),
}

/// Entry of the catalog.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the entry.
    pub name: Name,
    /// Load state, with the table.
    pub state: LoadState,
    /// Database of the table, or for which the entry is a placeholder until it can be reached; `None` for other
    /// entries.
    pub database: Option<Name>,
    /// Name that access rules have it by: `database.table` for a table.
    pub(crate) ruled_name: String,
    /// For an entry whose rows grow: the columns it had when the catalog last changed.
    pub(crate) grows: Option<SchemaRef>,
    /// Progress of its load.
    pub progress: Arc<Progress>,
    /// In the snapshot of a request: the rows it holds.
    held: Option<Box<OnceLock<Arc<dyn Table>>>>,
}

impl Entry {
    pub(crate) fn new(name: Name, state: LoadState, database: Option<Name>) -> Self {
        let ruled_name = name.as_str().to_owned();
        Self { name, state, database, ruled_name, grows: None, progress: Arc::default(), held: None }
    }

    /// Returns the name that access rules have it by: `database.table` for a table of a database.
    #[must_use]
    pub fn ruled_name(&self) -> &str {
        &self.ruled_name
    }

    /// Returns the entry in another state.
    pub(crate) fn with_state(&self, state: LoadState) -> Self {
        Self { state, ..self.clone() }
    }

    /// Returns a copy for one request.
    fn to_be_held(&self) -> Self {
        Self { held: Some(Box::default()), ..self.clone() }
    }

    /// Returns the table, if one is served.
    #[must_use]
    pub fn table(&self) -> Option<&Arc<dyn Table>> {
        match &self.state {
            LoadState::Ready(table) | LoadState::Stale(table, _) => Some(match &self.held {
                None => table,
                Some(held) => held.get_or_init(|| table.current().unwrap_or_else(|| Arc::clone(table))),
            }),
            LoadState::Loading | LoadState::Failed(_) => None,
        }
    }

    /// Returns the failure of the last load, if it failed.
    #[must_use]
    pub fn failure(&self) -> Option<&LoadFailure> {
        match &self.state {
            LoadState::Stale(_, failure) | LoadState::Failed(failure) => Some(failure),
            LoadState::Loading | LoadState::Ready(_) => None,
        }
    }

    /// Returns the table, or the reason why there is none.
    ///
    /// # Errors
    /// Returns `EntryUnavailable` while it loads and when it could not be loaded.
    pub fn require(&self) -> Result<&Arc<dyn Table>> {
        if let Some(table) = self.table() {
            return Ok(table);
        }
        Err(match self.failure() {
            None => Error::new(Code::EntryUnavailable, format!("`{}` is still being loaded", self.name))
                .with_hint("try again in a moment; `/ready` tells when everything is loaded"),
            Some(failure) => {
                let message = format!("`{}` could not be loaded: {}", self.name, failure.message);
                Error::new(Code::EntryUnavailable, message).with_hint_if(failure.hint.clone())
            }
        })
    }
}

/// Key-value view of an entry: lookups match one column and return another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Name of the store.
    pub name: Name,
    /// Name of the entry.
    pub entry: Name,
    /// Column that keys are matched with.
    pub key: String,
    /// Column that is returned.
    pub value: String,
}

/// Catalog at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) contents: Arc<Contents>,
    /// In the snapshot of a request: the entries that grow, by name.
    held: Box<[Entry]>,
    /// Whose view of the catalog it is, and for what; `None` for all of it.
    view: Option<(Arc<Grants>, Permission)>,
}

/// Contents shared by all snapshots of one generation.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    /// Generation, incremented with every change.
    pub(crate) generation: u64,
    pub(crate) content: Version,
    pub(crate) entries: BTreeMap<Name, Entry>,
    /// Immutable tables, for the hot path.
    pub(crate) index: AHashMap<Name, Arc<dyn Table>>,
    pub(crate) growing: usize,
    pub(crate) stores: Arc<[Store]>,
    /// The declared views; `None` without any.
    pub(crate) declared_views: Option<Arc<Views>>,
    /// Those that were made.
    pub(crate) views: BTreeMap<Name, MadeView>,
}

impl Contents {
    /// Creates a catalog of entries that are not loaded yet.
    pub(crate) fn new(
        names: impl IntoIterator<Item = Name>,
        databases: impl IntoIterator<Item = Name>,
        stores: Vec<Store>,
    ) -> Self {
        let alone = names.into_iter().map(|name| Entry::new(name, LoadState::Loading, None));
        let databases = databases.into_iter().map(|name| Entry::new(name.clone(), LoadState::Loading, Some(name)));
        let entries = alone.chain(databases).map(|entry| (entry.name.clone(), entry)).collect();
        Self {
            generation: 0,
            content: Version(0),
            entries,
            index: AHashMap::new(),
            growing: 0,
            stores: stores.into(),
            declared_views: None,
            views: BTreeMap::new(),
        }
    }

    /// Updates what is derived from all entries: their versions as one, and how many grow.
    pub(crate) fn count(&mut self) {
        let mut versions = Vec::with_capacity(self.entries.len());
        self.growing = 0;
        for entry in self.entries.values_mut() {
            let current = entry.table().and_then(|table| table.current());
            entry.grows = current.map(|table| Arc::clone(&table.describe().schema));
            let version = match (&entry.grows, entry.table()) {
                (Some(schema), _) => Version::of(schema),
                (None, Some(table)) => table.describe().version,
                (None, None) => continue,
            };
            self.growing += usize::from(entry.grows.is_some());
            versions.push((entry.name.as_str(), version));
        }
        self.content = Version::of(&versions);
    }

    /// Updates the index after the entry called `name` changed.
    pub(crate) fn indexed(mut self, name: &Name) -> Self {
        self.index_again(name);
        self
    }

    /// Updates the index in the same way.
    pub(crate) fn index_again(&mut self, name: &Name) {
        let table = self.entries.get(name).and_then(Entry::table).filter(|table| table.current().is_none());
        match table.cloned() {
            Some(table) => self.index.insert(name.clone(), table),
            None => self.index.remove(name),
        };
    }
}

impl Snapshot {
    /// Creates the snapshot that all requests share. Entries that grow cannot be read in it: each request holds its own
    /// rows.
    pub(crate) fn shared(contents: Contents) -> Self {
        Self { contents: Arc::new(contents), held: Box::default(), view: None }
    }

    /// Creates the snapshot that all requests with these rights share.
    pub(crate) fn viewed(contents: Arc<Contents>, grants: &Arc<Grants>, permission: Permission) -> Self {
        Self { contents, held: Box::default(), view: Some((Arc::clone(grants), permission)) }
    }

    /// Returns whose view of the catalog it is, and for what.
    pub(crate) fn view(&self) -> Option<(&Arc<Grants>, Permission)> {
        self.view.as_ref().map(|(grants, permission)| (grants, *permission))
    }

    /// Returns what the snapshot is for; reading for the whole catalog.
    #[must_use]
    pub fn view_permission(&self) -> Permission {
        self.view.as_ref().map_or(Permission::Read, |(_, permission)| *permission)
    }

    /// Returns a number that views with other entries and columns do not have; 0 for the whole catalog.
    #[must_use]
    pub fn view_class(&self) -> u64 {
        self.view.as_ref().map_or(0, |(grants, _)| grants.class())
    }

    /// Returns the snapshot for one request; `None` if the shared one suffices.
    pub(crate) fn of_a_request(&self) -> Option<Self> {
        if self.contents.growing == 0 {
            return None;
        }
        let growing = self.contents.entries.values().filter(|entry| entry.grows.is_some());
        let held = growing.map(Entry::to_be_held).collect();
        Some(Self { contents: Arc::clone(&self.contents), held, view: self.view.clone() })
    }

    /// Combines the versions of all tables: the version of a response that may read any of them. Unlike
    /// [`Snapshot::generation`] it survives a restart. Of entries that grow only the columns count: responses made of
    /// their rows are never identical.
    #[must_use]
    pub fn content(&self) -> Version {
        self.contents.content
    }

    /// Returns a number that grows with every change of the catalog.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.contents.generation
    }

    /// Iterates over the entries, by name.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.contents.entries.values().map(|entry| self.held(entry))
    }

    /// Returns the entry called `name`.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.contents.entries.get(name).map(|entry| self.held(entry))
    }

    /// Returns the entry as this snapshot holds it.
    fn held<'e>(&'e self, entry: &'e Entry) -> &'e Entry {
        if entry.grows.is_none() {
            return entry;
        }
        self.held.binary_search_by(|held| held.name.cmp(&entry.name)).map_or(entry, |at| &self.held[at])
    }

    /// Returns the table called `name`: the only lookup of the hot path.
    ///
    /// # Errors
    /// Returns `UnknownEntry` with the nearest name as hint, and `EntryUnavailable`, also for an entry that grows if
    /// the snapshot is not a request's own.
    pub fn resolve(&self, name: &str) -> Result<&Arc<dyn Table>> {
        if let Some(table) = self.contents.index.get(name) {
            return Ok(table);
        }
        match self.entry(name) {
            Some(entry) if entry.grows.is_some() && entry.held.is_none() => {
                Err(Error::new(Code::EntryUnavailable, format!("`{name}` grows, and no rows of it are held")))
            }
            Some(entry) => entry.require(),
            None => Err(self.absent(name).unwrap_or_else(|| {
                Error::new(Code::UnknownEntry, format!("no table `{name}`"))
                    .with_sql_fault(SqlFault::UnknownTable)
                    .with_hint_if(suggest::hint(name, self.contents.entries.keys().map(Name::as_str)))
            })),
        }
    }

    /// Returns the error for a table that no entry is, where a database that was never reached may have it: its tables
    /// are not known.
    pub(crate) fn absent(&self, name: &str) -> Option<Error> {
        let is_unreached = |entry: &Entry| {
            entry.database.is_some() && entry.table().is_none() && matches!(entry.state, LoadState::Failed(_))
        };
        self.entries().any(is_unreached).then(|| {
            let message = format!("no table `{name}` is known, and a database that may have it can't be reached");
            Error::new(Code::EntryUnavailable, message).with_hint("`/ready` says which, and why")
        })
    }

    /// Returns whether an entry that grows has changed its columns since the catalog last changed.
    pub(crate) fn has_widened(&self) -> bool {
        self.held.iter().any(|entry| match (&entry.grows, entry.table()) {
            (Some(before), Some(table)) => !same(before, &table.describe().schema),
            _ => false,
        })
    }

    /// Returns the key-value stores.
    #[must_use]
    pub fn stores(&self) -> &[Store] {
        &self.contents.stores
    }

    /// Returns the key-value store called `name`.
    #[must_use]
    pub fn store(&self, name: &str) -> Option<&Store> {
        self.contents.stores.iter().find(|store| store.name.as_str() == name)
    }

    /// Returns whether every entry is loaded or has failed.
    #[must_use]
    pub fn settled(&self) -> bool {
        !self.contents.entries.values().any(|entry| matches!(entry.state, LoadState::Loading))
    }
}

/// Returns whether two schemas have the same columns; mostly they are the same allocation.
pub(crate) fn same(one: &SchemaRef, other: &SchemaRef) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

impl Tables for Snapshot {
    fn table(&self, name: &str) -> Result<Option<Arc<dyn Table>>> {
        match self.entry(name) {
            None => self.absent(name).map_or(Ok(None), Err),
            Some(entry) => entry.require().map(|table| Some(Arc::clone(table))),
        }
    }

    fn list(&self) -> Vec<(Name, Arc<dyn Table>)> {
        self.entries().filter_map(|e| Some((e.name.clone(), Arc::clone(e.table()?)))).collect()
    }

    fn calls(&self, file: &str) -> bool {
        self.view.as_ref().is_none_or(|(grants, _)| grants.decide(Permission::Call, file).is_some())
    }

    fn generation(&self) -> u64 {
        self.contents.generation
    }
}
