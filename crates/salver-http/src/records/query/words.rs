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
pub(super) const ALL: [&str; 24] = [
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
    "bytes",
    "geometry",
    "bbox",
    "tile",
];

/// Salver's own: a request that has one is strict.
const OWN: [&str; 12] = [
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
    "bytes",
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
            Self::Load => &["upsert", "dry_run", "keep_good", "bytes"],
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

/// What is written here in place of `name`, where that is a word of the grammar of `/api/tables` or of other systems.
/// To pass over it would give other rows than were asked for, so that it is an error in every request.
pub(super) fn foreign(name: &str) -> Option<&'static str> {
    let word = name.split_once('[').map_or(name, |(word, _)| word);
    let hint = match word {
        "limit" => "write `size=10`",
        "offset" => "write `page=2,10`, or `after=` and the answer's `next`",
        "sort" | "order_by" | "orderby" => "write `order=column,desc`; repeat it for more columns",
        "columns" | "select" | "fields" => "write `include=id,name`",
        "count" => "write `page=1,10`: the answer then has `results`",
        "where" | "or" | "and" | "not" => {
            "write `filter=column,op,value`; `filter1=` and `filter2=` are two groups of which one must hold"
        }
        "filter" | "having" if is_bracketed(name) => "write `filter=column,op,value`, like `filter=visits,gt,100`",
        _ => return None,
    };
    Some(hint)
}

/// Whether the brackets hold the name of a column, and not a number or nothing as in lists of PHP.
fn is_bracketed(name: &str) -> bool {
    name.split_once('[').is_some_and(|(_, rest)| {
        let inner = rest.rsplit_once(']').map_or(rest, |(inner, _)| inner);
        !inner.bytes().all(|byte| byte.is_ascii_digit())
    })
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
