//! Options of the output that are independent of the format.

/// Representation of nulls where the format has a choice: in the objects of JSON and NDJSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nulls {
    /// Written as `null`.
    #[default]
    Write,
    /// Omitted with the field, as in ROAPI.
    Omit,
}

/// Options of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// Representation of nulls in JSON and NDJSON.
    pub nulls: Nulls,
    /// The title of an HTML page.
    pub title: String,
    /// Longest text of a cell of an HTML page, in bytes; the rest of a longer one is left out. `None`: any length.
    pub cell_bytes: Option<usize>,
    /// What an HTML page says above its rows.
    pub note: String,
}
