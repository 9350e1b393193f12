//! A query on one entry: columns, filter, grouping, sort order and page.

use crate::column::ColumnPath;
use crate::cursor::Cursor;
use crate::filter::Filter;

/// Aggregate functions, with the semantics of SQL (nulls are skipped; `Count` without a column counts rows).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// Number of rows, or of non-null values.
    Count,
    /// Number of distinct non-null values.
    CountDistinct,
    /// Sum.
    Sum,
    /// Arithmetic mean.
    Avg,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
}

impl AggregateFunction {
    /// Every function with its name in requests.
    pub const ALL: [(&'static str, Self); 6] = [
        ("count", Self::Count),
        ("count_distinct", Self::CountDistinct),
        ("sum", Self::Sum),
        ("avg", Self::Avg),
        ("min", Self::Min),
        ("max", Self::Max),
    ];

    /// Returns the function called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
    }

    /// Returns its name in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, f)| *f == self).map_or("", |(n, _)| n)
    }
}

/// Aggregate of a grouped query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// Function.
    pub function: AggregateFunction,
    /// Argument; `None` only for [`AggregateFunction::Count`], which then counts rows.
    pub column: Option<ColumnPath>,
}

/// Column of the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// Column of the entry, named `name` in the result.
    Column {
        /// Column of the entry.
        path: ColumnPath,
        /// Name in the result.
        name: String,
    },
    /// Aggregate, named `name` in the result.
    Aggregate {
        /// Aggregate to compute.
        aggregate: Aggregate,
        /// Name in the result.
        name: String,
    },
}

impl Item {
    /// Returns the name of the item in the result.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Column { name, .. } | Self::Aggregate { name, .. } => name,
        }
    }

    /// Returns an item for a column under its own name (`links.webcast` for a nested field).
    #[must_use]
    pub fn column(path: impl Into<ColumnPath>) -> Self {
        let path = path.into();
        let name = path.to_string();
        Self::Column { path, name }
    }
}

/// Sort key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sort {
    /// Column; in a grouped query, the name of an item of the result.
    pub column: ColumnPath,
    /// Whether the order is descending.
    pub descending: bool,
    /// Whether nulls come first.
    pub nulls_first: bool,
}

/// Query on one entry. The parts apply in this order: filter, group and aggregate, having, distinct, sort, offset,
/// limit; the projection comes last, so that a sort may name a column that is not in the result (not with `distinct` or
/// grouping).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Projection, in order; empty for every column of the entry.
    pub items: Vec<Item>,
    /// Predicate on rows.
    pub filter: Option<Filter>,
    /// Columns to group by. Rows are also grouped when this is empty but an item is an aggregate: then there is one
    /// group of all rows.
    pub group: Vec<ColumnPath>,
    /// Predicate on groups; its columns are names of items.
    pub having: Option<Filter>,
    /// Whether duplicate rows are removed from the result.
    pub distinct: bool,
    /// Sort order; rows that compare equal keep the order of the source where the backend has one.
    pub sort: Vec<Sort>,
    /// Number of rows to skip.
    pub offset: u64,
    /// Maximum number of rows.
    pub limit: Option<u64>,
    /// Cursor of an earlier page to continue behind.
    pub after: Option<Cursor>,
    /// Whether [`crate::Rows::total`] should have the number of all matching rows, before offset and limit.
    pub count: bool,
}

impl Query {
    /// Returns whether rows are grouped.
    #[must_use]
    pub fn is_grouped(&self) -> bool {
        !self.group.is_empty() || self.items.iter().any(|item| matches!(item, Item::Aggregate { .. }))
    }
}
