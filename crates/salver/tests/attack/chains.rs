//! Chains and nesting in SQL: whatever the length, the answer is rows or a refusal, and the server goes on.

use std::fmt::Write as _;

use super::siege::Siege;
use crate::server::Server;

/// Lengths that are refused, are just within the bounds, and are ten times beyond them.
const LENGTHS: [usize; 7] = [5, 12, 40, 400, 900, 1_900, 6_000];
const DATA: &[u8] = b"a,b\n1,x\n2,y\n";

/// How a statement of some length is written.
type Made = fn(usize) -> String;

fn after(start: &str, part: &str, end: &str, n: usize) -> String {
    format!("{start}{}{end}", part.repeat(n))
}

fn around(start: &str, open: &str, inner: &str, close: &str, n: usize) -> String {
    format!("{start}{}{inner}{}", open.repeat(n), close.repeat(n))
}

/// Parts with numbers in them.
fn counted(start: &str, n: usize, between: &str, part: impl Fn(usize) -> String, end: &str) -> String {
    let parts: Vec<String> = (0..n).map(part).collect();
    format!("{start}{}{end}", parts.join(between))
}

const OPERATORS: [(&str, Made); 30] = [
    ("is null", |n| after("select 1", " is null", "", n)),
    ("is not null", |n| after("select a", " is not null", " from t", n)),
    ("is true", |n| after("select true", " is true", "", n)),
    ("is distinct from", |n| after("select a", " is distinct from 1", " from t", n)),
    ("casts", |n| after("select 1", "::bigint::text", "", n / 2)),
    ("casts of a column", |n| after("select a", "::bigint", " from t", n)),
    ("like", |n| after("select b", " like 'x'", " from t", n)),
    ("between", |n| after("select a", " between 1 and 2", " from t", n)),
    ("equals", |n| after("select true", " = true", "", n)),
    ("plus", |n| after("select a", " + 1", " from t", n)),
    ("plus of columns", |n| after("select a", " + a", " from t", n)),
    ("joined text", |n| after("select b", " || b", " from t", n)),
    ("and", |n| after("select a from t where a > 0", " and a > 1", "", n)),
    ("or", |n| counted("select a from t where ", n, " or ", |i| format!("a = {i}"), "")),
    ("and or", |n| after("select a from t where a > 0", " and a > 1 or a < 7", "", n / 2)),
    ("and of functions", |n| after("select a from t where true", " and abs(a) > 0", "", n)),
    ("time zones", |n| after("select now()", " at time zone 'UTC'", "", n)),
    ("collations", |n| after("select b", " collate \"C\"", " from t", n)),
    ("indexes", |n| after("select [1]", "[1]", "", n)),
    ("two indexes", |n| after("select a", "[1][1]", " from t", n / 2)),
    ("fields", |n| after("select a", ".a", " from t", n)),
    ("arrows", |n| after("select b", " -> 'k'", " from t", n)),
    ("in", |n| after("select a", " in (true)", " from t", n)),
    ("minus", |n| after("select ", "- ", "a from t", n)),
    ("not", |n| after("select ", "not ", "true", n)),
    ("bitwise not", |n| after("select ", "~ ", "1", n)),
    ("similar", |n| after("select b", " similar to 'x'", " from t", n)),
    ("regular", |n| after("select b", " ~ 'x'", " from t", n)),
    ("null-safe", |n| after("select a", " <=> 1", " from t", n)),
    ("intervals", |n| after("select date '2024-01-01'", " + interval '1 day'", "", n)),
];

/// What planning copies, so that each level doubles it.
const COPIED: [(&str, Made); 20] = [
    ("coalesce", |n| around("select ", "coalesce(", "a", ", 1)", n) + " from t"),
    ("coalesce of a condition", |n| around("select a from t where ", "coalesce(", "a > 1", ", true)", n)),
    ("nvl", |n| around("select ", "nvl(", "1", ", 7)", n)),
    ("ifnull", |n| around("select ", "ifnull(", "a", ", 7)", n) + " from t"),
    ("nvl2", |n| around("select ", "nvl2(", "a", ", 7, 8)", n) + " from t"),
    ("between", |n| after("select a > 1", " between false and true", " from t", n)),
    ("cases", |n| around("select ", "case when ", "a > 1", " then a > 2 else a > 3 end", n) + " from t"),
    ("cases in where", |n| around("select a from t where ", "case when ", "a > 1", " then a > 2 else a > 3 end", n)),
    ("cases of two", |n| {
        around("select ", "case when ", "a > 1", " then a > 2 when a > 3 then a > 4 else a > 3 end", n) + " from t"
    }),
    ("rows", |n| around("select ", "row(", "1", ")", n) + " from t"),
    ("structs", |n| around("select ", "struct(", "a", ")", n) + " from t"),
    ("named structs", |n| around("select ", "named_struct('k', ", "a", ")", n) + " from t"),
    ("tuples", |n| around("select ", "(1, ", "a", ")", n) + " from t"),
    ("dictionaries", |n| around("select ", "{'k': ", "a", "}", n) + " from t"),
    ("maps", |n| around("select ", "map{'k': ", "a", "}", n) + " from t"),
    ("filters", |n| around("select ", "count(*) filter (where ", "a = 1", ")", n) + " from t"),
    ("filters in where", |n| {
        around("select a from t where ", "count(*) filter (where ", "a = 1", ")", n) + " is not null"
    }),
    ("in", |n| after("select a > 1", " in (true, false)", " from t", n)),
    ("texts of JSON", |n| after("select b", " ->> 'k'", " from t", n)),
    ("expressions of a table", |n| {
        let n = n.min(45);
        let open = "(select case when a > 0 then a + 1 else a - 1 end as a from ";
        around("select * from ", open, "t", ")", n) + " where a > 3"
    }),
];

const NESTING: [(&str, Made); 29] = [
    ("parentheses", |n| around("select ", "(", "1", ")", n)),
    ("calls", |n| around("select ", "abs(", "1", ")", n)),
    ("calls of two", |n| around("select ", "coalesce(null, ", "1", ")", n)),
    ("arrays", |n| around("select ", "[", "1", "]", n)),
    ("array words", |n| around("select ", "array[", "1", "]", n)),
    ("structs", |n| around("select ", "{'k': ", "1", "}", n)),
    ("cases", |n| around("select ", "case when true then ", "1", " end", n)),
    ("cases otherwise", |n| around("select ", "case when false then 0 else ", "1", " end", n)),
    ("types in texts", |n| around("select arrow_cast(null, '", "List(", "Int64", ")", n) + "')"),
    ("types of fields in texts", |n| around("select arrow_cast(null, '", "Struct(\"a\": ", "Int64", ")", n) + "')"),
    ("tried types in texts", |n| around("select arrow_try_cast(null, '", "List(nullable ", "Int64", ")", n) + "')"),
    ("keys in texts", |n| around("select arrow_cast(null, '", "Dictionary(Int32, ", "Int64", ")", n) + "')"),
    ("quoted types", |n| around("select arrow_cast(null, $$", "List(", "Int64", ")", n) + "$$)"),
    ("casts", |n| around("select ", "cast(", "1", " as bigint)", n)),
    ("subqueries", |n| around("select ", "(select ", "1", ")", n)),
    ("tables", |n| around("select * from ", "(select * from ", "t", ")", n)),
    ("bracketed tables", |n| around("select * from ", "(", "t", ")", n)),
    ("bracketed joins", |n| around("select 1 from ", "(t natural join ", "t", ")", n)),
    ("in", |n| around("select a from t where a ", "in (select a from t where a ", "> 0", ")", n)),
    ("exists", |n| around("select a from t where ", "exists (select 1 from t where ", "true", ")", n)),
    ("with", |n| around("", "with w as (", "select 1", ") select * from w", n)),
    ("array types", |n| format!("select cast(null as {}int{})", "array<".repeat(n), ">".repeat(n))),
    ("struct types", |n| format!("select cast(null as {}int{})", "struct<a ".repeat(n), ">".repeat(n))),
    ("array suffixes", |n| after("select null::int", "[]", "", n)),
    ("explain", |n| after("", "explain ", "select 1", n)),
    ("lambdas", |n| around("select ", "array_transform([1], x -> ", "x", ")", n)),
    ("unclosed", |n| after("select ", "(", "", n)),
    ("lateral", |n| around("select * from t", ", lateral (select * from t", "", ")", n)),
    ("extract", |n| around("select ", "extract(year from ", "now()", ")", n)),
];

const LISTS: [(&str, Made); 26] = [
    ("unions", |n| counted("", n, " union all ", |i| format!("select {i}"), "")),
    ("unions of values", |n| counted("", n, " union all ", |i| format!("values ({i})"), "")),
    ("distinct unions", |n| counted("", n, " union ", |i| format!("select {i}"), "")),
    ("intersections", |n| counted("", n, " intersect ", |_| "select a from t".to_owned(), "")),
    ("differences", |n| counted("", n, " except ", |_| "select a from t".to_owned(), "")),
    ("joins", |n| counted("select count(*) from t", n, "", |i| format!(" join t t{i} on t.a = t{i}.a"), "")),
    ("left joins", |n| counted("select count(*) from t", n, "", |i| format!(" left join t t{i} on t.a = t{i}.a"), "")),
    ("joins using", |n| counted("select count(*) from t", n, "", |i| format!(" join t t{i} using (a)"), "")),
    ("natural joins", |n| counted("select count(*) from t", n, "", |i| format!(" natural join t t{i}"), "")),
    ("cross joins", |n| counted("select 1 from t", n, "", |i| format!(", (select 1 as x) t{i}"), "")),
    ("chained with", chained_with),
    ("doubling with", doubling_with),
    ("doubling projections", doubling_projections),
    ("columns", |n| counted("select ", n, ", ", |i| format!("a as c{i}"), " from t")),
    ("same columns", |n| counted("select ", n * 2, ",", |_| "1".to_owned(), "")),
    ("aggregates", |n| counted("select ", n, ", ", |i| format!("sum(a + {i})"), " from t")),
    ("windows", |n| counted("select ", n, ", ", |i| format!("sum(a + {i}) over (order by a)"), " from t")),
    ("groups", |n| counted("select 1 from t group by ", n, ", ", |i| format!("a + {i}"), "")),
    ("cubes", |n| counted("select 1 from t group by cube(", n, ", ", |i| format!("a + {i}"), ")")),
    ("rollups", |n| counted("select 1 from t group by rollup(", n, ", ", |i| format!("a + {i}"), ")")),
    ("keys", |n| counted("select a from t order by ", n, ", ", |i| format!("a + {i}"), "")),
    ("values", |n| counted("select count(*) from (values ", n, ", ", |i| format!("({i})"), ") v")),
    ("in", |n| counted("select a from t where a in (", n * 10, ", ", |i| i.to_string(), ")")),
    ("arguments", |n| counted("select greatest(", n * 10, ", ", |i| i.to_string(), ")")),
    ("whens", |n| counted("select case a", n, "", |i| format!(" when {i} then {i}"), " end from t")),
    ("pipes", |n| after("from t", " |> where a > 0", "", n)),
];

fn chained_with(n: usize) -> String {
    let mut text = "with w0 as (select a from t)".to_owned();
    for i in 1..=n {
        write!(text, ", w{i} as (select a + 1 as a from w{})", i - 1).expect("text");
    }
    format!("{text} select * from w{n}")
}

fn doubling_with(n: usize) -> String {
    let mut text = "with w0 as (select a from t)".to_owned();
    for i in 1..=n {
        write!(text, ", w{i} as (select x.a from w{0} x, w{0} y)", i - 1).expect("text");
    }
    format!("{text} select count(*) from w{n}")
}

/// Each level names what is below twice, and a condition above is carried down to the table.
fn doubling_projections(n: usize) -> String {
    let mut text = "select a from t".to_owned();
    for _ in 0..n.min(45) {
        text = format!("select a * a + 1 as a from ({text})");
    }
    format!("select * from ({text}) where a > 3")
}

fn answers(siege: &Siege, kind: &str, constructs: &[(&str, Made)]) {
    for (name, made) in constructs {
        for length in LENGTHS {
            let text = made(length);
            let answer = siege.server().post("/api/sql", &text);
            let shown: String = text.chars().take(100).collect();
            assert!(
                answer.status == 200 || (400..500).contains(&answer.status),
                "{kind}: {length} {name} ({shown}): {} {}",
                answer.status,
                String::from_utf8_lossy(&answer.body)
            );
        }
        siege.is_at_rest(format!("{kind}: {name}"));
    }
}

fn siege() -> Siege {
    Siege::of("", &[("t.csv", DATA)])
}

#[test]
fn chains_of_operators_are_answered_or_refused() {
    answers(&siege(), "chain", &OPERATORS);
}

#[test]
fn nested_statements_are_answered_or_refused() {
    answers(&siege(), "nested", &NESTING);
}

#[test]
fn what_planning_copies_is_answered_or_refused() {
    answers(&siege(), "copied", &COPIED);
}

#[test]
fn long_lists_are_answered_or_refused() {
    answers(&siege(), "list", &LISTS);
}

#[test]
fn long_statements_that_people_write_are_answered() {
    let siege = siege();
    let rows = |server: &Server, text: &str| {
        let answer = server.post("/api/sql", text);
        assert_eq!(answer.status, 200, "{}: {}", &text[..text.len().min(80)], answer.text());
        answer.json()
    };
    let or = counted("select a from t where ", 300, " or ", |i| format!("a = {i}"), "");
    assert_eq!(rows(siege.server(), &or), serde_json::json!([{"a": 1}, {"a": 2}]));
    let and = counted("select a from t where ", 300, " and ", |i| format!("abs(a) <> {}", i + 2), "");
    assert_eq!(rows(siege.server(), &and), serde_json::json!([{"a": 1}]));
    let list = counted("select count(*) as n from t where abs(a) in (", 50_000, ",", |i| i.to_string(), ")");
    assert_eq!(rows(siege.server(), &list), serde_json::json!([{"n": 2}]));
    let sum = after("select a", " + 1", " as a from t order by 1", 200);
    assert_eq!(rows(siege.server(), &sum), serde_json::json!([{"a": 201}, {"a": 202}]));
    let union = counted("select count(*) as n from (", 100, " union all ", |i| format!("select {i} as x"), ")");
    assert_eq!(rows(siege.server(), &union), serde_json::json!([{"n": 100}]));
    let values = counted("select count(*) as n from (values ", 20_000, ",", |i| format!("({i})"), ") v");
    assert_eq!(rows(siege.server(), &values), serde_json::json!([{"n": 20_000}]));
    let columns = counted("select ", 500, ", ", |i| format!("a as c{i}"), " from t where abs(a) = 1");
    assert_eq!(rows(siege.server(), &columns)[0]["c499"], 1);
    let joins = counted("select t.a from t", 30, "", |i| format!(" join t t{i} on t.a = t{i}.a"), " order by 1");
    assert_eq!(rows(siege.server(), &joins), serde_json::json!([{"a": 1}, {"a": 2}]));
    siege.is_at_rest("long statements");
}
