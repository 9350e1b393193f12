//! Keys of new rows: answered as a read shows them, and found, whatever notation was sent.

use salver_model::Code;
use salver_model::records::{Condition, Operator};
use salver_testkit::servers::Kind;
use serde_json::Value;

use super::fixture::{World, create, delete, update, upsert};

/// Types of columns, each with notations of values and what a key is shown as if that differs.
type Notations = [(&'static str, &'static [(&'static str, Option<&'static str>)])];

/// Types of keys, each with values as they are sent; and as they are shown, where that is plain.
const MARIADB: &Notations = &[
    ("float", &[("0.1", Some("0.1")), ("0.3", None), ("16777217", None), ("3.3e38", None), ("\"7e-1\"", None)]),
    ("float(7,2)", &[("0.126", None), ("1.5", None)]),
    ("double", &[("0.1", Some("0.1")), ("\"0.30\"", None)]),
    ("decimal(10,2)", &[("1", Some("\"1.00\"")), ("\"01.25\"", Some("\"1.25\"")), ("1e2", None)]),
    ("decimal(30,2)", &[("\"1234567890123456789012345678.91\"", None)]),
    ("set('x','y','z')", &[("\"y\"", Some("\"y\"")), ("\"z,x\"", Some("\"x,z\""))]),
    ("enum('a','B')", &[("\"B\"", Some("\"B\""))]),
    ("char(5)", &[("\"ab \"", Some("\"ab\""))]),
    ("datetime", &[("\"2024-03-01T01:00:00+02:00\"", Some("\"2024-02-29 23:00:00\"")), ("\"2024-03-01\"", None)]),
    ("time", &[("\"1:02:03\"", Some("\"01:02:03\""))]),
    ("year", &[("\"2024\"", Some("2024"))]),
    ("bit(9)", &[("\"7\"", Some("7"))]),
    ("varbinary(9)", &[("\"AP8\"", Some("\"AP8=\""))]),
    ("bigint unsigned", &[("\"18446744073709551615\"", Some("18446744073709551615"))]),
    ("int", &[("\"80\"", Some("80")), ("81", Some("81"))]),
    ("varchar(9)", &[("\"a\"", Some("\"a\""))]),
];
const POSTGRES: &Notations = &[
    ("real", &[("0.1", Some("0.1")), ("16777217", None)]),
    ("numeric(10,2)", &[("1", Some("\"1.00\""))]),
    ("interval", &[("\"90 minutes\"", Some("\"01:30:00\""))]),
    ("inet", &[("\"::FFFF:1.2.3.4\"", None)]),
    ("cidr", &[("\"10/8\"", None)]),
    ("macaddr", &[("\"08002B010203\"", Some("\"08:00:2b:01:02:03\""))]),
    ("uuid", &[("\"{AAAAAAAA-BBBB-1CCC-8DDD-EEEEEEEEEEEE}\"", Some("\"aaaaaaaa-bbbb-1ccc-8ddd-eeeeeeeeeeee\""))]),
    ("timestamp", &[("\"2024-03-01T01:00:00+02:00\"", Some("\"2024-02-29 23:00:00\""))]),
    ("boolean", &[("\"no\"", Some("false"))]),
    ("bytea", &[("\"AP8\"", Some("\"AP8=\""))]),
    ("integer", &[("\"80\"", Some("80"))]),
    ("text", &[("\"a\"", Some("\"a\""))]),
];
const SQLITE: &Notations = &[
    ("any", &[("true", Some("1")), ("1.0", Some("1")), ("\"x\"", Some("\"x\""))]),
    ("decimal(10,2)", &[("1", Some("\"1.00\"")), ("\"01.5\"", Some("\"1.50\""))]),
    ("boolean", &[("\"yes\"", Some("true"))]),
    ("blob", &[("\"AP8\"", Some("\"AP8=\""))]),
    ("real", &[("\"0.30\"", Some("0.3"))]),
    ("integer", &[("\"80\"", Some("80"))]),
];

fn types(kind: Kind) -> &'static Notations {
    match kind {
        Kind::Mariadb => MARIADB,
        Kind::Postgres => POSTGRES,
        Kind::Sqlite => SQLITE,
    }
}

/// The column `c` of the only row, as a list shows it.
async fn shown(world: &World, table: &str) -> Value {
    let list: Value = serde_json::from_str(&world.list(table, &["c"]).await).unwrap();
    let rows = list["records"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{table}: {list}");
    rows[0]["c"].clone()
}

#[tokio::test]
async fn the_answered_key_is_the_one_that_is_shown() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        for (at, (name, _)) in types(kind).iter().enumerate() {
            let owner = if kind == Kind::Postgres { "set role salver; " } else { "" };
            let _ = world.made.run(&format!("{owner}create table k{at} (c {name} not null primary key, n integer)"));
        }
        for (at, (name, values)) in types(kind).iter().enumerate() {
            let table = format!("k{at}");
            for (sent, expected) in *values {
                let what = format!("{name} {sent}");
                let body = |n: u32| format!(r#"{{"c":{sent},"n":{n}}}"#);
                let answer = world.change(create(&table, &body(1))).await.unwrap();
                let is = shown(&world, &table).await;
                assert_eq!(serde_json::from_str::<Value>(&answer).unwrap(), is, "{what}");
                assert_eq!(expected.unwrap_or(&answer), answer, "{what}");
                let key = is.as_str().map_or_else(|| answer.clone(), str::to_owned);
                if !key.contains(',') {
                    assert_eq!(world.change(update(&table, &key, r#"{"n":2}"#)).await.unwrap(), "1", "{what}");
                }
                for ignore in [false, true] {
                    let same = world.change(upsert(&table, &["c"], ignore, &body(3))).await.unwrap();
                    assert_eq!(same, answer, "{what}");
                }
                let _ = world.made.run(&format!("delete from {table}"));
                let mut returned = create(&table, &body(4));
                returned.returning = Some(vec!["c".to_owned(), "n".to_owned()]);
                let row = world.change(returned).await.unwrap();
                assert_eq!(row, format!(r#"{{"c":{answer},"n":4}}"#), "{what}");
                let mut batch = upsert(&table, &["c"], false, &format!("[{}]", body(5)));
                batch.returning = Some(vec!["n".to_owned()]);
                assert_eq!(world.change(batch).await.unwrap(), r#"[{"n":5}]"#, "{what}");
                let _ = world.made.run(&format!("delete from {table}"));
            }
        }
    }
}

/// MariaDB keeps fewer digits of a float than are sent, and the words of a set in its own order.
#[tokio::test]
async fn a_row_is_found_by_a_unique_column_as_it_is_stored() {
    let world = World::plain(Kind::Mariadb);
    let _ = world.made.run(
        "create table fu (id int auto_increment primary key, f float unique, s set('x','y') unique, v int); \
         insert into fu (f, s, v) values (0.1, 'x,y', 1)",
    );
    for (on, value) in [("f", "0.1"), ("s", "\"y,x\"")] {
        for ignore in [false, true] {
            let body = format!(r#"{{"{on}":{value},"v":2}}"#);
            assert_eq!(world.change(upsert("fu", &[on], ignore, &body)).await.unwrap(), "1", "{on}");
        }
    }
    let mut batch = upsert("fu", &["f"], false, r#"[{"f":0.1,"v":5},{"f":0.7,"v":6}]"#);
    batch.returning = Some(vec!["f".to_owned(), "v".to_owned()]);
    assert_eq!(world.change(batch).await.unwrap(), r#"[{"f":0.1,"v":5},{"f":0.7,"v":6}]"#);
}

fn test(column: &str, operator: Operator, value: &str) -> Condition {
    Condition::Test { path: vec![column.to_owned()], operator, negated: false, value: value.to_owned() }
}

/// Returns how many rows a strict change by condition finds.
async fn found(world: &World, table: &str, condition: Condition) -> String {
    let mut change = update(table, "", r#"{"n":1}"#);
    change.filter = Some(condition);
    change.affected_max = Some(100);
    change.strict = true;
    world.change(change).await.unwrap()
}

/// SQLite has no type for times: spans are found, and written back as they are shown.
#[tokio::test]
async fn spans_of_sqlite() {
    let world = World::plain(Kind::Sqlite);
    let spans = ["25:00:00", "-01:30:00", "9:05:00", "100:00"];
    let rows = spans.map(|span| format!("('{span}')")).join(",");
    let _ = world.made.run("create table spans (id integer primary key, t time, n integer)");
    let _ = world.made.run(&format!("insert into spans (t) values {rows}"));
    for span in spans {
        assert_eq!(found(&world, "spans", test("t", Operator::Equal, span)).await, "1", "{span}");
    }
    assert_eq!(found(&world, "spans", test("t", Operator::Greater, "24:00:00")).await, "2");
    for span in ["25:00:00", "-01:30:00", "100:00"] {
        let id = world.change(create("spans", &format!(r#"{{"t":"{span}"}}"#))).await.unwrap();
        assert_eq!(world.row("spans", &id).await, format!(r#"{{"id":{id},"t":"{span}","n":null}}"#));
    }
    for wrong in ["soon", "25:61:00", "1:2"] {
        let error = world.fails(create("spans", &format!(r#"{{"t":"{wrong}"}}"#))).await;
        assert_eq!(error.details, [("t".to_owned(), "invalid time".to_owned())], "{wrong}");
    }
}

/// What is equal is neither less nor greater: each row of a column without a type is one of the three.
#[tokio::test]
async fn numbers_and_texts_in_one_column() {
    let world = World::plain(Kind::Sqlite);
    let _ = world.made.run(
        "create table mixed (id integer primary key, c, n integer); \
         insert into mixed (c) values (0), (1), ('1'), (1.5), (2), ('2'), ('a'), (null)",
    );
    for (operator, expected) in [
        (Operator::Equal, "2"),
        (Operator::Less, "1"),
        (Operator::LessOrEqual, "3"),
        (Operator::Greater, "4"),
        (Operator::GreaterOrEqual, "6"),
    ] {
        assert_eq!(found(&world, "mixed", test("c", operator, "1")).await, expected, "{operator:?}");
    }
}

#[tokio::test]
async fn a_number_that_only_the_database_makes() {
    let world = World::plain(Kind::Postgres);
    let _ = world
        .made
        .run("set role salver; create table numbered (id int generated always as identity primary key, n int)");
    let error = world.fails(create("numbered", r#"{"id":5,"n":1}"#)).await;
    assert_eq!(error.code, Code::Invalid);
    assert_eq!(error.details.len(), 1, "{error:?}");
    assert_eq!(error.details[0].0, "id");
    assert_eq!(world.change(create("numbered", r#"{"n":1}"#)).await.unwrap(), "1");
}

/// The key of a table does not hold for those that inherit from it: a change by it that would be of two rows is none.
#[tokio::test]
async fn one_key_of_two_rows() {
    let world = World::plain(Kind::Postgres);
    let _ = world.made.run(
        "set role salver; create table par (id int primary key, n int); create table chi () inherits (par); \
         insert into par values (1, 0), (2, 0); insert into chi values (1, 0)",
    );
    for change in [update("par", "1", r#"{"n":7}"#), delete("par", "1")] {
        let error = world.fails(change).await;
        assert_eq!(error.code, Code::TooManyAffected, "{error:?}");
        assert!(error.hint.is_some());
    }
    assert_eq!(world.made.run("select sum(n), count(*) from par").trim().replace('|', "\t"), "0\t3");
    assert_eq!(world.change(update("par", "2", r#"{"n":7}"#)).await.unwrap(), "1");
}
