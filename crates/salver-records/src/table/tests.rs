//! The same conditions, compiled for every system, kind of column and reader; and what SQLite finds by them.

use arrow::datatypes::DataType;
use rusqlite::{Connection, ToSql, params_from_iter};
use salver_model::records::{ColumnInfo, ColumnKind};
use salver_model::{ColumnPath, Comparison, Filter, Value};

use super::compare;
use crate::change::tests::column;
use crate::condition::{Operand, ReadOperand, Reading, push};
use crate::dialect::{Dialect, Sql};
use crate::statement::Bind;

const OPS: [Comparison; 6] =
    [Comparison::Eq, Comparison::NotEq, Comparison::Lt, Comparison::LtEq, Comparison::Gt, Comparison::GtEq];

const CLIENT: Reading = Reading::Client { strict: false };

/// A column of each kind, with a value that it can have, and its type in Arrow.
fn kinds() -> Vec<(ColumnInfo, &'static str, DataType)> {
    use ColumnKind::{
        BigInt, Blob, Boolean, Clob, Date, Decimal, Double, Float, Integer, Json, Timestamp, Uuid, Varbinary, Varchar,
    };
    let uuid = "e42c77c6-06a4-4502-816c-d112c7142e6d";
    [
        (Varchar, "varchar", "zqz", DataType::Utf8),
        (Clob, "text", "zqz", DataType::Utf8),
        (Boolean, "boolean", "true", DataType::Boolean),
        (Integer, "integer", "7312", DataType::Int32),
        (BigInt, "bigint", "7312", DataType::Int64),
        (Float, "real", "7312.5", DataType::Float32),
        (Double, "double precision", "7312.5", DataType::Float64),
        (Decimal, "numeric", "7312.5", DataType::Decimal128(12, 2)),
        (Date, "date", "2031-07-05", DataType::Date32),
        (Timestamp, "timestamp", "2031-07-05 00:00:00", DataType::Utf8),
        (Varbinary, "bytea", "abcd", DataType::Binary),
        (Blob, "blob", "abcd", DataType::Binary),
        (Uuid, "uuid", uuid, DataType::Utf8),
        (Json, "json", "\"zqz\"", DataType::Utf8),
    ]
    .map(|(kind, native, value, data_type)| (column("c", kind, native), value, data_type))
    .into()
}

fn path() -> ColumnPath {
    ColumnPath::column("c")
}

/// Every comparison with `value`, alone, negated and with others.
fn filters(value: &str) -> Vec<Filter> {
    let value = || Value::Text(value.to_owned());
    let mut all: Vec<Filter> = OPS.iter().map(|op| Filter::compare(path(), *op, value())).collect();
    all.push(Filter::compare(path(), Comparison::Eq, Value::Null));
    all.push(Filter::In { column: path(), values: vec![value(), value(), Value::Null] });
    all.push(Filter::In { column: path(), values: Vec::new() });
    all.push(Filter::IsNull { column: path() });
    all.extend(all.clone().into_iter().map(Filter::negated));
    all.push(Filter::And(all.clone()));
    all.push(Filter::Or(all.clone()));
    all
}

fn compiled(dialect: Dialect, column: &ColumnInfo, reading: Reading, filter: &Filter) -> Sql {
    let mut sql = Sql::new(dialect);
    let operand = || Operand::column_by_text(dialect, column, "t");
    push(filter, &|_| Ok(ReadOperand { operand: operand(), reading }), &mut sql).unwrap();
    sql
}

fn compiled_for_tables(dialect: Dialect, data_type: &DataType, filter: &Filter) -> Sql {
    let mut sql = Sql::new(dialect);
    let computed = || compare::Operand::computed("t.c_".to_owned(), data_type.clone(), "c".to_owned());
    push(filter, &|_| Ok(compare::Operand { plain_text: true, ..computed() }), &mut sql).unwrap();
    sql
}

/// Checks that each value is bound where a placeholder stands, and that no value is in the text.
fn is_sound(sql: &Sql, value: &str) {
    let text = &sql.text;
    let (open, close) = (text.matches('(').count(), text.matches(')').count());
    assert_eq!(open, close, "{text}");
    assert!(!text.contains(value.trim_matches('"')), "{text}");
    let again = text.matches("CAST(?").count() - text.matches("CAST(? ").count();
    let sign = if sql.dialect == Dialect::Postgres { '$' } else { '?' };
    assert_eq!(text.matches(sign).count() - again, sql.binds.len(), "{text}");
}

#[test]
fn every_condition_in_every_system() {
    for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
        for (column, value, data_type) in kinds() {
            for filter in filters(value) {
                let by_rule = compiled(dialect, &column, Reading::Rule, &filter);
                let by_client = compiled(dialect, &column, CLIENT, &filter);
                let by_table = compiled_for_tables(dialect, &data_type, &filter);
                for sql in [&by_rule, &by_client, &by_table] {
                    is_sound(sql, if column.kind == ColumnKind::Boolean { "zqz" } else { value });
                }
            }
        }
        // How text compares is said of the comparison, and nothing else is.
        let text = column("c", ColumnKind::Varchar, "varchar");
        for op in OPS {
            let filter = Filter::compare(path(), op, Value::Text("zqz".to_owned()));
            let by_bytes = |sql: &Sql| sql.text.contains("COLLATE") || sql.text.contains("AS BINARY");
            assert!(by_bytes(&compiled(dialect, &text, Reading::Rule, &filter)), "{dialect:?} {op:?}");
            assert!(by_bytes(&compiled_for_tables(dialect, &DataType::Utf8, &filter)), "{dialect:?} {op:?}");
            assert!(!by_bytes(&compiled(dialect, &text, CLIENT, &filter)), "{dialect:?} {op:?}");
        }
    }
}

/// Returns the rows of `t` that the condition finds.
fn found(connection: &Connection, sql: &Sql) -> Vec<i64> {
    let binds = sql.binds.iter().map(|bind| -> Box<dyn ToSql> {
        match bind {
            Bind::Bool(value) => Box::new(*value),
            Bind::Int(value) => Box::new(*value),
            Bind::Float(value) => Box::new(*value),
            Bind::Text(value) => Box::new(value.clone()),
            Bind::Bytes(value) => Box::new(value.clone()),
            _ => Box::new(rusqlite::types::Null),
        }
    });
    let mut statement = connection.prepare(&format!("SELECT id FROM t WHERE {} ORDER BY id", sql.text)).unwrap();
    let rows = statement.query_map(params_from_iter(binds), |row| row.get(0)).unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn text_by_bytes_and_by_collation() {
    const WORDS: [&str; 6] = ["ann", "ANN", "ann ", "bob", "", "é"];
    let connection = Connection::open_in_memory().unwrap();
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, c_ varchar(9) COLLATE NOCASE)", []).unwrap();
    for word in WORDS {
        connection.execute("INSERT INTO t (c_) VALUES (?)", [word]).unwrap();
    }
    connection.execute("INSERT INTO t (c_) VALUES (NULL)", []).unwrap();
    let column = column("c", ColumnKind::Varchar, "varchar(9)");
    for value in WORDS {
        for op in OPS {
            let filter = Filter::compare(path(), op, Value::Text(value.to_owned()));
            let passing = |fold: &dyn Fn(&str) -> String| -> Vec<i64> {
                let passes = |word: &str| {
                    let order = fold(word).cmp(&fold(value));
                    match op {
                        Comparison::Eq => order.is_eq(),
                        Comparison::NotEq => order.is_ne(),
                        Comparison::Lt => order.is_lt(),
                        Comparison::LtEq => order.is_le(),
                        Comparison::Gt => order.is_gt(),
                        Comparison::GtEq => order.is_ge(),
                    }
                };
                (1..).zip(WORDS).filter(|(_, word)| passes(word)).map(|(id, _)| id).collect()
            };
            let by_bytes = passing(&str::to_owned);
            let by_collation = passing(&str::to_ascii_lowercase);
            let rest = |found: &[i64]| -> Vec<i64> { (1..=6).filter(|id| !found.contains(id)).collect() };
            let negated = filter.clone().negated();
            for (filter, expect) in [(&filter, false), (&negated, true)] {
                let expected = |own: &[i64]| if expect { rest(own) } else { own.to_vec() };
                let by_rule = compiled(Dialect::Sqlite, &column, Reading::Rule, filter);
                assert_eq!(found(&connection, &by_rule), expected(&by_bytes), "{filter:?} {}", by_rule.text);
                let by_table = compiled_for_tables(Dialect::Sqlite, &DataType::Utf8, filter);
                assert_eq!(found(&connection, &by_table), expected(&by_bytes), "{filter:?} {}", by_table.text);
                let by_client = compiled(Dialect::Sqlite, &column, CLIENT, filter);
                assert_eq!(found(&connection, &by_client), expected(&by_collation), "{filter:?} {}", by_client.text);
            }
        }
        let list = Filter::In { column: path(), values: vec![Value::Text(value.to_owned()), Value::Text("x".into())] };
        let same: Vec<i64> = (1..).zip(WORDS).filter(|(_, word)| *word == value).map(|(id, _)| id).collect();
        assert_eq!(found(&connection, &compiled(Dialect::Sqlite, &column, Reading::Rule, &list)), same);
        assert_eq!(found(&connection, &compiled_for_tables(Dialect::Sqlite, &DataType::Utf8, &list)), same);
    }
}

#[test]
fn booleans_that_are_numbers() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, c_ boolean)", []).unwrap();
    connection.execute("INSERT INTO t (c_) VALUES (0), (1), (2), (-1), (NULL)", []).unwrap();
    let column = column("c", ColumnKind::Boolean, "boolean");
    for (op, truth, expected) in [
        (Comparison::Eq, true, &[2, 3, 4][..]),
        (Comparison::Eq, false, &[1]),
        (Comparison::NotEq, true, &[1]),
        (Comparison::NotEq, false, &[2, 3, 4]),
    ] {
        let filter = Filter::compare(path(), op, Value::Bool(truth));
        let sql = compiled(Dialect::Sqlite, &column, Reading::Rule, &filter);
        assert_eq!(found(&connection, &sql), expected, "{op:?} {truth}: {}", sql.text);
        let sql = compiled_for_tables(Dialect::Sqlite, &DataType::Boolean, &filter);
        assert_eq!(found(&connection, &sql), expected, "{op:?} {truth}: {}", sql.text);
        // No caller sees a row by a rule that its shown value does not pass.
        let sql = compiled(Dialect::Sqlite, &column, Reading::Rule, &filter.negated());
        let rest: Vec<i64> = (1..=4).filter(|id| !expected.contains(id)).collect();
        assert_eq!(found(&connection, &sql), rest, "not {op:?} {truth}: {}", sql.text);
    }
}
