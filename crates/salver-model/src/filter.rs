//! The predicate tree of a query, with the three-valued logic of SQL: a row passes when the predicate is true, not when
//! it is null.

use crate::column::ColumnPath;
use crate::error::{Code, Error, Result};
use crate::limits::{FILTER_DEPTH_MAX, FILTER_TERMS_MAX, PATTERN_BYTES_MAX};
use crate::value::Value;

/// Comparison of a column with a value.
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

/// Predicate over the columns of one entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// Conjunction; true when empty.
    And(Vec<Filter>),
    /// Disjunction; false when empty.
    Or(Vec<Filter>),
    /// Negation.
    Not(Box<Filter>),
    /// Comparison of a column with a value. With [`Value::Null`] the result is null, as in SQL.
    Compare {
        /// Column.
        column: ColumnPath,
        /// Operator.
        op: Comparison,
        /// Value.
        value: Value,
    },
    /// The column equals one of the values.
    In {
        /// Column.
        column: ColumnPath,
        /// Values.
        values: Vec<Value>,
    },
    /// SQL `LIKE`: `%` any run of characters, `_` one character, `\` escapes.
    Like {
        /// Column, which must hold text.
        column: ColumnPath,
        /// Pattern.
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
    /// Creates a comparison.
    #[must_use]
    pub fn compare(column: impl Into<ColumnPath>, op: Comparison, value: Value) -> Self {
        Self::Compare { column: column.into(), op, value }
    }

    /// Creates a `LIKE` predicate from a pattern of a client.
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

    /// Returns the negation of `self`.
    #[must_use]
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Checks that the predicate is not too large.
    ///
    /// # Errors
    /// `InvalidFilter`.
    pub fn check_size(&self) -> Result<()> {
        self.check_part(0, &mut 0)
    }

    fn check_part(&self, depth: usize, terms: &mut usize) -> Result<()> {
        *terms += 1;
        // Lowered SQL may nest deeper than filters in REST, but its own limit is not much higher.
        if depth > 4 * FILTER_DEPTH_MAX || *terms > FILTER_TERMS_MAX {
            return Err(Error::new(Code::InvalidFilter, "the filter is too large")
                .with_hint("nest less, or put many values of one column into an `in` list"));
        }
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().try_for_each(|part| part.check_part(depth + 1, terms)),
            Self::Not(inner) => inner.check_part(depth + 1, terms),
            Self::In { values, .. } if values.len() > FILTER_TERMS_MAX => {
                Err(Error::new(Code::InvalidFilter, format!("more than {FILTER_TERMS_MAX} values in one list")))
            }
            _ => Ok(()),
        }
    }

    /// Calls `visit` for each column the predicate names.
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
