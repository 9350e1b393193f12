//! Every kind of value in and out, alone and merged with others.

use salver_model::records::ColumnKind;

use super::{all_rows, bind, fresh, program, rows, select, step, text};
use crate::cell::OwnedCell;
use crate::statement::{Bind, Returns};

const KINDS: [(&str, &str, ColumnKind); 32] = [
    ("big", "bigint unsigned", ColumnKind::BigInt),
    ("small", "smallint", ColumnKind::Integer),
    ("medium", "mediumint unsigned", ColumnKind::Integer),
    ("whole", "int unsigned", ColumnKind::BigInt),
    ("least", "bigint", ColumnKind::BigInt),
    ("y", "year", ColumnKind::Integer),
    ("yes", "tinyint(1)", ColumnKind::Boolean),
    ("bit1", "bit(1)", ColumnKind::Boolean),
    ("bit8", "bit(8)", ColumnKind::Integer),
    ("bit64", "bit(64)", ColumnKind::BigInt),
    ("f", "float", ColumnKind::Float),
    ("d", "double", ColumnKind::Double),
    ("dc", "decimal(20,4)", ColumnKind::Decimal),
    ("day", "date", ColumnKind::Date),
    ("span", "time", ColumnKind::Time),
    ("span6", "time(6)", ColumnKind::Time),
    ("moment", "datetime", ColumnKind::Timestamp),
    ("moment3", "datetime(3)", ColumnKind::Timestamp),
    ("stamp", "timestamp null", ColumnKind::Timestamp),
    ("c", "char(5)", ColumnKind::Varchar),
    ("v", "varchar(50)", ColumnKind::Varchar),
    ("latin", "varchar(50) character set latin1", ColumnKind::Varchar),
    ("t", "text", ColumnKind::Clob),
    ("lt", "longtext", ColumnKind::Clob),
    ("e", "enum('a','it''s')", ColumnKind::Varchar),
    ("s", "set('x','y')", ColumnKind::Varchar),
    ("j", "json", ColumnKind::Json),
    ("u", "uuid", ColumnKind::Uuid),
    ("b4", "binary(4)", ColumnKind::Varbinary),
    ("vb", "varbinary(300)", ColumnKind::Varbinary),
    ("bl", "blob", ColumnKind::Blob),
    ("lb", "longblob", ColumnKind::Blob),
];

fn table() -> String {
    let columns: Vec<String> = KINDS.iter().map(|(name, native, _)| format!("{name} {native}")).collect();
    format!("create table kinds (id int primary key, {})", columns.join(", "))
}

/// Returns pairs of the value that goes in, and the one that comes out.
#[allow(clippy::too_many_lines, reason = "one line for each column")]
fn samples() -> Vec<Vec<(Bind, OwnedCell)>> {
    let same = |value: &str| (bind(value), text(value));
    let int = |value: i64| (Bind::Int(value), OwnedCell::Int(value));
    let yes = |value: bool| (Bind::Bool(value), OwnedCell::Bool(value));
    let double = |value: f64| (Bind::Float(value), OwnedCell::Float(value));
    let single = |value: f32| (Bind::Float(f64::from(value)), OwnedCell::Single(value));
    let bytes = |value: Vec<u8>| (Bind::Bytes(value.clone()), OwnedCell::Bytes(value));
    let every_byte: Vec<u8> = (0..=255).collect();
    vec![
        vec![
            (bind("18446744073709551615"), OwnedCell::UInt(u64::MAX)),
            int(-32768),
            int(16_777_215),
            int(4_294_967_295),
            int(i64::MIN),
            int(2026),
            yes(true),
            yes(true),
            int(200),
            (bind("\u{7f}"), OwnedCell::Int(127)),
            single(0.1),
            double(0.1),
            same("-1234567890123456.7890"),
            same("9999-12-31"),
            same("-838:59:59"),
            same("00:00:00.000001"),
            same("2016-01-01 13:01:01"),
            same("2016-01-01 13:01:01.500"),
            same("2016-01-01 00:00:00"),
            same("abc"),
            same("€ 𝄞 ' \" \\ ` \t\n\0 ?"),
            same("é"),
            same("text"),
            same("more text"),
            same("it's"),
            same("x,y"),
            same(r#"{"a": [1, "ü"]}"#),
            same("123e4567-e89b-12d3-a456-426655440000"),
            bytes(vec![0, 255, 39, 92]),
            bytes(every_byte.clone()),
            bytes(every_byte.clone()),
            bytes(every_byte),
        ],
        vec![
            int(0),
            int(0),
            int(0),
            int(0),
            int(0),
            int(1901),
            yes(false),
            yes(false),
            int(0),
            int(1 << 40),
            single(16_777_217.0),
            double(-2.225_073_858_507_201_4e-308),
            same("0.0000"),
            same("1000-01-01"),
            same("00:00:00"),
            same("838:59:59.000000"),
            same("1000-01-01 00:00:00"),
            same("2016-01-01 13:01:01.000"),
            same("2037-12-31 23:59:59"),
            same(""),
            same(""),
            same(""),
            same(""),
            same(""),
            same("a"),
            same(""),
            same("null"),
            same("00000000-0000-0000-0000-000000000000"),
            bytes(vec![0; 4]),
            bytes(Vec::new()),
            bytes(Vec::new()),
            bytes(Vec::new()),
        ],
        KINDS.iter().map(|_| (Bind::Null, OwnedCell::Null)).collect(),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_in_and_out() {
    let (mysql, _database) = fresh(&table());
    let names: Vec<&str> = KINDS.iter().map(|(name, ..)| *name).collect();
    let holes = vec!["?"; KINDS.len()].join(",");
    let insert = format!("INSERT INTO kinds (id, {}) VALUES (?, {holes})", names.join(", "));
    let samples = samples();
    let steps = samples.iter().enumerate().map(|(id, row)| {
        let mut binds = vec![Bind::Int(id as i64)];
        binds.extend(row.iter().map(|(bind, _)| bind.clone()));
        step(&insert, binds, Returns::Count)
    });
    let outcome = mysql.write(program(steps.collect())).await.unwrap();
    assert!(outcome.committed, "{outcome:?}");

    let kinds: Vec<ColumnKind> = KINDS.iter().map(|(.., kind)| *kind).collect();
    let read = select(&format!("SELECT {} FROM kinds ORDER BY id", names.join(", ")), &kinds, Vec::new());
    let expected: Vec<Vec<OwnedCell>> =
        samples.iter().map(|row| row.iter().map(|(_, cell)| cell.clone()).collect()).collect();
    for (row, expected) in rows(&mysql, read.clone()).await.iter().zip(&expected) {
        for ((name, ..), (cell, expected)) in KINDS.iter().zip(row.iter().zip(expected)) {
            assert_eq!(cell, expected, "{name}");
        }
    }
    // In reverse order, so that no column is below one of its own type.
    let backwards: Vec<ColumnKind> = kinds.iter().rev().copied().collect();
    let names: Vec<&str> = names.into_iter().rev().collect();
    let other = select(&format!("SELECT {} FROM kinds ORDER BY id", names.join(", ")), &backwards, Vec::new());
    let merged = all_rows(&mysql, vec![read, other]).await;
    assert_eq!(merged[0], expected);
    let reversed: Vec<Vec<OwnedCell>> = expected.iter().map(|row| row.iter().rev().cloned().collect()).collect();
    assert_eq!(merged[1], reversed);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_survive_their_text() {
    let (mysql, _database) = fresh("create table numbers (id int primary key auto_increment, f float, d double)");
    let doubles = [
        0.0,
        1.0,
        0.1,
        1.0 / 3.0,
        1e15,
        1e16,
        123_456_789.123_456_78,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        9_007_199_254_740_993.0,
        2.0f64.powi(63),
    ];
    let floats = [0.0, 1.0, 0.1, 1.0 / 3.0, f32::MAX, f32::MIN_POSITIVE, 16_777_216.0, 123_456.79];
    let steps = (0..doubles.len()).map(|index| {
        let float = floats[index % floats.len()];
        let binds = vec![Bind::Float(f64::from(float)), Bind::Float(doubles[index])];
        step("INSERT INTO numbers (f, d) VALUES (?, ?)", binds, Returns::Count)
    });
    assert!(mysql.write(program(steps.collect())).await.unwrap().committed);
    let read = select("SELECT f, d FROM numbers ORDER BY id", &[ColumnKind::Float, ColumnKind::Double], Vec::new());
    let alone = rows(&mysql, read.clone()).await;
    for (index, row) in alone.iter().enumerate() {
        let (OwnedCell::Single(float), OwnedCell::Float(double)) = (&row[0], &row[1]) else { panic!("{row:?}") };
        assert_eq!(float.to_bits(), floats[index % floats.len()].to_bits());
        assert_eq!(double.to_bits(), doubles[index].to_bits(), "{}", doubles[index]);
    }
    let merged = all_rows(&mysql, vec![read.clone(), read]).await;
    for (merged, alone) in merged.iter().flatten().zip(alone.iter().chain(&alone)) {
        assert_eq!(format!("{merged:?}"), format!("{alone:?}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn expressions_come_as_their_kinds() {
    let (mysql, _database) =
        fresh("create table t (n int, d decimal(10,2)); insert into t values (1, 1.50), (2, 2.50)");
    let kinds = [ColumnKind::Integer, ColumnKind::Double, ColumnKind::Decimal, ColumnKind::BigInt, ColumnKind::Boolean];
    let read = select("SELECT COUNT(*), AVG(n), SUM(d), SUM(n), MAX(n) > 1 FROM t", &kinds, Vec::new());
    let expected =
        vec![OwnedCell::Int(2), OwnedCell::Float(1.5), text("4.00"), OwnedCell::Int(3), OwnedCell::Bool(true)];
    let expected = vec![expected];
    assert_eq!(rows(&mysql, read.clone()).await, expected);
    assert_eq!(all_rows(&mysql, vec![read.clone(), read]).await, [expected.clone(), expected]);
}
