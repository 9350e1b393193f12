//! Names that say nothing: a file called after a drawer collects what belongs elsewhere. And names that say that there
//! is a second way: a function that answers at once is a short cut beside the one that may wait, and few may be.

use super::source::{blank, without_tests};
use crate::tree::Tree;

/// Stems no source file or folder of one may have.
const BANNED: [&str; 12] =
    ["utils", "util", "helpers", "helper", "common", "core", "misc", "types", "manager", "base", "impl", "mod"];

/// The most functions that may be called `..._now`.
const SHORT_CUTS: usize = 4;

/// Checks the path of every Rust file.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in tree.with_suffix(".rs") {
        let stems = file.path.trim_end_matches(".rs").split('/');
        if let Some(stem) = stems.into_iter().find(|stem| BANNED.contains(stem)) {
            let way_out = match stem {
                "mod" => "write `foo.rs` beside the folder `foo/`",
                _ => "name it after the thing it holds",
            };
            complaints.push(format!("{}: no file is called `{stem}`; {way_out}", file.path));
        }
    }
    complaints
}

/// Counts the short cuts of all crates.
pub(crate) fn check_short_cuts(tree: &Tree) -> Vec<String> {
    let sources = tree.with_suffix(".rs").filter(|file| file.path.starts_with("crates/") && !file.is_test());
    let mut found = Vec::new();
    for file in sources {
        let source = without_tests(&blank(&file.text));
        let names = source.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
        let short = names.filter(|name| name.ends_with("_now"));
        found.extend(short.map(|name| format!("{}: `{name}` is one of", file.path)));
    }
    if found.len() <= SHORT_CUTS {
        return Vec::new();
    }
    let many = format!("{} functions that answer at once: at most {SHORT_CUTS} may; use `MaybeReady`", found.len());
    found.iter().map(|place| format!("{place} {many}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{check, check_short_cuts};
    use crate::tree::Tree;

    #[test]
    fn short_cuts() {
        let text = "//! A.\nfn read_now() {}\nfn write_now<T>() {}\nfn now() {}\n// fn told_now()\n";
        let files = ["crates/a/src/a.rs", "crates/b/src/b.rs", "crates/b/tests/b.rs", "crates/c/src/c.rs"];
        let tree = |count: usize| Tree::of(&files[..count].iter().map(|path| (*path, text)).collect::<Vec<_>>());
        assert!(check_short_cuts(&tree(3)).is_empty());
        assert_eq!(check_short_cuts(&tree(4)).len(), 6);
    }

    #[test]
    fn drawers() {
        for (path, complaints) in [
            ("crates/x/src/utils.rs", 1),
            ("crates/x/src/common/a.rs", 1),
            ("crates/x/src/a/mod.rs", 1),
            ("crates/x/src/module.rs", 0),
            ("crates/x/src/database.rs", 0),
        ] {
            assert_eq!(check(&Tree::of(&[(path, "")])).len(), complaints, "{path}");
        }
    }
}
