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
    /// Where an HTML page leads.
    pub navigation: Option<Box<Navigation>>,
}

/// Ways from an HTML page of rows to other pages of the same entry. They are URLs, and need no scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Navigation {
    /// The same rows sorted by each column, where they can be, in the order of the columns.
    pub sorts: Vec<Option<String>>,
    /// The rows before these.
    pub before: Option<String>,
    /// The rows after these.
    pub after: Option<String>,
    /// All rows, where conditions keep some back.
    pub all: Option<String>,
    /// The form for another condition.
    pub form: Option<FilterForm>,
}

/// A form that asks for a condition: its fields are `column`, `comparison` and `value`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FilterForm {
    /// Where it leads.
    pub action: String,
    /// Fields that go along unseen, with their values.
    pub hidden: Vec<(&'static str, String)>,
    /// The comparisons, with what people read.
    pub comparisons: &'static [(&'static str, &'static str)],
}
