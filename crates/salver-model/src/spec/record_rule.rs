//! What a database keeps back of its tables by its own settings: `[[database.rule]]` and `[[database.tenant]]`.

use super::matches_pattern;
use crate::principal::Principal;
use crate::records::Operation;
use crate::rule::{Rule, Term};

/// Access rule of a database entry for some tables and operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordRule {
    /// Tables, by name or pattern with `*`; empty for all.
    pub tables: Vec<String>,
    /// Operations; empty for all.
    pub operations: Vec<Operation>,
    /// Whether the tables are hidden.
    pub deny: bool,
    /// Columns that are hidden.
    pub columns_hidden: Vec<String>,
    /// Row-level predicate; only matching rows are visible. A new or changed row must match too.
    pub rows: Option<Rule>,
    /// Callers that are exempt. It names no columns.
    pub except: Option<Rule>,
}

impl RecordRule {
    /// Returns whether the rule covers an operation: a rule for `update` covers every way in which a row changes, and
    /// one for `read` also covers lists, which read rows without their keys.
    #[must_use]
    pub fn covers(&self, operation: Operation) -> bool {
        let named = |own: Operation| self.operations.contains(&own);
        self.operations.is_empty()
            || named(operation)
            || (operation == Operation::Increment && named(Operation::Update))
            || (operation == Operation::List && named(Operation::Read))
    }

    /// Returns whether the rule means the same for every caller.
    #[must_use]
    pub fn is_for_all_alike(&self) -> bool {
        self.except.is_none() && self.rows.as_ref().is_none_or(|rows| rows.attributes().is_empty())
    }

    /// Returns whether the rule applies to this caller.
    #[must_use]
    pub fn is_for(&self, caller: &Principal) -> bool {
        !self.except.as_ref().is_some_and(|except| except.is_for(caller))
    }

    /// Returns whether the rule hides the column.
    #[must_use]
    pub fn hides(&self, column: &str) -> bool {
        self.columns_hidden.iter().any(|pattern| matches_pattern(pattern, column))
    }

    /// Returns whether the rule applies to a table.
    #[must_use]
    pub fn is_about(&self, table: &str) -> bool {
        self.tables.is_empty() || self.tables.iter().any(|pattern| matches_pattern(pattern, table))
    }
}

/// Column with a fixed value per caller, which isolates tenants from each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Tenancy {
    /// Table, or `*`.
    pub table: String,
    /// Column; tables without it are not affected.
    pub column: String,
    /// Value of the column.
    pub value: Term,
}

impl Tenancy {
    /// Returns the attribute of the caller that chooses the rows; `None` where every caller has the same.
    #[must_use]
    pub fn attribute(&self) -> Option<&str> {
        match &self.value {
            Term::Caller(name) => Some(name),
            Term::Column(_) | Term::Literal(_) => None,
        }
    }
}
