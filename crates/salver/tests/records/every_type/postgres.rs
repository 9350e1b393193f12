//! The types of PostgreSQL.

use salver_testkit::servers::Kind;

use super::catalogue::Class::{Bytes, Day, Decimal, Double, Moment, Single, Text, Truth, Whole};
use super::catalogue::Type;
use super::generate::{Chance, bytes, days, decimals, floats, moments, quoted, texts, times, uuids, whole};

const KIND: Kind = Kind::Postgres;

/// Types of the test's own.
pub(super) const BEFORE: &str = "create extension if not exists citext;
create type mood as enum ('sad', 'ok', 'happy', 'Zany, really');
create domain few as smallint check (value < 100);
create domain label as varchar(20);
create type pair as (a int, b text);
";

#[expect(clippy::too_many_lines, reason = "a line for each type")]
pub(super) fn types() -> Vec<Type> {
    let chance = |name: &str| Chance::of(&format!("postgres {name}"));
    let text = |name: &str, most| Type::new(name, Text, texts(&mut chance(name), KIND, most));
    let decimal = |name: &str, precision, scale| {
        Type::new(name, Decimal, decimals(&mut chance(name), precision, scale)).odd(&["'NaN'"])
    };
    let floats = |name: &str, class, digits, most, least| {
        let mut values = floats(&mut chance(name), digits, most, least);
        values.extend(["'NaN'", "'Infinity'", "'-Infinity'", "'-0'"].map(str::to_owned));
        Type::new(name, class, values)
    };
    let days = |name: &str| {
        let mut values = days(&mut chance(name), 1);
        values.extend(["0044-03-15 BC", "0001-12-31 BC", "12024-01-01"].map(str::to_owned));
        quoted(values)
    };
    let moments = |name: &str, digits, zone: &str| {
        let values = moments(&mut chance(name), 1, digits).iter().map(|value| format!("{value}{zone}")).collect();
        let mut values = quoted(values);
        values.extend([format!("'0044-03-15 12:00:00{zone} BC'"), format!("'12024-01-01 00:00:00{zone}'")]);
        values
    };
    let mut clocks = times(&mut chance("time"), 6);
    clocks.push("24:00:00".to_owned());
    let mut all: Vec<Type> = Vec::new();
    for (name, bits) in [("smallint", 16), ("integer", 32), ("bigint", 64)] {
        let most = 1_i128 << (bits - 1);
        all.push(Type::new(name, Whole, whole(&mut chance(name), -most, most - 1)));
    }
    all.extend([
        Type::of("oid", Whole, &["4294967295", "0", "7"]),
        Type::of("boolean", Truth, &["true", "false"]),
        floats("real", Single, 9, "3.4028235e38", "1e-45"),
        floats("double precision", Double, 17, "1.7976931348623157e308", "5e-324"),
        decimal("numeric(12,2)", 12, 2),
        decimal("numeric(38,10)", 38, 10),
        decimal("numeric(65,30)", 65, 30),
        Type::of("numeric(3,5)", Decimal, &["0.00999", "-0.00999", "0.00001", "0", "0.0001"]),
        Type::of("numeric(5,-2)", Decimal, &["9999900", "-123400", "100", "200", "1000", "0"]).odd(&["'NaN'"]),
        Type::new("numeric", Decimal, decimals(&mut chance("numeric"), 40, 20)).odd(&[
            "'NaN'",
            "'Infinity'",
            "'-Infinity'",
            "1e100",
            "-1e-100",
            "repeat('1234567890', 100)::numeric",
            "('0.' || repeat('1234567890', 100))::numeric",
        ]),
        Type::of(
            "money",
            Decimal,
            &["'1.50'", "'-92233720368547758.08'", "'92233720368547758.07'", "'0'", "'9'", "'10'"],
        ),
        text("text", 100),
        text("varchar(20)", 20),
        Type::of("char(5)", Text, &["''", "'a'", "'b'", "'aé'", "'A'"]),
        Type::of("\"char\"", Text, &["'a'", "'b'"]),
        Type::of("name", Text, &["'a'", "'b'", "''"]),
        Type::of("citext", Text, &["'a'", "'A'", "'b'", "'B'"]),
        Type::of("text collate \"POSIX\"", Text, &["'a'", "'A'", "'b'", "'é'"]),
        Type::new("bytea", Bytes, bytes(&mut chance("bytea"), KIND, 40)),
        Type::new("date", Day, days("date")).odd(&["'infinity'", "'-infinity'", "'5874897-12-31'"]),
        Type::new("timestamp", Moment, moments("timestamp", 6, "")).odd(&["'infinity'", "'-infinity'"]),
        Type::new("timestamp(3)", Moment, moments("timestamp(3)", 3, "")),
        Type::new("timestamptz", Moment, moments("timestamptz", 6, "+05:30")).odd(&["'infinity'", "'-infinity'"]),
        Type::new("time", Text, quoted(clocks)),
        Type::of(
            "timetz",
            Text,
            &["'12:00+02'", "'12:00-02'", "'10:00+00'", "'24:00+00'", "'01:02:03.000004+05:30'", "'12:00-15:59:59'"],
        ),
        Type::of(
            "interval",
            Text,
            &["'1 mon'", "'30 days'", "'-1 year'", "'36:00'", "'1 day 12:00'", "'2 days'", "'00:00:00.5'", "'0'"],
        ),
        Type::new("uuid", Text, quoted(uuids(&mut chance("uuid")))),
        Type::of("inet", Text, &["'10.0.0.1/8'", "'10.0.0.1'", "'9.255.0.0'", "'::1'", "'192.168.0.0/16'"]),
        Type::of("cidr", Text, &["'10.0.0.0/8'", "'10.0.0.0/16'", "'::/0'", "'9.0.0.0/8'"]),
        Type::of("macaddr", Text, &["'08:00:2b:01:02:03'", "'00:00:00:00:00:00'"]),
        Type::of("macaddr8", Text, &["'08:00:2b:01:02:03:04:05'", "'00:00:00:00:00:00:00:00'"]),
        Type::of("bit(3)", Text, &["b'101'", "b'000'"]),
        Type::of("varbit", Text, &["b'1'", "b'10'", "b'0'", "b''"]),
        Type::of("mood", Text, &["'sad'", "'ok'", "'happy'", "'Zany, really'"]),
        Type::of("few", Whole, &["3", "-1", "20"]),
        Type::of("label", Text, &["'a'", "'A'", "''", "'é'"]),
        Type::of("int[]", Text, &["'{}'", "'{1,2}'", "'{10}'", "'{2,null}'", "'{null}'", "'{{1},{2}}'"]),
        Type::of("text[]", Text, &["'{b}'", "'{a,\"x,y\"}'", "'{}'", "'{\"\"}'", "'{\"a\\\\\\\\b\"}'"]),
        Type::of("mood[]", Text, &["'{happy}'", "'{ok}'", "'{sad,ok}'"]),
        Type::of("int4range", Text, &["'[1,5)'", "'[1,3)'", "'empty'", "'(,)'", "'[10,20)'"]),
        Type::of("tstzrange", Text, &["'[2024-01-01 00:00+00,)'", "'[2023-01-01 00:00+00,2024-01-01 00:00+00)'"]),
        Type::of("nummultirange", Text, &["'{[1,2),[3,4)}'", "'{}'", "'{[1,9)}'"]),
        Type::of("jsonb", Text, &["'{\"b\": 1}'", "'{\"a\": 2}'", "'[]'", "'\"x\"'", "'10'", "'9'", "'null'"]),
        Type::of("json", Text, &["'{\"b\": 1}'", "'{\"a\":  2}'", "'[]'"]).by_text(),
        Type::of("xml", Text, &["'<a/>'", "'<b/>'"]).by_text(),
        Type::of("tsvector", Text, &["'a b'", "'c'"]),
        Type::of("point", Text, &["'(1,2)'", "'(0,9)'"]).by_text(),
        Type::of("pair", Text, &["'(1,a)'", "'(0,\"z, z\")'", "'(10,a)'", "'(9,a)'"]),
        Type::of("pair[]", Text, &["'{\"(10,a)\"}'", "'{\"(9,a)\"}'", "'{}'"]),
        Type::of("int2vector", Text, &["'1 2'", "'10'", "'9'"]),
        Type::of("varchar(3)[]", Text, &["'{b}'", "'{a,é}'", "'{}'"]).only_read(),
        Type::of("regtype", Text, &["'integer'", "'text'", "'boolean'"]).by_text(),
        Type::of(
            "geometry(point, 4326)",
            Text,
            &["ST_GeomFromText('POINT(1 2)', 4326)", "ST_GeomFromText('POINT(0 2.5)', 4326)"],
        )
        .by_text(),
        Type::new("bigint generated always as (w * 2) stored", Whole, whole(&mut chance("made"), -9999, 9999))
            .made_of("int"),
        Type::of("text", Text, &["repeat('aé𝄞z', 131072)", "''"]).only_read(),
        Type::of("bytea", Bytes, &["decode(repeat('00ff', 524288), 'hex')", "''"]).only_read(),
    ]);
    all
}
