//! The port of a database whose rows can change.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::Stream;

use crate::caller::Caller;
use crate::error::Result;
use crate::name::Name;
use crate::ports::{MaybeReady, Table};
use crate::records::{
    Change, Changed, DatabaseSchema, Definition, Document, Load, LoadReport, Operation, Record, RecordRead,
};
use crate::shares::Shares;
use crate::spec::DatabaseSpec;

/// Row of a bulk load: a record, or the error of a row that could not be parsed.
pub type ArrivingRow = Result<Record>;

/// Rows of a bulk load, in batches. A malformed row is reported like any refused row; an error of the stream ends the
/// load.
pub type RecordStream = std::pin::Pin<Box<dyn Stream<Item = Result<Vec<ArrivingRow>>> + Send>>;

/// Database.
///
/// Contract:
/// - Rules, tenancy, validation and the other settings of the entry apply in every method.
/// - `change` and `transact` return when everything is as durable as the database makes it; a failed one leaves no
///   effects.
/// - A database that cannot be reached is `DatabaseUnavailable`, and is used again as soon as it can be reached,
///   without a restart.
/// - A schema change, whoever made it, is detected without a restart: within a second, and at once when a request names
///   something that the old schema lacks.
#[async_trait]
pub trait Database: Send + Sync + std::fmt::Debug {
    /// Returns its declaration.
    fn spec(&self) -> &DatabaseSpec;

    /// Returns the current schema; empty until the database was reached.
    fn schema(&self) -> Arc<DatabaseSchema>;

    /// Returns the separate database of this caller, if each caller has one: it is then to be used instead, and this
    /// one has no tables. `None` when it is this one, as for every spec without `of_caller`.
    ///
    /// # Errors
    /// Returns `Forbidden` for a caller without a database.
    async fn of_caller(&self, caller: &Caller) -> Result<Option<Arc<dyn Database>>> {
        let _ = caller;
        Ok(None)
    }

    /// Returns the schema that `caller` may see for `operation`: without tables and columns hidden by rules.
    fn visible(&self, caller: &Caller, operation: Operation) -> Arc<DatabaseSchema>;

    /// Reads rows; at once if that takes microseconds.
    fn read<'a>(&'a self, caller: &'a Caller, read: &'a RecordRead) -> MaybeReady<'a, Result<Document>>;

    /// Returns whether [`Database::read`] may have rows at once. Where it never has, callers need not try.
    fn reads_at_once(&self) -> bool {
        false
    }

    /// Applies one change.
    async fn change(&self, caller: &Caller, change: Change) -> Result<Changed>;

    /// Applies several changes of any tables atomically, and returns an array with the result of each.
    async fn transact(&self, caller: &Caller, changes: Vec<Change>) -> Result<Changed>;

    /// Loads many rows.
    async fn load(&self, caller: &Caller, load: &Load, rows: RecordStream) -> Result<LoadReport>;

    /// Changes the schema.
    async fn define(&self, caller: &Caller, definition: &Definition) -> Result<()>;

    /// Discards the cached schema and reads it again.
    async fn refresh(&self) -> Result<()>;

    /// Returns the round-trip time of an empty query.
    async fn ping(&self) -> Result<Duration>;

    /// Returns the connections that callers share; `None` if there are none to share.
    fn places(&self) -> Option<Arc<Shares>> {
        None
    }

    /// Returns a number that changes whenever any row may have; `None` if only the database could tell. Takes
    /// microseconds.
    fn version(&self) -> Option<u64>;

    /// Returns every table and view as readable entries, with the rows and columns that rules allow to an anonymous
    /// caller. `entry` gives the name under which a table is served, called once for each with its public name; a table
    /// without one is left out. Descriptions and relations use these names.
    fn tables(&self, entry: &mut dyn FnMut(&str) -> Option<Name>) -> Vec<Arc<dyn Table>>;

    /// Completes when the schema differs from the one with `stamp`, or returns `Err` when it cannot be read.
    async fn changed(&self, stamp: u64) -> Result<()>;
}
