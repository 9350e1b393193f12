//! Names of the catalog as names of GraphQL, each used once. Knows nothing of schemas.

use ahash::AHashSet;

/// `text` with everything that GraphQL does not allow in a name replaced by `_`.
pub(crate) fn mangle(text: &str) -> String {
    let mut name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with("__") {
        // Two leading underscores are reserved for introspection.
        let rest = name.trim_start_matches('_');
        name = format!("_{rest}");
    }
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
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
