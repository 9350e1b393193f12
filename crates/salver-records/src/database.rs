//! A database entry: its connections and its schema, and the port through which everything is asked of it.

mod watch;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use salver_model::ports::{Database, RecordStream, Table};
use salver_model::records::{
    Change, DatabaseSchema, Definition, Document, GeoQuery, Load, LoadReport, Operation, RecordKey, RecordQuery,
};
use salver_model::spec::DatabaseSpec;
use salver_model::version::Version;
use salver_model::{Caller, Code, Name, Result, Shares};
use tokio::sync::Mutex;

use crate::access::Access;
use crate::backend::Backend;
use crate::dialect::Dialect;
use crate::prepared::Prepared;
use crate::scope::Scope;
use crate::table::RecordsTable;
use crate::{change, define, mapping, read};

/// A database of one of the three systems.
#[derive(Debug)]
pub struct RecordsDatabase {
    spec: DatabaseSpec,
    backend: Arc<Backend>,
    schema: ArcSwap<DatabaseSchema>,
    prepared: Prepared,
    /// The backend's stamp that `schema` was read under; `None` before the first time.
    seen: Mutex<Option<u64>>,
}

impl RecordsDatabase {
    /// A database as declared. Nothing is connected yet.
    ///
    /// # Errors
    /// A URL that can't be read, or a file that is not there.
    pub fn open(spec: DatabaseSpec) -> Result<Self> {
        let backend = Arc::new(Backend::open(&spec)?);
        Ok(Self { spec, backend, schema: ArcSwap::default(), prepared: Prepared::default(), seen: Mutex::new(None) })
    }

    fn access<'a>(&'a self, caller: &'a Caller) -> Access<'a> {
        Access { spec: &self.spec, caller, excepts: true }
    }

    fn scope<'a>(&'a self, caller: &'a Caller) -> Scope<'a> {
        Scope {
            backend: &self.backend,
            dialect: Dialect::of(self.spec.kind),
            schema: self.schema.load_full(),
            access: self.access(caller),
            prepared: &self.prepared,
        }
    }

    /// Reads the schema when the database has another one than was seen last; tells whether it had.
    async fn renew(&self, always: bool) -> Result<bool> {
        let mut seen = self.seen.lock().await;
        let stamp = self.backend.stamp().await?;
        if *seen == Some(stamp) && !always {
            return Ok(false);
        }
        let tables = mapping::outside(&self.spec, self.backend.reflect().await?);
        let content = Version::of(&tables).0;
        let moved = seen.is_none() || self.schema.load().stamp() != content;
        if moved {
            self.schema.store(Arc::new(DatabaseSchema::new(tables, content)));
        }
        *seen = Some(stamp);
        Ok(moved)
    }

    /// Reads the schema when the database has another one than was seen last.
    pub(crate) async fn look(&self) -> Result<()> {
        self.renew(false).await.map(|_| ())
    }

    /// Runs `work`; once more when it failed for a name that a newer schema may have.
    async fn with_schema<'a, T, F>(&'a self, caller: &'a Caller, work: impl Fn(Scope<'a>) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        if self.schema.load().stamp() == 0 {
            self.renew(false).await?;
        }
        match work(self.scope(caller)).await {
            Err(error) if names_something(error.code) && self.renew(false).await? => work(self.scope(caller)).await,
            done => done,
        }
    }
}

/// Whether the failure may come from a schema that is out of date.
fn names_something(code: Code) -> bool {
    use Code::{InvalidColumn, InvalidFilter, InvalidSort, NoPrimaryKey, UnknownColumn, UnknownTable};
    matches!(code, UnknownTable | UnknownColumn | NoPrimaryKey | InvalidColumn | InvalidFilter | InvalidSort)
}

#[async_trait]
impl Database for RecordsDatabase {
    fn spec(&self) -> &DatabaseSpec {
        &self.spec
    }

    fn schema(&self) -> Arc<DatabaseSchema> {
        self.schema.load_full()
    }

    fn visible(&self, caller: &Caller, operation: Operation) -> Arc<DatabaseSchema> {
        let schema = self.schema.load_full();
        if self.spec.rules.is_empty() {
            return schema;
        }
        Arc::new(self.access(caller).visible(&schema, operation))
    }

    async fn list(&self, caller: &Caller, query: &RecordQuery) -> Result<Document> {
        self.with_schema(caller, |scope| async move { read::list(&scope, query).await }).await
    }

    async fn read(&self, caller: &Caller, query: &RecordQuery, keys: &[RecordKey], many: bool) -> Result<Document> {
        self.with_schema(caller, |scope| async move { read::by_key(&scope, query, keys, many).await }).await
    }

    fn read_now(&self, caller: &Caller, query: &RecordQuery, key: Option<&str>) -> Option<Result<Document>> {
        read::now(&self.scope(caller), query, key)
    }

    async fn change(&self, caller: &Caller, change: Change) -> Result<Document> {
        let change = &change;
        self.with_schema(caller, |scope| async move { change::one(&scope, change).await }).await
    }

    async fn transact(&self, caller: &Caller, changes: Vec<Change>) -> Result<Document> {
        let changes = &changes;
        self.with_schema(caller, |scope| async move { change::several(&scope, changes).await }).await
    }

    async fn load(&self, caller: &Caller, load: &Load, rows: RecordStream) -> Result<LoadReport> {
        // The rows can be read once only, so the table is looked for before.
        let known = |scope: Scope<'_>| scope.table(Operation::Create, &load.table).map(|_| ());
        self.with_schema(caller, |scope| async move { known(scope) }).await?;
        change::load(&self.scope(caller), load, rows).await
    }

    async fn geojson(&self, caller: &Caller, query: &GeoQuery, key: Option<&RecordKey>) -> Result<Document> {
        self.with_schema(caller, |scope| async move { read::geojson(&scope, query, key).await }).await
    }

    async fn define(&self, caller: &Caller, definition: &Definition) -> Result<()> {
        self.with_schema(caller, |scope| async move { define::run(&scope, definition).await }).await?;
        self.renew(true).await.map(|_| ())
    }

    async fn refresh(&self) -> Result<()> {
        self.renew(true).await.map(|_| ())
    }

    async fn ping(&self) -> Result<Duration> {
        self.backend.ping().await
    }

    fn places(&self) -> Option<Arc<Shares>> {
        Some(Arc::clone(self.backend.lying()))
    }

    fn version(&self) -> Option<u64> {
        self.backend.version()
    }

    fn tables(&self) -> Vec<(Name, Arc<dyn Table>)> {
        // The catalog is one for all callers: what any of them may not see is not in it.
        let caller = Caller::default();
        let everybody = Access { excepts: false, ..self.access(&caller) };
        let schema = match self.spec.rules.is_empty() {
            true => self.schema.load_full(),
            false => Arc::new(everybody.visible(&self.schema.load(), Operation::List)),
        };
        let version = Version(schema.stamp());
        let made =
            schema.tables().iter().filter_map(|info| RecordsTable::new(&self.backend, &self.spec, info, version));
        made.map(|(name, table)| (name, Arc::new(table) as Arc<dyn Table>)).collect()
    }

    async fn changed(&self, stamp: u64) -> Result<()> {
        watch::changed(self, stamp).await
    }
}
