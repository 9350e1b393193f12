//! What a client may choose about the rows beside their format.

/// How a null is written where the format has a choice: in the objects of JSON and NDJSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nulls {
    /// As `null`.
    #[default]
    Write,
    /// Not at all: the field is left out, as ROAPI does.
    Omit,
}

/// How rows are presented.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// How JSON and NDJSON write nulls.
    pub nulls: Nulls,
    /// The title of an HTML page.
    pub title: String,
}
