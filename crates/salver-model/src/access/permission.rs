//! What can be permitted.

use crate::records::Operation;

/// Something that a caller does with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    /// Read rows: REST, GraphQL, key-value, records; and the schema.
    Read,
    /// Name it in SQL.
    Sql,
    /// Read it whole: exports and cursors.
    Export,
    /// Create records.
    Create,
    /// Change records.
    Update,
    /// Delete records.
    Delete,
    /// Append events.
    Append,
    /// Read events as they came in: tails, pages, groups.
    Consume,
    /// Call functions.
    Call,
    /// Change the schema of a database; see the server's measurements.
    Administer,
}

impl Permission {
    /// Number of permissions.
    pub const COUNT: usize = Self::ALL.len();
    /// Every permission with its word in settings.
    pub const ALL: [(&'static str, Self); 10] = [
        ("read", Self::Read),
        ("sql", Self::Sql),
        ("export", Self::Export),
        ("create", Self::Create),
        ("update", Self::Update),
        ("delete", Self::Delete),
        ("append", Self::Append),
        ("consume", Self::Consume),
        ("call", Self::Call),
        ("administer", Self::Administer),
    ];
    /// What a rule is about that names no permission: the ways to read rows.
    pub const READING: [Self; 3] = [Self::Read, Self::Sql, Self::Export];

    /// Returns the permission called `word`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == word).map(|(_, permission)| *permission)
    }

    /// Returns its word in settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, own)| *own == self).map_or("", |(word, _)| word)
    }

    /// Returns whether columns and rows can be chosen for it: events and calls go out as they are.
    #[must_use]
    pub fn has_rows(self) -> bool {
        !matches!(self, Self::Append | Self::Consume | Self::Call | Self::Administer)
    }

    /// Returns the permission that an operation on records needs.
    #[must_use]
    pub fn of_operation(operation: Operation) -> Self {
        match operation {
            Operation::List | Operation::Read | Operation::Reflect | Operation::Document => Self::Read,
            Operation::Create => Self::Create,
            Operation::Update | Operation::Increment => Self::Update,
            Operation::Delete => Self::Delete,
            Operation::Remodel => Self::Administer,
        }
    }
}
