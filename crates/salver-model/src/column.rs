//! References to columns, in filters, sorts and results alike.

use std::fmt;

/// A column, or a field nested in a struct column: `links.webcast` is column `links`, path `["webcast"]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnPath {
    /// Top-level column.
    pub column: String,
    /// Fields below it, outermost first; empty for the column itself.
    pub fields: Vec<String>,
}

impl ColumnPath {
    /// Returns the path of a top-level column.
    #[must_use]
    pub fn column(name: impl Into<String>) -> Self {
        Self { column: name.into(), fields: Vec::new() }
    }
}

impl<T: Into<String>> From<T> for ColumnPath {
    fn from(name: T) -> Self {
        Self::column(name)
    }
}

impl fmt::Display for ColumnPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.column)?;
        self.fields.iter().try_for_each(|field| write!(f, ".{field}"))
    }
}
