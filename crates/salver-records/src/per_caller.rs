//! An entry with a separate database for each caller: the entry's URL has a placeholder for an attribute of the caller.
//! A database is opened at its caller's first request, and shares nothing with another: no connections, schema,
//! statements, or batches of reads.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ahash::AHashMap;
use async_trait::async_trait;
use salver_model::limits::DATABASES_OF_CALLERS_MAX;
use salver_model::ports::{Database, MaybeReady, RecordStream, Table};
use salver_model::records::{
    Change, Changed, DatabaseSchema, Definition, Document, Load, LoadReport, Operation, RecordRead,
};
use salver_model::spec::{DatabaseKind, DatabaseSpec, url_template};
use salver_model::{Caller, Code, Error, Name, Result};

use crate::backend::is_nowhere;
use crate::database::RecordsDatabase;

/// Idle time after which a database is closed when another is opened.
const IDLE: Duration = Duration::from_secs(600);
/// The stamp of the schema without tables.
const STAMP: u64 = 1;

/// A separate database for each caller.
#[derive(Debug)]
pub struct PerCallerDatabases {
    spec: DatabaseSpec,
    attribute: String,
    schema: Arc<DatabaseSchema>,
    open: Mutex<AHashMap<String, Opened>>,
}

/// One caller's database.
#[derive(Clone, Debug)]
struct Opened {
    database: Arc<RecordsDatabase>,
    used: Instant,
    /// Time of the last check of its schema.
    looked: Option<Instant>,
}

impl PerCallerDatabases {
    /// Creates the entry, if `spec` has a database per caller.
    #[must_use]
    pub fn of(spec: &DatabaseSpec) -> Option<Self> {
        let attribute = spec.of_caller.clone()?;
        let schema = Arc::new(DatabaseSchema::new(Vec::new(), STAMP));
        Some(Self { spec: spec.clone(), attribute, schema, open: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, AHashMap<String, Opened>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the caller's own database, with a schema that is not older than the entry's `refresh`.
    async fn own(&self, caller: &Caller) -> Result<Arc<RecordsDatabase>> {
        let value = caller.attribute(&self.attribute).ok_or_else(|| self.refuse())?;
        let Opened { database, looked, .. } = self.opened(&value)?;
        let is_fresh = looked.is_some_and(|looked| looked.elapsed() < self.spec.refresh);
        if is_fresh && database.schema().stamp() != 0 {
            return Ok(database);
        }
        if let Err(error) = database.look().await {
            if !is_nowhere(&error) {
                return Err(error);
            }
            self.lock().remove(&value);
            return Err(self.refuse());
        }
        if let Some(opened) = self.lock().get_mut(&value) {
            opened.looked = Some(Instant::now());
        }
        Ok(database)
    }

    /// Returns the database for `value`, opening it if necessary.
    fn opened(&self, value: &str) -> Result<Opened> {
        let now = Instant::now();
        if let Some(opened) = self.lock().get_mut(value) {
            opened.used = now;
            return Ok(opened.clone());
        }
        let url = url_template::url_for(&self.spec.url, value).ok_or_else(|| self.refuse())?;
        if self.spec.kind == DatabaseKind::Sqlite && self.spec.init.is_none() && !is_file(&url) {
            return Err(self.refuse());
        }
        let spec = DatabaseSpec { url, of_caller: None, ..self.spec.clone() };
        let opened = Opened { database: Arc::new(RecordsDatabase::open(spec)?), used: now, looked: None };
        let mut open = self.lock();
        let closed = make_room(&mut open, now);
        // Another task may have opened it meanwhile.
        let opened = open.entry(value.to_owned()).or_insert(opened).clone();
        drop(open);
        // Closing a database can block.
        tokio::task::spawn_blocking(move || drop(closed));
        Ok(opened)
    }

    /// Returns the same error whether the caller's attribute is missing, is no valid name, or has no database: it does
    /// not reveal which databases exist.
    fn refuse(&self) -> Error {
        let hint = format!("`{}` has a database for each `caller.{}`", self.spec.name, self.attribute);
        Error::new(Code::Forbidden, "Operation forbidden").with_hint(hint)
    }

    fn all(&self) -> Vec<Arc<RecordsDatabase>> {
        self.lock().values().map(|opened| Arc::clone(&opened.database)).collect()
    }
}

/// Removes databases that were idle for long and, when the limit is reached, the least recently used one.
fn make_room(open: &mut AHashMap<String, Opened>, now: Instant) -> Vec<Opened> {
    let mut closed: Vec<Opened> =
        open.extract_if(|_, opened| now.duration_since(opened.used) > IDLE).map(|(_, own)| own).collect();
    if open.len() >= DATABASES_OF_CALLERS_MAX {
        let oldest = open.iter().min_by_key(|(_, opened)| opened.used).map(|(value, _)| value.clone());
        closed.extend(oldest.and_then(|value| open.remove(&value)));
    }
    closed
}

/// Returns whether the file of a SQLite database exists.
fn is_file(url: &str) -> bool {
    let path = url.split_once(':').map_or(url, |(_, path)| path);
    Path::new(path.strip_prefix("//").unwrap_or(path)).is_file()
}

#[async_trait]
impl Database for PerCallerDatabases {
    fn spec(&self) -> &DatabaseSpec {
        &self.spec
    }

    fn schema(&self) -> Arc<DatabaseSchema> {
        Arc::clone(&self.schema)
    }

    async fn of_caller(&self, caller: &Caller) -> Result<Option<Arc<dyn Database>>> {
        Ok(Some(self.own(caller).await?))
    }

    fn visible(&self, _: &Caller, _: Operation) -> Arc<DatabaseSchema> {
        Arc::clone(&self.schema)
    }

    fn read<'a>(&'a self, caller: &'a Caller, read: &'a RecordRead) -> MaybeReady<'a, Result<Document>> {
        MaybeReady::pending(async move {
            let own = self.own(caller).await?;
            own.read(caller, read).await
        })
    }

    async fn change(&self, caller: &Caller, change: Change) -> Result<Changed> {
        self.own(caller).await?.change(caller, change).await
    }

    async fn transact(&self, caller: &Caller, changes: Vec<Change>) -> Result<Changed> {
        self.own(caller).await?.transact(caller, changes).await
    }

    async fn load(&self, caller: &Caller, load: &Load, rows: RecordStream) -> Result<LoadReport> {
        self.own(caller).await?.load(caller, load, rows).await
    }

    async fn define(&self, caller: &Caller, definition: &Definition) -> Result<()> {
        self.own(caller).await?.define(caller, definition).await
    }

    async fn refresh(&self) -> Result<()> {
        for database in self.all() {
            database.refresh().await?;
        }
        Ok(())
    }

    async fn ping(&self) -> Result<Duration> {
        let mut slowest = Duration::ZERO;
        for database in self.all() {
            slowest = slowest.max(database.ping().await?);
        }
        Ok(slowest)
    }

    fn version(&self) -> Option<u64> {
        None
    }

    fn tables(&self, _: &mut dyn FnMut(&str) -> Option<Name>) -> Vec<Arc<dyn Table>> {
        Vec::new()
    }

    async fn changed(&self, stamp: u64) -> Result<()> {
        if stamp == STAMP { std::future::pending().await } else { Ok(()) }
    }
}
