//! The condition tree of a query, with the three-valued logic of SQL: a row passes when the condition is true, not
//! when it is null.

use crate::column::ColumnPath;
use crate::error::{Code, Error, Result};
use crate::limits::PATTERN_BYTES_MAX;
use crate::value::Value;

/// How a column is compared with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal.
    NotEq,
    /// Less than.
    Lt,
    /// Less than or equal.
    LtEq,
    /// Greater than.
    Gt,
    /// Greater than or equal.
    GtEq,
}

/// A condition over the columns of one entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// All of them; true when there is none.
    And(Vec<Filter>),
    /// Any of them; false when there is none.
    Or(Vec<Filter>),
    /// Not.
    Not(Box<Filter>),
    /// Compare a column with a value. With [`Value::Null`] the condition is null, as in SQL.
    Compare {
        /// The column.
        column: ColumnPath,
        /// How.
        op: Comparison,
        /// With what.
        value: Value,
    },
    /// The column equals one of the values.
    In {
        /// The column.
        column: ColumnPath,
        /// The values.
        values: Vec<Value>,
    },
    /// SQL `LIKE`: `%` any run of characters, `_` one character, `\` escapes.
    Like {
        /// The column, which must hold text.
        column: ColumnPath,
        /// The pattern.
        pattern: String,
        /// Whether case is ignored (`ILIKE`).
        ignore_case: bool,
    },
    /// The column is null.
    IsNull {
        /// The column.
        column: ColumnPath,
    },
}

impl Filter {
    /// Shorthand for a comparison.
    #[must_use]
    pub fn compare(column: impl Into<ColumnPath>, op: Comparison, value: Value) -> Self {
        Self::Compare { column: column.into(), op, value }
    }

    /// A `LIKE` of a client.
    ///
    /// # Errors
    /// `InvalidFilter` when the pattern is too long.
    pub fn like(column: ColumnPath, pattern: String, ignore_case: bool) -> Result<Self> {
        if pattern.len() > PATTERN_BYTES_MAX {
            let message = format!("the pattern for `{column}` is longer than {PATTERN_BYTES_MAX} bytes");
            return Err(
                Error::new(Code::InvalidFilter, message).with_hint("look for less of the text, or for all with `eq`")
            );
        }
        Ok(Self::Like { column, pattern, ignore_case })
    }

    /// `self` negated.
    #[must_use]
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Calls `visit` for each column the condition names.
    pub fn for_each_column<'a>(&'a self, visit: &mut dyn FnMut(&'a ColumnPath)) {
        match self {
            Self::And(all) | Self::Or(all) => {
                for filter in all {
                    filter.for_each_column(visit);
                }
            }
            Self::Not(inner) => inner.for_each_column(visit),
            Self::Compare { column, .. }
            | Self::In { column, .. }
            | Self::Like { column, .. }
            | Self::IsNull { column } => visit(column),
        }
    }
}
