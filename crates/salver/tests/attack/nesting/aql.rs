//! AQL at the cursor's door, with the values of its bind variables.

use super::{Ask, Construct, besiege, list, nested, numbered, refuse};

fn aql(query: impl AsRef<str>) -> Ask {
    bound(query, "{}")
}

fn bound(query: impl AsRef<str>, binds: impl AsRef<str>) -> Ask {
    let query = serde_json::Value::from(query.as_ref()).to_string();
    Ask::json("/_api/cursor", format!("{{\"query\":{query},\"bindVars\":{}}}", binds.as_ref()))
}

fn filtered(condition: impl AsRef<str>) -> Ask {
    aql(format!("FOR d IN flat FILTER {} RETURN d.id", condition.as_ref()))
}

#[test]
fn queries() {
    besiege(&[
        Construct("parentheses", 31, |n| filtered(nested("(", "d.id == 1", ")", n))),
        Construct("negations in parentheses", 31, |n| filtered(nested("!(", "d.id == 1", ")", n))),
        Construct("negations in a row", 10_000, |n| filtered(format!("{} d.flag", "NOT ".repeat(n)))),
        Construct("any of", 9_000, |n| filtered(list("d.id == 1", " || ", n))),
        Construct("all of", 9_000, |n| filtered(list("d.id == 1", " AND ", n))),
        Construct("any of a database's", 9_000, |n| {
            aql(format!("FOR d IN leaf FILTER {} RETURN d.id", list("d.id == 1", " || ", n)))
        }),
        Construct("filters", 9_000, |n| aql(format!("FOR d IN flat {} RETURN d", list("FILTER d.id > 1", " ", n)))),
        Construct("values of a list", 9_000, |n| filtered(format!("d.id IN [{}]", list("1", ",", n)))),
        Construct("keys of an order", 1_000, |n| {
            aql(format!("FOR d IN flat SORT {} RETURN d.id", list("d.id", ",", n)))
        }),
        Construct("members of an answer", 1_000, |n| {
            aql(format!("FOR d IN flat RETURN {{{}}}", numbered("c#: d.id", ",", n)))
        }),
        Construct("members of one name", 1_000, |n| {
            aql(format!("FOR d IN flat RETURN {{{}}}", list("c: d.id", ",", n)))
        }),
        Construct("names that are kept", 9_000, |n| {
            aql(format!("FOR d IN flat RETURN KEEP(d, {})", list("'id'", ",", n)))
        }),
        Construct("collections that are declared", 10_000, |n| {
            aql(format!("WITH {} FOR d IN flat RETURN d.id", list("flat", ",", n)))
        }),
        Construct("a pattern", 4_000, |n| filtered(format!("d.name LIKE '{}'", "%a".repeat(n / 2)))),
        Construct("a comment", 100_000, |n| filtered(format!("/*{}*/ d.id == 1", "(".repeat(n)))),
        Construct("values of a bound list", 9_000, |n| {
            bound("FOR d IN flat FILTER d.id IN @v RETURN d.id", format!("{{\"v\":[{}]}}", list("1", ",", n)))
        }),
        Construct("bound text, many times", 60, |n| {
            let conditions = list("d.name == @v", " || ", n);
            bound(
                format!("FOR d IN flat FILTER {conditions} RETURN d.id"),
                format!("{{\"v\":\"{}\"}}", "x".repeat(400_000)),
            )
        }),
        Construct("a bound list, many times", 90, |n| {
            let conditions = list("d.id IN @v", " || ", n);
            let values = list("1", ",", 9_000);
            bound(format!("FOR d IN flat FILTER {conditions} RETURN d.id"), format!("{{\"v\":[{values}]}}"))
        }),
    ]);
}

#[test]
fn nonsense() {
    refuse(&[
        ("parts of a field", filtered(format!("{} == 1", list("d", ".a", 100_000)))),
        ("parts in brackets", filtered(format!("d{} == 1", "['a']".repeat(100_000)))),
        ("words without end", aql("x ".repeat(500_000))),
        ("open parentheses", filtered("(".repeat(500_000))),
        ("open lists", filtered(format!("d.id IN {}", "[".repeat(500_000)))),
        (
            "nested values",
            bound("FOR d IN flat FILTER d.id == @v RETURN d", format!("{{\"v\":{}}}", nested("[", "", "]", 10_000))),
        ),
        ("a long variable", aql(format!("FOR {} IN flat RETURN x", "d".repeat(1_000_000)))),
        ("a long collection", aql(format!("FOR d IN {} RETURN d", "c".repeat(1_000_000)))),
        ("a long field", filtered(format!("d.{} == 1", "c".repeat(1_000_000)))),
        ("a long number", filtered(format!("d.id == {}x", "1".repeat(1_000_000)))),
        ("an open text", filtered(format!("d.id == '{}", "\\'".repeat(500_000)))),
    ]);
}
