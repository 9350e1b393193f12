//! Limits stand together: a constant called `..._MAX` or `..._MIN` is a limit, and all of those have one place, where
//! each says what it bounds and what happens beyond it.

use super::source::{blank, without_tests};
use crate::tree::Tree;

/// Where limits stand: in this file, and in the files of the folder beside it.
const PLACE: &str = "crates/salver-model/src/limits";

/// Checks the sources of every crate, without their tests.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    let sources =
        tree.with_suffix(".rs").filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/"));
    for file in sources.filter(|file| !file.is_test() && !is_place(&file.path)) {
        for (at, line) in without_tests(&blank(&file.text)).lines().enumerate() {
            if let Some(name) = limit(line) {
                complaints.push(format!(
                    "{}:{}: `{name}` is a limit by its name. If a client or an operator can meet it, move it to the \
                     file of its subject in {PLACE}/; if not, name it after what it is: `..._BYTES`, `..._ROWS`, \
                     `..._CAPACITY`",
                    file.path,
                    at + 1
                ));
            }
        }
    }
    complaints
}

fn is_place(path: &str) -> bool {
    path.strip_prefix(PLACE).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// The name of the constant that the line declares, if it is that of a limit.
fn limit(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| !matches!(*word, "const" | "static"));
    let name = words.nth(1)?.split(':').next()?;
    (name.ends_with("_MAX") || name.ends_with("_MIN")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    #[test]
    fn limits_and_where_they_may_stand() {
        let tested = "#[cfg(test)]\nmod tests {\n    const ROWS_MAX: u8 = 1;\n}";
        for (path, text, complaints) in [
            ("crates/x/src/a.rs", "pub(super) const ROWS_MAX: usize = 1;", 1),
            ("crates/x/src/a.rs", "    const BYTES2_MIN: u64 = 1;", 1),
            ("crates/x/src/a.rs", "static ROWS_MAX: u64 = 1;", 1),
            ("crates/x/src/a.rs", "const ROWS: u64 = BYTES_MAX;", 0),
            ("crates/x/src/a.rs", "// const ROWS_MAX: u64 = 1;", 0),
            ("crates/x/src/a.rs", "const fn a() -> u8 { ROWS_MAX }", 0),
            ("crates/x/src/a.rs", tested, 0),
            ("crates/x/tests/a.rs", "const ROWS_MAX: u64 = 1;", 0),
            ("crates/x/src/a/tests.rs", "const ROWS_MAX: u64 = 1;", 0),
            ("crates/salver-model/src/limits.rs", "const ROWS_MAX: u64 = 1;", 0),
            ("crates/salver-model/src/limits/sql.rs", "const ROWS_MAX: u64 = 1;", 0),
            ("crates/salver-model/src/limitless.rs", "const ROWS_MAX: u64 = 1;", 1),
            ("xtask/src/a.rs", "const ROWS_MAX: u64 = 1;", 0),
        ] {
            assert_eq!(check(&Tree::of(&[(path, text)])).len(), complaints, "{path}: {text}");
        }
    }
}
