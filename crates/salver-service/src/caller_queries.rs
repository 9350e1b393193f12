//! The named queries of a caller at one moment, for doors that show them as part of something larger.

use std::sync::Arc;
use std::time::Duration;

use salver_model::ports::{QueryDescription, Tables};
use salver_model::spec::RunsAs;
use salver_model::{Caller, Code, Result, Rows, SqlQuery, Version};

use crate::named_query::{NamedQuery, is_open};
use crate::queries::refusal;
use crate::service::Service;
use crate::snapshot::Snapshot;

/// A query with what it takes and gives for a caller, or why it can't be run.
pub type DescribedQuery<'q> = (&'q Arc<NamedQuery>, Result<Arc<QueryDescription>>);

/// The queries that a caller may run, each with what it takes and gives if it can be run. Two of them are equal if
/// nothing about the queries changed in between.
#[derive(Clone, Debug, Default)]
pub struct CallerQueries(Vec<(Arc<NamedQuery>, Option<Arc<QueryDescription>>)>);

impl CallerQueries {
    /// Returns every query, in the order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<NamedQuery>> {
        self.0.iter().map(|(query, _)| query)
    }
}

impl PartialEq for CallerQueries {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |one: &Option<Arc<QueryDescription>>, two: &Option<Arc<QueryDescription>>| match (one, two) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (one, two) => one.is_none() && two.is_none(),
        };
        let mut pairs = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && pairs.all(|(one, two)| Arc::ptr_eq(&one.0, &two.0) && is_same(&one.1, &two.1))
    }
}

impl Service {
    /// Returns the queries of `caller` for a request over `snapshot`; waits for those that are being planned.
    pub async fn queries_settled(&self, caller: &Caller, snapshot: &Snapshot) -> CallerQueries {
        if self.queries().is_empty() {
            return CallerQueries::default();
        }
        if snapshot.settled() && self.queries_for(caller).any(|query| query.is_loading()) {
            let wait = Duration::from_millis(self.limits().queue_ms_max);
            let planned = futures::future::join_all(self.queries_for(caller).map(|query| query.planned()));
            let _ = tokio::time::timeout(wait, planned).await;
        }
        CallerQueries(self.queries_for(caller).map(|query| (Arc::clone(query), query.description())).collect())
    }

    /// Returns what the queries add to the version of whatever is made of them over `snapshot`; `None` without any.
    #[must_use]
    pub fn version_of_queries(&self, snapshot: &Snapshot, queries: &CallerQueries) -> Option<Version> {
        if queries.0.is_empty() {
            return None;
        }
        let of_query = |(query, known): &(Arc<NamedQuery>, Option<Arc<QueryDescription>>)| {
            (query.spec().name.to_string(), known.as_ref().map(|description| description.version))
        };
        let sees_all = snapshot.view().is_none() || queries.iter().all(|query| query.spec().runs_as == RunsAs::Caller);
        let whole = (!sees_all).then(|| self.peek_all().content());
        Some(Version::of(&(whole, queries.0.iter().map(of_query).collect::<Vec<_>>())))
    }

    /// Returns what each of the queries takes and gives for `caller` over `snapshot`, or why it can't be run. Planning
    /// takes a place of a query, and its time.
    ///
    /// # Errors
    /// Returns limits.
    pub async fn describe_queries<'q>(
        &self,
        caller: &Caller,
        snapshot: &Arc<Snapshot>,
        queries: &'q CallerQueries,
    ) -> Result<Vec<DescribedQuery<'q>>> {
        let describe = async {
            let mut all = Vec::with_capacity(queries.0.len());
            for (query, known) in &queries.0 {
                all.push(match known {
                    Some(known) => (query, self.described_over(caller, query, (known, snapshot)).await),
                    None => (query, Err(query.refusal_to(caller))),
                });
            }
            Ok(all)
        };
        match queries.0.is_empty() {
            true => Ok(Vec::new()),
            false => self.bounded(caller, describe).await,
        }
    }

    /// Returns what a query, of which `known` is known over the whole catalog, takes and gives for `caller` over
    /// `snapshot`.
    pub(crate) async fn described_over(
        &self,
        caller: &Caller,
        query: &NamedQuery,
        (known, snapshot): (&Arc<QueryDescription>, &Arc<Snapshot>),
    ) -> Result<Arc<QueryDescription>> {
        if query.spec().runs_as == RunsAs::Owner || is_open(caller) {
            return Ok(Arc::clone(known));
        }
        let tables: Arc<dyn Tables> = Arc::<Snapshot>::clone(snapshot);
        let described = self.engine().describe(tables, query.spec()).await.map(Arc::new);
        described.map_err(|error| refusal(error, query))
    }

    /// Runs `query` for `caller` over `snapshot`, which is that of [`Service::snapshot_of_query`].
    ///
    /// # Errors
    /// Returns those of [`Service::sql`], and `Forbidden` for a caller who may not read all that the query reads.
    pub async fn run_query(
        &self,
        caller: &Caller,
        query: &NamedQuery,
        (snapshot, statement): (&Arc<Snapshot>, &SqlQuery),
    ) -> Result<Rows> {
        match self.sql(caller, snapshot, statement).await {
            Err(error) => Err(self.refusal_of_query(caller, query, error).await),
            rows => rows,
        }
    }
}

/// Returns whether a query is for the caller what it was `described` as for as long as nothing changes: not if planning
/// it failed for a reason of that moment.
#[must_use]
pub fn lasts((_, described): &DescribedQuery<'_>) -> bool {
    let lasting = [Code::Forbidden, Code::InvalidSql, Code::Config, Code::EntryUnavailable, Code::ReadOnly];
    described.as_ref().err().is_none_or(|error| lasting.contains(&error.code))
}
