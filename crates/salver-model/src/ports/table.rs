//! The port of anything that has rows.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;

use crate::entry::Description;
use crate::error::Result;
use crate::ports::Held;
use crate::query::Query;
use crate::reply::Rows;
use crate::version::Version;

/// An entry with rows, held at one version: a `Table` never changes, a reload makes a new one.
///
/// Contract:
/// - `read` answers exactly the query: filter, grouping, having, distinct, order, offset and limit all
///   applied, columns in the order and under the names asked for; with no items, the columns of the schema in order.
/// - An unknown column is `InvalidColumn`, `InvalidFilter` or `InvalidSort` by where it stands, with the nearest
///   column as hint; a value that can't be compared with its column is `InvalidValue`.
/// - With `after`, rows go on behind the cursor's row; a cursor of another version is `ExpiredCursor`, of another
///   query `InvalidCursor`.
/// - `next` is set when `limit` was given, the query is neither grouped nor distinct, and more rows follow.
/// - `total` is set when `count` was asked for.
/// - Without a sort the order is the source's, and stable from call to call.
/// - Dropping the future or the stream stops the work.
#[async_trait]
pub trait Table: Send + Sync + std::fmt::Debug {
    /// What the entry is.
    fn describe(&self) -> &Description;

    /// Answers a query.
    async fn read(&self, query: &Query) -> Result<Rows>;

    /// Answers a query at once when that takes a few microseconds, so that a door need not make a task of it; `None`
    /// means "use `read`". The answer is the same.
    fn read_now(&self, query: &Query) -> Option<Result<Rows>> {
        let _ = query;
        None
    }

    /// The table as it is now, for one whose rows grow while it is served; `None` when this is it. A request asks once
    /// and holds what it gets.
    fn current(&self) -> Option<Arc<dyn Table>> {
        None
    }

    /// All rows as they are now, held for as long as the answer lives, in `parts` parts or more where they can be read
    /// apart from each other; see [`Held`].
    ///
    /// # Errors
    /// `Overloaded` when a database has as many held as it can, `DatabaseUnavailable`, `EntryUnavailable`.
    async fn hold(&self, parts: usize) -> Result<Arc<dyn Held>>;

    /// All rows as they were at `version`, when they still are to be had: an export goes on after a restart. The same
    /// version and the same `parts` give the same parts, as [`Table::hold`] does, so that a position in one of them can
    /// be come back to.
    ///
    /// # Errors
    /// As [`Table::hold`].
    async fn hold_at(&self, version: Version, parts: usize) -> Result<Option<Arc<dyn Held>>> {
        if self.describe().version == version { self.hold(parts).await.map(Some) } else { Ok(None) }
    }

    /// The implementation, for the SQL engine that can do more with its own tables than the port offers.
    fn as_any(&self) -> &dyn Any;
}
