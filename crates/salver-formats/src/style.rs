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
}
