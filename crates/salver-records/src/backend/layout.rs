//! How the rows of a table can be told apart while one state of its database is kept.

/// How the rows of a table can be told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// What the database itself calls each row by.
    pub(crate) address: Option<Address>,
    /// Whether each key that the table has is unique among the rows that come when it is read.
    pub(crate) keyed: bool,
}

/// What the database itself calls each row by, where it has such a name and keeps it as long as the snapshot lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The expression.
    pub(crate) sql: String,
    /// Whether it is a number, else text.
    pub(crate) number: bool,
    /// Whether rows must be asked to come in its order; else they do by themselves, and asking would sort them.
    pub(crate) sorted: bool,
    /// In how many pages the rows lie, when their addresses begin with the number of the page.
    pub(crate) pages: Option<u64>,
}
