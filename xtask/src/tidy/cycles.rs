//! Circles among the top-level modules of a crate. Modules that use each other in a circle can only be read, tested and
//! moved together, and the compiler does not mind them; so this does.
//!
//! Uses are told from the text (`crate::x`, `super::x`, and names that the crate root re-exports), not from a parse:
//! enough for code that rustfmt has been over.

use std::collections::{BTreeMap, BTreeSet};

use super::exceptions::Exceptions;
use super::source::{blank, without_tests};
use crate::tree::{File, Tree};

/// Who uses whom, with one place where it happens.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// Checks every crate.
pub(crate) fn check(tree: &Tree, exceptions: &Exceptions) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in tree.with_suffix(".rs").filter(|file| !file.is_test()) {
        if let Some((folder, _)) = file.path.split_once("/src/") {
            crates.entry(folder).or_default().push(file);
        }
    }
    let mut complaints = Vec::new();
    for (folder, files) in crates {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        let mut allowed = exceptions.cycles.get(name).cloned().unwrap_or_default();
        let graph = graph(folder, &files);
        for circle in circles(&graph) {
            match allowed.iter().position(|modules| *modules == circle) {
                Some(at) => drop(allowed.swap_remove(at)),
                None => complaints.push(describe(name, &circle, &graph)),
            }
        }
        for gone in allowed {
            let list = gone.join(", ");
            complaints.push(format!("{}: {name} has no circle of {list} any more; remove the line", super::EXCEPTIONS));
        }
    }
    complaints
}

fn describe(name: &str, circle: &[String], graph: &Graph) -> String {
    let mut text = format!("{name}: modules use each other in a circle: {}", circle.join(", "));
    for user in circle {
        for (used, place) in graph.get(user).into_iter().flatten().filter(|(used, _)| circle.contains(used)) {
            text.push_str(&format!("\n    {user} uses {used} at {place}"));
        }
    }
    text
}

/// The path of a file's module below the crate, outermost first; empty for the root.
fn module(folder: &str, file: &File) -> Vec<String> {
    let inside = file.path[folder.len()..].trim_start_matches("/src/").trim_end_matches(".rs");
    match inside {
        "lib" | "main" => Vec::new(),
        _ => inside.split('/').map(str::to_owned).collect(),
    }
}

fn graph(folder: &str, files: &[&File]) -> Graph {
    let modules: BTreeSet<String> = files.iter().filter_map(|file| module(folder, file).into_iter().next()).collect();
    let mut exported = BTreeMap::new();
    for file in files.iter().filter(|file| module(folder, file).is_empty()) {
        for path in blank(&file.text).split(';').filter_map(|item| item.split_once("use ").map(|(_, tree)| tree)) {
            for path in expand(path.trim().trim_start_matches("crate::").trim_start_matches("self::")) {
                if let [first, .., last] = path.as_slice()
                    && modules.contains(first)
                {
                    exported.insert(last.clone(), first.clone());
                }
            }
        }
    }
    let mut graph = Graph::new();
    for file in files {
        let path = module(folder, file);
        let Some(user) = path.first() else { continue };
        let text = without_tests(&blank(&file.text));
        for (at, name) in uses(&text, path.len()) {
            let used = if modules.contains(&name) { Some(&name) } else { exported.get(&name) };
            if let Some(used) = used.filter(|used| *used != user) {
                let line = text[..at].matches('\n').count() + 1;
                let place = format!("{}:{line}", file.path);
                graph.entry(user.clone()).or_default().entry(used.clone()).or_insert(place);
            }
        }
    }
    graph
}

/// The names that follow `crate::`, or as many `super::` as lead to the root, in the source of a module `depth` deep.
fn uses(text: &str, depth: usize) -> Vec<(usize, String)> {
    let root = "super::".repeat(depth);
    let mut found = Vec::new();
    for start in ["crate::", root.as_str()] {
        for (at, _) in text.match_indices(start) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            let tail = &text[at + start.len()..];
            if tail.starts_with('{') {
                let tree = &tail[..tail.find(';').unwrap_or(tail.len())];
                found.extend(expand(tree).into_iter().filter_map(|path| Some((at, path.into_iter().next()?))));
            } else {
                let name: String = tail.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                found.push((at, name));
            }
        }
    }
    found
}

/// The paths of a use tree: `a::{b, c::d}` gives `a b` and `a c d`. Renames and globs are kept as they stand.
fn expand(tree: &str) -> Vec<Vec<String>> {
    let (head, group) = match tree.split_once('{') {
        Some((head, rest)) => (head, Some(rest.rsplit_once('}').map_or(rest, |(inner, _)| inner))),
        None => (tree, None),
    };
    let head: Vec<String> = head
        .split("::")
        .map(|part| part.rsplit(" as ").next().unwrap_or(part).trim().to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    let Some(group) = group else { return vec![head] };
    let mut depth = 0usize;
    let parts = group.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let parts: Vec<&str> = parts.map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.into_iter().flat_map(expand).map(|tail| [head.clone(), tail].concat()).collect()
}

/// The strongly connected components of more than one module, by Tarjan's algorithm.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    #[derive(Default)]
    struct Walk<'a> {
        seen: BTreeMap<&'a str, (usize, usize)>,
        stack: Vec<&'a str>,
        found: Vec<Vec<String>>,
    }
    fn visit<'a>(graph: &'a Graph, node: &'a str, walk: &mut Walk<'a>) -> usize {
        let index = walk.seen.len();
        walk.seen.insert(node, (index, index));
        walk.stack.push(node);
        let mut low = index;
        for next in graph.get(node).into_iter().flat_map(|used| used.keys()) {
            match walk.seen.get(next.as_str()) {
                None => low = low.min(visit(graph, next, walk)),
                Some((index, _)) if walk.stack.contains(&next.as_str()) => low = low.min(*index),
                Some(_) => {}
            }
        }
        walk.seen.insert(node, (index, low));
        if low == index
            && let Some(start) = walk.stack.iter().position(|on| *on == node)
        {
            let mut circle: Vec<String> = walk.stack.drain(start..).map(str::to_owned).collect();
            circle.sort();
            if circle.len() > 1 {
                walk.found.push(circle);
            }
        }
        low
    }
    let mut walk = Walk::default();
    for node in graph.keys() {
        if !walk.seen.contains_key(node.as_str()) {
            visit(graph, node, &mut walk);
        }
    }
    walk.found
}

#[cfg(test)]
mod tests {
    use super::{check, expand};
    use crate::tidy::exceptions::Exceptions;
    use crate::tree::Tree;

    #[test]
    fn use_trees() {
        let paths = expand("a::{b, c::{d, e as f}, g::*}");
        let paths: Vec<String> = paths.iter().map(|path| path.join(" ")).collect();
        assert_eq!(paths, ["a b", "a c d", "a c f", "a g *"]);
    }

    #[test]
    fn a_circle_over_three_ways_of_naming() {
        let tree = Tree::of(&[
            ("crates/x/src/lib.rs", "mod a; mod b; mod c; pub use c::{Thing, Other};"),
            ("crates/x/src/a.rs", "use super::b::B;"),
            ("crates/x/src/b.rs", "mod inner;"),
            ("crates/x/src/b/inner.rs", "use crate::{Thing, b::B};"),
            ("crates/x/src/c.rs", "fn c() { crate::a::go() }"),
        ]);
        let complaints = check(&tree, &Exceptions::default());
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains("circle: a, b, c"), "{complaints:?}");
        let allowed = Exceptions::parse("[cycles]\nx = [[\"c\", \"b\", \"a\"]]").unwrap();
        assert!(check(&tree, &allowed).is_empty());
        let stale = Exceptions::parse("[cycles]\nx = [[\"a\", \"b\", \"c\"], [\"a\", \"b\"]]").unwrap();
        assert_eq!(check(&tree, &stale).len(), 1);
    }

    #[test]
    fn no_circle_by_tests_comments_or_strings() {
        let tree = Tree::of(&[
            ("crates/x/src/lib.rs", "mod a; mod b;"),
            ("crates/x/src/a.rs", "use crate::b;"),
            (
                "crates/x/src/b.rs",
                "// crate::a\nconst A: &str = \"crate::a\";\n#[cfg(test)]\nmod tests { use crate::a; }",
            ),
        ]);
        assert_eq!(check(&tree, &Exceptions::default()), Vec::<String>::new());
    }
}
