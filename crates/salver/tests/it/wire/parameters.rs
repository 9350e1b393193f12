//! Values of parameters in their exact types, and the names of columns. What is asked here is answered the same by
//! PostgreSQL.

use super::{python, server};

/// Connects with psycopg, and has what is refused.
const CONNECT: &str = r#"
import datetime as d, decimal, sys, uuid
import psycopg
from psycopg.types.json import Jsonb
host, port = sys.argv[1].rsplit(":", 1)
def connect():
    return psycopg.connect(host=host, port=port, user="postgres", dbname="salver", autocommit=True)
def refused(c, state, statement, values, **how):
    try:
        found = c.execute(statement, values, **how).fetchall()
    except psycopg.Error as error:
        assert error.sqlstate == state, (statement, values, error.sqlstate, error)
        return
    raise SystemExit(f"let through: {statement} {values} {found}")
"#;

/// Every type comes back as it was sent.
const VALUES: &str = r#"
D = decimal.Decimal
utc = d.timezone.utc
digits = "1234567890" * 7
values = [
    ("int2", -32768), ("int4", 2147483647), ("int8", -2**63), ("float8", 0.1), ("float8", float("inf")),
    ("numeric", D("1.10")), ("numeric", D("-0.000000000000000000000000000001")), ("numeric", D(digits)),
    ("numeric", D(f"-{digits}.123456")), ("bool", False), ("text", "it's \\ \u00fc"), ("bytea", b"\x00\\'\xff"),
    ("date", d.date(1, 1, 1)), ("date", d.date(9999, 12, 31)), ("time", d.time(23, 59, 59, 999999)),
    ("timestamp", d.datetime(1582, 10, 15, 1, 2, 3, 4)),
    ("timestamptz", d.datetime(2024, 1, 2, 3, 4, 5, 678901, tzinfo=utc)),
    ("interval", d.timedelta(days=-3, seconds=7, microseconds=9)),
    ("int4[]", [1, None, -3]), ("int8[]", [2**40]), ("numeric[]", [D("1.5"), D("2.5")]),
    ("numeric[]", [D("1234567890123456789.123456789012345678"), None, D("1e30")]), ("numeric[]", []),
    ("bytea[]", [b"ab", None]), ("bytea[]", [None]),
    ("text[]", ["a,\"b\\", "", "NULL"]),
    ("bool[]", [True, False]), ("date[]", [d.date(2024, 1, 2)]), ("float8[]", [1.5, None]), ("bytea[]", [b"\x00\xff"]),
    ("timestamptz[]", [d.datetime(2024, 1, 2, tzinfo=utc)]), ("int4[]", []),
]
with connect() as c:
    for way in ("%s", "%b", "%t"):
        for binary in (False, True):
            cursor = c.cursor(binary=binary)
            for name, value in values:
                found = cursor.execute(f"select {way}::{name}", (value,)).fetchone()[0]
                assert found == value and type(found) is type(value), (way, binary, name, value, found)
                found = cursor.execute(f"select {way}::{name}", (None,)).fetchone()[0]
                assert found is None, (name, found)
    own = uuid.UUID("0123abcd-4567-89ef-0123-456789abcdef")
    assert str(c.execute("select %s::uuid", (own,)).fetchone()[0]) == str(own)
    moment = d.datetime(2024, 1, 2, 3, 4, 5, tzinfo=d.timezone(d.timedelta(hours=5, minutes=30)))
    assert c.execute("select %s", (moment,)).fetchone()[0] == moment
    assert c.execute("select %s + %s", (D("0.1"), D("0.2"))).fetchone()[0] == D("0.3")
    assert c.execute("select %s = %s", (D("0.1"), D("0.10"))).fetchone()[0] is True
    before = c.execute("select %s - %s", (d.datetime(2024, 1, 2), d.timedelta(days=1))).fetchone()[0]
    assert before == d.datetime(2024, 1, 1), before
    # Conditions on columns of every kind.
    for condition, value in [("id = %s", 1), ("huge = %s", D(2**64 - 1)), ("exact = %s", D("-12345.67")),
                             ("exact < %s", D("-12345.66")), ("long = %s", 1e300), ("word = %s", "it's \u00fc"),
                             ("bytes = %s", b"\x00\xff"), ("day = %s", d.date(9999, 12, 31)),
                             ("clock = %s", d.time(1, 2, 3, 4)),
                             ("moment = %s", d.datetime(1599, 12, 31, 23, 59, 59, 999994)), ("big = %s", -2**63),
                             ("id = any(%s)", [1, 7]), ("word = any(%s)", ["x", "it's \u00fc"]),
                             ("exact = any(%s)", [D("-12345.67")]), ("exact = any(%s::numeric[])", [D("-12345.670")]),
                             ("bytes = any(%s)", [b"x", None, b"\x00\xff"]), ("day = any(%s)", [d.date(9999, 12, 31), None]),
                             ("id <> all(%s)", [2, 3]), ("truth = %s", True)]:
        for binary in (False, True):
            found = c.cursor(binary=binary).execute(f"select id from types where {condition}", (value,)).fetchall()
            assert found == [(1,)], (condition, value, found)
    assert c.execute("select id from types where id = any(%s)", ([],)).fetchall() == []
    assert c.execute("select id from types where id = any(%s)", (None,)).fetchall() == []
print("well")
"#;

/// What is no value of its type is refused as PostgreSQL refuses it.
const REFUSED: &str = r#"
with connect() as c:
    for state, statement, value in [
        ("22P02", "select id from people where id = %s", "x"),
        ("22003", "select id from people where id = %s", "1" + "0" * 30), ("22P02", "select %s::bool", "maybe"),
        ("22003", "select %s::int2", "40000"), ("22003", "select %s::int4", "3000000000"),
        ("22P02", "select %s::numeric", "1,5"), ("22P02", "select %s::float8", "x"),
        ("22003", "select %s::float8", "1e999"), ("22007", "select %s::date", "x"),
        ("22008", "select %s::date", "2023-02-29"), ("22007", "select %s::timestamp", "noon"),
        ("22008", "select %s::timestamptz", "2024-01-02 25:00+00"), ("22007", "select %s::interval", "1 parsec"),
        ("22P02", "select %s::uuid", "x"), ("22P02", "select %s::jsonb", "{"), ("22P02", "select %s::int4[]", "{1"),
        ("22003", "select %s::int2[]", "{40000}"), ("22P02", "select id from people where born = any(%s::date[])", "x"),
        ("22008", "select id from people where born = %s", "2023-02-29"),
    ]:
        refused(c, state, statement, (value,))
    assert c.execute("select 1").fetchone() == (1,)
"#;

/// What PostgreSQL has and this server has not.
const BOUNDS: &str = r#"
with connect() as c:
    refused(c, "22003", "select %s::numeric", (decimal.Decimal("9" * 77),))
    refused(c, "22003", "select %s::numeric", (decimal.Decimal("1e-77"),))
    for binary in ("%b", "%t"):
        refused(c, "0A000", f"select {binary}::numeric", (decimal.Decimal("NaN"),))
    refused(c, "0A000", "select %s", ([[1, 2], [3, 4]],))
    refused(c, "54000", "select id from people where id = any(%s)", (list(range(10001)),))
    assert len(c.execute("select id from people where id = any(%s)", (list(range(10000)),)).fetchall()) == 3
    refused(c, "22008", "select %s::date", ("infinity",))
    assert c.execute("select 1").fetchone() == (1,)
print("well")
"#;

/// asyncpg sends what it is told that parameters are.
const ASYNCPG: &str = r#"
import asyncio, asyncpg, datetime as d, decimal, sys
async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    c = await asyncpg.connect(host=host, port=int(port), user="postgres", password="x", database="salver")
    told = {
        "select $1::int2, $2::int4, $3::int8, $4::numeric": ["int2", "int4", "int8", "numeric"],
        "select $1::time, $2::timestamptz, $3::interval, $4::bytea": ["time", "timestamptz", "interval", "bytea"],
        "select id from types where word = any($1) and exact > $2": ["text[]", "numeric"],
        "select id from types where id = $1 and clock < $2 and bytes = $3": ["int4", "time", "bytea"],
        "select id from people limit $1": ["int8"],
        "select $1::oid, $2::oid[], $3::int4[]": ["oid", "oid[]", "int4[]"],
        "select id from people where id = any(array[$1, $2]) and born in ($3, $4)": ["int8", "int8", "date", "date"],
        "select array_append(array[id], $1), array_position(array[born], $2) from people": ["int8", "date"],
        # As what stands beside them.
        "select coalesce($1, id), coalesce(name, $2), nullif(id, $3) from people": ["int8", "text", "int8"],
        "select greatest($1, exact), least(p.id, 2, $2), array[$3, born] from types, people p":
            ["numeric", "int8", "date"],
        "select case when id = 1 then $1 else id end from people": ["int8"],
        "select case id when $1 then 'a' else $2 end from people": ["int8", "text"],
        "select case when $1 then 1 else 2 end": ["bool"],
        "select id + $1, $2 * id, $3 || name from people": ["int8", "int8", "text"],
        "select id from people where not $1 or $2": ["bool", "bool"],
        "select id from people where coalesce($1, id) = id and name = $2": ["int8", "text"],
        "select left(name, $1), substring(name from $2), round(1.25, $3) from people": ["int4"] * 3,
    }
    for statement, wanted in told.items():
        types = (await c.prepare(statement)).get_parameters()
        found = [own.name for own in types]
        assert found == wanted, (statement, found)
    values = [("int2", 7), ("numeric", decimal.Decimal("1.10")), ("bytea", b"\x00\xff"), ("time", d.time(1, 2, 3, 4)),
              ("timestamptz", d.datetime(2024, 1, 2, tzinfo=d.timezone.utc)),
              ("interval", d.timedelta(days=2, seconds=3)),
              ("text[]", ["a", "b,c"]), ("int2[]", [-1, None]), ("int4[]", [1, None, -3]), ("int4[]", []),
              ("int8[]", [2**40]), ("float4[]", [1.5]), ("float8[]", [0.1, None]), ("bool[]", [True, None, False]),
              ("numeric[]", [decimal.Decimal("1.50"), None]), ("date[]", [d.date(2024, 1, 2)]),
              ("timestamp[]", [d.datetime(2024, 1, 2, 3, 4, 5)]), ("interval[]", [d.timedelta(days=2, seconds=3)]),
              ("timestamptz[]", [d.datetime(2024, 1, 2, tzinfo=d.timezone.utc), None]), ("bytea[]", [b"\x00"]),
              ("oid", 2**32 - 1)]
    for name, value in values:
        assert await c.fetchval(f"select $1::{name}", value) == value, name
    assert await c.fetchval("select id from types where exact = $1", decimal.Decimal("-12345.67")) == 1
    assert await c.fetchval("select id from people where id = any($1)", [2, 7]) == 2
    assert await c.fetchval("select id from types where moment = any($1)", [d.datetime(2024, 1, 2)]) is None
    assert await c.fetchval("select coalesce($1, id) from people where id = $2", None, 2) == 2
    assert await c.fetchval("select case when $1 then name else $2 end from people where id = 1", False, "x") == "x"
    await c.close()
asyncio.run(main())
print("well")
"#;

/// Columns have the names that PostgreSQL gives them.
const NAMES: &str = r#"
with connect() as c:
    for statement, wanted in [
        ("select count(*) from people", ["count"]),
        ("select 1, 'a', null, true, id + 1 from people", ["?column?"] * 5),
        ("select max(id), id::text, 1::int, now()::date from people group by id", ["max", "id", "int4", "now"]),
        ("select case when true then 1 end, coalesce(id, 1), exists(select 1), array[1] from people",
         ["case", "coalesce", "exists", "array"]),
        ("select extract(year from born), upper(name), p.*, count(*) over () from people p",
         ["extract", "upper", "id", "name", "born", "count"]),
        ("select * from (select count(*), 1 from people) s", ["count", "?column?"]),
        ("select 1 union all select 2", ["?column?"]),
        ("select id as a, name as \"B\" from people", ["a", "B"]),
    ]:
        for names in (c.execute(statement), c.execute(statement, ()), c.execute(statement, prepare=True)):
            found = [column.name for column in names.description]
            assert found == wanted, (statement, found)
    named = c.execute("select %s, %s::int, count(*) from people where id > %s", ("x", 1, 0)).description
    assert [column.name for column in named] == ["?column?", "int4", "count"], named
print("well")
"#;

/// Short integers stay what they are where they show, and are taken for what they stand beside where they do not.
const INTEGERS: &str = r#"
def types(cursor):
    return [column.type_code for column in cursor.description]
with connect() as c:
    for binary in (False, True):
        cursor = c.cursor(binary=binary)
        for value, oid in [(7, 21), (-70000, 23), (2**40, 20)]:
            cursor.execute("select %s, (%s), coalesce(%s, null), case when true then %s end, array[%s]", (value,) * 5)
            assert types(cursor) == [oid] * 4 + [{21: 1005, 23: 1007, 20: 1016}[oid]], (value, types(cursor))
            assert cursor.fetchone() == (value,) * 4 + ([value],)
        cursor.execute("select %s", ([1, None],))
        assert types(cursor) == [1005] and cursor.fetchone() == ([1, None],)
        cursor.execute("values (%s, 'a')", (7,))
        assert types(cursor) == [21, 25] and cursor.fetchone() == (7, "a")
        for statement, values, wanted in [
            ("select substring('abc', %s, %s)", (2, 1), "b"), ("select '[1,2]'::json ->> %s", (1,), "2"),
            ("select repeat('a', %s)", (3,), "aaa"), ("select %s * %s", (300, 300), 90000),
            ("select id from people order by id limit %s offset %s", (1, 1), 2),
            ("select id from people where id = %s", (2,), 2),
            ("select id from people order by id fetch first %s rows only", (1,), 1),
            ("select sum(id) over (order by id rows %s preceding) from people order by id limit 1", (1,), 1),
        ]:
            assert cursor.execute(statement, values).fetchone() == (wanted,), statement
print("well")
"#;

#[test]
fn short_integers_stay_short() {
    python("psycopg", &format!("{CONNECT}{INTEGERS}"), &[server("").postgres()]);
}

#[test]
fn values_come_back_as_they_were_sent() {
    python("psycopg", &format!("{CONNECT}{VALUES}"), &[server("").postgres()]);
}

#[test]
fn what_is_no_value_is_refused() {
    python("psycopg", &format!("{CONNECT}{REFUSED}{BOUNDS}"), &[server("").postgres()]);
}

#[test]
fn drivers_are_told_the_types() {
    python("asyncpg", ASYNCPG, &[server("").postgres()]);
}

#[test]
fn columns_have_their_names() {
    python("psycopg", &format!("{CONNECT}{NAMES}"), &[server("").postgres()]);
}

/// `/api/sql` has the names of the engine, and nothing that only this protocol reads.
#[test]
fn other_doors_keep_their_names() {
    let server = server("");
    let answer = server.get("/api/sql?q=select%20count(*)%20from%20people");
    assert_eq!(answer.text().trim(), "[{\"count(*)\":3}]");
}
