//! The catalog at one moment. A request holds one snapshot from start to end; a reload makes a new one and never
//! touches those in use.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use ahash::AHashMap;
use salver_model::ports::{Table, Tables};
use salver_model::{Code, Error, Name, Result, Version, suggest};

/// Why an entry could not be loaded, as the client may read it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
    /// When the last try was.
    pub at: SystemTime,
}

/// What is true of an entry's content.
#[derive(Clone, Debug)]
pub enum State {
    /// The first load is under way.
    Loading,
    /// Loaded.
    Ready(Arc<dyn Table>),
    /// The last good version is served; a later load failed.
    Stale(Arc<dyn Table>, Failure),
    /// Never loaded.
    Failed(Failure),
}

/// One entry of the catalog.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: Name,
    /// Its content.
    pub state: State,
    /// The database it is a table of, or stands for until that can be reached; `None` for what stands alone.
    pub database: Option<Name>,
}

impl Entry {
    /// The table, when one is being served.
    #[must_use]
    pub fn table(&self) -> Option<&Arc<dyn Table>> {
        match &self.state {
            State::Ready(table) | State::Stale(table, _) => Some(table),
            State::Loading | State::Failed(_) => None,
        }
    }

    /// The last load's failure, when it failed.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match &self.state {
            State::Stale(_, failure) | State::Failed(failure) => Some(failure),
            State::Loading | State::Ready(_) => None,
        }
    }

    /// The table, or why there is none.
    ///
    /// # Errors
    /// `EntryUnavailable` while it loads and when it could not be loaded.
    pub fn require(&self) -> Result<&Arc<dyn Table>> {
        match &self.state {
            State::Ready(table) | State::Stale(table, _) => Ok(table),
            State::Loading => Err(Error::new(Code::EntryUnavailable, format!("`{}` is still being loaded", self.name))
                .with_hint("try again in a moment; `/ready` tells when everything is loaded")),
            State::Failed(failure) => Err(Error::new(
                Code::EntryUnavailable,
                format!("`{}` could not be loaded: {}", self.name, failure.message),
            )
            .with_hint_if(failure.hint.clone())),
        }
    }
}

/// A key-value view of an entry: one column finds, another answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The store's name.
    pub name: Name,
    /// The entry.
    pub entry: Name,
    /// The column that is looked up.
    pub key: String,
    /// The column that is answered.
    pub value: String,
}

/// The catalog at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Grows with every change.
    pub(crate) generation: u64,
    pub(crate) content: Version,
    pub(crate) entries: BTreeMap<Name, Entry>,
    pub(crate) index: AHashMap<Name, Arc<dyn Table>>,
    pub(crate) stores: Arc<[Store]>,
}

impl Snapshot {
    /// A catalog of entries that are still to be loaded.
    pub(crate) fn new(
        names: impl IntoIterator<Item = Name>,
        databases: impl IntoIterator<Item = Name>,
        stores: Vec<Store>,
    ) -> Self {
        let alone = names.into_iter().map(|name| Entry { name, state: State::Loading, database: None });
        let databases =
            databases.into_iter().map(|name| Entry { name: name.clone(), state: State::Loading, database: Some(name) });
        let entries = alone.chain(databases).map(|entry| (entry.name.clone(), entry)).collect();
        Self { generation: 0, content: Version(0), entries, index: AHashMap::new(), stores: stores.into() }
    }

    /// The versions of all tables as one: what an answer that may read any of them depends on. Unlike
    /// [`Snapshot::generation`] it survives a restart.
    #[must_use]
    pub fn content(&self) -> Version {
        self.content
    }

    /// A number that grows with every change of the catalog.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Every entry, by name.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The entry called `name`.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// The table called `name`: the one look-up of the hot path.
    ///
    /// # Errors
    /// `UnknownEntry` with the nearest name as hint; `EntryUnavailable`.
    pub fn resolve(&self, name: &str) -> Result<&Arc<dyn Table>> {
        if let Some(table) = self.index.get(name) {
            return Ok(table);
        }
        match self.entries.get(name) {
            Some(entry) => entry.require(),
            None => Err(Error::new(Code::UnknownEntry, format!("no table `{name}`"))
                .with_hint_if(suggest::hint(name, self.entries.keys().map(Name::as_str)))),
        }
    }

    /// The key-value stores.
    #[must_use]
    pub fn stores(&self) -> &[Store] {
        &self.stores
    }

    /// The key-value store called `name`.
    #[must_use]
    pub fn store(&self, name: &str) -> Option<&Store> {
        self.stores.iter().find(|store| store.name.as_str() == name)
    }

    /// Whether every entry is loaded, or known not to load.
    #[must_use]
    pub fn settled(&self) -> bool {
        !self.entries.values().any(|entry| matches!(entry.state, State::Loading))
    }
}

impl Tables for Snapshot {
    fn table(&self, name: &str) -> Result<Option<Arc<dyn Table>>> {
        match self.entries.get(name) {
            None => Ok(None),
            Some(entry) => entry.require().map(|table| Some(Arc::clone(table))),
        }
    }

    fn list(&self) -> Vec<(Name, Arc<dyn Table>)> {
        self.entries.values().filter_map(|e| Some((e.name.clone(), Arc::clone(e.table()?)))).collect()
    }

    fn generation(&self) -> u64 {
        self.generation
    }
}
