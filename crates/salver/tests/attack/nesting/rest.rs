//! What stands in the query strings of `/api/tables`, over files and over tables of databases.

use super::{Ask, Construct, besiege, list, nested, numbered, refuse};

fn flat(query: impl AsRef<str>) -> Ask {
    Ask::get(format!("/api/tables/flat?{}", query.as_ref()))
}

fn leaf(query: impl AsRef<str>) -> Ask {
    Ask::get(format!("/api/tables/leaf?{}", query.as_ref()))
}

fn deep(query: impl AsRef<str>) -> Ask {
    Ask::get(format!("/api/tables/deep?{}", query.as_ref()))
}

/// Groups in groups, `kind` being one of `or`, `and`, `not`.
fn groups(kind: &str, count: usize) -> String {
    format!("{kind}={}", nested("(", &nested(&format!("{kind}("), "id.eq.1", ")", count - 1), ")", 1))
}

#[test]
fn files() {
    besiege(&[
        Construct("groups in groups", 32, |n| flat(groups("or", n))),
        Construct("negations in negations", 32, |n| flat(groups("not", n))),
        Construct("groups in groups of columns in columns", 32, |n| {
            deep(format!("or=({})", nested("and(", "o.p.q.r.eq.1", ")", n - 1)))
        }),
        Construct("conditions of a group", 9_000, |n| flat(format!("or=({})", list("n.gt.1", ",", n)))),
        Construct("conditions that all hold", 9_000, |n| flat(format!("and=({})", list("n.gt.1", ",", n)))),
        Construct("conditions apart", 1_000, |n| flat(list("filter[n]gt=1", "&", n))),
        Construct("conditions, sorted and counted", 900, |n| {
            flat(format!("{}&sort=name&count=true&distinct=true", list("filter[n]gt=1", "&", n)))
        }),
        Construct("values of a list", 10_000, |n| flat(format!("filter[id]in={}", numbered("#", ",", n)))),
        Construct("columns", 1_000, |n| flat(format!("columns={}", numbered("c#:id", ",", n)))),
        Construct("keys of an order", 1_000, |n| flat(format!("sort={}", list("id", ",", n)))),
        Construct("columns of groups", 1_000, |n| flat(format!("group={}&columns=count()", list("n", ",", n)))),
        Construct("aggregates", 1_000, |n| flat(format!("group=n&columns=n,{}", numbered("c#:sum(x)", ",", n - 1)))),
        Construct("conditions on groups", 900, |n| {
            flat(format!("group=n&columns=n,c:count()&{}", list("having[c]gt=1", "&", n)))
        }),
        Construct("a pattern of runs", 4_000, |n| flat(format!("filter[name]like={}", "%25a".repeat(n / 2)))),
        Construct("a pattern of places", 4_000, |n| flat(format!("filter[name]ilike={}", "%25_".repeat(n / 2)))),
        Construct("patterns", 8, |n| flat(list(&format!("filter[name]like={}", "%25a_".repeat(800)), "&", n))),
        Construct("parentheses of a value", 5_000, |n| flat(format!("filter[name]in=({})", nested("(", "1", ")", n)))),
        Construct("quotes of a value", 10_000, |n| flat(format!("filter[name]='{}'", "''".repeat(n)))),
        Construct("parameters", 1_000, |n| flat(list("limit=1", "&", n))),
    ]);
}

#[test]
fn tables() {
    besiege(&[
        Construct("groups in groups", 32, |n| leaf(groups("or", n))),
        Construct("negations in negations", 32, |n| leaf(groups("not", n))),
        Construct("conditions of a group", 9_000, |n| leaf(format!("or=({})", list("n.gt.1", ",", n)))),
        Construct("conditions that all hold", 9_000, |n| leaf(format!("and=({})", list("n.gt.1", ",", n)))),
        Construct("conditions apart", 1_000, |n| leaf(list("filter[n]gt=1", "&", n))),
        Construct("values of a list", 10_000, |n| leaf(format!("filter[id]in={}", numbered("#", ",", n)))),
        Construct("columns", 1_000, |n| leaf(format!("columns={}", numbered("c#:id", ",", n)))),
        Construct("keys of an order", 1_000, |n| leaf(format!("sort={}", list("id", ",", n)))),
        Construct("aggregates", 1_000, |n| leaf(format!("group=n&columns=n,{}", numbered("c#:sum(id)", ",", n - 1)))),
        Construct("conditions on groups", 900, |n| {
            leaf(format!("group=n&columns=n,c:count()&{}", list("having[c]gt=0", "&", n)))
        }),
        Construct("a pattern of runs", 4_000, |n| leaf(format!("filter[name]like={}", "%25a".repeat(n / 2)))),
        Construct("a pattern of places", 4_000, |n| leaf(format!("filter[name]ilike={}", "%25_".repeat(n / 2)))),
    ]);
}

#[test]
fn nonsense() {
    let long = "n".repeat(60_000);
    refuse(&[
        ("steps to a field", deep(format!("columns={}", list("o", ".", 30_000)))),
        ("steps to a field of none", flat(format!("filter[{}]=1", list("id", ".", 20_000)))),
        ("a long column", flat(format!("columns={long}"))),
        ("a long column of a database", leaf(format!("columns={long}"))),
        ("a long parameter", flat(format!("{long}=1"))),
        ("a long operator", flat(format!("filter[id]{long}=1"))),
        ("a long aggregate", flat(format!("columns={long}(id)"))),
        ("a long entry", Ask::get(format!("/api/tables/{long}"))),
        ("a long schema", Ask::get(format!("/api/schema/{long}"))),
        ("a long store", Ask::get(format!("/api/kv/{long}/{long}").chars().take(60_000).collect::<String>())),
        ("open groups", flat(format!("or={}", "or(".repeat(20_000)))),
        ("open quotes", flat(format!("filter[id]in={}", "',".repeat(20_001)))),
        ("a long cursor", flat(format!("after={long}"))),
        ("a long format", flat(format!("format={long}"))),
        ("a long path", Ask::get("/a".repeat(30_000))),
    ]);
}
