//! Doors and ports: what a door asks for goes through the waist, so that no door names the port of a backend, and none
//! reads the whole catalog where it should read that of its caller.

use super::source::{blank, without_tests};
use crate::tree::Tree;

/// The ports that only the waist, and who implements or wires them, may use.
const PORTS: [&str; 6] = ["EventStream", "Functions", "Loader", "Scan", "SqlEngine", "Table"];

/// Checks every source file of the doors.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in tree.with_suffix(".rs").filter(|file| file.path.starts_with("crates/salver-http/src/")) {
        if file.is_test() {
            continue;
        }
        let source = without_tests(&blank(&file.text));
        for (at, _) in source.match_indices(".catalog()") {
            let line = source[..at].lines().count();
            complaints.push(format!("{}:{line}: a door reads its caller's catalog: `Service::snapshot`", file.path));
        }
        for (at, _) in source.match_indices("ports::") {
            let named = after(&source[at + "ports::".len()..]);
            let words = || named.split(|c: char| !c.is_alphanumeric());
            if let Some(port) = PORTS.iter().find(|port| words().any(|word| word == **port)) {
                let line = source[..at].lines().count();
                complaints.push(format!("{}:{line}: a door asks the service, not the port `{port}`", file.path));
            }
        }
    }
    complaints
}

/// What stands behind `ports::`: a name, or a list in braces.
fn after(rest: &str) -> &str {
    let ends = |c: char| if rest.starts_with('{') { c == '}' } else { !c.is_alphanumeric() };
    &rest[..rest.find(ends).unwrap_or(rest.len())]
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    #[test]
    fn a_door_with_a_port() {
        for (line, complaints) in [
            ("use salver_model::ports::EventStream;", 1),
            ("use salver_model::ports::{\n    Database,\n    Functions,\n};", 1),
            ("fn f(stream: &dyn salver_model::ports::EventStream) {}", 1),
            ("use salver_model::ports::{Database, MaybeReady};", 0),
            ("use salver_service::Consumer;", 0),
            ("fn f(service: &Service) { service.catalog().snapshot(); }", 1),
        ] {
            let text = format!("//! A.\n{line}\n");
            assert_eq!(check(&Tree::of(&[("crates/salver-http/src/a.rs", &text)])).len(), complaints, "{line}");
            assert!(check(&Tree::of(&[("crates/salver-service/src/a.rs", &text)])).is_empty());
        }
    }
}
