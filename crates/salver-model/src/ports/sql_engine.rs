//! The port of the SQL engine.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::name::Name;
use crate::ports::Table;
use crate::reply::Rows;
use crate::request::SqlQuery;

/// The tables a statement may name: one catalog snapshot, seen by the engine.
pub trait Tables: Send + Sync + std::fmt::Debug {
    /// The table called `name`, `None` when there is no such entry.
    ///
    /// # Errors
    /// `EntryUnavailable` when the entry exists but is not loaded.
    fn table(&self, name: &str) -> Result<Option<Arc<dyn Table>>>;

    /// Every loaded table, by name.
    fn list(&self) -> Vec<(Name, Arc<dyn Table>)>;

    /// Changes whenever any table does; equal generations mean equal catalogs.
    fn generation(&self) -> u64;
}

/// Runs SQL over a catalog snapshot.
///
/// Contract:
/// - Only statements that read are run; anything else is `ReadOnly`. No function reaches files or the network.
/// - Exactly one statement; none or several is `InvalidSql`.
/// - Errors in the text name line and column.
/// - `Rows::read` lists every table the statement names; `repeatable` is false when it calls a volatile function.
#[async_trait]
pub trait SqlEngine: Send + Sync + std::fmt::Debug {
    /// Runs one statement.
    async fn run(&self, tables: Arc<dyn Tables>, query: &SqlQuery) -> Result<Rows>;

    /// Answers at once when that takes microseconds, as [`Table::read_now`] does; `None` means "use `run`".
    fn run_now(&self, tables: &Arc<dyn Tables>, query: &SqlQuery) -> Option<Result<Rows>> {
        let _ = (tables, query);
        None
    }
}
