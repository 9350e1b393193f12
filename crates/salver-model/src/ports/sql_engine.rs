//! The port of the SQL engine.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use futures::future::BoxFuture;

use crate::access::Restriction;
use crate::error::Result;
use crate::name::Name;
use crate::parameter::ParameterType;
use crate::ports::{MaybeReady, Table};
use crate::reply::Rows;
use crate::request::SqlQuery;
use crate::spec::{Parameter, QuerySpec, ViewSpec};

/// Tables a statement may name: one catalog snapshot, as seen by the engine.
pub trait Tables: Send + Sync + std::fmt::Debug {
    /// Returns the table called `name`; `None` when there is no such entry.
    ///
    /// # Errors
    /// Returns `EntryUnavailable` when the entry exists but is not loaded, or may be in a database that was never
    /// reached.
    fn table(&self, name: &str) -> Result<Option<Arc<dyn Table>>>;

    /// Returns every loaded table, by name.
    fn list(&self) -> Vec<(Name, Arc<dyn Table>)>;

    /// Returns the name of every table, also of those that are not loaded.
    fn names(&self) -> Vec<Name> {
        self.list().into_iter().map(|(name, _)| name).collect()
    }

    /// Returns whether statements may call the functions of this file.
    fn calls(&self, file: &str) -> bool {
        let _ = file;
        true
    }

    /// Returns a number that changes whenever any table does; equal generations mean equal catalogs.
    fn generation(&self) -> u64;
}

/// What a statement takes and gives.
#[derive(Clone, Debug)]
pub struct StatementDescription {
    /// Types of the parameters `$1`, `$2`, ... in order.
    pub parameters: Vec<ParameterType>,
    /// Columns of the rows.
    pub columns: SchemaRef,
}

/// What a named query takes and gives.
#[derive(Clone, Debug)]
pub struct QueryDescription {
    /// Parameters: first the declared ones, in order, then the others that the statement names.
    pub parameters: Vec<Parameter>,
    /// Columns of the rows.
    pub columns: SchemaRef,
}

/// Executor of SQL over a catalog snapshot.
///
/// Contract:
/// - Only statements that read are run; anything else is `ReadOnly`. No function accesses files or the network.
/// - Exactly one statement; none or several is `InvalidSql`.
/// - Errors in the text have a line and column.
/// - `Rows::read` lists every table the statement names; `repeatable` is false when it calls a volatile function.
pub trait SqlEngine: Send + Sync + std::fmt::Debug {
    /// Runs one statement; at once if that takes microseconds, like [`Table::read`].
    fn run<'a>(&'a self, tables: Arc<dyn Tables>, query: &'a SqlQuery) -> MaybeReady<'a, Result<Rows>>;

    /// Returns what is left of `table` without the columns and rows that the restriction keeps back: reads, holds and
    /// statements give what they would if these had never been there.
    ///
    /// # Errors
    /// Returns `Config` when the restriction does not fit the table.
    fn restrict(self: Arc<Self>, table: &Arc<dyn Table>, restriction: &Restriction) -> Result<Arc<dyn Table>>;

    /// Plans a statement without running it, and returns what it takes and gives. Its parameters are `$1`, `$2`, ...;
    /// `types` has those that are known, in order, and the statement tells the others.
    ///
    /// # Errors
    /// Returns what [`SqlEngine::run`] refuses, and `InvalidSql` for parameters with names.
    fn describe_statement<'a>(
        &'a self,
        tables: Arc<dyn Tables>,
        text: &'a str,
        types: &'a [Option<ParameterType>],
    ) -> BoxFuture<'a, Result<StatementDescription>>;

    /// Returns the rows of a view as a table, over the `tables` of this moment. Its version is made of its statement
    /// and of the versions of what it reads. Blocks for some milliseconds, and asks `tables` on another thread.
    ///
    /// # Errors
    /// Returns what [`SqlEngine::run`] refuses, and `InvalidSql` for a statement that reads the list of tables, calls a
    /// function of a file, or has parameters.
    fn view(self: Arc<Self>, view: &ViewSpec, tables: Arc<dyn Tables>) -> Result<Arc<dyn Table>>;

    /// Plans a named query, and returns what it takes and gives.
    ///
    /// # Errors
    /// Returns what [`SqlEngine::run`] refuses, `Config` for a parameter that is declared and not in the statement, and
    /// for a default that is not of its type.
    fn describe<'a>(&'a self, tables: Arc<dyn Tables>, query: &'a QuerySpec)
    -> BoxFuture<'a, Result<QueryDescription>>;
}
