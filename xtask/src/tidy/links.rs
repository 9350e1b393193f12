//! Links and paths in the documents that lead nowhere.

use crate::tree::{File, Tree};

/// Checks every Markdown file.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in tree.with_suffix(".md") {
        for (at, line) in file.text.lines().enumerate() {
            for link in links(line).filter(|link| !leads_out(link)) {
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = if path.is_empty() { file.path.clone() } else { resolve(&file.path, path) };
                if !tree.exists(&target) {
                    complaints.push(format!("{}:{}: dead link `{link}`", file.path, at + 1));
                } else if !anchor.is_empty() && tree.file(&target).is_some_and(|page| !has_heading(page, anchor)) {
                    complaints.push(format!("{}:{}: no heading for `{link}`", file.path, at + 1));
                }
            }
            for path in crate_paths(line).filter(|path| !tree.exists(path)) {
                complaints.push(format!("{}:{}: there is no `{path}`", file.path, at + 1));
            }
        }
    }
    complaints
}

/// The targets of `[text](target)`.
pub(crate) fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
}

fn leads_out(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}

/// Paths like `crates/salver-model/src/error.rs` in running text; patterns and placeholders aside.
fn crate_paths(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("crates/").filter_map(|(at, _)| {
        let whole = line[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"/.-_".contains(c));
        let path = line[at..].split([' ', '`', '"', '\'', ')', ',', ':', ';', '|', '>']).next()?;
        let path = path.trim_end_matches(['.', '/']);
        (whole && path != "crates" && !path.contains(['*', '{', '<', '…', '$', 'X'])).then_some(path)
    })
}

/// The path of what a page links to with `path`.
pub(crate) fn resolve(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether a heading of `page` has the anchor that forges make of it.
fn has_heading(page: &File, anchor: &str) -> bool {
    page.text.lines().filter(|line| line.starts_with('#')).any(|line| {
        let slug: String = line
            .trim_start_matches('#')
            .trim()
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        slug == anchor
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    #[test]
    fn living_and_dead() {
        let page = "# A page: it's `one`\n";
        for (text, complaints) in [
            ("[a](other.md) [b](../README.md) [c](https://x.y/z) [d](other.md#a-page-its-one)", 0),
            ("[a](gone.md)", 1),
            ("[a](other.md#gone)", 1),
            ("[a](#gone)", 1),
            ("see `crates/x/src/a.rs`, `crates/x/` and crates/*/src", 0),
            ("see `crates/x/src/b.rs`.", 1),
            ("[a](..) [b](../crates)", 0),
        ] {
            let tree =
                Tree::of(&[("docs/a.md", text), ("docs/other.md", page), ("README.md", ""), ("crates/x/src/a.rs", "")]);
            assert_eq!(check(&tree).len(), complaints, "{text}: {:?}", check(&tree));
        }
    }
}
