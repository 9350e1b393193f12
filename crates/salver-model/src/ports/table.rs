//! The port of anything with rows.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;

use crate::entry::Description;
use crate::error::Result;
use crate::filter::Filter;
use crate::ports::{Held, MaybeReady};
use crate::principal::Principal;
use crate::query::Query;
use crate::read_view::ReadView;
use crate::reply::Rows;
use crate::version::Version;

/// What rules leave of a table for a caller.
#[derive(Clone, Debug)]
pub enum Left {
    /// All of it.
    Whole,
    /// A table with less rows or columns.
    Part(Arc<dyn Table>),
    /// Nothing: for the caller the table is not there.
    Nothing,
}

/// Entry with rows, at one version: a `Table` is immutable, a reload creates a new one.
///
/// Contract:
/// - `read` implements the whole query: filter, grouping, having, distinct, order, offset and limit are all applied,
///   columns are in the requested order and have the requested names; without items, the columns are those of the
///   schema in order.
/// - An unknown column is `InvalidColumn`, `InvalidFilter` or `InvalidSort` by its place in the query, with the nearest
///   column as hint; a value that cannot be compared with its column is `InvalidValue`.
/// - With `after`, rows continue behind the cursor's row; a cursor of another version is `ExpiredCursor`, of another
///   query `InvalidCursor`.
/// - `next` is set when `limit` was given, the query is neither grouped nor distinct, and more rows follow.
/// - `total` is set when `count` was requested.
/// - Without a sort the order is the source's, and stable from call to call.
/// - Dropping the future or the stream cancels the work.
#[async_trait]
pub trait Table: Send + Sync + std::fmt::Debug {
    /// Returns the description of the entry.
    fn describe(&self) -> &Description;

    /// Runs a query; at once if that takes a few microseconds, so that a door need not spawn a task for it.
    fn read<'a>(&'a self, query: &'a Query) -> MaybeReady<'a, Result<Rows>>;

    /// Returns the current table, for one whose rows grow while it is served; `None` when this is it. A request calls
    /// this once and keeps the result.
    fn current(&self) -> Option<Arc<dyn Table>> {
        None
    }

    /// Returns a snapshot of all current rows, for the lifetime of the result, in `parts` or more parts if they can be
    /// read independently; see [`Held`].
    ///
    /// # Errors
    /// Returns `Overloaded` when a database has as many snapshots as it can, `DatabaseUnavailable`, `EntryUnavailable`.
    async fn hold(&self, parts: usize) -> Result<Arc<dyn Held>>;

    /// Returns the snapshot of all rows at `version`, if it is still available, so that an export continues after a
    /// restart. The same version and the same `parts` give the same parts as [`Table::hold`], so that positions in them
    /// stay valid.
    ///
    /// # Errors
    /// Returns the errors of [`Table::hold`].
    async fn hold_at(&self, version: Version, parts: usize) -> Result<Option<Arc<dyn Held>>> {
        if self.describe().version == version { self.hold(parts).await.map(Some) } else { Ok(None) }
    }

    /// Returns the table with the rows that satisfy `filter` only, if the backend chooses rows itself, by its own
    /// comparisons; `None` if whoever reads has to. The filter may name columns that the description does not have.
    fn with_rows(&self, filter: &Filter) -> Option<Arc<dyn Table>> {
        let _ = filter;
        None
    }

    /// Returns the table as one of a statement's: all reads of tables in one `view` that belong to the same database
    /// see the same state of it, and so do all that are held. `None` if each read sees that anyway, or the table is in
    /// a view already.
    ///
    /// The reads of a view run one after the other. One must not wait for another that began later.
    fn in_view(&self, view: &Arc<ReadView>) -> Option<Arc<dyn Table>> {
        let _ = view;
        None
    }

    /// Returns what the rules of the table's own database leave of it for a caller. The table itself is what they leave
    /// for all callers alike.
    fn left_for(&self, caller: &Principal) -> Left {
        let _ = caller;
        Left::Whole
    }

    /// Returns the implementation, for the SQL engine, which can do more with its own tables than the port offers.
    fn as_any(&self) -> &dyn Any;
}
