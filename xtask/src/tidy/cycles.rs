//! Circles among the modules of a crate: among those below its root, and among those below any of its modules. Modules
//! that use each other in a circle can only be read, tested and moved together, and the compiler does not mind them; so
//! this does.
//!
//! What is used from anywhere below one module, and lies anywhere below a sibling of it, is a use of the sibling. A
//! module and those below it are one thing: what they use of each other is no circle.
//!
//! Uses are told from the text (`crate::x`, `super::x`, and names that the modules on the way bring in with `use`), not
//! from a parse: enough for code that rustfmt has been over.

use std::collections::{BTreeMap, BTreeSet};

use super::exceptions::Exceptions;
use super::source::{blank, without_tests};
use crate::tree::{File, Tree};

/// Who uses whom, with one place where it happens. Modules stand as `a::b`; all that one uses are its siblings.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// Names from the root of a crate down.
type Path = Vec<String>;

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

/// The path of a file's module below the crate; empty for the root.
fn module(folder: &str, file: &File) -> Path {
    let inside = file.path[folder.len()..].trim_start_matches("/src/").trim_end_matches(".rs");
    match inside {
        "lib" | "main" => Path::new(),
        _ => inside.split('/').map(str::to_owned).collect(),
    }
}

fn graph(folder: &str, files: &[&File]) -> Graph {
    let sources: Vec<(&File, Path, String)> =
        files.iter().map(|file| (*file, module(folder, file), without_tests(&blank(&file.text)))).collect();
    let mut modules = Modules::default();
    for (_, path, _) in &sources {
        modules.paths.extend((1..=path.len()).map(|depth| path[..depth].to_vec()));
    }
    for (_, path, text) in &sources {
        modules.bring_in(path, text);
    }
    let mut graph = Graph::new();
    for (file, path, text) in &sources {
        for (at, named) in uses(text, path) {
            let used = modules.resolve(named);
            let shared = path.iter().zip(&used).take_while(|(user, used)| user == used).count();
            if shared < path.len().min(used.len()) {
                let line = text[..at].matches('\n').count() + 1;
                let place = format!("{}:{line}", file.path);
                let users = graph.entry(path[..=shared].join("::")).or_default();
                users.entry(used[..=shared].join("::")).or_insert(place);
            }
        }
    }
    graph
}

/// What paths lead to.
#[derive(Default)]
struct Modules {
    paths: BTreeSet<Path>,
    /// What the names stand for that modules bring in with `use`, by module and name.
    brought_in: BTreeMap<Path, Path>,
}

impl Modules {
    /// Notes the names that the source of a module brings in.
    fn bring_in(&mut self, module: &[String], text: &str) {
        for (at, _) in text.match_indices("use ").filter(|(at, _)| starts_word(text, *at)) {
            let tree = &text[at + "use ".len()..];
            for (path, name) in expand(&tree[..tree.find(';').unwrap_or(tree.len())]) {
                self.brought_in.insert([module, &[name]].concat(), absolute(module, path));
            }
        }
    }

    /// The module in which what stands at `path` is defined.
    fn resolve(&self, mut path: Path) -> Path {
        // A few names stand for names, never many; what is not a name but looks so must not lead round and round.
        for _ in 0..8 {
            let depth = (0..path.len()).take_while(|depth| self.paths.contains(&path[..=*depth])).count();
            let Some(target) = path.get(..=depth).and_then(|named| self.brought_in.get(named)) else {
                path.truncate(depth);
                break;
            };
            path = [target, &path[depth + 1..]].concat();
        }
        path
    }
}

/// The paths that begin with `crate::` or `super::` in the source of a module, and where.
fn uses(text: &str, module: &[String]) -> Vec<(usize, Path)> {
    let starts = ["crate::", "super::"].into_iter().flat_map(|start| text.match_indices(start));
    let starts = starts.filter(|(at, _)| starts_word(text, *at));
    let paths = |at: usize| expand(tree_at(&text[at..])).into_iter().map(move |(path, _)| (at, absolute(module, path)));
    starts.flat_map(|(at, _)| paths(at)).collect()
}

/// A path that stands in a module, from the root of the crate.
fn absolute(module: &[String], path: Path) -> Path {
    let mut whole = module.to_vec();
    for name in path {
        match name.as_str() {
            "crate" => whole.clear(),
            "super" => drop(whole.pop()),
            "self" => {}
            _ => whole.push(name),
        }
    }
    whole
}

/// Whether what stands at `at` is the first name of a path.
fn starts_word(text: &str, at: usize) -> bool {
    !text[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$')
}

/// The path, or the tree of paths, with which the text begins.
fn tree_at(text: &str) -> &str {
    let path = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
    if !text[..path].ends_with("::") || !text[path..].starts_with('{') {
        return text[..path].trim_end_matches(':');
    }
    let mut depth = 0usize;
    let end = text[path..].find(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.map_or(text, |end| &text[..=path + end])
}

/// The paths of a use tree, each with the name it brings in: `a::{b, c::d as e}` gives `a b` as `b` and `a c d` as `e`.
/// Globs are kept as they stand.
fn expand(tree: &str) -> Vec<(Path, String)> {
    let (head, group) = match tree.split_once('{') {
        Some((head, rest)) => (head, Some(rest.rsplit_once('}').map_or(rest, |(inner, _)| inner))),
        None => (tree, None),
    };
    let (head, renamed) = head.split_once(" as ").map_or((head, None), |(head, name)| (head, Some(name)));
    let head: Path = head.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    let Some(group) = group else {
        let name = renamed.map(|name| name.trim().to_owned()).or_else(|| head.last().cloned());
        return vec![(head, name.unwrap_or_default())];
    };
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
    let mut paths: Vec<(Path, String)> = parts.into_iter().flat_map(expand).collect();
    for (path, name) in &mut paths {
        match (path.as_slice(), head.last()) {
            ([only], Some(last)) if only == "self" => {
                if name == "self" {
                    name.clone_from(last);
                }
                path.clone_from(&head);
            }
            _ => *path = [head.as_slice(), path].concat(),
        }
    }
    paths
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
        let paths = expand("a::{self, b, c::{d, e as f}, g::*}");
        let paths: Vec<String> = paths.iter().map(|(path, name)| format!("{} as {name}", path.join(" "))).collect();
        assert_eq!(paths, ["a as a", "a b as b", "a c d as d", "a c e as f", "a g * as *"]);
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
    fn a_circle_among_the_children_of_a_module() {
        let tree = Tree::of(&[
            ("crates/x/src/lib.rs", "mod a;"),
            ("crates/x/src/a.rs", "mod b; mod c; mod d; mod e; use c::{inner::Deep as Thing, self};"),
            ("crates/x/src/a/b.rs", "mod inner; use super::{d::{self, D}, Thing};"),
            ("crates/x/src/a/c.rs", "mod inner;"),
            ("crates/x/src/a/c/inner.rs", "fn c(_: super::super::d::D) {}"),
            ("crates/x/src/a/d.rs", "use super::{super::a::b::inner::go, own};"),
            ("crates/x/src/a/e.rs", "use super::b;"),
        ]);
        let complaints = check(&tree, &Exceptions::default());
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains("circle: a::b, a::c, a::d\n"), "{complaints:?}");
        assert!(complaints[0].contains("a::c uses a::d at crates/x/src/a/c/inner.rs:1"), "{complaints:?}");
        let allowed = Exceptions::parse("[cycles]\nx = [[\"a::b\", \"a::c\", \"a::d\"]]").unwrap();
        assert!(check(&tree, &allowed).is_empty());
    }

    #[test]
    fn no_circle_of_a_module_and_those_below_it() {
        let tree = Tree::of(&[
            ("crates/x/src/lib.rs", "mod a; mod f; use a::b::B;"),
            ("crates/x/src/a.rs", "mod b; mod c; use b::B; use crate::f::F; fn own(_: c::C) {}"),
            ("crates/x/src/a/b.rs", "use super::own; pub(in super::super) struct B; pub(super) fn b() {}"),
            ("crates/x/src/a/c.rs", "use super::{F, super::a::b::B, own}; use self::inner::Inner; mod inner;"),
            ("crates/x/src/a/c/inner.rs", "use super::C; use crate::a::{own, b::b};"),
            ("crates/x/src/f.rs", "use std::a::b;"),
        ]);
        assert_eq!(check(&tree, &Exceptions::default()), Vec::<String>::new());
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
