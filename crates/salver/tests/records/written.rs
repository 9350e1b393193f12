//! A value that is written by any way is the value that is stored, the same by all of them, or it is refused with its
//! column's name. What was read and comes back changes nothing, and an entity tag tells what was stored.

mod edges;
mod told_apart;

use std::collections::BTreeMap;

use salver_testkit::servers::{Kind, database};

use self::edges::{FLOATS, types};
use super::posted::{WAYS, post, row, rows};
use super::program::Program;

/// What the database has, by table and row.
fn stored(program: &Program, count: usize) -> BTreeMap<(usize, usize), String> {
    let cell = match program.kind() {
        Kind::Sqlite => "typeof(v) || ' ' || v",
        Kind::Mariadb => "hex(concat(v, ''))",
        Kind::Postgres => "v::text",
    };
    let sql: String =
        (0..count).map(|at| format!("select {at}, id, coalesce({cell}, 'null') from t{at} order by id;\n")).collect();
    let told = program.database().run(&sql);
    let line = |line: &str| {
        let mut fields = line.splitn(3, '\t');
        let mut number = || fields.next().and_then(|text| text.parse().ok()).expect("a number");
        let key = (number(), number());
        (key, fields.next().unwrap_or_default().to_owned())
    };
    told.lines().map(line).collect()
}

fn every_way(kind: Kind) {
    let types = types(kind);
    let mut sql = match kind {
        Kind::Postgres => "create type mood as enum ('sad', 'ok'); create domain few as int check (value < 10);\n",
        _ => "",
    }
    .to_owned();
    for (at, (native, values)) in types.iter().enumerate() {
        // A second column, so that which one is refused must be told.
        let other = if native.is_empty() { "text" } else { native };
        sql.push_str(&format!(
            "create table t{at} (id integer primary key, o {other}, v {native});\n{}",
            rows(&format!("t{at}"), values.len())
        ));
    }
    let program = Program::over(database(kind, &sql), "", "writable = true");
    let mut wrong = Vec::new();
    let mut said = BTreeMap::new();
    for (at, (native, values)) in types.iter().enumerate() {
        for (number, value) in values.iter().enumerate() {
            for (way, word) in WAYS.iter().enumerate() {
                // CSV has text only, and no nothing but nothing; mutations know types of their own.
                let skipped = match *word {
                    "csv" => !value.starts_with('"') || *value == "\"\"",
                    "graphql" => true,
                    _ => false,
                };
                if skipped {
                    continue;
                }
                let told = post(&program, &format!("t{at}"), word, row(number, way), value);
                if let Err(why) = &told
                    && (!why.contains("\"v\":\"") || why.starts_with('5'))
                {
                    wrong.push(format!("{native} {value} by {word}: {why}"));
                }
                said.insert((at, number, way), told);
            }
        }
    }
    let before = stored(&program, types.len());
    for ((at, number, way), told) in &said {
        let value = |way: usize| told_by(&said, &before, (*at, *number, way));
        if value(*way) != value(0) {
            let (native, values) = types[*at];
            let (one, other) = (value(0), value(*way));
            wrong
                .push(format!("{native} {}: {one:?} by post, {other:?} by {} ({told:?})", values[*number], WAYS[*way]));
        }
    }
    taken_back(&program, &types, (&said, &before), &mut wrong);
    assert!(wrong.is_empty(), "{kind:?}: {} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// What was read is written back, and then another value.
fn taken_back(
    program: &Program,
    types: &[(&str, &[&str])],
    (said, before): (&Said, &BTreeMap<(usize, usize), String>),
    wrong: &mut Vec<String>,
) {
    for (at, (native, values)) in types.iter().enumerate() {
        for (number, value) in values.iter().enumerate() {
            if said[&(at, number, 0)].is_err() {
                continue;
            }
            let target = format!("/records/t{at}/{}", row(number, 0));
            let read = program.get(&target);
            let tag = read.header("etag").expect("a tag").to_owned();
            let put = |body: &str| program.ask("PUT", &target, &[("if-match", &tag)], Some(body)).status;
            // Null stands for what is not a number.
            if !(FLOATS.contains(value) && read.body.contains("\"v\":null")) && put(&read.body) != 200 {
                wrong.push(format!("{native} {value}: {} is not taken back", read.body));
            }
            let again = program.get(&target);
            if again.header("etag") != Some(&tag) {
                wrong.push(format!("{native} {value}: {} became {}", read.body, again.body));
            }
            if before[&(at, row(number, 0))] != "null" {
                let statuses = (put("{\"v\":null}"), put(&read.body));
                if statuses != (200, 412) {
                    wrong.push(format!("{native} {value}: null is not told from {}: {statuses:?}", read.body));
                }
            }
        }
    }
}

type Said = BTreeMap<(usize, usize, usize), Result<(), String>>;

/// What is stored of a value by a way; nothing where it was refused.
fn told_by<'b>(
    said: &Said,
    before: &'b BTreeMap<(usize, usize), String>,
    (at, number, way): (usize, usize, usize),
) -> Option<&'b str> {
    said[&(at, number, way)].as_ref().ok()?;
    before.get(&(at, row(number, way))).map(String::as_str)
}

super::every_type::of_each_database! {
    every_way: every_way_of_sqlite, every_way_of_mariadb, every_way_of_postgres;
}

/// What is stored of values that were once taken for others.
#[test]
fn values_are_what_was_posted() {
    for (kind, native, value, wanted) in [
        (Kind::Mariadb, "enum('z','a','m')", "\"1\"", None),
        (Kind::Mariadb, "enum('z','a','m')", "3", None),
        (Kind::Mariadb, "enum('z','a','m')", "\"m\"", Some("\"m\"")),
        (Kind::Mariadb, "set('z','a','m')", "\"5\"", None),
        (Kind::Mariadb, "set('z','a','m')", "\"z,m\"", Some("\"z,m\"")),
        (Kind::Mariadb, "year", "69", None),
        (Kind::Mariadb, "binary(3)", "\"YQ==\"", None),
        (Kind::Postgres, "\"char\"", "\"ab\"", None),
        (Kind::Postgres, "interval(0)", "\"0.6 seconds\"", None),
        (Kind::Postgres, "interval day to second(3)", "\"1 day 00:00:01.23456\"", None),
        (Kind::Postgres, "interval day to second(3)", "\"1 day 00:00:01.2340\"", Some("\"1 day 00:00:01.234\"")),
        (Kind::Postgres, "boolean", "2", None),
        (Kind::Sqlite, "boolean", "-1", None),
        (Kind::Mariadb, "boolean", "\"t\"", None),
        (Kind::Mariadb, "boolean", "1.0", Some("true")),
        (Kind::Postgres, "boolean", "0.0", Some("false")),
        (Kind::Postgres, "money", "0.005", None),
        (Kind::Postgres, "money", "1.05", Some("\"1.05\"")),
        (Kind::Postgres, "double precision", "1e-400", None),
        (Kind::Postgres, "real", "1e-60", None),
        (Kind::Mariadb, "float", "1e-60", None),
        (Kind::Postgres, "numeric", "\"NaN\"", Some("\"NaN\"")),
        (Kind::Postgres, "numeric", "\"-Infinity\"", Some("\"-Infinity\"")),
        (Kind::Postgres, "numeric(10,2)", "\"Infinity\"", None),
        (Kind::Sqlite, "json", "1e400", None),
        (Kind::Sqlite, "json", "12345678901234567890.123456789", None),
        (Kind::Sqlite, "json", "1.50", Some("1.5")),
        (Kind::Sqlite, "uuid", "\"12345678123412341234123456789012\"", None),
        (Kind::Sqlite, "string", "\"007\"", None),
        (Kind::Sqlite, "bigint unsigned", "18446744073709551615", None),
        (Kind::Sqlite, "", "1.0", Some("1.0")),
        (Kind::Sqlite, "", "1", Some("1")),
        (Kind::Sqlite, "", "1e16", Some("10000000000000000.0")),
        (Kind::Sqlite, "datetime", "\"2024-03-01T01:00:00+02:00\"", Some("\"2024-02-29 23:00:00\"")),
        (Kind::Mariadb, "datetime", "\"2024-03-01T01:00:00+02:00\"", Some("\"2024-02-29 23:00:00\"")),
        (Kind::Postgres, "timestamp", "\"2024-02-29T12:00:00Z\"", Some("\"2024-02-29 12:00:00\"")),
        (Kind::Postgres, "timestamptz", "\"2024-02-29T12:00:00+02:00\"", Some("\"2024-02-29 10:00:00+00\"")),
    ] {
        let sql = format!("create table t (id integer primary key, v {native});");
        let program = Program::over(database(kind, &sql), "", "writable = true");
        let posted = program.send("POST", "/records/t", &format!("{{\"id\":1,\"v\":{value}}}"));
        match wanted {
            Some(wanted) => {
                assert_eq!(program.ok("/records/t/1"), format!("{{\"id\":1,\"v\":{wanted}}}"), "{native} {value}")
            }
            None => {
                assert!(posted.status == 422 && posted.body.contains("\"v\":\""), "{native} {value}: {}", posted.body)
            }
        }
    }
}
