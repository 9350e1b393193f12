//! Runs and plans statements for callers that were let in. Only one that needs a table which is being loaded waits for
//! it.

use salver_model::ports::StatementDescription;
use salver_model::{Code, ParameterType, Permission, Result, Rows, SqlQuery};
use salver_service::reception::Welcome;

/// Runs a statement.
///
/// # Errors
/// Those of [`salver_service::Service::sql`].
pub(super) async fn run(welcome: &Welcome, query: &SqlQuery) -> Result<Rows> {
    let Welcome { service, caller, .. } = welcome;
    let snapshot = service.snapshot(caller, Permission::Sql);
    match service.sql(caller, &snapshot, query).await {
        Err(error) if error.code == Code::EntryUnavailable && !snapshot.settled() => {
            let settled = service.snapshot_settled(caller, Permission::Sql).await;
            service.sql(caller, &settled, query).await
        }
        rows => rows,
    }
}

/// Plans a statement, of whose parameters some types are known, and returns what it takes and gives.
///
/// # Errors
/// Those of [`salver_service::Service::describe_statement`].
pub(super) async fn describe(
    welcome: &Welcome,
    text: &str,
    types: &[Option<ParameterType>],
) -> Result<StatementDescription> {
    let Welcome { service, caller, .. } = welcome;
    let snapshot = service.snapshot(caller, Permission::Sql);
    match service.describe_statement(caller, &snapshot, text, types).await {
        Err(error) if error.code == Code::EntryUnavailable && !snapshot.settled() => {
            let settled = service.snapshot_settled(caller, Permission::Sql).await;
            service.describe_statement(caller, &settled, text, types).await
        }
        found => found,
    }
}
