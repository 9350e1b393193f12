//! A database entry: its connections, its schema, and the port through which it is used.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use salver_model::ports::{Database, MaybeReady, RecordStream, Table};
use salver_model::records::{
    Change, Changed, DatabaseSchema, Definition, Document, Load, LoadReport, Operation, RecordRead,
};
use salver_model::spec::DatabaseSpec;
use salver_model::{Caller, Code, Name, Result, Shares};

use crate::access::Access;
use crate::backend::Backend;
use crate::dialect::Dialect;
use crate::prepared_cache::Prepared;
use crate::schema_cache::{KnownDatabase, may_be_old};
use crate::scope::Scope;
use crate::table::{RecordsTable, RowRules};
use crate::{change, define, read};

/// A database of one of the three systems.
#[derive(Debug)]
pub struct RecordsDatabase {
    known: Arc<KnownDatabase>,
    prepared: Prepared,
}

impl RecordsDatabase {
    /// Opens a database as declared, without connecting.
    ///
    /// # Errors
    /// An invalid URL, or a missing file.
    pub fn open(spec: DatabaseSpec) -> Result<Self> {
        let backend = Arc::new(Backend::open(&spec)?);
        Ok(Self { known: Arc::new(KnownDatabase::new(spec, backend)), prepared: Prepared::default() })
    }

    fn access<'a>(&'a self, caller: &'a Caller) -> Access<'a> {
        Access { spec: &self.known.spec, caller, for_all_alike: false }
    }

    /// Returns the scope of one request; `sure` if the schema was refreshed since the request arrived.
    fn scope<'a>(&'a self, caller: &'a Caller, sure: bool) -> Scope<'a> {
        Scope {
            backend: &self.known.backend,
            dialect: Dialect::of(self.known.spec.kind),
            schema: self.known.schema.load_full(),
            access: self.access(caller),
            prepared: &self.prepared,
            sure,
        }
    }

    /// Reads rows on a connection that the request may have to wait for; the result is that of [`Database::read`].
    ///
    /// # Errors
    /// Those of [`Database::read`].
    pub async fn read_later(&self, caller: &Caller, read: &RecordRead) -> Result<Document> {
        let names = |code| matches!(code, Code::InvalidColumn | Code::InvalidSort | Code::UnknownTable);
        self.with_schema(caller, names, |scope| async move {
            match read {
                RecordRead::List(query) => read::list(&scope, query).await,
                RecordRead::Row { table, key } => read::row(&scope, table, key).await,
                RecordRead::Keys { query, keys, many } => read::by_key(&scope, query, keys, *many).await,
                RecordRead::Features(geo, key) => read::geojson(&scope, geo, key.as_ref()).await,
            }
        })
        .await
    }

    /// Refreshes the schema if it changed since the last check.
    pub(crate) async fn look(&self) -> Result<()> {
        self.known.renew(false).await
    }

    /// Reads the schema if it was never read.
    async fn begun(&self) -> Result<()> {
        if self.known.schema.load().stamp() == 0 { self.look().await } else { Ok(()) }
    }

    /// Runs `work`, and retries it once when it failed for a reason that a newer schema may resolve. `names` says of
    /// which failures this holds also if the schema is the same: unknown names that are ignored once they are sure to
    /// be.
    async fn with_schema<'a, T, F>(
        &'a self,
        caller: &'a Caller,
        names: fn(Code) -> bool,
        work: impl Fn(Scope<'a>) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        self.begun().await?;
        let scope = self.scope(caller, false);
        let stamp = scope.schema.stamp();
        match work(scope).await {
            Err(error) if may_be_old(error.code) && (self.known.is_other_than(stamp).await? || names(error.code)) => {
                // Boxed, so that the first try need not reserve space for the second.
                Box::pin(work(self.scope(caller, true))).await
            }
            done => done,
        }
    }

    /// Makes changes. If a change does not fit the schema, or part of it would be ignored, the schema is refreshed
    /// first: a value for a newly created column is never lost.
    async fn changed(&self, caller: &Caller, changes: &[Change], alone: bool) -> Result<Changed> {
        self.begun().await?;
        let mut scope = self.scope(caller, false);
        let mut plan = change::plan(&scope, changes, alone);
        if !plan.as_ref().is_ok_and(change::ChangePlan::is_sound) {
            self.look().await?;
            scope = self.scope(caller, true);
            plan = change::plan(&scope, changes, alone);
        }
        let stamp = scope.schema.stamp();
        match change::run(&scope, plan?, alone).await {
            Err(error) if may_be_old(error.code) && self.known.is_other_than(stamp).await? => {
                let scope = self.scope(caller, true);
                change::run(&scope, change::plan(&scope, changes, alone)?, alone).await
            }
            done => done,
        }
    }
}

#[async_trait]
impl Database for RecordsDatabase {
    fn spec(&self) -> &DatabaseSpec {
        &self.known.spec
    }

    fn schema(&self) -> Arc<DatabaseSchema> {
        self.known.schema.load_full()
    }

    fn visible(&self, caller: &Caller, operation: Operation) -> Arc<DatabaseSchema> {
        let schema = self.known.schema.load_full();
        if self.known.spec.rules.is_empty() && caller.grants.is_none() {
            return schema;
        }
        Arc::new(self.access(caller).visible(&schema, operation))
    }

    fn read<'a>(&'a self, caller: &'a Caller, read: &'a RecordRead) -> MaybeReady<'a, Result<Document>> {
        match read::now(&self.scope(caller, false), read) {
            Some(done) => MaybeReady::Ready(done),
            None => MaybeReady::pending(self.read_later(caller, read)),
        }
    }

    fn reads_at_once(&self) -> bool {
        read::is_at_once(Dialect::of(self.known.spec.kind))
    }

    async fn change(&self, caller: &Caller, change: Change) -> Result<Changed> {
        self.changed(caller, std::slice::from_ref(&change), true).await
    }

    async fn transact(&self, caller: &Caller, changes: Vec<Change>) -> Result<Changed> {
        self.changed(caller, &changes, false).await
    }

    async fn load(&self, caller: &Caller, load: &Load, rows: RecordStream) -> Result<LoadReport> {
        // The rows can be read only once, so the schema is refreshed beforehand.
        self.look().await?;
        change::load(&self.scope(caller, true), load, rows).await
    }

    async fn define(&self, caller: &Caller, definition: &Definition) -> Result<()> {
        self.with_schema(caller, |_| false, |scope| async move { define::run(&scope, definition).await }).await?;
        self.known.renew(true).await
    }

    async fn refresh(&self) -> Result<()> {
        self.known.renew(true).await
    }

    async fn ping(&self) -> Result<Duration> {
        self.known.backend.ping().await
    }

    fn places(&self) -> Option<Arc<Shares>> {
        Some(Arc::clone(self.known.backend.lying()))
    }

    fn version(&self) -> Option<u64> {
        self.known.backend.version()
    }

    fn tables(&self, entry: &mut dyn FnMut(&str) -> Option<Name>) -> Vec<Arc<dyn Table>> {
        // All callers share the catalog: what is kept back from some of them is taken out by `Table::left_for`.
        let caller = Caller::default();
        let everybody = Access { for_all_alike: true, ..self.access(&caller) };
        let whole = self.known.schema.load_full();
        let schema = match self.known.spec.rules.is_empty() {
            true => Arc::clone(&whole),
            false => Arc::new(everybody.visible(&whole, Operation::List)),
        };
        let named = schema.tables().iter().filter_map(|info| Some((info.name.clone(), entry(&info.name)?)));
        let names: Arc<BTreeMap<String, Name>> = Arc::new(named.collect());
        let made = schema.tables().iter().filter_map(|info| {
            let rules = RowRules::of(everybody, &whole, &info.name);
            RecordsTable::new(&self.known, info.clone(), rules, Arc::clone(&names))
        });
        made.map(|table| Arc::new(table) as Arc<dyn Table>).collect()
    }

    async fn changed(&self, stamp: u64) -> Result<()> {
        self.known.changed(stamp).await
    }
}
