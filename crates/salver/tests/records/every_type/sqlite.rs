//! The types of SQLite: what is declared, and columns in which each value has a type of its own.

use salver_testkit::servers::Kind;

use super::catalogue::Class::{Any, Bytes, Decimal, Double, Text, Truth, Whole};
use super::catalogue::Type;
use super::generate::{Chance, bytes, days, decimals, floats, moments, quoted, texts, times, uuids, whole};

const KIND: Kind = Kind::Sqlite;
const LEAST: i128 = i64::MIN as i128;
const MOST: i128 = i64::MAX as i128;

pub(super) fn types() -> Vec<Type> {
    let chance = |name: &str| Chance::of(&format!("sqlite {name}"));
    let wholes = |name: &str| Type::new(name, Whole, whole(&mut chance(name), LEAST, MOST));
    let text = |name: &str, most| Type::new(name, Text, texts(&mut chance(name), KIND, most));
    let double = |name: &str| {
        let mut values = floats(&mut chance(name), 17, "1.7976931348623157e308", "5e-324");
        values.extend(["9e999".to_owned(), "-9e999".to_owned()]);
        Type::new(name, Double, values)
    };
    // SQLite has floats where decimals are declared: 15 digits are exact.
    let decimal = |name: &str, precision, scale| {
        Type::new(name, Decimal, decimals(&mut chance(name), precision, scale)).odd(&["'many'", "9007199254740993"])
    };
    let mixed =
        ["5", "'5'", "5.5", "'abc'", "x'616263'", "-7", "''", "9007199254740993", "9007199254740992.0", "1e300"];
    vec![
        wholes("integer"),
        wholes("bigint"),
        Type::of("int", Whole, &["0", "1", "9223372036854775807"]).odd(&["'x'", "x'00ff'", "1.5"]),
        Type::new("smallint", Whole, whole(&mut chance("smallint"), -32_768, 32_767)),
        Type::of("boolean", Truth, &["0", "1", "true", "false"]).odd(&["'yes'", "1.5"]),
        Type::of("tinyint(1)", Truth, &["0", "1", "1", "5", "-1"]),
        double("real"),
        double("double precision"),
        decimal("decimal(15,2)", 15, 2),
        decimal("numeric(10,4)", 10, 4),
        Type::new("date", Text, quoted(days(&mut chance("date"), 1))).odd(&["20240229", "''"]),
        Type::new("datetime", Text, quoted(moments(&mut chance("datetime"), 1, 3))).odd(&[
            "1700000000",
            "1700000000.5",
            "'2024-02-29T00:00:00Z'",
        ]),
        Type::new("time", Text, quoted(times(&mut chance("time"), 3))).odd(&["'838:59:59'", "'24:00'"]),
        text("text", 100),
        text("varchar(20)", 20),
        Type::of("varchar(20) collate nocase", Text, &["'a'", "'A'", "'B'", "'b'", "'ä'", "'Ä'", "''"]),
        Type::of("text collate rtrim", Text, &["'a'", "'a  '", "'b'", "' b'", "''"]),
        Type::new("blob", Bytes, bytes(&mut chance("blob"), KIND, 40)),
        Type::of("varbinary(20)", Bytes, &["'AP8='", "'text'", "x'00ff'"]).only_read(),
        Type::of("", Any, &mixed),
        Type::of("any", Any, &mixed),
        // Declared as texts of some form, and none that SQLite knows: it makes numbers of texts that are some.
        Type::of("string", Any, &["5", "'5'", "5.5", "'abc'", "-7", "''", "9007199254740993", "1e300", "'7x'"]),
        Type::of("name", Any, &["'b'", "'01'", "'1e5'", "'1.5'", "1000", "10", "'%'", "'1x'", "2", "0.1", "'a'"]),
        Type::new("uuid", Text, quoted(uuids(&mut chance("uuid")))),
        Type::of("json", Text, &["'{\"b\":1}'", "'{\"a\":2}'", "'[]'", "'\"x\"'"]).odd(&["5", "5.5", "'10x'"]),
        Type::new("integer as (w * 2) stored", Whole, whole(&mut chance("stored"), -1_000_000, 1_000_000))
            .made_of("integer"),
        Type::new("text as (w || 'x') virtual", Text, texts(&mut chance("virtual"), KIND, 20)).made_of("text"),
        Type::of("longtext", Text, &["replace(hex(zeroblob(131072)), '00', 'aé𝄞z')", "''"]).only_read(),
        Type::of("longblob", Bytes, &["zeroblob(1048576)", "x''"]).only_read(),
    ]
}
