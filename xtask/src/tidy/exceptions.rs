//! The reviewed exceptions, a list that may only shrink.

use std::collections::BTreeMap;

/// What `exceptions.toml` allows.
#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    /// Most lines of a file that is longer than the limit, by path.
    pub(crate) lines: BTreeMap<String, usize>,
    /// Circles of modules by crate, each sorted.
    pub(crate) cycles: BTreeMap<String, Vec<Vec<String>>>,
}

impl Exceptions {
    /// Reads `exceptions.toml`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error| format!("{}: {error}", super::EXCEPTIONS))?;
        let section = |name: &str| table.get(name).and_then(toml::Value::as_table).into_iter().flatten();
        let words = |list: &toml::Value| -> Vec<String> {
            let mut words: Vec<String> =
                list.as_array().into_iter().flatten().filter_map(|w| w.as_str().map(str::to_owned)).collect();
            words.sort();
            words
        };
        Ok(Self {
            lines: section("lines")
                .filter_map(|(path, most)| Some((path.clone(), usize::try_from(most.as_integer()?).ok()?)))
                .collect(),
            cycles: section("cycles")
                .map(|(name, circles)| (name.clone(), circles.as_array().into_iter().flatten().map(words).collect()))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Exceptions;

    #[test]
    fn both_lists() {
        let read = Exceptions::parse("[lines]\n\"a.rs\" = 600\n[cycles]\nx = [[\"b\", \"a\"]]").unwrap();
        assert_eq!(read.lines["a.rs"], 600);
        assert_eq!(read.cycles["x"], [["a", "b"]]);
        assert!(Exceptions::parse("[lines").is_err());
    }
}
