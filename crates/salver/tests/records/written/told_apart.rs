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

/// Of several columns that only the server of PostgreSQL judges, the one whose value it refused is named.
#[test]
fn the_refused_column_is_named() {
    let sql = "create type mood as enum ('sad', 'ok');
        create table t (id integer primary key, a inet, b inet, c interval, d bit(3), e int[], f int4range, g xml,
                        h mood,
                        i jsonb, j text);
        create function check_j() returns trigger language plpgsql as
            'begin if new.j is not null then perform new.j::int; end if; return new; end';
        create trigger j before insert or update on t for each row execute function check_j();";
    let program = Program::over(database(Kind::Postgres, sql), "", "writable = true");
    let good = [
        ("a", "\"1.2.3.4\""),
        ("b", "\"1.2.3.5\""),
        ("c", "\"1 day\""),
        ("d", "\"101\""),
        ("e", "\"{1,2}\""),
        ("f", "\"[1,5)\""),
        ("g", "\"<a/>\""),
        ("h", "\"ok\""),
        ("i", "{\"a\":1}"),
    ];
    let record = |bad: &[(&str, &str)]| {
        let value = |name: &str, value: &str| {
            bad.iter().find(|(own, _)| *own == name).map_or(value.to_owned(), |(_, bad)| (*bad).to_owned())
        };
        let mut fields: Vec<String> =
            good.iter().map(|(name, own)| format!("\"{name}\":{}", value(name, own))).collect();
        fields.extend(bad.iter().filter(|(name, _)| *name == "j").map(|(name, own)| format!("\"{name}\":{own}")));
        format!("{{\"id\":1,{}}}", fields.join(","))
    };
    for (bad, wanted) in [
        (&[("a", "\"x\"")][..], "{\"a\":\"invalid inet\"}"),
        (&[("b", "\"y\"")], "{\"b\":\"invalid inet\"}"),
        (&[("a", "\"x\""), ("b", "\"x\"")], "{\"a\":\"invalid inet\",\"b\":\"invalid inet\"}"),
        (&[("c", "\"a while\"")], "{\"c\":\"invalid interval\"}"),
        (&[("d", "\"1111\"")], "{\"d\":\"invalid bit(3)\"}"),
        (&[("e", "\"{1,z}\"")], "{\"e\":\"invalid integer[]\"}"),
        (&[("g", "\"<a\"")], "{\"g\":\"invalid xml\"}"),
        (&[("h", "\"glad\"")], "{\"h\":\"invalid mood\"}"),
        // What a trigger reads is not a column of the request's.
        (&[("j", "\"ten\"")], ""),
    ] {
        let answer = program.send("POST", "/records/t", &record(bad));
        assert_eq!(answer.status, 422, "{bad:?}: {}", answer.body);
        let details =
            answer.body.split_once("\"details\":").map(|(_, rest)| rest.trim_end_matches('}').to_owned() + "}");
        assert_eq!(details.unwrap_or_default(), wanted, "{bad:?}: {}", answer.body);
    }
    assert_eq!(program.send("POST", "/records/t", &record(&[])).status, 200);
}

/// Values that name what is not there, and those of extensions that have no code for what they can't read.
#[test]
fn values_of_types_that_say_little() {
    let sql = "create extension if not exists hstore;
        create table t (id integer primary key, r regtype, n regnamespace, h hstore);";
    let program = Program::over(database(Kind::Postgres, sql), "", "writable = true");
    for (column, native) in [("r", "regtype"), ("n", "regnamespace"), ("h", "hstore")] {
        let answer = program.send("POST", "/records/t", &format!("{{\"id\":1,\"{column}\":\"nosuch\"}}"));
        assert_eq!(answer.status, 422, "{column}: {}", answer.body);
        assert!(answer.body.contains(&format!("{{\"{column}\":\"invalid {native}\"}}")), "{column}: {}", answer.body);
    }
    let good = r#"{"id":1,"r":"integer","n":"public","h":"\"a\"=>\"b\""}"#;
    assert_eq!(program.send("POST", "/records/t", good).status, 200);
}
