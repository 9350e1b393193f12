//! A row that is unchanged is told as that, whatever types it has; and what is exported as CSV can be loaded again.

use salver_model::hexadecimal;
use salver_testkit::servers::{Kind, database};

use super::super::program::Program;
use super::catalogue::Class;
use super::own;
use super::value::{parse, start, written};
use super::{Setting, assert_none};

/// How many rows of each type are asked for.
const ROWS: usize = 6;

/// The tag of a row is good for a condition on it: of the row as it was read it holds, and not of another.
fn tags(kind: Kind) {
    let setting = Setting::with(kind, "writable = true", "");
    let program = &setting.program;
    let mut wrong = Vec::new();
    for (number, own) in setting.each().filter(|(_, own)| own.compared) {
        for id in setting.told[&format!("t{number}")].values.keys().take(ROWS) {
            let target = format!("/records/t{number}/{id}");
            let read = program.get(&target);
            let Some(tag) = read.header("etag").map(str::to_owned) else {
                wrong.push(format!("{}: no tag: {} {}", own.native, read.status, start(&read.body)));
                continue;
            };
            let again = program.ask("GET", &target, &[("if-none-match", &tag)], None);
            let column = if own.made_of.is_some() { "w" } else { "v" };
            let body = format!("{{\"{column}\":null}}");
            let other = program.ask("PUT", &target, &[("if-match", "\"another\"")], Some(&body));
            let put = program.ask("PUT", &target, &[("if-match", &tag)], Some(&body));
            let late = program.ask("PUT", &target, &[("if-match", &tag)], Some(&body));
            // Of a null there is nothing to take.
            let changed = !matches!(parse(&read.body)["v"], serde_json::Value::Null);
            let wanted = [304, 412, 200, if changed { 412 } else { 200 }];
            let found = [again.status, other.status, put.status, late.status];
            if found != wanted {
                wrong.push(format!("{}: {found:?}, not {wanted:?}: {}", own.native, start(&put.body)));
            }
        }
    }
    assert_none(kind, &wrong);
}

/// What `/api/export` writes as CSV is loaded as the same values. SQLite keeps no type where none is declared.
fn csv(kind: Kind) {
    loads(kind, ("csv", "text/csv"), "", |class| class != Class::Any);
}

/// Bytes in NDJSON too, where the load says how they are written.
fn bytes_in_ndjson(kind: Kind) {
    loads(kind, ("ndjson", "application/x-ndjson"), "&bytes=hex", |class| class == Class::Bytes);
}

/// What `/api/export` writes in this format of types of such classes is loaded as the same values, with these
/// parameters.
fn loads(kind: Kind, (suffix, media_type): (&str, &str), parameters: &str, is_meant: impl Fn(Class) -> bool) {
    let setting = Setting::with(kind, "writable = true", "limits.body_bytes_max = 67108864");
    let program = &setting.program;
    let mut wrong = Vec::new();
    let mut loaded = Vec::new();
    for (number, own) in setting.each().filter(|(_, own)| own.made_of.is_none()) {
        if !is_meant(own.class) {
            continue;
        }
        let rows = program.ok(&format!("/export/t{number}.{suffix}"));
        drop(program.database().run(&format!("delete from t{number}")));
        let headers = [("content-type", media_type)];
        let target = format!("/records/t{number}?keep_good=1{parameters}");
        let answer = program.ask("POST", &target, &headers, Some(&rows));
        loaded.push((
            format!("t{number}"),
            own.clone().only_read(),
            format!("{} {}", answer.status, start(&answer.body)),
        ));
    }
    let tables: Vec<_> = loaded.iter().map(|(name, own, _)| (name.clone(), own)).collect();
    let now = own::ask(program.database(), &tables);
    for (name, own, answer) in &loaded {
        let before = &setting.told[name];
        let found = now.get(name).map(|now| &now.values);
        // SQLite may have texts in a column of bytes, and what is exported of it are bytes.
        let are_bytes = |was: &Option<String>, is: &Option<String>| match (was, is) {
            (Some(was), Some(is)) => own.class == Class::Bytes && *is == hexadecimal::encode(was.as_bytes()),
            _ => false,
        };
        let is_same = |id: &i64, was: &Option<String>| {
            let is = found.and_then(|now| now.get(id));
            is.is_some_and(|is| is == was || kind == Kind::Sqlite && are_bytes(was, is))
        };
        let differs: Vec<_> = before.values.iter().filter(|(id, value)| !is_same(id, value)).collect();
        if !differs.is_empty() || found.is_none_or(|now| now.len() != before.values.len()) {
            let some: Vec<String> = differs
                .into_iter()
                .take(3)
                .map(|(id, value)| {
                    let now = format!("{:?}", found.and_then(|now| now.get(id)));
                    format!("{id} was {:?}, is {}", value.as_deref().map(start), start(&now))
                })
                .collect();
            wrong.push(format!("{}: {}: {answer}", own.native, some.join("; ")));
        }
    }
    assert!(!loaded.is_empty(), "{kind:?} has such types");
    assert_none(kind, &wrong);
}

/// An increment has every digit of its number.
#[test]
fn increments_have_every_digit() {
    let nines = "9".repeat(40);
    for (kind, native) in [(Kind::Mariadb, "decimal(65,0)"), (Kind::Postgres, "numeric")] {
        let sql = format!("create table sums (id integer primary key, v {native}); insert into sums values (1, 1);");
        let program = Program::over(database(kind, &sql), "", "writable = true");
        let answer = program.send("PATCH", "/records/sums/1", &format!("{{\"v\":\"{nines}\"}}"));
        assert_eq!(answer.said(), (200, "1"), "{kind:?}");
        let shown = parse(&program.ok("/records/sums/1"));
        assert_eq!(written(&shown["v"]), Some(format!("1{}", "0".repeat(40))), "{kind:?}");
    }
}

super::of_each_database! {
    tags: tags_of_sqlite, tags_of_mariadb, tags_of_postgres;
    csv: csv_of_sqlite, csv_of_mariadb, csv_of_postgres;
    bytes_in_ndjson: bytes_in_ndjson_of_sqlite, bytes_in_ndjson_of_mariadb, bytes_in_ndjson_of_postgres;
}
