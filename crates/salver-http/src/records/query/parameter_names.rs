//! The names of parameters, and the kinds of requests that accept them.

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::records) enum Purpose {
    /// A list of rows by condition.
    List,
    /// A read of rows by key.
    Read,
    /// A list of rows by condition, as GeoJSON.
    Map,
    /// A read of one row, as GeoJSON.
    MapRow,
    /// An insert of rows.
    Create,
    /// An update or a delete of rows by key.
    Change,
    /// An update or a delete of rows by condition.
    ChangeMany,
    /// A bulk load of rows, as a stream.
    Load,
    /// Several changes in a transaction.
    Transaction,
}

/// All parameters, except those with a path or suffix.
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

/// Salver's own parameters: a request that has one is strict.
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
    /// Returns the parameters that the request accepts; `search` stands for the name configured in the entry.
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

    /// Returns whether the request accepts the parameter `name`.
    pub(super) fn knows(self, name: &str) -> bool {
        matches!(name, "format" | "strict") || self.list().contains(&name)
    }

    /// Returns the parameters, for messages.
    pub(super) fn words(self) -> Vec<&'static str> {
        self.list().iter().copied().filter(|word| *word != "search").chain(["format", "strict"]).collect()
    }

    /// Returns the name of the request, for messages.
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

/// Returns a name without its brackets.
pub(super) fn bare(name: &str) -> &str {
    match name.find('[') {
        Some(at) if at > 0 && name.ends_with(']') => &name[..at],
        _ => name,
    }
}

/// Returns a hint for `name` if it belongs to the grammar of `/api/tables` or of another system. Ignoring it would
/// return other rows than requested, so it is an error in every request.
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

/// Returns whether the brackets contain a column's name, rather than an index or nothing as in PHP's lists.
fn is_bracketed(name: &str) -> bool {
    name.split_once('[').is_some_and(|(_, rest)| {
        let inner = rest.rsplit_once(']').map_or(rest, |(inner, _)| inner);
        !inner.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns whether the parameter `name` is one of Salver's own.
pub(super) fn is_own(name: &str) -> bool {
    OWN.contains(&name) || of_child(name).is_some()
}

/// Splits a parameter of joined rows, such as `comments.order`, into its path and its word.
pub(super) fn of_child(name: &str) -> Option<(&str, &str)> {
    let (path, word) = name.rsplit_once('.')?;
    let is_known = matches!(word, "order" | "size")
        || word
            .strip_prefix("filter")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit()));
    (is_known && !path.is_empty()).then_some((path, word))
}
