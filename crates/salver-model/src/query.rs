//! What to read from one entry: columns, filter, grouping, order and page.

use crate::column::ColumnPath;
use crate::cursor::Cursor;
use crate::filter::Filter;

/// Functions over the rows of a group, with the meaning they have in SQL (nulls are skipped; `Count` without a column
/// counts rows).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// Rows, or values that are not null.
    Count,
    /// Different values that are not null.
    CountDistinct,
    /// Sum.
    Sum,
    /// Arithmetic mean.
    Avg,
    /// Smallest.
    Min,
    /// Largest.
    Max,
}

impl AggregateFunction {
    /// Every function with the name it has in requests.
    pub const ALL: [(&'static str, Self); 6] = [
        ("count", Self::Count),
        ("count_distinct", Self::CountDistinct),
        ("sum", Self::Sum),
        ("avg", Self::Avg),
        ("min", Self::Min),
        ("max", Self::Max),
    ];

    /// The function called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
    }

    /// The name it has in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, f)| *f == self).map_or("", |(n, _)| n)
    }
}

/// One aggregate of a grouped query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// The function.
    pub function: AggregateFunction,
    /// Its argument; `None` only for [`AggregateFunction::Count`], which then counts rows.
    pub column: Option<ColumnPath>,
}

/// One column of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// A column of the entry, under the name `name` in the answer.
    Column {
        /// Which column.
        path: ColumnPath,
        /// Its name in the answer.
        name: String,
    },
    /// An aggregate, under the name `name` in the answer.
    Aggregate {
        /// Which aggregate.
        aggregate: Aggregate,
        /// Its name in the answer.
        name: String,
    },
}

impl Item {
    /// The name the item has in the answer.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Column { name, .. } | Self::Aggregate { name, .. } => name,
        }
    }

    /// A column under its own name (`links.webcast` for a nested field).
    #[must_use]
    pub fn column(path: impl Into<ColumnPath>) -> Self {
        let path = path.into();
        let name = path.to_string();
        Self::Column { path, name }
    }
}

/// One key of an order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sort {
    /// The column; in a grouped query, the name of an item of the answer.
    pub column: ColumnPath,
    /// Largest first.
    pub descending: bool,
    /// Whether nulls come before everything else.
    pub nulls_first: bool,
}

/// What to read from one entry. The parts apply in this order: filter, group and aggregate, having, distinct, sort,
/// offset, limit; columns are chosen last, so that a sort may name a column that is not in the answer (not with
/// `distinct` or grouping).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Columns of the answer in order; empty means every column of the entry.
    pub items: Vec<Item>,
    /// Which rows.
    pub filter: Option<Filter>,
    /// Columns to group by. Grouping also happens when this is empty but an item is an aggregate: one group of all.
    pub group: Vec<ColumnPath>,
    /// Which groups; columns are names of items.
    pub having: Option<Filter>,
    /// Whether equal rows of the answer become one.
    pub distinct: bool,
    /// The order; rows that compare equal keep the order of the source where the backend has one.
    pub sort: Vec<Sort>,
    /// How many rows to leave out first.
    pub offset: u64,
    /// How many rows at most.
    pub limit: Option<u64>,
    /// Go on behind the last row of an earlier page.
    pub after: Option<Cursor>,
    /// Whether the number of all matching rows, before offset and limit, is wanted in [`crate::Rows::total`].
    pub count: bool,
}

impl Query {
    /// Whether rows are grouped.
    #[must_use]
    pub fn is_grouped(&self) -> bool {
        !self.group.is_empty() || self.items.iter().any(|item| matches!(item, Item::Aggregate { .. }))
    }
}
