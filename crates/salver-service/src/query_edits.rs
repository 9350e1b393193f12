//! Who may change named queries, and what is checked of one before it is kept.

use std::sync::Arc;

use salver_model::ports::{QueryDescription, Tables};
use salver_model::spec::QuerySpec;
use salver_model::{Caller, Code, Error, Permission, Result};

use crate::access;
use crate::service::Service;

impl Service {
    /// Returns whether there may be a query that `caller` may change.
    #[must_use]
    pub fn may_edit_queries(&self, caller: &Caller) -> bool {
        caller.grants.as_ref().is_none_or(|grants| grants.may_anywhere(Permission::Administer))
    }

    /// Checks that `caller` may change the query called `name`, which need not be there.
    ///
    /// # Errors
    /// `Forbidden`, and `NotFound` for a name of which the caller may not know anything.
    pub fn check_query_edit(&self, caller: &Caller, name: &str) -> Result<()> {
        let absent = || {
            Error::new(Code::NotFound, format!("no query `{name}`"))
                .with_hint("an [[access]] with `administer` for this name permits to save one")
        };
        access::check(caller, Permission::Administer, name, absent)
    }

    /// Plans a query that `caller` would save, over what the caller may read: so nothing else is told of by what
    /// fails. Planning takes a place of a query, and its time.
    ///
    /// # Errors
    /// `InvalidSql` with line and column, and limits.
    pub async fn plan_query(&self, caller: &Caller, query: &QuerySpec) -> Result<QueryDescription> {
        let tables: Arc<dyn Tables> = self.snapshot_settled(caller, Permission::Read).await;
        let planned = self.bounded(caller, self.engine().describe(tables, query)).await;
        planned.map_err(|error| match error.code {
            // A parameter that is declared in vain is the client's mistake here.
            Code::Config => Error { code: Code::InvalidSql, ..error },
            _ => error,
        })
    }
}
