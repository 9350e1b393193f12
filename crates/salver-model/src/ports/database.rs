//! The port of a database whose rows can change.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::Stream;

use crate::caller::Caller;
use crate::error::Result;
use crate::name::Name;
use crate::ports::Table;
use crate::records::{
    Change, DatabaseSchema, Definition, Document, GeoQuery, Load, LoadReport, Operation, Record, RecordKey, RecordQuery,
};
use crate::shares::Shares;
use crate::spec::DatabaseSpec;

/// A row on its way in: a record, or why there is none to be read where one should be.
pub type ArrivingRow = Result<Record>;

/// Rows on their way in, some at a time. A row that is none is told of like any that is refused; an error of the stream
/// ends the load.
pub type RecordStream = std::pin::Pin<Box<dyn Stream<Item = Result<Vec<ArrivingRow>>> + Send>>;

/// A database.
///
/// Contract:
/// - Rules, tenancy, validation and the other settings of the entry hold in every method.
/// - `change` and `transact` answer when everything is as durable as the database makes it; what failed left nothing.
/// - A database that can't be reached is `DatabaseUnavailable`, and is there again when it can be, without restart.
/// - A change of the schema, whoever made it, is seen without restart: within a second, and at once when a request
///   names what the old schema does not have.
#[async_trait]
pub trait Database: Send + Sync + std::fmt::Debug {
    /// How it was declared.
    fn spec(&self) -> &DatabaseSpec;

    /// The schema now; empty while the database could not be reached yet.
    fn schema(&self) -> Arc<DatabaseSchema>;

    /// The database in which this caller's rows are, where each has a separate one: it is the one to be asked then, and
    /// this one has no tables. `None` when it is this one, as for every spec without `of_caller`.
    ///
    /// # Errors
    /// `Forbidden` for a caller who has none.
    async fn of_caller(&self, caller: &Caller) -> Result<Option<Arc<dyn Database>>> {
        let _ = caller;
        Ok(None)
    }

    /// The schema as `operation` on it is allowed to `caller`: tables and columns that rules hide are not there.
    fn visible(&self, caller: &Caller, operation: Operation) -> Arc<DatabaseSchema>;

    /// Rows by condition: `{"records":[...]}`.
    async fn list(&self, caller: &Caller, query: &RecordQuery) -> Result<Document>;

    /// Rows by key: an object, or an array when `many`, with null for what is not there.
    async fn read(&self, caller: &Caller, query: &RecordQuery, keys: &[RecordKey], many: bool) -> Result<Document>;

    /// Reads or lists at once, on the calling thread, when that takes microseconds; `None` means "use the others". The
    /// answer is the same.
    fn read_now(&self, caller: &Caller, query: &RecordQuery, key: Option<&str>) -> Option<Result<Document>>;

    /// One change.
    async fn change(&self, caller: &Caller, change: Change) -> Result<Document>;

    /// Several changes of any tables, all or none: an array with each one's answer.
    async fn transact(&self, caller: &Caller, changes: Vec<Change>) -> Result<Document>;

    /// Many rows.
    async fn load(&self, caller: &Caller, load: &Load, rows: RecordStream) -> Result<LoadReport>;

    /// Rows as a GeoJSON feature collection, or with `key` as one feature.
    async fn geojson(&self, caller: &Caller, query: &GeoQuery, key: Option<&RecordKey>) -> Result<Document>;

    /// Changes the schema.
    async fn define(&self, caller: &Caller, definition: &Definition) -> Result<()>;

    /// Forgets what was read of the schema and reads it again.
    async fn refresh(&self) -> Result<()>;

    /// How long the database takes to answer nothing.
    async fn ping(&self) -> Result<Duration>;

    /// The connections that callers share; `None` where there are none to share.
    fn places(&self) -> Option<Arc<Shares>> {
        None
    }

    /// A number that differs whenever any row may; `None` where only the database could tell. Costs microseconds.
    fn version(&self) -> Option<u64>;

    /// Every table and view through the port of readable entries, under the names they have to the outside, with what
    /// rules leave to a caller of whom nothing is known.
    fn tables(&self) -> Vec<(Name, Arc<dyn Table>)>;

    /// Completes when the schema is another than the one with `stamp`, or `Err` when it can't be read; waits else.
    async fn changed(&self, stamp: u64) -> Result<()>;
}
