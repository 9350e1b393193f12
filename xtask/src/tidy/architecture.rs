//! What ARCHITECTURE.md says of files: each that it names is there, and a request can be followed through few of them.

use crate::tree::{File, Tree};

/// Where it stands.
const PAGE: &str = "ARCHITECTURE.md";
/// The most files that one request leads through.
const REQUEST_FILES: usize = 12;

/// Checks the page.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.file(PAGE) else { return Vec::new() };
    let mut complaints = Vec::new();
    for (at, line) in page.text.lines().enumerate() {
        let place = format!("{PAGE}:{}", at + 1);
        let Some((request, files)) = request(line) else {
            let gone = spans(line).filter(|span| span.ends_with(".rs") && !is_there(tree, span));
            complaints.extend(gone.map(|span| format!("{place}: there is no `{span}`")));
            continue;
        };
        if files.len() > REQUEST_FILES {
            let count = files.len();
            complaints.push(format!("{place}: {request} leads through {count} files; at most {REQUEST_FILES} may do"));
        }
        let gone = files.into_iter().filter(|path| tree.file(path).is_none());
        complaints.extend(gone.map(|path| format!("{place}: there is no `{path}`")));
    }
    complaints
}

/// A row of the table of requests, like `| a call | http: `router.rs`, `exit.rs`; service: `functions.rs` |`: what it
/// is about, and the paths of its files.
fn request(line: &str) -> Option<(&str, Vec<String>)> {
    let (request, cell) = line.strip_prefix("| ")?.split_once(" | ")?;
    let mut paths = Vec::new();
    for part in cell.trim_end_matches([' ', '|']).split("; ") {
        let (name, files) = part.split_once(": ")?;
        if !files.starts_with('`') || !name.chars().all(|c| c.is_ascii_lowercase()) {
            return None;
        }
        paths.extend(spans(files).map(|file| format!("crates/salver-{name}/src/{file}")));
    }
    Some((request, paths))
}

/// What stands between backticks.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Whether a source file has this path, or one that ends with it.
fn is_there(tree: &Tree, span: &str) -> bool {
    let ends_so = |file: &File| file.path.strip_suffix(span).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    tree.files.iter().any(ends_so)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    #[test]
    fn files_that_are_named() {
        let many = format!("| a read | http: {} |", ["`a.rs`"; 13].join(", "));
        for (page, complaints) in [
            ("`a.rs` of `b`, `c/d.rs`", 0),
            ("`e.rs`, and `d.rs` of `c`", 1),
            ("| a read | http: `a.rs`; text: `c/d.rs` |", 0),
            ("| a read | http: `a.rs`, `b.rs`; text: `a.rs` |", 2),
            (many.as_str(), 1),
            ("| what | share |\n|---|---|\n| our own | 14 % |\n| limit | a bound: in `limits/` |", 0),
        ] {
            let files =
                [("ARCHITECTURE.md", page), ("crates/salver-http/src/a.rs", ""), ("crates/salver-text/src/c/d.rs", "")];
            let found = check(&Tree::of(&files));
            assert_eq!(found.len(), complaints, "{page}: {found:?}");
        }
    }
}
