//! What stands in the query strings, paths and bodies of records.

use super::{Ask, Construct, besiege, list, nested, numbered, refuse};

const LEAF: &str = "/api/records/leaf";

fn leaf(query: impl AsRef<str>) -> Ask {
    Ask::get(format!("{LEAF}?{}", query.as_ref()))
}

#[test]
fn ways() {
    besiege(&[
        Construct("a way of join", 16, |n| leaf(format!("join={}", list("node,leaf", ",", n / 2)))),
        Construct("a way of join to itself", 5, |n| {
            Ask::get(format!("/api/records/node?join={}", list("node", ",", n)))
        }),
        Construct("joins of one table", 900, |n| leaf(list("join=node", "&", n))),
        Construct("joins of several", 300, |n| leaf(list("join=node&join=tag&join=leaf_tag", "&", n))),
        Construct("a way of order", 16, |n| leaf(format!("order={}name", "node.".repeat(n)))),
        Construct("ways of order", 60, |n| leaf(list(&format!("order={}name", "node.".repeat(16)), "&", n))),
        Construct("a way of filter", 16, |n| leaf(format!("filter={}name,eq,root", "node.".repeat(n)))),
        Construct("ways of filter", 60, |n| leaf(list(&format!("filter={}name,eq,x", "node.".repeat(16)), "&", n))),
        Construct("a way through a table between", 8, |n| {
            leaf(format!("filter={}name,eq,red", "tag.leaf.".repeat(n - 1) + "tag."))
        }),
        Construct("a way to joined rows", 16, |n| {
            leaf(format!("join={}&{}.size=1", list("node,leaf", ",", n / 2), list("node.leaf", ".", n / 2)))
        }),
        Construct("a way that is passed over", 16, |n| leaf(format!("join={}", list("x", ",", n)))),
    ]);
}

#[test]
fn lists() {
    besiege(&[
        Construct("orders", 900, |n| leaf(list("order=name", "&", n))),
        Construct("filters", 999, |n| leaf(list("filter=id,eq,1", "&", n))),
        Construct("filters of which one holds", 999, |n| leaf(numbered("filter#=id,eq,1", "&", n))),
        Construct("a tree of filters", 16, |n| leaf(format!("filter{}=id,eq,1", "1a".repeat(n)))),
        Construct("filters of joined rows", 900, |n| {
            Ask::get(format!("/api/records/node?join=leaf&{}", list("leaf.filter=id,gt,0", "&", n)))
        }),
        Construct("values of a list", 10_000, |n| leaf(format!("filter=id,in,{}", list("1", ",", n)))),
        Construct("lists of values", 6, |n| leaf(list(&format!("filter=n,in,{}", list("1", ",", 5_000)), "&", n))),
        Construct("columns that are included", 1_000, |n| leaf(format!("include={}", list("name", ",", n)))),
        Construct("columns that are excluded", 1_000, |n| leaf(format!("exclude={}", list("name", ",", n)))),
        Construct("columns of groups", 1, |n| leaf(format!("group={}", list("name", ",", n)))),
        Construct("aggregates", 900, |n| leaf(numbered("aggregate=sum,n,s#", "&", n))),
        Construct("conditions on groups", 900, |n| leaf(format!("group=name&{}", list("having=name,eq,aaa", "&", n)))),
        Construct("a pattern", 4_000, |n| leaf(format!("filter=name,cs,{}", "%25a".repeat(n / 2)))),
        Construct("text that is searched for", 4_000, |n| leaf(format!("search={}", "_a".repeat(n / 2)))),
        Construct("patterns", 10, |n| leaf(list(&format!("filter=name,cs,{}", "a%25".repeat(500)), "&", n))),
        Construct("keys of a path", 10_000, |n| Ask::get(format!("{LEAF}/{}", list("1", ",", n)))),
        Construct("keys of two columns", 10_000, |n| Ask::get(format!("/api/records/pair/{}", list("1~1", ",", n)))),
        Construct("areas", 100, |n| Ask::get(format!("{LEAF}?{}", list("bbox=1,1,2,2", "&", n)))),
    ]);
}

#[test]
fn bodies() {
    besiege(&[
        Construct("JSON in a record", 120, |n| Ask::json(LEAF, format!("{{\"more\":{}}}", nested("[", "1", "]", n)))),
        Construct("objects in a record", 120, |n| {
            Ask::json(LEAF, format!("{{\"more\":{}}}", nested("{\"a\":", "1", "}", n)))
        }),
        Construct("members of a record", 10_000, |n| Ask::json(LEAF, format!("{{{}}}", numbered("\"c#\":1", ",", n)))),
        Construct("records of a batch", 10_000, |n| Ask::json(LEAF, format!("[{}]", list("{\"n\":1}", ",", n)))),
        Construct("members of a form", 1_000, |n| Ask::post(LEAF, format!("name=x&{}", numbered("c#=1", "&", n - 1)))),
        Construct("brackets in a form", 10_000, |n| Ask::post(LEAF, format!("name{}=x", "[a]".repeat(n)))),
        Construct("elements in each other", 60, |n| {
            Ask::post(format!("{LEAF}?format=xml"), format!("<r><more>{}</more></r>", nested("<a>", "1", "</a>", n)))
        }),
        Construct("elements side by side", 10_000, |n| {
            Ask::post(format!("{LEAF}?format=xml"), format!("<r>{}</r>", numbered("<c#>1</c#>", "", n)))
        }),
        Construct("elements of one column", 25_000, |n| {
            Ask::post(format!("{LEAF}?format=xml"), format!("<r><more>{}</more></r>", "<a/>".repeat(n)))
        }),
        Construct("operations", 2_000, |n| {
            let all = list("{\"delete\":\"leaf\",\"id\":999999}", ",", n);
            Ask::json("/api/records", format!("{{\"operations\":[{all}]}}"))
        }),
        Construct("JSON in an operation", 120, |n| {
            let record = nested("[", "1", "]", n);
            let all = format!("{{\"create\":\"leaf\",\"record\":{{\"more\":{record}}}}}");
            Ask::json("/api/records", format!("{{\"operations\":[{all}]}}"))
        }),
        Construct("values of CSV", 200, |n| {
            Ask::post(LEAF, format!("name\n{}\n", list(&"x".repeat(n), "\n", 1_000))).with("content-type", "text/csv")
        }),
        Construct("JSON in a line", 120, |n| {
            let body = format!("{{\"name\":\"x\",\"more\":{}}}\n", nested("[", "1", "]", n));
            Ask::post(LEAF, body).with("content-type", "application/x-ndjson")
        }),
        Construct("columns of a new table", 200, |n| {
            let columns = numbered("{\"name\":\"c#\",\"type\":\"integer\"}", ",", n);
            Ask::json("/api/columns", format!("{{\"name\":\"made{n}\",\"columns\":[{columns}]}}"))
        }),
        Construct("the name of a new table", 256, |n| {
            let columns = list("{\"name\":\"c\",\"type\":\"integer\",\"fk\":\"node\"}", ",", 1 + n / 300 * 500);
            Ask::json("/api/columns", format!("{{\"name\":\"{}\",\"columns\":[{columns}]}}", "t".repeat(n)))
        }),
    ]);
}

#[test]
fn nonsense() {
    let long = "n".repeat(60_000);
    refuse(&[
        ("13,000 joins in one", leaf(format!("join={}", list("node", ",", 13_000)))),
        ("30,000 steps of an order", leaf(format!("order={}", list("a", ".", 30_000)))),
        ("30,000 steps of a filter", leaf(format!("filter={},eq,1", list("a", ".", 30_000)))),
        ("30,000 steps to joined rows", leaf(format!("{}.size=1", list("a", ".", 30_000)))),
        ("brackets behind a name", leaf(format!("filter{}=id,eq,1", "[]".repeat(10_000)))),
        ("a long column", leaf(format!("strict=1&include={long}"))),
        ("a long table", leaf(format!("strict=1&join={long}"))),
        ("a long order", leaf(format!("strict=1&order={long}"))),
        ("a long parameter", leaf(format!("strict=1&{long}=1"))),
        ("a long operator", leaf(format!("strict=1&filter=id,{long}"))),
        ("a long table in the path", Ask::get(format!("/api/records/{long}"))),
        ("unclosed arrays", Ask::json(LEAF, format!("{{\"more\":{}", "[".repeat(2_000_000)))),
        ("unclosed objects", Ask::json(LEAF, "{\"a\":".repeat(400_000))),
        ("unclosed elements", Ask::post(format!("{LEAF}?format=xml"), "<a>".repeat(600_000))),
        ("entities in entities", {
            let mut body = "<!DOCTYPE r [<!ENTITY a \"aaaaaaaaaa\">".to_owned();
            for (name, of) in ["b", "c", "d", "e", "f", "g", "h"].iter().zip(["a", "b", "c", "d", "e", "f", "g"]) {
                body += &format!("<!ENTITY {name} \"{}\">", format!("&{of};").repeat(10));
            }
            Ask::post(format!("{LEAF}?format=xml"), body + "]><r><more>&h;</more></r>")
        }),
        ("long names of CSV", {
            let body =
                format!("{}\n{}\n", list(&"n".repeat(1_000), ",", 1_000), list(&list("1", ",", 1_000), "\n", 500));
            Ask::post(LEAF, body).with("content-type", "text/csv")
        }),
        ("a form of names", Ask::post(LEAF, numbered("a#", "&", 200_000))),
        ("names that are unknown", {
            let record = format!("{{\"{}\":1}}", "x".repeat(100));
            Ask::json(format!("{LEAF}?strict=1"), format!("[{}]", list(&record, ",", 10_000)))
        }),
    ]);
}
