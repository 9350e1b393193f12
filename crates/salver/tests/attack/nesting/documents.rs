//! GraphQL: documents, and the values of their variables.

use super::{Ask, Construct, besiege, list, nested, numbered, refuse};

fn with(document: impl AsRef<str>, variables: impl AsRef<str>) -> Ask {
    let query = serde_json::Value::from(document.as_ref()).to_string();
    Ask::json("/api/graphql", format!("{{\"query\":{query},\"variables\":{}}}", variables.as_ref()))
}

fn graphql(document: impl AsRef<str>) -> Ask {
    with(document, "{}")
}

fn filtered(filter: impl AsRef<str>) -> Ask {
    graphql(format!("{{ flat(filter: {}) {{ id }} }}", filter.as_ref()))
}

/// Fragments of which each spreads the next one so often.
fn fragments(count: usize, times: usize) -> String {
    let each = |n: usize| format!("fragment f{n} on flat {{ {} }} ", list(&format!("...f{}", n + 1), " ", times));
    let all: String = (0..count).map(each).collect();
    format!("{{ flat {{ ...f0 }} }} {all} fragment f{count} on flat {{ id }}")
}

#[test]
fn queries() {
    besiege(&[
        Construct("fields of one name", 1_900, |n| graphql(format!("{{ flat {{ {} }} }}", list("id", " ", n)))),
        Construct("fields of other names", 1_900, |n| {
            graphql(format!("{{ flat {{ {} }} }}", numbered("a#: id", " ", n)))
        }),
        Construct("roots", 200, |n| graphql(format!("{{ {} }}", numbered("a#: flat(limit: 1) { id }", " ", n)))),
        Construct("fragments in fragments", 20, |n| graphql(fragments(n, 1))),
        Construct("fragments that double", 8, |n| graphql(fragments(n, 2))),
        Construct("fragments in place", 100, |n| {
            graphql(format!("{{ flat {{ {} }} }}", nested("... { ", "id", " }", n)))
        }),
        Construct("fragments in place on a type", 100, |n| {
            graphql(format!("{{ flat {{ {} }} }}", nested("... on flat { ", "id", " }", n)))
        }),
        Construct("fragments in place side by side", 1_900, |n| {
            graphql(format!("{{ flat {{ {} }} }}", list("... { id }", " ", n)))
        }),
        Construct("fields that may not agree", 400, |n| {
            graphql(format!("{{ {} }}", list("flat { a: id ... { a: id } ... { a: id } }", " ", n)))
        }),
        Construct("directives", 1, |n| graphql(format!("{{ flat {{ id {} }} }}", list("@include(if: true)", " ", n)))),
        Construct("negations", 32, |n| filtered(nested("{not: ", "{id: {eq: 1}}", "}", n))),
        Construct("alternatives in alternatives", 32, |n| filtered(nested("{or: [", "{id: {eq: 1}}", "]}", n))),
        Construct("alternatives", 3_000, |n| filtered(format!("{{or: [{}]}}", list("{id: {eq: 1}}", ",", n)))),
        Construct("values of a list", 9_900, |n| filtered(format!("{{id: {{in: [{}]}}}}", list("1", ",", n)))),
        Construct("a pattern", 4_000, |n| filtered(format!("{{name: {{like: \"{}\"}}}}", "%a".repeat(n / 2)))),
        Construct("keys of an order", 1_000, |n| {
            graphql(format!("{{ flat(sort: [{}]) {{ id }} }}", list("{field: id}", ",", n)))
        }),
        Construct("a comment", 60_000, |n| graphql(format!("{}\n{{ flat {{ id }} }}", "#".repeat(n)))),
    ]);
}

#[test]
fn variables() {
    besiege(&[
        Construct("values of a variable", 9_900, |n| {
            let document = "query($v: [Int64!]) { flat(filter: {id: {in: $v}}) { id } }";
            with(document, format!("{{\"v\":[{}]}}", list("1", ",", n)))
        }),
        Construct("uses of a large variable", 60, |n| {
            let roots = numbered("a#: flat(filter: {name: {eq: $v}}) { id }", " ", n);
            with(format!("query($v: String) {{ {roots} }}"), format!("{{\"v\":\"{}\"}}", "x".repeat(400_000)))
        }),
        Construct("uses of a large list", 30, |n| {
            let roots = numbered("a#: flat(filter: {id: {in: $v}}) { id }", " ", n);
            with(format!("query($v: [Int64!]) {{ {roots} }}"), format!("{{\"v\":[{}]}}", list("1", ",", 9_900)))
        }),
        Construct("filters of a database", 3_000, |n| {
            graphql(format!("{{ leaf(filter: {{or: [{}]}}) {{ id }} }}", list("{id: {eq: 1}}", ",", n)))
        }),
        Construct("new rows", 1_000, |n| {
            let document = "mutation($v: [leaf_new!]!) { create_leaf(records: $v) { id } }";
            with(document, format!("{{\"v\":[{}]}}", list("{\"n\":1}", ",", n)))
        }),
        Construct("members of variables", 10_000, |n| {
            with("{ flat(limit: 1) { id } }", format!("{{{}}}", numbered("\"v#\":1", ",", n)))
        }),
        Construct("values in values", 100, |n| {
            with("{ flat(limit: 1) { id } }", format!("{{\"v\":{}}}", nested("[", "1", "]", n)))
        }),
    ]);
}

#[test]
fn nonsense() {
    let long = "n".repeat(1_000_000);
    refuse(&[
        ("open selections", graphql("{ flat ".repeat(20_000))),
        ("open selections, bare", Ask::post("/api/graphql", "{ flat ".repeat(20_000))),
        ("lists in lists", filtered(format!("{{id: {{in: {}}}}}", nested("[", "1", "]", 10_000)))),
        ("objects in objects", filtered(nested("{and: ", "{}", "}", 10_000))),
        ("types in types", graphql(format!("query($v: {}) {{ flat {{ id }} }}", nested("[", "Int", "]", 10_000)))),
        ("a long column", graphql(format!("{{ flat {{ {long} }} }}"))),
        ("a long column, bare", Ask::post("/api/graphql", format!("{{ flat {{ {long} }} }}"))),
        ("a long entry, bare", Ask::post("/api/graphql", format!("{{ {long} {{ id }} }}"))),
        ("a long operator", filtered(format!("{{id: {{{long}: 1}}}}"))),
        ("fragments in a circle", graphql("{ flat { ...a } } fragment a on flat { ...b } fragment b on flat { ...a }")),
        (
            "fragments nobody spreads",
            graphql(format!("{{ flat {{ id }} }} {}", numbered("fragment f# on flat { id }", " ", 9_000))),
        ),
        ("operations", graphql(numbered("query q# { flat { id } }", " ", 9_000))),
        (
            "the schema in itself",
            graphql(format!("{{ __schema {{ types {{ {} }} }} }}", nested("fields { type { ", "name", " } }", 100))),
        ),
    ]);
}
