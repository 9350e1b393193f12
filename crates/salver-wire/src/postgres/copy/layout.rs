//! What rows of a copy look like.

/// How values stand in the rows of a copy, and what between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::postgres) enum Layout {
    Text { delimiter: u8, null: String },
    Csv { delimiter: u8, null: String, quote: u8, escape: u8 },
    Binary,
}

/// A column that a statement names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::postgres) struct NamedColumn {
    pub(super) name: String,
    /// Whether it stands in quotes; else it may be the name in another case.
    pub(super) is_exact: bool,
}

impl NamedColumn {
    /// Returns the place of the column among those of these names.
    pub(super) fn place<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Option<usize> {
        let exact = names.clone().position(|name| name == self.name);
        exact.or_else(|| {
            let mut in_any_case = names.enumerate().filter(|(_, name)| name.to_lowercase() == self.name);
            in_any_case.next().filter(|_| !self.is_exact).map(|(place, _)| place)
        })
    }
}
