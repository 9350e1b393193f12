//! Tests of statements and the queries they compile to.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use salver_model::{ColumnPath, Comparison, Filter, Item, Sort, Value};
use serde_json::{Value as Json, json};

use super::{Binds, Compiled, Mistake, ResultShape, compile, parse};

fn schema() -> Schema {
    let nested = DataType::Struct(vec![Arc::new(Field::new("ok", DataType::Boolean, true))].into());
    Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("name", DataType::Utf8, true),
        Field::new("active", DataType::Boolean, true),
        Field::new("state", nested, true),
    ])
}

fn compiled(text: &str, binds: &Json) -> Result<(String, Compiled), Mistake> {
    let statement = parse(text)?;
    let binds = Binds::new(binds.as_object());
    let name = statement.entry(&binds)?.to_owned();
    Ok((name, compile(&statement, &schema(), &binds)?))
}

fn of(text: &str) -> Compiled {
    compiled(text, &json!({})).unwrap_or_else(|mistake| panic!("{text}: {}", mistake.message)).1
}

fn filter_of(condition: &str) -> Filter {
    of(&format!("FOR d IN c FILTER {condition} RETURN d")).query.filter.expect("a filter")
}

fn is_null(column: &str) -> Filter {
    Filter::IsNull { column: column.into() }
}

fn id(op: Comparison, value: i64) -> Filter {
    Filter::compare("id", op, Value::Int(value))
}

#[test]
fn whole_statements() {
    let text = "FOR doc IN @@c // all\n FILTER doc.id >= @from AND doc.name LIKE 'a%' SORT doc.name DESC, doc['id'] \
                LIMIT 5, @n RETURN DISTINCT { n: doc.name, \"i\": doc.id, limit: doc.state.ok }";
    let (name, Compiled { query, shape }) = compiled(text, &json!({"@c": "people", "from": 3, "n": 7})).unwrap();
    assert_eq!((name.as_str(), shape), ("people", ResultShape::Objects));
    assert_eq!((query.offset, query.limit, query.distinct), (5, Some(7), true));
    let like = Filter::Like { column: "name".into(), pattern: "a%".into(), ignore_case: false };
    assert_eq!(query.filter, Some(Filter::And(vec![id(Comparison::GtEq, 3), like])));
    let nested = ColumnPath { column: "state".into(), fields: vec!["ok".into()] };
    let item = |path: ColumnPath, name: &str| Item::Column { path, name: name.into() };
    assert_eq!(query.items, [item("name".into(), "n"), item("id".into(), "i"), item(nested, "limit")]);
    let key = |column: &str, descending: bool| Sort { column: column.into(), descending, nulls_first: !descending };
    assert_eq!(query.sort, [key("name", true), key("id", false)]);
}

#[test]
fn answers() {
    assert_eq!(
        (of("for d in c return d").query.items, of("for d in c return d").shape),
        (vec![], ResultShape::Objects)
    );
    assert_eq!(
        (of("FOR d IN c RETURN d.id").query.items, of("FOR d IN c RETURN d.id").shape),
        (vec![Item::column("id")], ResultShape::Values)
    );
    let names =
        |text: &str| -> Vec<String> { of(text).query.items.iter().map(|item| item.name().to_owned()).collect() };
    assert_eq!(names("FOR d IN c RETURN KEEP(d, 'name', ['id', 'nope'])"), ["id", "name"]);
    assert_eq!(names("FOR d IN c RETURN unset(d, 'name', 'state')"), ["id", "active"]);
    assert_eq!(names("FOR d IN c RETURN {a: d.id, a: d.name}"), ["a"]);
    assert_eq!(of("FOR d IN c RETURN KEEP(d, 'nope')").shape, ResultShape::Empty);
    assert_eq!(of("FOR d IN c RETURN {}").shape, ResultShape::Empty);
}

/// Null is less than any other value, and the negation of a condition that is not true is true.
#[test]
fn nulls_count_as_in_aql() {
    let or_null = |filter: Filter| Filter::Or(vec![is_null("id"), filter]);
    let one_of = Filter::In { column: "id".into(), values: vec![Value::Int(1), Value::Int(2)] };
    for (condition, expected) in [
        ("d.id == 1", id(Comparison::Eq, 1)),
        ("d.id != 1", or_null(id(Comparison::NotEq, 1))),
        ("d.id < 1", or_null(id(Comparison::Lt, 1))),
        ("1 > d.id", or_null(id(Comparison::Lt, 1))),
        ("d.id > 1", id(Comparison::Gt, 1)),
        ("!(d.id > 1)", or_null(id(Comparison::Gt, 1).negated())),
        ("NOT (d.id < 1)", id(Comparison::Lt, 1).negated()),
        ("d.id == null", is_null("id")),
        ("null != d.id", is_null("id").negated()),
        ("NOT d.id == null", is_null("id").negated()),
        ("d.id > null", is_null("id").negated()),
        ("d.id <= null", is_null("id")),
        ("d.id < null", Filter::Or(vec![])),
        ("d.id IN [1, 2]", one_of.clone()),
        ("d.id IN [1, null, 2]", or_null(one_of.clone())),
        ("d.id NOT IN [1, 2]", or_null(one_of.clone().negated())),
        ("d.id IN [null]", is_null("id")),
        ("d.id NOT IN [null]", is_null("id").negated()),
        ("d.id == -1", id(Comparison::Eq, -1)),
        (
            "!(d.id == 1 || d.id > 2)",
            Filter::And(vec![or_null(id(Comparison::Eq, 1).negated()), or_null(id(Comparison::Gt, 2).negated())]),
        ),
        ("d.active", Filter::compare("active", Comparison::Eq, Value::Bool(true))),
        ("true", Filter::And(vec![])),
        ("NOT true", Filter::Or(vec![])),
    ] {
        assert_eq!(filter_of(condition), expected, "{condition}");
    }
    let both = filter_of("d.id == 1 && (d.id == 2 or d.id == 3)");
    let either = Filter::Or(vec![id(Comparison::Eq, 2), id(Comparison::Eq, 3)]);
    assert_eq!(both, Filter::And(vec![id(Comparison::Eq, 1), either]));
}

/// `1` is not `"1"`: kinds are never equal, and null < boolean < number < text < list < object.
#[test]
fn kinds_count_as_in_aql() {
    let (all, none) = (Filter::And(vec![]), Filter::Or(vec![]));
    let not_null = is_null("id").negated();
    let one = Filter::In { column: "id".into(), values: vec![Value::Int(1)] };
    for (condition, expected) in [
        ("d.id == '1'", none.clone()),
        ("d.id != '1'", all.clone()),
        ("NOT (d.id == '1')", all.clone()),
        ("d.id < ''", all.clone()),
        ("'' >= d.id", all.clone()),
        ("d.id > ''", none.clone()),
        ("d.id > true", not_null.clone()),
        ("NOT (d.id > true)", is_null("id")),
        ("d.id <= true", is_null("id")),
        ("d.id == true", none.clone()),
        ("d.name == 1", none.clone()),
        ("d.active == 'true'", none.clone()),
        ("d.active == 1", none.clone()),
        ("d.active < 0", all.clone()),
        ("d.state.ok == 'true'", none.clone()),
        ("d.state > 'z'", is_null("state").negated()),
        ("d.id IN ['1', 1, true]", one.clone()),
        ("d.id IN ['1']", none.clone()),
        ("d.id NOT IN ['1']", all.clone()),
        ("d.id IN ['1', null]", is_null("id")),
        ("d.id == 1.5", Filter::compare("id", Comparison::Eq, Value::Float(1.5))),
        (
            "d.id == -12345678901234567.89",
            Filter::compare("id", Comparison::Eq, Value::Bare("-12345678901234567.89".into())),
        ),
    ] {
        assert_eq!(filter_of(condition), expected, "{condition}");
    }
    let bound = compiled("FOR d IN c FILTER d.id == @v RETURN d", &json!({"v": "1"})).unwrap().1;
    assert_eq!(bound.query.filter, Some(none));
}

#[test]
fn mistakes() {
    for (text, number, part) in [
        ("  // nothing", 1502, "query is empty"),
        ("YODA", 1501, "AQL: syntax error, unexpected identifier near 'YODA' at position 1:1 (while parsing)"),
        ("FOR d IN c RETUR d", 1501, "unexpected identifier near 'RETUR d' at position 1:12"),
        ("FOR d IN c", 1501, "unexpected end of query string near '' at position 1:11"),
        ("FOR d IN c\nFILTER d.id ==\nRETURN d", 1501, "unexpected RETURN declaration near 'RETURN d' at position 3:1"),
        ("FOR d IN c RETURN d d", 1501, "unexpected identifier near 'd' at position 1:21"),
        ("FOR d IN c FILTER (d.id == 1 RETURN d", 1501, "unexpected RETURN declaration"),
        ("FOR d IN c RETURN x", 1512, "unknown variable 'x'"),
        ("FOR d IN c LIMIT null RETURN d", 1501, "unexpected null"),
        ("FOR d IN c LIMIT null, 1 RETURN d", 1501, "unexpected null"),
        ("FOR d IN c LIMIT -1 RETURN d", 1501, "unexpected - operator"),
        ("FOR d IN c LIMIT 1.5 RETURN d", 1504, "number out of range"),
        ("FOR d IN c FILTER d.id == @v RETURN d", 1551, "no value specified for declared bind parameter 'v'"),
        ("FOR d IN @@c RETURN d", 1551, "declared bind parameter '@c'"),
        ("RETURN 1", 9, "does not begin with FOR"),
        ("FOR d IN c LET x = 1 RETURN d", 9, "LET is not understood here"),
        ("FOR d IN c FILTER LENGTH(d.name) > 1 RETURN d", 9, "the function LENGTH()"),
        ("FOR d IN c FILTER d.id + 1 == 2 RETURN d", 9, "the operator +"),
        ("FOR d IN c FILTER d.id == d.name RETURN d", 9, "two fields"),
        ("FOR d IN c FILTER d.id RETURN d", 9, "not a boolean"),
        ("FOR d IN 1..5 RETURN d", 9, "anything but a collection"),
        ("FOR d IN c REMOVE d IN c", 1004, "REMOVE would write"),
        ("INSERT {} INTO c", 1004, "INSERT would write"),
    ] {
        let mistake = compiled(text, &json!({})).expect_err(text);
        assert_eq!(mistake.number, number, "{text}: {}", mistake.message);
        assert!(mistake.message.contains(part), "{text}: {}", mistake.message);
    }
    for (text, binds, number) in [
        ("FOR d IN c RETURN d", json!({"v": 1}), 1552),
        ("FOR d IN @@c RETURN d", json!({"@c": 1}), 1553),
        ("FOR d IN c FILTER d.id == @v RETURN d", json!({"v": {}}), 1553),
        ("FOR d IN c FILTER d.id IN @v RETURN d", json!({"v": 1}), 1553),
        ("FOR d IN c FILTER d.name LIKE @v RETURN d", json!({"v": 1}), 1553),
        ("FOR d IN c LIMIT @v RETURN d", json!({"v": -1}), 1504),
    ] {
        assert_eq!(compiled(text, &binds).expect_err(text).number, number, "{text}");
    }
}

/// Any text, however deeply nested, is either parsed or refused.
#[test]
fn nested_texts_end() {
    let deep = format!("FOR d IN c FILTER {}d.id == 1{} RETURN d", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(parse(&deep).expect_err("too deep").number, 1524);
    let wide = format!("FOR d IN c FILTER d.id IN [{}1] RETURN d", "1,".repeat(20_000));
    assert_eq!(parse(&wide).expect_err("too wide").number, 1524);
    let nots = |count: usize| parse(&format!("FOR d IN c FILTER {}d.active RETURN d", "!".repeat(count)));
    assert!(nots(60_000).is_ok());
    assert_eq!(nots(100_000).expect_err("too long").number, 1524);
    let parts = |count: usize| parse(&format!("FOR d IN c RETURN d{}", ".a".repeat(count)));
    assert!(parts(64).is_ok());
    assert_eq!(parts(65).expect_err("too many parts").number, 1524);
    let lists = format!("FOR d IN c FILTER d.id IN {}", "[".repeat(100_000));
    assert!(parse(&lists).is_err());
}
