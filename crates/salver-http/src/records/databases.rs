//! The databases that a caller may access.

use std::sync::Arc;

use http::{StatusCode, header};
use salver_model::ports::Database;
use salver_model::{Code, Error, Result, Version};

use crate::dialect::Refusal;
use crate::request_context::RequestContext;

impl RequestContext<'_> {
    /// Returns the database of the table called `name`, and the table's name in it.
    ///
    /// # Errors
    /// `UnknownTable`; `Forbidden` for a caller without such a database.
    pub(super) async fn database<'n>(&self, name: &'n str) -> Result<(Arc<dyn Database>, &'n str)> {
        let (entry, inside) = self.app.service.database_with(name)?;
        Ok((self.app.service.database_of(self.caller, entry).await?, inside))
    }

    /// Returns all databases of the caller.
    pub(super) async fn databases(&self) -> Result<Vec<Arc<dyn Database>>> {
        let mut all = Vec::new();
        for entry in self.app.service.databases() {
            all.extend(self.database_if_any(entry).await?);
        }
        Ok(all)
    }

    /// Returns the database that the caller uses under the name of `entry`; `None` for a caller without one.
    pub(crate) async fn database_if_any(&self, entry: &Arc<dyn Database>) -> Result<Option<Arc<dyn Database>>> {
        match self.app.service.database_of(self.caller, entry).await {
            Ok(database) => Ok(Some(database)),
            Err(error) if error.code == Code::Forbidden => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The error for an unknown path.
pub(crate) fn nowhere(context: &RequestContext<'_>) -> Error {
    let shown: String = path(context).chars().take(200).collect();
    Error::new(Code::NotFound, format!("Route '{shown}' not found"))
}

/// The refusal of a method that a path does not have: in the words of PHP-CRUD-API, which answers 404.
pub(crate) fn other_method(context: &RequestContext<'_>, methods: &str) -> Refusal {
    let refusal = Refusal::from(nowhere(context)).with_status(StatusCode::METHOD_NOT_ALLOWED);
    refusal.with_header(header::ALLOW, methods)
}

/// Returns whether the schema of a database may be changed at all.
pub(crate) fn is_definable(context: &RequestContext<'_>) -> bool {
    context.app.service.databases().iter().any(|database| database.spec().definable)
}

/// Returns the path as in PHP-CRUD-API, without `/api`.
pub(super) fn path<'a>(context: &RequestContext<'a>) -> &'a str {
    context.path.strip_prefix("/api").unwrap_or(context.path)
}

/// Hashes everything that determines a response: the request, the caller, the schema and the version of the rows.
pub(super) fn fingerprint(context: &RequestContext<'_>, stamp: u64, version: u64) -> Version {
    let who = (&context.caller.address, &context.caller.attributes);
    let rules = context.caller.grants.as_ref().map(|grants| grants.policy().version());
    Version::of(&(env!("CARGO_PKG_VERSION"), (context.path, context.query), who, rules, stamp, version))
}
