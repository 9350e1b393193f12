//! What callers do with named queries: whom they are there for, and over what they run.

use std::sync::Arc;
use std::time::Duration;

use salver_model::ports::QueryDescription;
use salver_model::spec::RunsAs;
use salver_model::{Caller, Code, Error, Permission, Result, suggest};

use crate::access;
use crate::named_query::NamedQuery;
use crate::service::Service;
use crate::snapshot::Snapshot;

impl Service {
    /// Returns the named queries that `caller` may run, in the order of their declaration.
    pub fn queries_for(&self, caller: &Caller) -> impl Iterator<Item = &Arc<NamedQuery>> {
        self.queries().iter().filter(|query| caller.may(Permission::Read, query.spec().name.as_str()))
    }

    /// Returns whether there is a named query called `name` for `caller`.
    #[must_use]
    pub fn has_query(&self, caller: &Caller, name: &str) -> bool {
        self.queries_for(caller).any(|query| query.spec().name.as_str() == name)
    }

    /// Returns the query called `name`, with what it takes; waits for that while entries are loading.
    ///
    /// # Errors
    /// Returns `NotFound` where there is no such query for the caller, `Forbidden`, and `EntryUnavailable` for one that
    /// can't be run.
    pub async fn query(&self, caller: &Caller, name: &str) -> Result<(&NamedQuery, Arc<QueryDescription>)> {
        let absent = || {
            let names: Vec<&str> = self.queries_for(caller).map(|query| query.spec().name.as_str()).collect();
            Error::new(Code::NotFound, format!("no query `{name}`")).with_hint_if(suggest::hint(name, names))
        };
        access::check(caller, Permission::Read, name, absent)?;
        let query = self.queries().iter().find(|query| query.spec().name.as_str() == name).ok_or_else(absent)?;
        let description = query.described_to(caller, Duration::from_millis(self.limits().queue_ms_max)).await?;
        Ok((query, description))
    }

    /// Returns the catalog that a query is run over for `caller`: what it may read of it, or all of it where the query
    /// has the operator's rights.
    #[must_use]
    pub fn snapshot_of_query(&self, caller: &Caller, query: &NamedQuery) -> Arc<Snapshot> {
        match query.spec().runs_as {
            RunsAs::Caller => self.snapshot(caller, Permission::Read),
            RunsAs::Owner => self.snapshot_of_all(),
        }
    }

    /// Returns the same when everything is loaded, as far as that is soon.
    pub async fn snapshot_of_query_settled(&self, caller: &Caller, query: &NamedQuery) -> Arc<Snapshot> {
        let settled = self.snapshot_settled(caller, Permission::Read).await;
        match query.spec().runs_as {
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
        self.described_over(caller, query, (&description, &self.snapshot(caller, Permission::Read))).await
    }

    /// Returns the error for `caller` of a query that failed with `error`: where it fails over what the caller may
    /// read, and not over the whole catalog, its statement names what the caller must not know of.
    pub async fn refusal_of_query(&self, caller: &Caller, query: &NamedQuery, error: Error) -> Error {
        if error.code != Code::InvalidSql {
            return error;
        }
        self.describe_query(caller, query).await.err().unwrap_or(error)
    }
}

/// Returns the error of a query that can't be planned over what a caller may read.
pub(crate) fn refusal(error: Error, query: &NamedQuery) -> Error {
    if error.code != Code::InvalidSql {
        return error;
    }
    let message = format!("you may not read everything that the query `{}` reads", query.spec().name);
    Error::new(Code::Forbidden, message)
        .with_hint("an [[access]] of the server's configuration would have to permit it")
        .with_source(error)
}
