//! The columns that are kept back of an entry.

use crate::mask::{ColumnMask, Mask};
use crate::spec::matches_pattern;

/// Columns that are not there, and columns that have other values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnRestriction {
    /// Columns that are not there, by name or pattern with `*`.
    pub hidden: Vec<String>,
    /// Columns that have other values, with what they are; those that are hidden are not there. Names stand before
    /// patterns ([`ColumnMask::sort`]).
    pub masked: Vec<ColumnMask>,
}

impl ColumnRestriction {
    /// Returns whether every column is there, with its own values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hidden.is_empty() && self.masked.is_empty()
    }

    /// Returns whether the column is there.
    #[must_use]
    pub fn shows(&self, column: &str) -> bool {
        !self.hidden.iter().any(|pattern| matches_pattern(pattern, column))
    }

    /// Returns what masks the column; `None` for one that has its own values, or is not there.
    #[must_use]
    pub fn mask(&self, column: &str) -> Option<&Mask> {
        ColumnMask::of(&self.masked, column).filter(|_| self.shows(column))
    }
}
