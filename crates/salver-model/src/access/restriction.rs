//! What is kept back of an entry.

use crate::access::{ColumnRestriction, Granted};
use crate::filter::Filter;
use crate::name::Name;
use crate::version::Version;

/// Columns and rows of an entry that are not there for a caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restriction {
    /// Columns that are kept back.
    pub columns: ColumnRestriction,
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
        Self { columns: granted.rule.columns.clone(), rows: granted.filter(), targets_hidden: Vec::new() }
    }

    /// Returns the version of what is left of an entry at `version`.
    #[must_use]
    pub fn version(&self, version: Version) -> Version {
        let masks = format!("{:?}", self.columns.masked);
        Version::of(&(version, &self.columns.hidden, masks, format!("{:?}", self.rows), &self.targets_hidden))
    }
}
