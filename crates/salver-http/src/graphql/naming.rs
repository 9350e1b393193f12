//! Maps names of the catalog to unique GraphQL names. Knows nothing of schemas.

use ahash::AHashSet;

/// Replacement for a name without any valid character: generated names begin with it, and two leading underscores are
/// reserved for introspection.
const NAMELESS: &str = "unnamed";

/// Replaces everything in `text` that GraphQL does not allow in a name by `_`.
pub(crate) fn mangle(text: &str) -> String {
    let mut name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.bytes().all(|byte| byte == b'_') {
        return NAMELESS.to_owned();
    }
    if name.starts_with("__") {
        // Two leading underscores are reserved for introspection.
        let rest = name.trim_start_matches('_');
        name = format!("_{rest}");
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

/// The names of a namespace, each unique.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: AHashSet<String>,
}

impl Names {
    /// Creates a namespace in which `reserved` are taken.
    pub(crate) fn reserving(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|name| (*name).to_owned()).collect() }
    }

    /// Returns `wanted`, mangled, with a number appended if the name is taken.
    pub(crate) fn claim(&mut self, wanted: &str) -> String {
        let base = mangle(wanted);
        let mut name = base.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, mangle};

    /// Returns every name of up to four of these characters.
    fn all() -> Vec<String> {
        let signs = ["_", "?", "a", "2", "\u{662f}", "__"];
        let mut all = vec![String::new()];
        let mut from = 0;
        for _ in 0..4 {
            let until = all.len();
            for at in from..until {
                for sign in signs {
                    all.push(format!("{}{sign}", all[at]));
                }
            }
            from = until;
        }
        all
    }

    #[test]
    fn names_are_names_of_graphql_and_given_once() {
        let mut names = Names::default();
        let mut given = std::collections::HashSet::new();
        for text in all() {
            let name = names.claim(&text);
            assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{text:?}: {name}");
            assert!(!name.starts_with(|c: char| c.is_ascii_digit()) && !name.starts_with("__"), "{text:?}: {name}");
            // Suffixes of generated names: `_page`, `_aggregate`, `_rows`.
            assert!(!format!("{}_page", mangle(&text)).starts_with("__"), "{text:?}: {name}");
            assert!(given.insert(name), "{text:?}");
        }
    }
}
