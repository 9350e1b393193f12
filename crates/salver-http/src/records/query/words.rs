//! The names of parameters, and which of them a request may have.

/// What a request asks of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::records) enum Purpose {
    /// Rows by condition.
    List,
    /// Rows by key.
    Read,
    /// Rows by condition, as GeoJSON.
    Map,
    /// One row as GeoJSON.
    MapRow,
    /// New rows.
    Create,
    /// Rows by key, changed or taken away.
    Change,
    /// Rows by condition, changed or taken away.
    ChangeMany,
    /// Many new rows, as they come.
    Load,
    /// Several changes at once.
    Transaction,
}

/// Every parameter, beside those with a path or suffix.
pub(super) const ALL: [&str; 23] = [
    "include",
    "exclude",
    "filter",
    "order",
    "size",
    "page",
    "join",
    "format",
    "strict",
    "after",
    "distinct",
    "group",
    "aggregate",
    "having",
    "returning",
    "upsert",
    "on_conflict",
    "max_affected",
    "dry_run",
    "keep_good",
    "geometry",
    "bbox",
    "tile",
];

/// Salver's own: a request that has one is strict.
const OWN: [&str; 11] = [
    "after",
    "distinct",
    "group",
    "aggregate",
    "having",
    "returning",
    "upsert",
    "on_conflict",
    "max_affected",
    "dry_run",
    "keep_good",
];

impl Purpose {
    /// The parameters the request may have; `search` stands for whatever the entry calls it.
    fn list(self) -> &'static [&'static str] {
        match self {
            Self::List => &[
                "include",
                "exclude",
                "filter",
                "order",
                "size",
                "page",
                "join",
                "after",
                "distinct",
                "group",
                "aggregate",
                "having",
                "search",
            ],
            Self::Read => &["include", "exclude", "join"],
            Self::Map => {
                &["include", "exclude", "filter", "order", "size", "page", "join", "geometry", "bbox", "tile", "search"]
            }
            Self::MapRow => &["include", "exclude", "join", "geometry"],
            Self::Create => &["include", "exclude", "returning", "upsert", "on_conflict"],
            Self::Change => &["include", "exclude", "returning"],
            Self::ChangeMany => &["include", "exclude", "filter", "max_affected", "returning"],
            Self::Load => &["upsert", "dry_run", "keep_good"],
            Self::Transaction => &[],
        }
    }

    /// Whether the request may have the parameter `name`.
    pub(super) fn knows(self, name: &str) -> bool {
        matches!(name, "format" | "strict") || self.list().contains(&name)
    }

    /// The parameters, for messages.
    pub(super) fn words(self) -> Vec<&'static str> {
        self.list().iter().copied().filter(|word| *word != "search").chain(["format", "strict"]).collect()
    }

    /// The request, for messages.
    pub(super) fn shown(self) -> &'static str {
        match self {
            Self::List | Self::Map => "a list",
            Self::Read | Self::MapRow => "a read by key",
            Self::Create => "a creation",
            Self::Change => "a change by key",
            Self::ChangeMany => "a change by filter",
            Self::Load => "a load",
            Self::Transaction => "a transaction",
        }
    }
}

/// A name without its brackets.
pub(super) fn bare(name: &str) -> &str {
    match name.find('[') {
        Some(at) if at > 0 && name.ends_with(']') => &name[..at],
        _ => name,
    }
}

/// Whether only Salver has the parameter `name`.
pub(super) fn is_own(name: &str) -> bool {
    OWN.contains(&name) || of_child(name).is_some()
}

/// The path and the word of a parameter about joined rows, like `comments.order`.
pub(super) fn of_child(name: &str) -> Option<(&str, &str)> {
    let (path, word) = name.rsplit_once('.')?;
    let is_known = matches!(word, "order" | "size")
        || word
            .strip_prefix("filter")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit()));
    (is_known && !path.is_empty()).then_some((path, word))
}
