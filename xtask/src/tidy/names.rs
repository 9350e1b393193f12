//! Names that say nothing: a file called after a drawer collects what belongs elsewhere.

use crate::tree::Tree;

/// Stems no source file or folder of one may have.
const BANNED: [&str; 12] =
    ["utils", "util", "helpers", "helper", "common", "core", "misc", "types", "manager", "base", "impl", "mod"];

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

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

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
