//! The identity of a table's rows while a snapshot of their database is kept.

/// The means by which the rows of a table can be told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The database's own address of each row.
    pub(crate) address: Option<Address>,
    /// Whether each key of the table is unique among the rows that a read returns.
    pub(crate) keyed: bool,
}

/// The database's own address of a row, where it has one that is stable for the life of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The SQL expression.
    pub(crate) sql: String,
    /// Whether it is a number, else text.
    pub(crate) number: bool,
    /// Whether rows need an `ORDER BY` to come in address order; else they come so anyway, and the clause would sort
    /// them.
    pub(crate) sorted: bool,
    /// Number of pages the rows occupy, when their addresses begin with the page number.
    pub(crate) pages: Option<u64>,
}
