//! Values that JSON shows alike are told apart: by a row's tag, and by what may be added to them.

use std::collections::BTreeSet;

use salver_testkit::servers::{Kind, database};

use super::Program;

/// The tags of values that JSON shows alike are not.
#[test]
fn tags_tell_what_json_does_not() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let values = match kind {
            Kind::Sqlite => "(1, null), (2, 9e999), (3, -9e999), (4, 1.5)",
            _ => "(1, null), (2, 'Infinity'), (3, '-Infinity'), (4, 1.5), (5, 'NaN')",
        };
        let sql: String = ["real", "double precision"]
            .iter()
            .enumerate()
            .map(|(at, native)| {
                format!(
                    "create table t{at} (id integer primary key, v {native}); insert into t{at} values {values};
                     create table k{at} (a int, b int, v {native}, primary key (a, b));
                     insert into k{at} select id, 1, v from t{at};\n"
                )
            })
            .collect();
        let program = Program::over(database(kind, &sql), "", "writable = true");
        for table in ["t0", "t1", "k0", "k1"] {
            for part in ["", "?include=v"] {
                let count = if kind == Kind::Sqlite { 5 } else { 6 };
                let own = |id: i32| if table.starts_with('k') { format!("{id}~1") } else { id.to_string() };
                let read = |id: i32| program.get(&format!("/records/{table}/{}{part}", own(id)));
                let tags: BTreeSet<String> =
                    (1..count).map(|id| read(id).header("etag").expect("a tag").to_owned()).collect();
                let rows: BTreeSet<String> = (1..count).map(|id| read(id).body).collect();
                if part.is_empty() {
                    assert_eq!(rows.len(), count as usize - 1, "{kind:?} {table}");
                }
                assert!(rows.iter().all(|row| row.ends_with('}')), "{rows:?}");
                assert_eq!(tags.len(), count as usize - 1, "{kind:?} {table}{part}: {tags:?}");
                // A row is known by its tag while it is what it was.
                let tag = read(2).header("etag").expect("a tag").to_owned();
                let put = |value: &str| {
                    let body = format!("{{\"v\":{value}}}");
                    program
                        .ask("PUT", &format!("/records/{table}/{}", own(2)), &[("if-match", &tag)], Some(&body))
                        .status
                };
                assert_eq!((put("\"Infinity\""), put("null"), put("1")), (200, 200, 412), "{kind:?} {table}");
                assert_eq!(
                    program.send("PUT", &format!("/records/{table}/{}", own(2)), "{\"v\":\"Infinity\"}").status,
                    200
                );
            }
        }
    }
}

/// Numbers are added to what a column of SQLite without a type has, and to nothing but numbers.
#[test]
fn what_has_no_type_is_added_to() {
    let sql = "create table t (id integer primary key, v);
        insert into t values (1, 5), (2, 0.5), (3, 'x'), (4, 9223372036854775807), (5, null), (6, x'31'), (7, '5');";
    let program = Program::over(database(Kind::Sqlite, sql), "", "writable = true");
    for (id, by, status, then) in [
        (1, "2", 200, "7"),
        (1, "0.5", 200, "7.5"),
        (2, "0.5", 200, "1.0"),
        (3, "1", 422, "\"x\""),
        (4, "1", 422, "9223372036854775807"),
        (5, "1", 200, "null"),
        (6, "1", 422, "\"MQ==\""),
        (7, "1", 422, "\"5\""),
        (1, "\"1e400\"", 422, "7.5"),
    ] {
        let answer = program.send("PATCH", &format!("/records/t/{id}"), &format!("{{\"v\":{by}}}"));
        assert_eq!(answer.status, status, "{id} {by}: {}", answer.body);
        assert_eq!(program.ok(&format!("/records/t/{id}?include=v")), format!("{{\"v\":{then}}}"));
    }
}
