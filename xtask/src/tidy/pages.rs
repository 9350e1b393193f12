//! The generated pages of `docs/` say what the code says, and every document is reachable from the index.

use crate::docs;
use crate::tree::Tree;

/// Where reading starts.
const INDEX: &str = "docs/index.md";

/// Checks the generated pages against the code and the index against the folder.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, text) in docs::pages() {
        complaints.extend(fresh(tree, path, &text));
    }
    let index = tree.file(INDEX).map_or("", |file| &file.text);
    for file in tree.with_suffix(".md").filter(|file| file.path != INDEX) {
        if let Some(page) = file.path.strip_prefix("docs/")
            && !index.contains(&format!("({page})"))
        {
            complaints.push(format!("{}: not linked from {INDEX}", file.path));
        }
    }
    complaints
}

fn fresh(tree: &Tree, path: &str, text: &str) -> Option<String> {
    match tree.file(path) {
        Some(file) if file.text == text => None,
        Some(_) => Some(format!("{path}: not what the code says; run `cargo xtask docs`")),
        None => Some(format!("{path}: missing; run `cargo xtask docs`")),
    }
}

#[cfg(test)]
mod tests {
    use super::{check, fresh};
    use crate::tree::Tree;

    #[test]
    fn stale_missing_and_unlinked() {
        let tree = Tree::of(&[("docs/index.md", "[a](a.md)"), ("docs/a.md", "old"), ("docs/b.md", "")]);
        assert_eq!(fresh(&tree, "docs/a.md", "old"), None);
        assert!(fresh(&tree, "docs/a.md", "new").is_some());
        assert!(fresh(&tree, "docs/gone.md", "new").is_some());
        assert!(check(&tree).iter().any(|complaint| complaint.starts_with("docs/b.md: not linked")));
    }
}
