//! Named queries: statements of the operator, which clients run by their names, with values for their parameters.
//!
//! Each is planned over the whole catalog when everything is loaded, and again when columns of an entry change, so that
//! a mistake in it is known before anybody runs it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use salver_model::observation::{Observation, Observer};
use salver_model::ports::{QueryDescription, SqlEngine, Tables};
use salver_model::spec::QuerySpec;
use salver_model::{Caller, Code, Error, Result, SqlParameters, SqlQuery, TypedValue, Version};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::catalog::Catalog;
use crate::snapshot::{Entry, LoadFailure, Snapshot};

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

    /// Returns its statement with these values for its parameters, in their order. It may call functions that GET may.
    #[must_use]
    pub fn statement(&self, values: Vec<TypedValue>) -> SqlQuery {
        let (text, parameters) = (self.spec.sql.clone(), SqlParameters::Typed(values));
        SqlQuery { text, parameters, is_safe: true, ..SqlQuery::default() }
    }

    /// Returns what is known of it now.
    #[must_use]
    pub fn state(&self) -> QueryState {
        self.state.borrow().clone()
    }

    /// Returns whether it was not planned yet.
    pub(crate) fn is_loading(&self) -> bool {
        matches!(&*self.state.borrow(), QueryState::Loading)
    }

    /// Returns what it takes and gives, if it can be run.
    #[must_use]
    pub fn description(&self) -> Option<Arc<QueryDescription>> {
        match &*self.state.borrow() {
            QueryState::Ready(description) => Some(Arc::clone(description)),
            QueryState::Loading | QueryState::Failed(_) => None,
        }
    }

    /// Waits until it was planned, and returns what it takes and gives. The reason of a failure is told to callers
    /// alone who may know of everything.
    ///
    /// # Errors
    /// Returns `EntryUnavailable` if it can't be run, or is not planned within `wait`.
    pub(crate) async fn described_to(&self, caller: &Caller, wait: Duration) -> Result<Arc<QueryDescription>> {
        let _ = tokio::time::timeout(wait, self.planned()).await;
        self.description().ok_or_else(|| self.refusal_to(caller))
    }

    /// Waits until it was planned.
    pub async fn planned(&self) {
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|state| !matches!(state, QueryState::Loading)).await;
    }

    /// Returns the error for a caller who would run it while it can't be run.
    #[must_use]
    pub fn refusal_to(&self, caller: &Caller) -> Error {
        let name = &self.spec.name;
        match &*self.state.borrow() {
            QueryState::Failed(_) if !is_open(caller) => {
                let error = Error::new(Code::EntryUnavailable, format!("the query `{name}` can't be run"));
                error.with_hint("the log of the server has the reason")
            }
            QueryState::Failed(failure) => {
                let message = format!("the query `{name}` can't be run: {}", failure.message);
                Error::new(Code::EntryUnavailable, message).with_hint_if(failure.hint.clone())
            }
            QueryState::Loading | QueryState::Ready(_) => {
                Error::new(Code::EntryUnavailable, format!("what the query `{name}` reads is still being loaded"))
                    .with_hint("try again in a moment; `/ready` tells when everything is loaded")
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
            // What it holds of files that are deleted is not kept while nothing happens.
            let generation = snapshot.generation();
            drop(snapshot);
            let has_failed = queries.iter().any(|query| matches!(query.state(), QueryState::Failed(_)));
            let again = async {
                match has_failed {
                    true => tokio::time::sleep(RETRY).await,
                    false => std::future::pending().await,
                }
            };
            tokio::select! {
                () = catalog.moved(generation) => {}
                () = again => {}
            }
        }
    });
}

/// Returns a number that is another when the columns of any entry are.
fn columns_of(snapshot: &Snapshot) -> Version {
    let columns = |entry: &Entry| entry.table().map(|table| Version::of(&table.describe().schema));
    Version::of(&snapshot.entries().map(|entry| (entry.name.to_string(), columns(entry))).collect::<Vec<_>>())
}

async fn plan(query: &NamedQuery, snapshot: &Arc<Snapshot>, engine: &dyn SqlEngine, observer: &dyn Observer) {
    let tables: Arc<dyn Tables> = Arc::<Snapshot>::clone(snapshot);
    let next = match engine.describe(tables, &query.spec).await {
        // Whoever made something of what is known needs no other.
        Ok(description) if query.description().is_some_and(|known| *known == description) => return,
        Ok(description) => QueryState::Ready(Arc::new(description)),
        // It may read what is being loaded.
        Err(_) if !snapshot.settled() => return,
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

/// Returns whether no rule keeps anything back from the caller.
pub(crate) fn is_open(caller: &Caller) -> bool {
    caller.grants.as_ref().is_none_or(|grants| grants.policy().is_open())
}
