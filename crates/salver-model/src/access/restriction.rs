//! What is kept back of an entry.

use crate::access::Granted;
use crate::filter::Filter;
use crate::mask::{ColumnMask, Mask};
use crate::name::Name;
use crate::spec::matches_pattern;
use crate::version::Version;

/// Columns and rows of an entry that are not there for a caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restriction {
    /// Columns that are not there, by name or pattern with `*`.
    pub columns_hidden: Vec<String>,
    /// Columns that have other values, with what they are; names stand before patterns.
    pub columns_masked: Vec<ColumnMask>,
    /// The rows that are there; `None` for all. It may name hidden columns, and sees the values behind masks. A value
    /// that is an attribute of the caller ([`crate::Value::Bare`]) equals a number only in its canonical spelling.
    pub rows: Option<Filter>,
    /// Entries that relations must not lead to.
    pub targets_hidden: Vec<Name>,
}

impl Restriction {
    /// Returns what a rule keeps back.
    #[must_use]
    pub fn of(granted: &Granted<'_>) -> Self {
        let (columns_hidden, columns_masked) =
            (granted.rule.columns_hidden.clone(), granted.rule.columns_masked.clone());
        Self { columns_hidden, columns_masked, rows: granted.filter(), targets_hidden: Vec::new() }
    }

    /// Returns whether the column is there.
    #[must_use]
    pub fn shows(&self, column: &str) -> bool {
        !self.columns_hidden.iter().any(|pattern| matches_pattern(pattern, column))
    }

    /// Returns what masks the column; `None` for one that has its own values, or is not there.
    #[must_use]
    pub fn mask(&self, column: &str) -> Option<&Mask> {
        ColumnMask::of(&self.columns_masked, column).filter(|_| self.shows(column))
    }

    /// Returns the version of what is left of an entry at `version`.
    #[must_use]
    pub fn version(&self, version: Version) -> Version {
        let masks = format!("{:?}", self.columns_masked);
        Version::of(&(version, &self.columns_hidden, masks, format!("{:?}", self.rows), &self.targets_hidden))
    }
}
