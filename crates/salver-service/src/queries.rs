//! Named queries: statements of the operator, which clients run by their names, with values for their parameters.
//!
//! Each is planned over the whole catalog when everything is loaded, and again when columns of an entry change, so that
//! a mistake in it is known before anybody runs it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use salver_model::observation::{Observation, Observer};
use salver_model::ports::{QueryDescription, SqlEngine, Tables};
use salver_model::spec::{QuerySpec, RunsAs};
use salver_model::{Caller, Code, Error, Permission, Result, Version, suggest};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::access;
use crate::catalog::Catalog;
use crate::service::Service;
use crate::snapshot::{LoadFailure, Snapshot};

/// Delay before a query that can't be planned is tried again: it may call functions of a file that is loading.
const RETRY: Duration = Duration::from_secs(5);

/// What is known of a query.
#[derive(Clone, Debug)]
pub enum QueryState {
    /// Its tables are still being loaded.
    Loading,
    /// What it takes and gives.
    Ready(Arc<QueryDescription>),
    /// It can't be run.
    Failed(LoadFailure),
}

/// A named query.
#[derive(Debug)]
pub struct NamedQuery {
    spec: QuerySpec,
    state: watch::Sender<QueryState>,
}

impl NamedQuery {
    /// Creates a query of which nothing is known yet.
    #[must_use]
    pub fn new(spec: QuerySpec) -> Self {
        Self { spec, state: watch::Sender::new(QueryState::Loading) }
    }

    /// Returns its specification.
    #[must_use]
    pub fn spec(&self) -> &QuerySpec {
        &self.spec
    }

    /// Returns what is known of it now.
    #[must_use]
    pub fn state(&self) -> QueryState {
        self.state.borrow().clone()
    }

    /// Waits until it was planned, and returns what it takes and gives. The reason of a failure is told to callers alone
    /// who may know of everything.
    ///
    /// # Errors
    /// Returns `EntryUnavailable` if it can't be run, or is not planned within `wait`.
    async fn described_to(&self, caller: &Caller, wait: Duration) -> Result<Arc<QueryDescription>> {
        let mut state = self.state.subscribe();
        let known = state.wait_for(|state| !matches!(state, QueryState::Loading));
        let name = &self.spec.name;
        match tokio::time::timeout(wait, known).await.ok().and_then(std::result::Result::ok).as_deref() {
            Some(QueryState::Ready(description)) => Ok(Arc::clone(description)),
            Some(QueryState::Failed(_)) if !is_open(caller) => {
                let error = Error::new(Code::EntryUnavailable, format!("the query `{name}` can't be run"));
                Err(error.with_hint("the log of the server has the reason"))
            }
            Some(QueryState::Failed(failure)) => {
                let message = format!("the query `{name}` can't be run: {}", failure.message);
                Err(Error::new(Code::EntryUnavailable, message).with_hint_if(failure.hint.clone()))
            }
            _ => {
                Err(Error::new(Code::EntryUnavailable, format!("what the query `{name}` reads is still being loaded"))
                    .with_hint("try again in a moment; `/ready` tells when everything is loaded"))
            }
        }
    }
}

/// Plans `queries` over the catalog, and again when it changes. Dropping the tasks stops that.
pub fn start(
    catalog: &Arc<Catalog>,
    queries: &[Arc<NamedQuery>],
    engine: &Arc<dyn SqlEngine>,
    observer: &Arc<dyn Observer>,
    tasks: &mut JoinSet<()>,
) {
    if queries.is_empty() {
        return;
    }
    let (catalog, queries) = (Arc::clone(catalog), queries.to_vec());
    let (engine, observer) = (Arc::clone(engine), Arc::clone(observer));
    tasks.spawn(async move {
        catalog.settled().await;
        let mut planned_for = None;
        loop {
            let snapshot = catalog.snapshot();
            let columns = columns_of(&snapshot);
            let is_new = planned_for.replace(columns) != Some(columns);
            for query in &queries {
                if is_new || !matches!(query.state(), QueryState::Ready(_)) {
                    plan(query, &snapshot, &*engine, &*observer).await;
                }
            }
            let has_failed = queries.iter().any(|query| matches!(query.state(), QueryState::Failed(_)));
            let again = async {
                match has_failed {
                    true => tokio::time::sleep(RETRY).await,
                    false => std::future::pending().await,
                }
            };
            tokio::select! {
                () = catalog.moved(snapshot.generation()) => {}
                () = again => {}
            }
        }
    });
}

/// Returns a number that is another when the columns of any entry are.
fn columns_of(snapshot: &Snapshot) -> Version {
    let columns = |entry: &crate::Entry| entry.table().map(|table| Version::of(&table.describe().schema));
    Version::of(&snapshot.entries().map(|entry| (entry.name.to_string(), columns(entry))).collect::<Vec<_>>())
}

async fn plan(query: &NamedQuery, snapshot: &Arc<Snapshot>, engine: &dyn SqlEngine, observer: &dyn Observer) {
    let tables: Arc<dyn Tables> = Arc::<Snapshot>::clone(snapshot);
    let next = match engine.describe(tables, &query.spec).await {
        Ok(description) => QueryState::Ready(Arc::new(description)),
        Err(error) => {
            let is_known = matches!(query.state(), QueryState::Failed(known) if known.message == error.message);
            if !is_known {
                observer.observe(&Observation::LoadFailed { name: &query.spec.name, error: &error });
            }
            QueryState::Failed(LoadFailure { message: error.message, hint: error.hint, at: SystemTime::now() })
        }
    };
    query.state.send_replace(next);
}

impl Service {
    /// Returns the named queries that `caller` may run, in the order of their declaration.
    pub fn queries_for(&self, caller: &Caller) -> impl Iterator<Item = &Arc<NamedQuery>> {
        self.queries().iter().filter(|query| caller.may(Permission::Read, query.spec.name.as_str()))
    }

    /// Returns whether there is a named query called `name` for `caller`.
    #[must_use]
    pub fn has_query(&self, caller: &Caller, name: &str) -> bool {
        self.queries_for(caller).any(|query| query.spec.name.as_str() == name)
    }

    /// Returns the query called `name`, with what it takes; waits for that while entries are loading.
    ///
    /// # Errors
    /// Returns `NotFound` where there is no such query for the caller, `Forbidden`, and `EntryUnavailable` for one that
    /// can't be run.
    pub async fn query(&self, caller: &Caller, name: &str) -> Result<(&NamedQuery, Arc<QueryDescription>)> {
        let absent = || {
            let names: Vec<&str> = self.queries_for(caller).map(|query| query.spec.name.as_str()).collect();
            Error::new(Code::NotFound, format!("no query `{name}`")).with_hint_if(suggest::hint(name, names))
        };
        access::check(caller, Permission::Read, name, absent)?;
        let query = self.queries().iter().find(|query| query.spec.name.as_str() == name).ok_or_else(absent)?;
        let description = query.described_to(caller, Duration::from_millis(self.limits().queue_ms_max)).await?;
        Ok((query, description))
    }

    /// Returns the catalog that a query is run over for `caller`: what it may read of it, or all of it where the query
    /// has the operator's rights.
    #[must_use]
    pub fn snapshot_of_query(&self, caller: &Caller, query: &NamedQuery) -> Arc<Snapshot> {
        match query.spec.runs_as {
            RunsAs::Caller => self.snapshot(caller, Permission::Read),
            RunsAs::Owner => self.snapshot_of_all(),
        }
    }

    /// Returns the same when everything is loaded, as far as that is soon.
    pub async fn snapshot_of_query_settled(&self, caller: &Caller, query: &NamedQuery) -> Arc<Snapshot> {
        let settled = self.snapshot_settled(caller, Permission::Read).await;
        match query.spec.runs_as {
            RunsAs::Caller => settled,
            RunsAs::Owner => self.snapshot_of_all(),
        }
    }

    /// Returns what a query takes and gives for `caller`.
    ///
    /// # Errors
    /// Returns `Forbidden` for a caller who may not read all that the query reads.
    pub async fn describe_query(&self, caller: &Caller, query: &NamedQuery) -> Result<Arc<QueryDescription>> {
        let description = query.described_to(caller, Duration::ZERO).await?;
        if query.spec.runs_as == RunsAs::Owner || is_open(caller) {
            return Ok(description);
        }
        let tables: Arc<dyn Tables> = self.snapshot(caller, Permission::Read);
        self.engine().describe(tables, &query.spec).await.map(Arc::new).map_err(|error| refusal(error, query))
    }

    /// Returns the error for `caller` of a query that failed with `error`: where it fails over what the caller may read,
    /// and not over the whole catalog, its statement names what the caller must not know of.
    pub async fn refusal_of_query(&self, caller: &Caller, query: &NamedQuery, error: Error) -> Error {
        if error.code != Code::InvalidSql {
            return error;
        }
        self.describe_query(caller, query).await.err().unwrap_or(error)
    }
}

/// Returns whether no rule keeps anything back from the caller.
fn is_open(caller: &Caller) -> bool {
    caller.grants.as_ref().is_none_or(|grants| grants.policy().is_open())
}

fn refusal(error: Error, query: &NamedQuery) -> Error {
    if error.code != Code::InvalidSql {
        return error;
    }
    let message = format!("you may not read everything that the query `{}` reads", query.spec.name);
    Error::new(Code::Forbidden, message)
        .with_hint("an [[access]] of the server's configuration would have to permit it")
        .with_source(error)
}
