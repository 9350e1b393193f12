//! SQLite holds bytes, and text that is not UTF-8, in a column of any declared type. Pages leave no row out and come to
//! an end, and a filter finds whatever is shown as the value it has.

use std::collections::BTreeMap;

use salver_testkit::servers::{Kind, database};
use serde_json::Value as Json;

use super::program::Program;

/// Types of which Arrow has text.
const TYPES: [&str; 9] =
    ["text", "varchar(20)", "text collate nocase", "text collate rtrim", "clob", "uuid", "json", "datetime", "date"];
/// Texts and bytes that are shown alike, text that is not UTF-8, and what is empty.
const VALUES: [&str; 17] = [
    "'b'",
    "'a'",
    "x'61'",
    "x'63'",
    "'c'",
    "null",
    "x''",
    "''",
    "'A'",
    "'2024-01-01'",
    "x'323032342d30312d3031'",
    "7",
    "0.1 + 0.2",
    "0.3",
    "cast(x'ff61' as text)",
    "cast(x'fe61' as text)",
    "cast(x'80' as text)",
];

/// Whether SQLite makes numbers of texts there, which are then compared as their texts, and bytes too. Dates are left
/// as the database compares them.
fn makes_numbers(native: &str) -> bool {
    matches!(native, "uuid" | "json")
}

/// Tables `t0`, ... with the values beside a number, and `k0`, ... with them as a key.
fn program() -> Program {
    let mut sql = String::new();
    for (number, native) in TYPES.iter().enumerate() {
        sql.push_str(&format!("create table t{number} (id integer primary key, v {native});\n"));
        sql.push_str(&format!("create table k{number} (v {native} primary key, id int) without rowid;\n"));
        for (id, value) in VALUES.iter().enumerate() {
            sql.push_str(&format!("insert into t{number} values ({id}, {value}), (100 + {id}, {value});\n"));
            sql.push_str(&format!(
                "insert or ignore into k{number} select v, id from t{number} where id = {id} and v is not null;\n"
            ));
        }
    }
    Program::over(database(Kind::Sqlite, &sql), "", "writable = true")
}

fn ids(json: &Json) -> Vec<i64> {
    json.as_array().expect("rows").iter().map(|row| row["id"].as_i64().expect("a number")).collect()
}

/// The rows of all pages.
fn pages(program: &Program, first: &str) -> Vec<i64> {
    let (mut all, mut target) = (Vec::new(), first.to_owned());
    for _ in 0..60 {
        let answer = program.get(&target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.body);
        all.extend(ids(&answer.json()));
        let Some(link) = answer.header("link").filter(|link| link.contains("rel=\"next\"")) else { return all };
        let address = link.split(['<', '>']).nth(1).expect("an address");
        target = address.split_once("/api").expect("a path").1.to_owned();
    }
    panic!("{first}: the pages have no end: {all:?}")
}

#[test]
fn pages_end_and_have_every_row() {
    let program = program();
    for (number, native) in TYPES.iter().enumerate() {
        for table in [format!("t{number}"), format!("k{number}")] {
            for sort in ["", "sort=v&", "sort=-v&"] {
                let target = format!("/tables/{table}?{sort}");
                // A whole table comes as the database has it, pages in the order of the texts.
                let in_order = |mut rows: Vec<i64>| {
                    if sort.is_empty() && makes_numbers(native) {
                        rows.sort_unstable();
                    }
                    rows
                };
                let whole = in_order(ids(&program.get(&target).json()));
                assert!(whole.len() > 10, "{target}");
                for limit in 1..4 {
                    let target = format!("{target}limit={limit}");
                    assert_eq!(in_order(pages(&program, &target)), whole, "{} {target}", native);
                }
            }
        }
    }
}

#[test]
fn filters_find_what_is_shown() {
    let program = program();
    for (number, native) in TYPES.iter().enumerate() {
        for table in [format!("t{number}"), format!("k{number}")] {
            let all = program.get(&format!("/tables/{table}?limit=1000")).json();
            let mut shown: BTreeMap<String, Vec<i64>> = BTreeMap::new();
            for row in all.as_array().expect("rows") {
                if let Some(value) = row["v"].as_str().filter(|value| !value.contains('\u{fffd}')) {
                    shown.entry(value.to_owned()).or_default().push(row["id"].as_i64().expect("a number"));
                }
            }
            for (value, mut wanted) in shown {
                wanted.sort_unstable();
                // The database takes a number and its text for one.
                if value.starts_with("0.3") {
                    continue;
                }
                for filter in [format!("filter[v]='{value}'"), format!("filter[v]in='{value}','nothing'")] {
                    let target = format!("/tables/{table}?{filter}&limit=1000");
                    let mut found = ids(&program.get(&target).json());
                    found.sort_unstable();
                    assert_eq!(found, wanted, "{} {target}", native);
                }
                let sql = format!("select id from {table} where v = '{value}' order by id");
                let answer = program.send("POST", "/sql", &sql);
                assert_eq!(ids(&answer.json()), wanted, "{} {sql}", native);
                let sql = format!("select id from {table} where v <> '{value}' or v is null");
                let answer = program.send("POST", "/sql", &sql);
                assert_eq!(ids(&answer.json()).len(), all.as_array().map_or(0, Vec::len) - wanted.len(), "{sql}");
            }
        }
    }
}

/// What lies behind a value is what an order shows behind it.
#[test]
fn comparisons_are_those_of_the_order() {
    let program = program();
    for (number, native) in TYPES.iter().enumerate() {
        let order = ids(&program.get(&format!("/tables/t{number}?sort=v&limit=1000")).json());
        let told = |sql: &str| -> Vec<i64> {
            program.database().run(sql).lines().map(|line| line.parse().expect("a number")).collect()
        };
        // The client of the database may be an older SQLite, which gives floats fewer digits.
        let sum = VALUES.iter().position(|value| *value == "0.1 + 0.2").expect("a sum");
        let text = format!("case id % 100 when {sum} then '0.30000000000000004' else cast(v as text) end");
        let v = if makes_numbers(native) { text.as_str() } else { "v" };
        let own = told(&format!("select id from t{number} order by {v} collate binary nulls first, id"));
        assert_eq!(order, own, "{}", native);
        for sign in ["<", "<=", ">", ">="] {
            let word = match sign {
                "<" => "lt",
                "<=" => "lte",
                ">" => "gt",
                _ => "gte",
            };
            let mut found = ids(&program.get(&format!("/tables/t{number}?filter[v]{word}='a'&limit=1000")).json());
            found.sort_unstable();
            // Bytes lie behind all texts, unless SQLite makes numbers of texts.
            let own = told(&format!("select id from t{number} where {v} collate binary {sign} 'a' order by id"));
            assert_eq!(found, own, "{} {sign}", native);
        }
    }
}

/// `/api/records` shows bytes as base64, and finds them by it.
#[test]
fn records_find_bytes_by_their_base64() {
    let program = program();
    for (number, native) in TYPES.iter().enumerate() {
        let told = |sql: &str| -> Vec<i64> {
            program.database().run(sql).lines().map(|line| line.parse().expect("a number")).collect()
        };
        let own = told(&format!("select id from t{number} where v = x'61' order by id"));
        assert_eq!(own.len(), 2);
        for filter in ["v,eq,YQ==", "v,in,YQ==%2Cnothing"] {
            let found = program.ids(&format!("/records/t{number}?filter={filter}&order=id"));
            assert_eq!(found, own, "{} {filter}", native);
        }
    }
}
