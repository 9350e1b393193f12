//! Request execution: resolves the name in one snapshot, applies the limits, runs the work.

use std::sync::Arc;
use std::time::Duration;

use salver_model::limits::SNAPSHOTS_PER_DATABASE_MAX;
use salver_model::observation::Observer;
use salver_model::ports::{
    Database, EventStream, Functions, MaybeReady, SqlEngine, StatementDescription, StatementQuestion,
};
use salver_model::trace::SpanKind;
use salver_model::{
    AccessPolicy, Caller, Code, Comparison, Error, Filter, Item, LimitPolicy, Limits, Principal, Query, Result, Rows,
    Shares, SqlQuery, Value,
};

use tokio::sync::watch;

use crate::catalog::Catalog;
use crate::functions::FunctionFile;
use crate::named_query::NamedQuery;
use crate::query_limits::{QueryPermit, QueryPermits, bound_rows};
use crate::rights::RightsVersion;
use crate::served_stream::ServedStream;
use crate::snapshot::Snapshot;
use crate::trace::{self, ActiveSpan};

/// Longest time a request waits for the catalog to reflect a schema change in a database, which is about to be
/// published.
const NEWER_WITHIN: Duration = Duration::from_millis(500);

/// The service. A reload makes a successor of it; requests end with the one that they began with.
#[derive(Debug)]
pub struct Service {
    catalog: Arc<Catalog>,
    access: Option<Arc<AccessPolicy>>,
    caller_limits: Option<Arc<LimitPolicy>>,
    /// The rights of its callers.
    own_rights: RightsVersion,
    /// Those in force, shared with the successors.
    rights: Arc<watch::Sender<RightsVersion>>,
    sql: Arc<dyn SqlEngine>,
    observer: Arc<dyn Observer>,
    limits: Limits,
    places: QueryPermits,
    /// Permits for the snapshots of exports, for each database by its index in `databases`.
    snapshots: Vec<Arc<Shares>>,
    databases: Vec<Arc<dyn Database>>,
    streams: Vec<ServedStream>,
    /// Permits for responses that wait for events.
    waits: Arc<Shares>,
    functions: Vec<FunctionFile>,
    queries: Vec<Arc<NamedQuery>>,
    /// Whether requests may be recorded; otherwise nothing looks for the span of a read.
    is_traced: bool,
}

impl Service {
    /// Creates a service over `catalog`.
    #[must_use]
    pub fn new(catalog: Arc<Catalog>, sql: Arc<dyn SqlEngine>, observer: Arc<dyn Observer>, limits: Limits) -> Self {
        let (places, snapshots) = (QueryPermits::new(&limits), Vec::new());
        let (databases, streams, functions) = (Vec::new(), Vec::new(), Vec::new());
        let waits = Shares::new("tails", limits.connections_max / 2);
        Self {
            catalog,
            access: None,
            caller_limits: None,
            own_rights: RightsVersion::default(),
            rights: Arc::default(),
            sql,
            observer,
            limits,
            places,
            snapshots,
            databases,
            streams,
            waits,
            functions,
            queries: Vec::new(),
            is_traced: false,
        }
    }

    /// Creates the service that follows this one: over the same catalog, with the same permits, and so far with the
    /// same databases, streams, functions and rules, but under other `limits`.
    #[must_use]
    pub fn successor(&self, limits: Limits) -> Self {
        let waits = if limits.connections_max == self.limits.connections_max {
            Arc::clone(&self.waits)
        } else {
            Shares::new("tails", limits.connections_max / 2)
        };
        Self {
            catalog: Arc::clone(&self.catalog),
            access: self.access.clone(),
            caller_limits: self.caller_limits.clone(),
            own_rights: self.own_rights,
            rights: Arc::clone(&self.rights),
            sql: Arc::clone(&self.sql),
            observer: Arc::clone(&self.observer),
            limits,
            places: self.places.clone(),
            snapshots: self.snapshots.clone(),
            databases: self.databases.clone(),
            streams: self.streams.clone(),
            waits,
            functions: self.functions.clone(),
            queries: self.queries.clone(),
            is_traced: self.is_traced,
        }
    }

    /// Sets the access rules; without any, callers may do everything.
    #[must_use]
    pub fn with_access(mut self, access: Option<Arc<AccessPolicy>>) -> Self {
        self.access = access;
        self
    }

    /// Sets the limits of callers; without any, only the general ones hold.
    #[must_use]
    pub fn with_caller_limits(mut self, limits: Option<Arc<LimitPolicy>>) -> Self {
        self.caller_limits = limits;
        self
    }

    /// Says that callers are found out in other ways than so far, that other rules hold for them, or that streams are
    /// gone.
    #[must_use]
    pub fn with_other_rights(mut self, has_other_callers: bool, has_other_rules: bool, loses_streams: bool) -> Self {
        self.own_rights.callers += u64::from(has_other_callers);
        self.own_rights.rules += u64::from(has_other_rules);
        self.own_rights.streams += u64::from(loses_streams);
        self
    }

    /// Announces that the rights of this service are in force from now on. What waits under those of before ends.
    pub fn announce_rights(&self) {
        let own = self.own_rights;
        self.rights.send_if_modified(|rights| own.is_after(std::mem::replace(rights, own)));
    }

    /// Says that requests may be recorded.
    #[must_use]
    pub fn with_tracing(self, is_traced: bool) -> Self {
        Self { is_traced, ..self }
    }

    /// Begins a span of the request about the engine or an entry, if the request is recorded.
    fn begin(&self, name: &'static str, entry: Option<&str>) -> Option<ActiveSpan> {
        if !self.is_traced {
            return None;
        }
        let mut span = trace::begin(name, SpanKind::Internal)?;
        if let Some(entry) = entry {
            span.set("salver.entry", entry.to_owned());
        }
        Some(span)
    }

    /// Begins a span of the request about a database, if the request is recorded.
    pub(crate) fn begin_on(
        &self,
        database: &Arc<dyn Database>,
        operation: &'static str,
        table: Option<&str>,
    ) -> Option<ActiveSpan> {
        if !self.is_traced {
            return None;
        }
        let mut span = trace::begin("database statement", SpanKind::Client)?;
        let spec = database.spec();
        span.set("db.system.name", spec.kind.name());
        span.set("db.namespace", spec.name.to_string());
        span.set("db.operation.name", operation);
        if let Some(table) = table.filter(|table| database.schema().table(table).is_some()) {
            span.set("db.collection.name", table.to_owned());
        }
        Some(span)
    }

    /// Returns the rights of its callers.
    #[must_use]
    pub fn own_rights(&self) -> RightsVersion {
        self.own_rights
    }

    /// Returns a receiver of the rights in force, for what lasts longer than a request.
    #[must_use]
    pub fn rights(&self) -> watch::Receiver<RightsVersion> {
        self.rights.subscribe()
    }

    /// Returns the access rules.
    #[must_use]
    pub fn access(&self) -> Option<Arc<AccessPolicy>> {
        self.access.clone()
    }

    /// Returns who is known so as a caller, with its rights and its limits. Whatever comes from a client is asked for
    /// in the name of such a caller.
    #[must_use]
    pub fn caller(&self, principal: Principal) -> Caller {
        let grants = self.access.as_ref().map(|policy| policy.grants(&principal));
        let limits = self.caller_limits.as_ref().map(|policy| policy.limits_of(&principal)).unwrap_or_default();
        Caller { principal, grants, limits }
    }

    /// Sets the databases, in the order in which a table's name is looked up.
    #[must_use]
    pub fn with_databases(mut self, databases: Vec<Arc<dyn Database>>) -> Self {
        let places = databases.iter().map(|database| {
            let known = self.databases.iter().position(|own| Arc::ptr_eq(own, database));
            let kept = known.and_then(|at| self.snapshots.get(at)).cloned();
            kept.unwrap_or_else(|| Shares::new("snapshots", SNAPSHOTS_PER_DATABASE_MAX))
        });
        self.snapshots = places.collect();
        self.databases = databases;
        self
    }

    /// Sets the streams.
    #[must_use]
    pub fn with_streams(mut self, streams: Vec<Arc<dyn EventStream>>) -> Self {
        self.streams = streams.into_iter().map(ServedStream::new).collect();
        self
    }

    /// Sets the files of functions, in the order in which a path is looked up.
    #[must_use]
    pub fn with_functions(mut self, functions: Vec<Arc<dyn Functions>>) -> Self {
        self.functions = functions.into_iter().map(FunctionFile::new).collect();
        self
    }

    /// Sets the named queries.
    #[must_use]
    pub fn with_queries(self, queries: Vec<Arc<NamedQuery>>) -> Self {
        Self { queries, ..self }
    }

    /// Returns every named query.
    #[must_use]
    pub fn queries(&self) -> &[Arc<NamedQuery>] {
        &self.queries
    }

    /// Returns every file of functions.
    #[must_use]
    pub fn functions(&self) -> &[FunctionFile] {
        &self.functions
    }

    /// Returns the file of functions called `name`.
    #[must_use]
    pub fn function_file(&self, name: &str) -> Option<&FunctionFile> {
        self.functions.iter().find(|file| file.spec().name.as_str() == name)
    }

    pub(crate) fn streams(&self) -> &[ServedStream] {
        &self.streams
    }

    pub(crate) fn waits(&self) -> &Arc<Shares> {
        &self.waits
    }

    /// Returns every database.
    #[must_use]
    pub fn databases(&self) -> &[Arc<dyn Database>] {
        &self.databases
    }

    /// Runs work for `caller` within the limits of a query: it waits for a permit, and is cancelled on timeout.
    ///
    /// # Errors
    /// Returns `Overloaded`, `Timeout`, and the errors of the work.
    pub(crate) async fn bounded<T>(&self, caller: &Caller, work: impl Future<Output = Result<T>>) -> Result<T> {
        let mut place = QueryPermit::take(&self.places, caller, &self.limits).await?;
        place.run(work).await
    }

    /// Releases the rows of the response that has been idle for longest, if any is idle. Returns whether one was.
    #[must_use]
    pub fn yield_one(&self) -> bool {
        self.places.all().iter().chain(&self.snapshots).any(|places| places.relieve())
    }

    pub(crate) fn places(&self) -> &QueryPermits {
        &self.places
    }

    /// Returns the permits for snapshots of the table called `name`; `None` if it is in no database.
    pub(crate) fn snapshots(&self, name: &str) -> Option<&Arc<Shares>> {
        let has = |database: &Arc<dyn Database>| {
            let inside = name.strip_prefix(database.spec().name.as_str()).and_then(|rest| rest.strip_prefix('.'));
            database.schema().table(name).is_some() || inside.is_some()
        };
        self.snapshots.get(self.databases.iter().position(has)?)
    }

    /// Returns every kind of permit that callers share.
    #[must_use]
    pub fn shares(&self) -> Vec<Arc<Shares>> {
        let of_databases = self.databases.iter().filter_map(|database| database.places());
        let own = self.places.all().into_iter().chain(self.snapshots.iter().cloned()).chain([Arc::clone(&self.waits)]);
        own.chain(of_databases).collect()
    }

    pub(crate) fn engine(&self) -> &Arc<dyn SqlEngine> {
        &self.sql
    }

    /// Returns the catalog.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Returns the limits in force.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the observer.
    #[must_use]
    pub fn observer(&self) -> &dyn Observer {
        &*self.observer
    }

    /// Reads from the entry `name` for `caller`; at once if that takes microseconds.
    ///
    /// # Errors
    /// Returns an error for unknown or unavailable entries, for exceeded limits, and whatever
    /// [`salver_model::ports::Table::read`] refuses.
    pub fn read<'a>(
        &'a self,
        caller: &'a Caller,
        snapshot: &'a Snapshot,
        name: &'a str,
        query: &'a Query,
    ) -> MaybeReady<'a, Result<Rows>> {
        let table = match snapshot.resolve(name) {
            Ok(table) => table,
            Err(error) => return MaybeReady::Ready(Err(error)),
        };
        let span = self.begin("engine query", Some(name));
        let work = match table.read(query) {
            MaybeReady::Ready(rows) => {
                trace::end(span, &rows);
                return MaybeReady::Ready(self.bounded_rows(caller, rows));
            }
            MaybeReady::Pending(work) => work,
        };
        let work = async move {
            let mut place = QueryPermit::take(&self.places, caller, &self.limits).await?;
            let again = |newer: Arc<Snapshot>| async move { newer.resolve(name)?.read(query).await };
            let rows = self.run_again(&mut place, snapshot, work, again).await?;
            place.hold(rows, &self.limits).await
        };
        MaybeReady::pending(trace::within(span, work))
    }

    /// Limits rows that are already there.
    fn bounded_rows(&self, caller: &Caller, rows: Result<Rows>) -> Result<Rows> {
        rows.and_then(|rows| bound_rows(rows, caller.limits.rows(self.limits.rows_max)))
    }

    /// Runs `work` in `place`; once more, by `again` on the newer catalog, when one of its tables was changed in the
    /// database meanwhile.
    pub(crate) async fn run_again<T, A>(
        &self,
        place: &mut QueryPermit,
        snapshot: &Snapshot,
        work: impl IntoFuture<Output = Result<T>>,
        again: impl FnOnce(Arc<Snapshot>) -> A,
    ) -> Result<T>
    where
        A: IntoFuture<Output = Result<T>>,
    {
        match place.run(work).await {
            Err(error) => match self.newer(snapshot, &error).await {
                Some(newer) => place.run(again(newer)).await,
                None => Err(error),
            },
            done => done,
        }
    }

    /// Returns the catalog that follows `snapshot`, for a request that failed because one of its tables was changed in
    /// the database; `None` when the failure has another reason, or no newer one follows shortly.
    pub(crate) async fn newer(&self, snapshot: &Snapshot, error: &Error) -> Option<Arc<Snapshot>> {
        if error.code != Code::Contention {
            return None;
        }
        tokio::time::timeout(NEWER_WITHIN, self.catalog.moved(snapshot.generation())).await.ok()?;
        Some(self.snapshot_like(snapshot))
    }

    /// Runs one SQL statement for `caller`; at once if that takes microseconds.
    ///
    /// # Errors
    /// Returns whatever [`SqlEngine::run`] refuses, and limits.
    pub fn sql<'a>(
        &'a self,
        caller: &'a Caller,
        snapshot: &'a Arc<Snapshot>,
        query: &'a SqlQuery,
    ) -> MaybeReady<'a, Result<Rows>> {
        let span = self.begin("engine query", None);
        let work = match self.sql.run(Arc::<Snapshot>::clone(snapshot), query) {
            MaybeReady::Ready(rows) => {
                trace::end(span, &rows);
                return MaybeReady::Ready(self.bounded_rows(caller, rows));
            }
            MaybeReady::Pending(work) => work,
        };
        let work = async move {
            let mut place = QueryPermit::take(&self.places, caller, &self.limits).await?;
            let again = |newer: Arc<Snapshot>| self.sql.run(newer, query);
            let rows = self.run_again(&mut place, snapshot, work, again).await?;
            place.hold(rows, &self.limits).await
        };
        MaybeReady::pending(trace::within(span, work))
    }

    /// Plans a statement for `caller` without running it. Planning takes a place of a query, and its time.
    ///
    /// # Errors
    /// Returns whatever [`SqlEngine::describe_statement`] refuses, and limits.
    pub async fn describe_statement(
        &self,
        caller: &Caller,
        snapshot: &Arc<Snapshot>,
        question: StatementQuestion<'_>,
    ) -> Result<StatementDescription> {
        let mut place = QueryPermit::take(&self.places, caller, &self.limits).await?;
        let work = self.sql.describe_statement(Arc::<Snapshot>::clone(snapshot), question);
        let again = |newer: Arc<Snapshot>| self.sql.describe_statement(newer, question);
        self.run_again(&mut place, snapshot, work, again).await
    }

    /// Looks up `key` in the key-value store `store`, and returns one row with one column. Of several rows with the key
    /// the last one wins; a row whose value is null does not exist.
    ///
    /// # Errors
    /// Returns `UnknownStore`, `NotFound` when there is no such key, and otherwise the errors of [`Service::read`].
    pub async fn look_up(&self, caller: &Caller, snapshot: &Snapshot, store: &str, key: &str) -> Result<Rows> {
        let Some(found) = snapshot.store(store) else {
            let names = snapshot.stores().iter().map(|s| s.name.as_str());
            return Err(Error::new(Code::UnknownStore, format!("keyvalue store name `{store}` doesn't exist"))
                .with_hint_if(salver_model::suggest::hint(store, names)));
        };
        let has_key = Filter::compare(found.key.as_str(), Comparison::Eq, Value::Bare(key.to_owned()));
        let is_null = Filter::IsNull { column: found.value.as_str().into() };
        let mut query = Query {
            items: vec![Item::column(found.value.as_str())],
            filter: Some(Filter::And(vec![has_key, is_null.negated()])),
            limit: Some(1),
            count: true,
            ..Query::default()
        };
        let not_found = || Error::new(Code::NotFound, format!("key {key} not found"));
        let rows = match self.read(caller, snapshot, found.entry.as_str(), &query).await {
            // A key that cannot be converted to the column's type does not exist.
            Err(error) if error.code == Code::InvalidValue => return Err(not_found()),
            other => other?,
        };
        match rows.total {
            Some(0) => Err(not_found()),
            None | Some(1) => Ok(rows),
            Some(total) => {
                query.count = false;
                query.offset = total - 1;
                self.read(caller, snapshot, found.entry.as_str(), &query).await
            }
        }
    }
}
