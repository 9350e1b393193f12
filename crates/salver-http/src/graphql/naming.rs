//! Names of the catalog as names of GraphQL, each used once. Knows nothing of schemas.

use ahash::AHashSet;

/// What a name is called of which nothing is left: what is made of names begins with them, and two leading underscores
/// are reserved for introspection.
const NAMELESS: &str = "unnamed";

/// `text` with everything that GraphQL does not allow in a name replaced by `_`.
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

/// Names of one namespace, given out once each.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: AHashSet<String>,
}

impl Names {
    /// A namespace in which `reserved` are already taken.
    pub(crate) fn reserving(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|name| (*name).to_owned()).collect() }
    }

    /// The mangled `wanted`, with a number behind it when the name is taken.
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

    /// Every name of up to four of these signs.
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
            // What is made of it: `_page`, `_aggregate`, `_rows`.
            assert!(!format!("{}_page", mangle(&text)).starts_with("__"), "{text:?}: {name}");
            assert!(given.insert(name), "{text:?}");
        }
    }
}
