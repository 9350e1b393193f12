//! The types of MariaDB.

use salver_testkit::servers::Kind;

use super::catalogue::Class::{Bytes, Day, Decimal, Double, Moment, Single, Text, Truth, Whole};
use super::catalogue::Type;
use super::generate::{Chance, bytes, days, decimals, floats, moments, quoted, texts, times, uuids, whole};

const KIND: Kind = Kind::Mariadb;

#[expect(clippy::too_many_lines, reason = "a line for each type")]
pub(super) fn types() -> Vec<Type> {
    let chance = |name: &str| Chance::of(&format!("mariadb {name}"));
    let text = |name: &str, most| Type::new(name, Text, texts(&mut chance(name), KIND, most));
    let blob = |name: &str, most| Type::new(name, Bytes, bytes(&mut chance(name), KIND, most));
    let decimal =
        |name: &str, precision, scale| Type::new(name, Decimal, decimals(&mut chance(name), precision, scale));
    let spans = |name: &str, digits, edge: &str| {
        let mut values = times(&mut chance(name), digits);
        values.extend([edge.to_owned(), format!("-{edge}"), "-00:00:01".into(), "100:11:12".into(), "24:00:00".into()]);
        Type::new(name, Text, quoted(values))
    };
    let mut all: Vec<Type> = Vec::new();
    for (name, bits) in [("tinyint", 8), ("smallint", 16), ("mediumint", 24), ("int", 32), ("bigint", 64)] {
        let most = 1_i128 << (bits - 1);
        all.push(Type::new(name, Whole, whole(&mut chance(name), -most, most - 1)));
        let unsigned = format!("{name} unsigned");
        all.push(Type::new(&unsigned, Whole, whole(&mut chance(&unsigned), 0, 2 * most - 1)));
    }
    all.extend([
        Type::of("int(5) zerofill", Whole, &["0", "7", "4294967295"]),
        Type::of("boolean", Truth, &["0", "1", "5", "-128", "127"]),
        Type::of("bit(1)", Truth, &["b'0'", "b'1'"]),
        Type::of("bit(9)", Whole, &["b'0'", "b'111111111'", "b'000110001'"]),
        Type::of("bit(64)", Whole, &["b'0'", "18446744073709551615", "9223372036854775808", "12"]),
        Type::of("year", Whole, &["0", "1901", "2155", "2001"]),
        Type::new("float", Single, floats(&mut chance("float"), 9, "3.40282e38", "1.17549e-38")),
        Type::new("double", Double, floats(&mut chance("double"), 17, "1.7976931348623157e308", "2.3e-308")),
        decimal("decimal(10,2)", 10, 2),
        decimal("decimal(38,10)", 38, 10),
        decimal("decimal(65,30)", 65, 30),
        decimal("decimal(65,0)", 65, 0),
        text("char(5)", 5),
        text("varchar(40)", 40),
        text("varchar(40) collate utf8mb4_bin", 40),
        text("text", 100),
        Type::of("varchar(20) character set latin1", Text, &["'é'", "'e'", "'ß'", "''"]),
        Type::of("enum('z','a','m','','it''s')", Text, &["'z'", "'a'", "'m'", "''", "'it''s'"]),
        Type::of("set('z','a','m')", Text, &["''", "'z'", "'a'", "'z,a'", "'m'", "'z,a,m'"]),
        blob("varbinary(40)", 40),
        blob("blob", 40),
        Type::of("binary(3)", Bytes, &["x'000000'", "x'00ff00'", "x'ffffff'"]),
        Type::new("date", Day, quoted(days(&mut chance("date"), 1000))).odd(&[
            "'0000-00-00'",
            "'2024-00-00'",
            "'2023-02-31'",
        ]),
        Type::new("datetime", Moment, quoted(moments(&mut chance("datetime"), 1000, 0))).odd(&["'0000-00-00'"]),
        Type::new("datetime(6)", Moment, quoted(moments(&mut chance("datetime(6)"), 1000, 6)))
            .odd(&["'0000-00-00'", "'2024-01-00 01:02:03.5'"]),
        Type::of(
            "timestamp(3) null",
            Moment,
            &["'2038-01-19 03:14:07.999'", "'1970-01-01 12:00:01'", "'2024-03-31 01:30'", "'2024-02-29 00:00:00.1'"],
        ),
        spans("time", 0, "838:59:59"),
        spans("time(6)", 6, "838:59:58.999999"),
        Type::new("uuid", Text, quoted(uuids(&mut chance("uuid")))),
        Type::of("inet4", Text, &["'0.0.0.0'", "'255.255.255.255'", "'10.0.0.1'", "'9.255.0.0'"]),
        Type::of("inet6", Text, &["'::1'", "'ffff::'", "'::ffff:10.0.0.1'", "'::'"]),
        Type::of("json", Text, &["'{\"a\": 1}'", "'[]'", "'\"x\"'", "'10'", "'9'"]),
        Type::of("point", Text, &["ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(-1 2.5)')"]).by_text(),
        Type::of(
            "geometry",
            Text,
            &["ST_GeomFromText('LINESTRING(0 0,1 1)')", "ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))')"],
        )
        .by_text(),
        Type::new("bigint as (w * 2) stored", Whole, whole(&mut chance("stored"), -1_000_000, 1_000_000))
            .made_of("int"),
        Type::of("decimal(12,2) as (w * 1.5) virtual", Decimal, &["1.20", "-3", "0", "1000000"])
            .made_of("decimal(10,2)"),
        Type::of("longtext", Text, &["repeat('aé𝄞z', 131072)", "''"]).only_read(),
        Type::of("longblob", Bytes, &["repeat(x'00ff', 524288)", "x''"]).only_read(),
    ]);
    all
}
