//! Values of every type, out and in, the same from every database.

use salver_testkit::servers::{Kind, database};

use super::program::Program;

/// Rows of `samples`, but for the column that tells how a program writes large floating-point numbers.
const OUT: [(i64, &str); 3] = [
    (
        1,
        r#"{"id":1,"whole":1,"large":9007199254740993,"real_":1.5,"exact":"1234567.125","flag":true,"day":"2024-02-29","hour":"23:59:59","moment":"2024-02-29 12:00:00","words":"a\/b \"c\" é","bytes":"AP8="}"#,
    ),
    (
        2,
        r#"{"id":2,"whole":-2147483648,"large":-9223372036854775808,"real_":0,"exact":"-0.001","flag":false,"day":"1970-01-01","hour":"00:00:00","moment":"1970-01-01 00:00:00","words":"","bytes":""}"#,
    ),
    (
        3,
        r#"{"id":3,"whole":null,"large":null,"real_":null,"exact":null,"flag":null,"day":null,"hour":null,"moment":null,"words":null,"bytes":null}"#,
    ),
];

/// A column and a value as JSON, and what is read back.
const IN: [(&str, &str, &str); 32] = [
    ("whole", "12", "12"),
    ("whole", "\"12\"", "12"),
    ("whole", "-0", "0"),
    ("large", "9223372036854775807", "9223372036854775807"),
    ("large", "\"9223372036854775807\"", "9223372036854775807"),
    ("real_", "2.5", "2.5"),
    ("real_", "3", "3"),
    ("ratio", "0.1", "0.1"),
    ("ratio", "1e3", "1000"),
    ("ratio", "-0.0000001", "-1.0e-7"),
    ("ratio", "123456789.125", "123456789.125"),
    ("exact", "\"1.5\"", "\"1.500\""),
    ("exact", "1.5", "\"1.500\""),
    ("exact", "\"-999999999.999\"", "\"-999999999.999\""),
    ("flag", "true", "true"),
    ("flag", "false", "false"),
    ("flag", "1", "true"),
    ("flag", "\"on\"", "true"),
    ("flag", "\"off\"", "false"),
    ("flag", "1.0", "true"),
    ("day", "\"2000-02-29\"", "\"2000-02-29\""),
    ("hour", "\"01:02:03\"", "\"01:02:03\""),
    ("moment", "\"2001-02-03 04:05:06\"", "\"2001-02-03 04:05:06\""),
    (
        "words",
        "\"a\\\\b\\\"c\\u0001\\n\\t\u{2028}😀</script>'--\"",
        "\"a\\\\b\\\"c\\u0001\\n\\t\\u2028😀<\\/script>'--\"",
    ),
    ("words", "\"\\ud83d\\ude00\"", "\"😀\""),
    ("words", "12", "\"12\""),
    ("words", "null", "null"),
    ("words", "\"\"", "\"\""),
    ("bytes", "\"AAEC/w==\"", "\"AAEC\\/w==\""),
    ("bytes", "\"_-8\"", "\"\\/+8=\""),
    ("bytes", "\"\"", "\"\""),
    ("bytes", "null", "null"),
];

#[test]
fn out() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "");
        for (id, expected) in OUT {
            assert_eq!(program.ok(&format!("/records/samples/{id}?exclude=ratio")), expected, "{kind:?}");
        }
        assert_eq!(program.ok("/records/samples/1?include=ratio"), r#"{"ratio":0.1}"#, "{kind:?}");
        assert_eq!(program.ok("/records/samples/2?include=ratio"), r#"{"ratio":1.0e+300}"#, "{kind:?}");
    }
}

#[test]
fn there_and_back() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true");
        for (column, value, expected) in IN {
            let answer = program.send("PUT", "/records/samples/3", &format!(r#"{{"{column}":{value}}}"#));
            assert_eq!(answer.said(), (200, "1"), "{kind:?} {column} {value}");
            let read = program.ok(&format!("/records/samples/3?include={column}"));
            assert_eq!(read, format!(r#"{{"{column}":{expected}}}"#), "{kind:?} {column} {value}");
        }
    }
}

/// A form is text, and means the same.
#[test]
fn forms() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true");
        let body = "whole=7&exact=2.5&flag=on&words=a+b%26c%3D&bytes=AP8&day__is_null&nothing=1&ratio=.5";
        let answer = program.ask(
            "PUT",
            "/records/samples/1",
            &[("content-type", "application/x-www-form-urlencoded")],
            Some(body),
        );
        assert_eq!(answer.said(), (200, "1"), "{kind:?}");
        let read = program.ok("/records/samples/1?include=whole,exact,flag,words,bytes,day,ratio");
        let expected =
            r#"{"whole":7,"ratio":0.5,"exact":"2.500","flag":true,"day":null,"words":"a b&c=","bytes":"AP8="}"#;
        assert_eq!(read, expected, "{kind:?}");
    }
}

/// A sum that its column can't hold is refused, and the row is what it was.
#[test]
fn increments_that_overflow() {
    for kind in Kind::ALL {
        let double = if kind == Kind::Postgres { "double precision" } else { "double" };
        let sql = format!(
            "create table sums (id integer primary key, big bigint, ratio {double}, exact decimal(5,2));
                   insert into sums values (1, 9223372036854775806, 1.7e308, 999.50),
                     (2, -9223372036854775807, -1.7e308, -999.50), (3, null, null, null);"
        );
        let program = Program::over(database(kind, &sql), "", "writable = true");
        let add = |id: u32, body: &str| program.send("PATCH", &format!("/records/sums/{id}"), body);
        for (id, body) in [
            (1, r#"{"big":1}"#),
            (1, r#"{"exact":"0.49"}"#),
            (1, r#"{"ratio":1e306}"#),
            (2, r#"{"big":-1}"#),
            (2, r#"{"exact":"-0.49"}"#),
            (3, r#"{"big":1,"exact":1,"ratio":1}"#),
        ] {
            assert_eq!(add(id, body).said(), (200, "1"), "{kind:?} {id} {body}");
        }
        let rows = program.ok("/records/sums?include=big,exact");
        for (id, body) in [
            (1, r#"{"big":1}"#),
            (1, r#"{"big":9223372036854775807}"#),
            (2, r#"{"big":-9223372036854775807}"#),
            (1, r#"{"exact":"0.01"}"#),
            (2, r#"{"exact":-1}"#),
            (1, r#"{"ratio":1e308}"#),
            (2, r#"{"ratio":-1e308}"#),
        ] {
            let answer = add(id, body);
            assert_eq!(answer.status, 422, "{kind:?} {id} {body}: {:?}", answer.said());
            let many = format!("/records/sums?filter=id,eq,{id}&max_affected=1");
            assert_eq!(program.send("PATCH", &many, body).status, 422, "{kind:?} {id} {body}");
            let operation = format!(r#"{{"operations":[{{"increment":"sums","id":{id},"record":{body}}}]}}"#);
            assert_eq!(program.send("POST", "/records", &operation).status, 424, "{kind:?} {id} {body}");
        }
        assert_eq!(program.ok("/records/sums?include=big,exact"), rows, "{kind:?}");
        assert!(rows.contains(r#"{"big":9223372036854775807,"exact":"999.99"}"#), "{kind:?}: {rows}");
    }
}

/// Numbers are added to by the database, as it counts.
#[test]
fn increments() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true");
        for (body, expected) in [
            (r#"{"whole":2}"#, "1"),
            (r#"{"exact":"0.125","ratio":0.5}"#, "1"),
            (r#"{"whole":"x"}"#, "0"),
            (r#"{"words":"x","flag":true}"#, "0"),
            (r#"{"id":5}"#, "0"),
        ] {
            assert_eq!(program.send("PATCH", "/records/samples/1", body).said(), (200, expected), "{kind:?} {body}");
        }
        let read = program.ok("/records/samples/1?include=id,whole,ratio,exact");
        assert_eq!(read, r#"{"id":1,"whole":3,"ratio":0.6,"exact":"1234567.250"}"#, "{kind:?}");
    }
}

/// What is read of a column without a type is the same when it is written back.
#[test]
fn numbers_stay_numbers_where_sqlite_declares_nothing() {
    let made = database(Kind::Sqlite, "create table u (id integer primary key, v)");
    let program = Program::over(made, "", "writable = true");
    for (value, kind) in [
        ("7", "integer"),
        ("-9223372036854775808", "integer"),
        ("-2.5", "real"),
        ("0.30000000000000004", "real"),
        ("\"7\"", "text"),
        ("12345678901234567890.5", "text"),
    ] {
        let made = program.ask("POST", "/records/u", &[], Some(&format!("{{\"v\":{value}}}")));
        assert_eq!(made.status, 200, "{value}: {}", made.body);
        let kinds = program.database().run("select typeof(v) from u order by id desc limit 1");
        assert_eq!(kinds.trim(), kind, "{value}");
        if kind != "text" {
            let read = program.get(&format!("/records/u/{}", made.body));
            assert!(read.body.contains(&format!("\"v\":{value}")), "{}", read.body);
        }
    }
}
