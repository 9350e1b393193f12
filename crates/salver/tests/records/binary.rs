//! Bytes: what is written as base64 is stored as the bytes, by every way and in each database, and what is not base64
//! by none. Text that SQLite has among bytes is shown as it is, and stays it when it comes back.

use salver_testkit::servers::{Kind, database};

use super::posted::{WAYS, post, row, rows};
use super::program::Program;

/// What is posted, and in hexadecimal what is stored; nothing where it is refused.
const VALUES: &[(&str, Option<&str>)] = &[
    ("\"YWJj\"", Some("616263")),
    ("\"YQ\"", Some("61")),
    ("\"YQ==\"", Some("61")),
    ("\"_-8=\"", Some("FFEF")),
    ("\"\"", Some("")),
    ("\"1234\"", Some("D76DF8")),
    ("\"a b\"", None),
    ("\"====\"", None),
    ("\"YWJj\\n\"", None),
    ("\" YWJj\"", None),
    ("\"YR==\"", None),
    ("\"x\"", None),
    ("-1", None),
    ("1234", None),
    ("9223372036854775807", None),
    ("true", None),
    ("[1]", None),
];

fn program(kind: Kind) -> (Program, Vec<&'static str>) {
    let natives: &[(&str, &str)] = match kind {
        Kind::Sqlite => {
            &[("t0", "blob"), ("t1", "blob) strict"), ("t2", "varbinary(40)"), ("t3", "bytea"), ("t4", "longblob")]
        }
        Kind::Mariadb => &[("t0", "longblob"), ("t1", "varbinary(40)"), ("t2", "tinyblob")],
        Kind::Postgres => &[("t0", "bytea")],
    };
    let sql: String = natives
        .iter()
        .map(|(name, native)| {
            let end = if native.ends_with(" strict") { "" } else { ")" };
            format!("create table {name} (id integer primary key, v {native}{end};\n{}", rows(name, VALUES.len()))
        })
        .collect();
    let program = Program::over(database(kind, &sql), "", "writable = true");
    (program, natives.iter().map(|(name, _)| *name).collect())
}

#[test]
fn what_is_posted_is_stored() {
    for kind in Kind::ALL {
        let (program, tables) = program(kind);
        let mut wrong = Vec::new();
        for table in tables {
            let mut wanted = String::new();
            for (number, (value, stored)) in VALUES.iter().enumerate() {
                for (at, way) in WAYS.iter().enumerate() {
                    let id = row(number, at);
                    // Text has no numbers and truths, and what looks like them may be base64.
                    if *way == "csv" && !value.starts_with('"') {
                        continue;
                    }
                    // There bytes are hexadecimal.
                    let value = match (*way, stored) {
                        ("graphql", Some(hex)) => format!("\"{hex}\""),
                        ("graphql", None) => continue,
                        _ => (*value).to_owned(),
                    };
                    let said = post(&program, table, way, id, &value);
                    match stored {
                        Some(hex) if said.is_ok() => wanted.push_str(&format!("{id}\t{hex}\n")),
                        None if said.as_ref().is_err_and(|why| why.contains("\"v\":\"invalid base64\"")) => {}
                        _ => wrong.push(format!("{table} {way} {value}: {said:?}")),
                    }
                }
            }
            let hex = if kind == Kind::Postgres { "upper(encode(v, 'hex'))" } else { "hex(v)" };
            let told =
                program.database().run(&format!("select id, {hex} from {table} where v is not null order by id"));
            // PUT leaves a row that was there, of null or of nothing.
            let told: String =
                told.lines().filter(|line| wanted.contains(*line)).map(|line| format!("{line}\n")).collect();
            if told != wanted {
                wrong.push(format!("{table}: {told}\nfor\n{wanted}"));
            }
            if kind == Kind::Sqlite {
                let types = program.database().run(&format!("select distinct typeof(v) from {table} where v <> ''"));
                assert_eq!(types.trim(), "blob", "{table}");
            }
        }
        assert!(wrong.is_empty(), "{kind:?}: {} wrong\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// A row is found by the bytes of its key in the path, whoever wrote it.
#[test]
fn bytes_are_keys() {
    for kind in Kind::ALL {
        let native = match kind {
            Kind::Sqlite => "blob",
            Kind::Mariadb => "varbinary(40)",
            Kind::Postgres => "bytea",
        };
        let sql = format!("create table k (v {native} primary key, n int);\n");
        let program = Program::over(database(kind, &sql), "", "writable = true");
        for key in ["YWJj", "1234"] {
            let record = format!("{{\"v\":\"{key}\",\"n\":1}}");
            assert_eq!(program.send("POST", "/records/k", &record).status, 200, "{kind:?}");
            assert_eq!(program.ok(&format!("/records/k/{key}")), record, "{kind:?}");
            assert_eq!(program.send("PUT", &format!("/records/k/{key}"), "{\"n\":2}").body, "1", "{kind:?}");
        }
        assert_eq!(program.ok("/records/k/YWJj,1234").matches("\"n\":2").count(), 2, "{kind:?}");
        for key in ["YWJj", "1234"] {
            assert_eq!(program.send("DELETE", &format!("/records/k/{key}"), "").body, "1", "{kind:?}");
        }
    }
}

/// PHP-CRUD-API writes base64 into SQLite as the text it is, and others write any text.
#[test]
fn text_among_bytes_stays_what_it_is() {
    let sql = "create table b (id integer primary key, v blob, n int);
        insert into b values (1, 'YWJj', 0), (2, 'abc', 0), (3, x'616263', 0), (4, 'YWJj', 0), (5, x'', 0), (6, '', 0);
        create table k (v blob primary key, n int); insert into k values ('YWJj', 0);
        create table a (id integer primary key, v); insert into a values (1, 'YWJj'), (2, x'616263'), (3, 'x');";
    let program = Program::over(database(Kind::Sqlite, sql), "", "writable = true");
    let told = || {
        program
            .database()
            .run("select id, typeof(v), hex(v) from b union all select 10 + id, typeof(v), hex(v) from a order by 1")
    };
    let before = told();
    let lines = |table: &str| -> Vec<String> {
        (1..7)
            .map(|id| program.get(&format!("/records/{table}/{id}")))
            .filter(|answer| answer.status == 200)
            .map(|answer| answer.body)
            .collect()
    };
    assert_eq!(
        lines("b")[..3],
        ["{\"id\":1,\"v\":\"YWJj\",\"n\":0}", "{\"id\":2,\"v\":\"abc\",\"n\":0}", "{\"id\":3,\"v\":\"YWJj\",\"n\":0}"]
    );
    for table in ["a", "b"] {
        for (at, line) in lines(table).iter().enumerate() {
            let id = at + 1;
            let headers = [("content-type", "application/x-ndjson")];
            for answer in [
                program.send("PUT", &format!("/records/{table}/{id}"), line),
                program.send("PUT", &format!("/records/{table}?filter=id,eq,{id}&max_affected=1"), line),
                program.send("POST", &format!("/records/{table}?on_conflict=id&upsert=update"), line),
                program.ask("POST", &format!("/records/{table}?upsert=1"), &headers, Some(line)),
            ] {
                assert_eq!(answer.status, 200, "{line}: {}", answer.body);
            }
        }
    }
    assert_eq!(told(), before);
    // What is another value is stored as its bytes.
    assert_eq!(program.send("PUT", "/records/b/4", "{\"v\":\"YWJk\"}").status, 200);
    assert_eq!(told().lines().nth(3), Some("4\tblob\t616264"));
    // And found as before.
    assert_eq!(program.ids("/records/b?filter=v,eq,YWJj&order=id"), [1, 3]);
    assert_eq!(program.ok("/records/k/YWJj"), "{\"v\":\"YWJj\",\"n\":0}");
    assert_eq!(program.send("PUT", "/records/k/YWJj", "{\"n\":2}").body, "1");
    assert_eq!(program.database().run("select typeof(v), n from k").trim(), "text\t2");
}

/// Rules compare the bytes that a caller is known by, and the text where one is.
#[test]
fn rules_compare_bytes() {
    let sql = "create table b (id integer primary key, owner blob);
        insert into b values (1, 'YWJj'), (2, x'616263'), (3, 'ann!'), (4, x'59574A6A'), (5, 'abc');";
    let settings = "writable = true\n[[database.rule]]\ntables = [\"b\"]\nrows = \"owner = caller.user\"\n";
    let program = Program::over(
        database(Kind::Sqlite, sql),
        "[server]\nreverse_proxy = true\ncaller = { user = \"X-User\" }\n",
        settings,
    );
    let seen = |user: &str| program.ask("GET", "/records/b?include=id", &[("x-user", user)], None).body;
    let rows = |ids: &[i32]| {
        let ids: Vec<String> = ids.iter().map(|id| format!("{{\"id\":{id}}}")).collect();
        format!("{{\"records\":[{}]}}", ids.join(","))
    };
    assert_eq!(seen("YWJj"), rows(&[1, 2]));
    assert_eq!(seen("ann!"), rows(&[3]));
    for other in ["YWJ", "abc", "ANN!", "YWJj=", "ywjj"] {
        assert_eq!(seen(other), rows(&[]), "{other}");
    }
    let own = program.ask("POST", "/records/b", &[("x-user", "YWJj")], Some("{\"id\":6,\"owner\":\"YWJj\"}"));
    assert_eq!((own.status, own.body.as_str()), (200, "6"));
    assert_eq!(seen("YWJj"), rows(&[1, 2, 6]));
    let other = program.ask("POST", "/records/b", &[("x-user", "YWJj")], Some("{\"id\":7,\"owner\":\"YWJk\"}"));
    assert_eq!(other.status, 403, "{}", other.body);
}
