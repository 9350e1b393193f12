//! Versions of tables that keep them, behind the path of a source: `path?version=3`, `path?at=2026-01-31T12:00:00Z`.

/// What a source says of the version of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableVersion<'s> {
    /// The source without its version.
    pub root: &'s str,
    /// `version` or `at`.
    pub key: &'s str,
    /// The number or the time, as written.
    pub value: &'s str,
}

impl<'s> TableVersion<'s> {
    /// Returns the version that a source names; `None` if it names none. The queries of URLs belong to their servers.
    #[must_use]
    pub fn of_source(source: &'s str) -> Option<Self> {
        if source.starts_with("http://") || source.starts_with("https://") {
            return None;
        }
        let (root, query) = source.rsplit_once('?')?;
        let (key, value) = query.split_once('=')?;
        // In a pattern, `?` is any character.
        let is_version = matches!(key, "version" | "at") && !value.contains(['/', '*', '[', '&']);
        (is_version && !root.is_empty()).then_some(Self { root, key, value })
    }
}

#[cfg(test)]
mod tests {
    use super::TableVersion;

    #[test]
    fn sources() {
        for (source, found) in [
            ("data/t?version=3", Some(("data/t", "version", "3"))),
            ("s3://b/t?at=2026-01-31T12:00:00Z", Some(("s3://b/t", "at", "2026-01-31T12:00:00Z"))),
            ("data/t?version=", Some(("data/t", "version", ""))),
            ("data/t", None),
            ("data/?version=*", None),
            ("data/t?sheet=3", None),
            ("https://example.org/t.csv?version=3", None),
        ] {
            let own = TableVersion::of_source(source).map(|own| (own.root, own.key, own.value));
            assert_eq!(own, found, "{source}");
        }
    }
}
