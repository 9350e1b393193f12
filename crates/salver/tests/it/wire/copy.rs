//! `COPY ... TO STDOUT`: the bytes are those that PostgreSQL sends of the same rows, and clients read them.

use std::process::Command;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use salver_testkit::servers::{Kind, database};

use super::{PEOPLE, WIRE, python, server, types};
use crate::it::server::Server;

/// Texts that are hard to write between others.
const ODD: [Option<&str>; 13] = [
    Some("plain"),
    Some(""),
    None,
    Some("\\N"),
    Some("\\."),
    Some("tab\tand\nline\r\\"),
    Some("\u{8}\u{c}\u{b}\u{1}\u{7f}"),
    Some("a,b;c|d"),
    Some("\"quoted\" 'too'"),
    Some(" around "),
    Some("null"),
    Some("\u{fc} \u{1f600}"),
    Some("{a,\"b\"}"),
];

/// The same rows of types in PostgreSQL.
const TYPES: &str = r#"
create table types (id int4, truth bool, big int8, huge numeric, short float4, long float8, exact numeric(12, 2),
    word text, bytes bytea, day date, clock time, moment timestamp, words text[]);
insert into types values (1, true, -9223372036854775808, 18446744073709551615, 0.1, 1e300, -12345.67, 'it''s ü',
    '\x00ff', '9999-12-31', '01:02:03.000004', '1599-12-31 23:59:59.999994', array['a b', null]);
insert into types (id) values (2);
create table odd (id int8, word text);
"#;

/// A server with people, types and odd texts.
fn with_odd_texts() -> Server {
    let ids: Vec<i64> = (0_i64..).take(ODD.len()).collect();
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("id", Arc::new(Int64Array::from(ids)) as arrow::array::ArrayRef, true),
        ("word", Arc::new(StringArray::from(ODD.to_vec())) as arrow::array::ArrayRef, true),
    ]);
    let batch = batch.unwrap();
    let mut bytes = Vec::new();
    let mut writer = arrow::ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    Server::with(WIRE, &[("people.csv", PEOPLE), ("types.arrow", &types()), ("odd.arrow", &bytes)])
}

/// Every statement is sent to both servers, in both protocols.
const BOTH: &str = r#"
import json, sys, psycopg
host, port = sys.argv[1].rsplit(":", 1)
casts = """select 1::int2 as s, -2::int4 as i, 3::int8 as b, true as t, 1.5::float4 as f, 2.5::float8 as g,
    12.30::numeric(10,2) as n, 'x y'::text as w, '2024-01-02 03:04:05.5+00'::timestamptz as z,
    '2024-01-02 03:04:05.5'::timestamp as m, '2024-01-02'::date as d, '01:02:03.5'::time as c,
    interval '1 year 2 days 3 hours' as v, array[1, null]::int4[] as a,
    array['a,b', 'c"d', 'null', '', 'e\\f', null]::text[] as x, array[true, null] as y,
    array[1.5, null]::float8[] as gg, array['2024-01-02']::date[] as dd, array[]::int4[] as e, 'a'::bytea as by,
    null::text as nn, 'NaN'::float8 as na, '-Infinity'::float8 as inf"""
sources = ["types", "types (words, id, bytes)", "(select * from types order by id desc)", "public.types (id)",
           "odd", "odd (word)", "(select word from odd order by id)", "(select * from odd where id < 0)", f"({casts})"]
options = ["", "WITH (FORMAT text, DELIMITER '|', NULL '-')", "(HEADER)", "(DELIMITER E'\\001')", "USING DELIMITERS ';'",
           "(FORMAT csv)", "CSV HEADER", "WITH CSV HEADER QUOTE '''' ESCAPE AS '\\' NULL 'null' DELIMITER ';'",
           "(FORMAT csv, FORCE_QUOTE *, HEADER true)", "(FORMAT csv, NULL '\\N', ENCODING 'utf-8')",
           "(FORMAT binary)", "WITH BINARY", '(FORMAT "binary")']
def simple(c, statement):
    cursor = c.cursor()
    with cursor.copy(statement) as copy:
        parts = [bytes(part) for part in copy]
    return parts, cursor.rowcount
def extended(c, statement):
    result = c.pgconn.exec_params(statement.encode(), [])
    assert result.status == psycopg.pq.ExecStatus.COPY_OUT, (statement, result.error_message)
    formats = [result.fformat(column) for column in range(result.nfields)]
    parts = []
    while True:
        length, data = c.pgconn.get_copy_data(0)
        if length < 0:
            break
        parts.append(bytes(data))
    done = c.pgconn.get_result()
    while c.pgconn.get_result() is not None:
        pass
    return formats, result.binary_tuples, parts, done.command_status
own = psycopg.connect(host=host, port=port, user="ann", dbname="salver", autocommit=True)
other = psycopg.connect(sys.argv[2], autocommit=True)
other.cursor().executemany("insert into odd values (%s, %s)", list(enumerate(json.loads(sys.argv[3]))))
for source in sources:
    for option in options:
        if source.startswith("(") and option.startswith("USING"):
            continue
        statement = f"COPY {source} TO STDOUT {option}"
        for ask in (simple, extended):
            found, wanted = ask(own, statement), ask(other, statement)
            assert found == wanted, (statement, found, wanted)
def refused(c, statement, ask):
    try:
        ask(c, statement)
    except psycopg.Error as error:
        return error.sqlstate
    raise SystemExit("let through: " + statement)
def at(c, statement):
    try:
        c.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate, error.diag.statement_position
for statement in ["copy nope to stdout", "copy types (id, nope) to stdout", "copy types (id, id) to stdout",
                  "copy types to stdout csv force quote nope", "copy types (id) to stdout csv force quote day",
                  "copy (select 1) to stdout csv force quote nope"]:
    assert refused(own, statement, simple) == refused(other, statement, simple), statement
for statement in ["copy (select nope from types) to stdout", "copy\n (select id,\n nope from types) to stdout",
                  "copy (selec 1) to stdout", "copy types to stdout (format csv, format csv)", "copy types to",
                  "copy (select $1) to stdout", "copy types to stdout where id = 1", "copy types to stdout nope"]:
    assert at(own, statement)[0] == at(other, statement)[0], (statement, at(own, statement), at(other, statement))
    if "selec 1" not in statement:
        assert at(own, statement) == at(other, statement), (statement, at(own, statement), at(other, statement))
# Where PostgreSQL says no place, it is told here.
assert at(own, "copy types (id, nope) to stdout") == ("42703", "17"), at(own, "copy types (id, nope) to stdout")
assert at(own, "copy\n nope to stdout") == ("42P01", "7"), at(own, "copy\n nope to stdout")
for state, statement in [("25006", "copy types from stdin"), ("42501", "copy types from '/x'"),
                         ("42501", "copy types to '/x'"), ("42501", "copy types to program 'x'"),
                         ("0A000", "copy types to stdout (format csv, header match)"),
                         ("25006", "copy (delete from types) to stdout")]:
    try:
        own.execute(statement)
        raise SystemExit("let through: " + statement)
    except psycopg.Error as error:
        assert error.sqlstate == state and error.diag.message_hint, (statement, error.sqlstate, str(error))
assert own.execute("select 1").fetchone() == (1,)
print("well")
"#;

#[test]
fn bytes_are_those_of_postgresql() {
    let server = with_odd_texts();
    let database = database(Kind::Postgres, TYPES);
    let odd = serde_json::to_string(&ODD).unwrap();
    python("psycopg", BOTH, &[server.postgres(), database.url(), &odd]);
}

/// What psycopg makes of the rows, in text and in binary; a failed copy, one that is cancelled, and one of many rows.
const PSYCOPG: &str = r#"
import datetime, decimal, sys, threading, psycopg
host, port = sys.argv[1].rsplit(":", 1)
dsn = f"host={host} port={port} user=ann dbname=salver"
wanted = [(1, True, -2**63, decimal.Decimal(2**64 - 1), 1e300, decimal.Decimal("-12345.67"), "it's \u00fc", b"\x00\xff",
           datetime.date(9999, 12, 31), datetime.time(1, 2, 3, 4),
           datetime.datetime(1599, 12, 31, 23, 59, 59, 999994), ["a b", None]), (2,) + (None,) * 11]
names = "id, truth, big, huge, long, exact, word, bytes, day, clock, moment, words"
kinds = "int4 bool int8 numeric float8 numeric text bytea date time timestamp text[]".split()
with psycopg.connect(dsn) as c:
    for form in ("text", "binary"):
        with c.cursor().copy(f"copy types ({names}) to stdout (format {form})") as copy:
            copy.set_types(kinds)
            rows = list(copy.rows())
        assert rows == wanted, (form, rows)
    with c.cursor().copy("copy (select id from people where name = %s) to stdout", ("Ben",)) as copy:
        assert [bytes(part) for part in copy] == [b"2\n"]
    cursor = c.cursor()
    try:
        with cursor.copy("copy (select 10 / (id - 2) from people) to stdout") as copy:
            list(copy)
        raise SystemExit("no error")
    except psycopg.errors.DivisionByZero:
        pass
    try:
        c.execute("copy people to stdout")
        raise SystemExit("a failed transaction goes on")
    except psycopg.errors.InFailedSqlTransaction:
        pass
    c.rollback()
with psycopg.connect(dsn, autocommit=True) as c:
    cursor = c.cursor()
    with cursor.copy("copy (select value from generate_series(1, 300000)) to stdout binary") as copy:
        assert sum(1 for _ in copy) == 300001
    assert cursor.rowcount == 300000
    threading.Timer(0.5, c.cancel).start()
    try:
        with c.cursor().copy("""copy (select count(*) from generate_series(1, 3000000) a,
                generate_series(1, 3000) b) to stdout""") as copy:
            list(copy)
        raise SystemExit("not cancelled")
    except psycopg.errors.QueryCanceled:
        pass
    assert c.execute("select 1").fetchone() == (1,)
    # Rows are computed as the client takes them: one that leaves ends the statement.
    other = psycopg.connect(dsn, autocommit=True)
    try:
        with other.cursor().copy("copy (select value from generate_series(1, 300000)) to stdout") as copy:
            assert bytes(copy.read()) == b"1\n"
            other.close()
    except psycopg.OperationalError:
        pass
    # Statements of one text go on behind a copy.
    c.pgconn.send_query(b"select 1; copy (select 2) to stdout; select 3")
    seen = []
    while (result := c.pgconn.get_result()) is not None:
        seen.append(result.command_status or b"")
        while result.status == psycopg.pq.ExecStatus.COPY_OUT and c.pgconn.get_copy_data(0)[0] > 0:
            pass
    assert seen == [b"SELECT 1", b"", b"COPY 1", b"SELECT 1"], seen
print("well")
"#;

#[test]
fn psycopg() {
    python("psycopg", PSYCOPG, &[server("").postgres()]);
}

/// asyncpg writes the options itself.
const ASYNCPG: &str = r#"
import asyncio, asyncpg, io, sys
async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    c = await asyncpg.connect(host=host, port=int(port), user="ann", password="x", database="salver")
    async def copied(ask, *arguments, **options):
        out = io.BytesIO()
        said = await ask(*arguments, output=out, **options)
        return said, out.getvalue()
    people = "select id, name, born from people order by id"
    assert await copied(c.copy_from_query, people) == ("COPY 3", b"1\tAnn\t1980-02-03\n2\tBen\t1995-12-31\n3\t\\N\t\\N\n")
    found = await copied(c.copy_from_query, people, format="csv", header=True, delimiter=";", null="-")
    assert found == ("COPY 3", b"id;name;born\n1;Ann;1980-02-03\n2;Ben;1995-12-31\n3;-;-\n"), found
    found = await copied(c.copy_from_query, "select id from people where id = 1", format="binary")
    assert found[1] == b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"\0\x01\0\0\0\x08" + bytes(7) + b"\x01\xff\xff", found
    found = await copied(c.copy_from_table, "people", columns=["name", "id"], format="csv", force_quote=["name"],
                         quote="'", escape="\\", encoding="utf-8")
    assert found == ("COPY 3", b"'Ann',1\n'Ben',2\n,3\n"), found
    found = await copied(c.copy_from_table, "people", format="csv", force_quote=True)
    assert found == ("COPY 3", b'"1","Ann","1980-02-03"\n"2","Ben","1995-12-31"\n"3",,\n'), found
    out = io.BytesIO()
    await c.copy_from_query("select id from people where id < $1 and name <> $2", 3, "it's \u00fc", output=out)
    assert out.getvalue() == b"1\n2\n", out.getvalue()
    await c.close()
asyncio.run(main())
print("well")
"#;

#[test]
fn asyncpg() {
    python("asyncpg", ASYNCPG, &[server("").postgres()]);
}

/// ADBC's driver reads everything as a binary copy.
const ADBC: &str = r#"
import datetime, sys
import adbc_driver_postgresql.dbapi as driver
with driver.connect(f"postgresql://ann@{sys.argv[1]}/salver", autocommit=True) as c, c.cursor() as cursor:
    cursor.execute("select * from people order by id")
    wanted = [{"id": 1, "name": "Ann", "born": datetime.date(1980, 2, 3)},
              {"id": 2, "name": "Ben", "born": datetime.date(1995, 12, 31)}, {"id": 3, "name": None, "born": None}]
    assert cursor.fetch_arrow_table().to_pylist() == wanted
    cursor.execute("select id, truth, big, exact, bytes, moment, words from types order by id")
    rows = cursor.fetch_arrow_table().to_pylist()
    assert rows[0] == {"id": 1, "truth": True, "big": -2**63, "exact": "-12345.67", "bytes": b"\x00\xff",
                       "moment": datetime.datetime(1599, 12, 31, 23, 59, 59, 999994), "words": ["a b", None]}, rows
    assert list(rows[1].values()) == [2] + [None] * 6, rows
    cursor.execute("select id from people where id < 0")
    assert cursor.fetch_arrow_table().num_rows == 0
print("well")
"#;

#[test]
fn adbc() {
    python("adbc_driver_postgresql, pyarrow", ADBC, &[server("").postgres()]);
}

#[test]
fn psql_copies() {
    let server = server("");
    let (host, port) = server.postgres().rsplit_once(':').expect("a port");
    let ask = |command: &str| {
        let program = ["-X", "-q", "-h", host, "-p", port, "-U", "ann", "-d", "salver", "-c", command];
        let done = Command::new("psql").args(program).output().ok()?;
        Some(String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr))
    };
    let Some(said) = ask("\\copy (select id, name from people order by id) to stdout csv header") else { return };
    assert_eq!(said, "id,name\n1,Ann\n2,Ben\n3,\n");
    assert_eq!(ask("\\copy people (name, id) to stdout").unwrap(), "Ann\t1\nBen\t2\n\\N\t3\n");
    assert_eq!(ask("copy people (id) to stdout").unwrap(), "1\n2\n3\n");
    assert!(ask("\\copy people from stdin").unwrap().contains("only reads"));
    let said = ask("copy people (id, nope) to stdout").unwrap();
    let lines: Vec<&str> = said.lines().collect();
    let caret = lines.iter().position(|line| line.trim() == "^").expect("a place");
    assert_eq!(lines[caret].find('^'), lines[caret - 1].find("nope"), "{said}");
}

/// A copy shows a caller what a query does.
#[test]
fn callers_copy_what_they_may_see() {
    let rules = r#"
[auth]
api_keys = ["team:a-long-random-text-for-this-test"]
[[role]]
name = "team"
callers = ["api_key:team"]
[[access]]
roles = ["team"]
entries = ["people"]
columns_hidden = ["born"]
rows = "id != 1"
"#;
    let program = r#"
import sys, psycopg
host, port = sys.argv[1].rsplit(":", 1)
secret = "a-long-random-text-for-this-test"
def copied(c, statement):
    with c.cursor().copy(statement) as copy:
        return b"".join(copy)
with psycopg.connect(host=host, port=port, user="x", password=secret, dbname="x", autocommit=True) as c:
    assert copied(c, "copy people to stdout csv header") == b"id,name\n2,Ben\n3,\n"
    assert copied(c, "copy (select * from people order by id desc) to stdout") == b"3\t\\N\n2\tBen\n"
    for copy, query in [("copy people (born) to stdout", "select born from people"),
                        ("copy types to stdout", "select * from types"),
                        ("copy (select * from types) to stdout", "select * from types")]:
        states = []
        for statement in (copy, query):
            try:
                c.execute(statement)
                raise SystemExit("let through: " + statement)
            except psycopg.Error as error:
                states.append((error.sqlstate, error.diag.message_hint))
        assert states[0] == states[1], (copy, states)
print("well")
"#;
    python("psycopg", program, &[server(rules).postgres()]);
}
