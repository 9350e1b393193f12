//! Drivers of Python.

use super::{python, server};

/// psycopg 3: in text and in binary, with parameters, cursors, pipelines, and a statement that is cancelled.
const PSYCOPG: &str = r#"
import datetime, decimal, sys, threading, time
import psycopg
host, port = sys.argv[1].rsplit(":", 1)
dsn = f"host={host} port={port} user=ann dbname=salver"
types = [
    (1, True, -2**63, decimal.Decimal(2**64 - 1), None, 1e300, decimal.Decimal("-12345.67"), "it's \u00fc",
     b"\x00\xff", datetime.date(9999, 12, 31), datetime.time(1, 2, 3, 4),
     datetime.datetime(1599, 12, 31, 23, 59, 59, 999994), ["a b", None]),
    (2,) + (None,) * 12,
]
def short(row):
    return row[:4] + (None,) + row[5:]
for binary in (False, True):
    with psycopg.connect(dsn, autocommit=True) as c:
        cursor = c.cursor(binary=binary)
        rows = cursor.execute("select * from types order by id").fetchall()
        assert [short(row) for row in rows] == types, rows
        assert abs(rows[0][4] - 0.1) < 1e-6
        told = [d.type_code for d in cursor.description]
        assert told == [23, 16, 20, 1700, 700, 701, 1700, 25, 17, 1082, 1083, 1114, 1009], told
        assert cursor.execute("select name from people where id = %s", (2,)).fetchall() == [("Ben",)]
        assert cursor.execute("select id from people where name = %s", ("Ben",)).fetchall() == [(2,)]
        born = cursor.execute("select count(*) from people where born > %s", (datetime.date(1990, 1, 1),)).fetchone()
        assert born == (1,), born
        values = (1, "x", datetime.date(2024, 1, 2), 2.5, True, None, datetime.datetime(2024, 1, 2, 3, 4, 5, 6))
        casts = "select %s::int, %s::text, %s::date, %s::float8, %s::bool, %s::text, %s::timestamp"
        found = cursor.execute(casts, values).fetchone()
        assert found == values, found
        assert cursor.execute("select id from people where id <> 3 order by id limit %s", (1,)).fetchall() == [(1,)]
        wrong = [("select nope from people", "42703"), ("selec", "42601"), ("select * from nope", "42P01"),
                 ("insert into people values (1)", "25006"), ("select 1/0", "22012"), ("select nope(1)", "42883")]
        for statement, state in wrong:
            try:
                cursor.execute(statement)
                raise SystemExit("no error: " + statement)
            except psycopg.Error as error:
                assert error.sqlstate == state, (statement, error.sqlstate, error)
with psycopg.connect(dsn) as c:
    with c.cursor(name="big") as cursor:
        cursor.itersize = 1000
        cursor.execute("select value from generate_series(1, 10000)")
        assert sum(1 for _ in cursor) == 10000
    try:
        c.execute("select nope")
        raise SystemExit("no error")
    except psycopg.Error:
        pass
    try:
        c.execute("select 1")
        raise SystemExit("a failed transaction goes on")
    except psycopg.errors.InFailedSqlTransaction:
        pass
    c.rollback()
    with c.pipeline():
        one, five = c.execute("select 1"), c.execute("select %s::int", (5,))
        assert (one.fetchone(), five.fetchone()) == ((1,), (5,))
    for _ in range(8):
        assert c.execute("select id from people where id = %s", (1,)).fetchone() == (1,)
with psycopg.connect(dsn, autocommit=True) as c:
    threading.Timer(0.5, c.cancel).start()
    try:
        c.execute("select count(*) from generate_series(1, 3000000) a, generate_series(1, 3000) b")
        raise SystemExit("not cancelled")
    except psycopg.errors.QueryCanceled:
        pass
    assert c.execute("select 1").fetchone() == (1,)
    cursor = c.execute("select 1; select 2")
    assert cursor.fetchall() == [(1,)] and cursor.nextset() and cursor.fetchall() == [(2,)]
print("well")
"#;

/// SQLAlchemy finds out what there is.
const SQLALCHEMY: &str = r#"
import sys
from sqlalchemy import MetaData, create_engine, inspect, select
for driver in ("psycopg", "psycopg2"):
    engine = create_engine(f"postgresql+{driver}://ann:x@{sys.argv[1]}/salver")
    seen = inspect(engine)
    assert seen.get_table_names() == ["people", "types"], seen.get_table_names()
    columns = {c["name"]: str(c["type"]) for c in seen.get_columns("people")}
    assert columns == {"id": "BIGINT", "name": "TEXT", "born": "DATE"}, columns
    assert seen.get_indexes("people") == [] and seen.get_foreign_keys("people") == []
    tables = MetaData()
    tables.reflect(engine)
    people = tables.tables["people"]
    with engine.connect() as c:
        assert c.execute(select(people.c.name).where(people.c.id == 2)).all() == [("Ben",)]
print("well")
"#;

/// What is wrong with a statement is told as PostgreSQL tells it.
const STATES: &str = r#"
import sys, psycopg
host, port = sys.argv[1].rsplit(":", 1)
wrong = """
42P01 select * from nope
42P01 select n.* from people
42P01 select nope.id from people
42P20 select id from people where row_number() over () = 1
42P20 select name from people group by name having rank() over () = 1
42703 select nope from people
42703 select p.nope from people p
42703 select id from people order by nope
42883 select nope(1)
42883 select upper(1, 2)
42883 select sum(name) from people
42883 select name + 1 from people
42883 select born + born from people
42883 select -name from people
42702 select id from people a join people b on a.id = b.id
42712 with a as (select 1), a as (select 2) select * from a
42803 select name, count(*) from people
42803 select name, count(*) from people group by id
42803 select id from people where count(*) > 1
42803 select count(count(*)) from people
42804 select id from people where name
42804 select not id from people
42804 select id and true from people
42704 select 1::nope
42704 select sum(id) over w from people
42P10 select id from people order by 5
42P10 select id from people group by 5
42P10 select distinct id from people order by name
42601 selec 1
42601 select * from
21000 select (select id from people)
2201W select id from people limit -1
2201X select id from people offset -1
22012 select 1/0
22012 select id/0 from people
22012 select 1%0
22003 select 300::smallint * 300::smallint
22003 select 9223372036854775807 + 1
22003 select 40000::smallint
22003 select '3000000000'::int
22003 select 99999999999999999999::bigint
22P02 select '{1,2'::int[]
22P02 select id from people where id = any('{x}')
22P02 select id from people limit 'x'
22007 select to_date('x', 'YYYY')
22011 select substring('abc' from 1 for -1)
22011 select overlay('abc' placing 'x' from 0)
2201F select sqrt(-1)
2201F select power(0, -1)
22023 select decode('zz', 'hex')
22023 select split_part('a', 'b', 0)
22023 select generate_series(1, 5, 0)
22003 select factorial(-1)
22P02 select 'a'::int
22P02 select name::int from people where id = 1
22P02 select 'x'::bool
22P02 select 'x'::float8
22007 select 'x'::date
22007 select 'x'::timestamp
22007 select 'x'::interval
22008 select '2024-13-01'::date
22023 select extract(nope from now())
25006 delete from people
"""
with psycopg.connect(host=host, port=port, user="ann", dbname="salver", autocommit=True) as c:
    odd = []
    for line in wrong.strip().splitlines():
        state, statement = line.split(" ", 1)
        for prepare in (False, True):
            try:
                c.execute(statement, prepare=prepare).fetchall()
                odd.append((line, "no error"))
            except psycopg.Error as error:
                if error.sqlstate != state:
                    odd.append((line, error.sqlstate, str(error)))
    assert not odd, odd
print("well")
"#;

/// asyncpg asks for types, and sends and gets everything in binary.
const ASYNCPG: &str = r#"
import asyncio, asyncpg, datetime, decimal, sys
async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    c = await asyncpg.connect(host=host, port=int(port), user="ann", password="x", database="salver")
    assert [tuple(r) for r in await c.fetch("select id, name from people where id = $1", 2)] == [(2, "Ben")]
    assert len(await c.fetch("select * from types")) == 2
    assert await c.fetchval("select count(*) from people where born > $1", datetime.date(1990, 1, 1)) == 1
    assert await c.fetchval("select $1::int8 + 1", 2) == 3
    assert await c.fetchval("select $1::boolean and $2::date > '2020-01-01'", True, datetime.date(2024, 1, 1))
    assert len(await c.fetch("select id from people order by id limit $1 offset $2", 5, 1)) == 2
    lists = """select array[1, null]::int2[], array[1, null]::int4[], array[1, null]::int8[],
        array[1.5, null]::float8[], array[true, null], array[1.10, null]::numeric(10, 2)[],
        array['2024-01-02 03:04:05+00']::timestamptz[],
        array['2024-01-02']::date[], array['a', null]::text[], array[]::int4[]"""
    numbers, moment = [[1, None]] * 3, datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    wanted = numbers + [[1.5, None], [True, None], [decimal.Decimal("1.10"), None], [moment],
                        [datetime.date(2024, 1, 2)], ["a", None], []]
    assert list(await c.fetchrow(lists)) == wanted
    async with c.transaction():
        assert len([r async for r in c.cursor("select id from people", prefetch=1)]) == 3
    await c.reset()
    await c.close()
asyncio.run(main())
print("well")
"#;

#[test]
fn psycopg() {
    python("psycopg", PSYCOPG, &[server("").postgres()]);
}

#[test]
fn errors_have_their_states() {
    python("psycopg", STATES, &[server("").postgres()]);
}

#[test]
fn sqlalchemy() {
    python("sqlalchemy, psycopg, psycopg2", SQLALCHEMY, &[server("").postgres()]);
}

#[test]
fn asyncpg() {
    python("asyncpg", ASYNCPG, &[server("").postgres()]);
}

/// Keys and passwords let in, and what a caller may not see is not there.
#[test]
fn callers_see_what_they_may() {
    let rules = r#"
[auth]
api_keys = ["team:a-long-random-text-for-this-test"]
basic_users = [
    "ann:$2b$05$tYmmr/4AJAVAHBEquHM7muJTaVZbwkq.kQEoFtIWggTsHMCzWeJfC",
    "cleo:SCRAM-SHA-256$4096:sudD6bKXnN2NWj3y+p4OTQ==$9HomAWwPiSs1kcS2giOD40iElC7irnjW4FDFS1TyTec=:wBKzF+NAexw1GwO3XMdqeLCwEF5tvcYCdYJ36wdrTYM=",
]
[[role]]
name = "team"
callers = ["api_key:team", "basic:cleo"]
[[access]]
roles = ["team"]
entries = ["people"]
columns_hidden = ["born"]
rows = "id != 1"
"#;
    let program = r#"
import sys, psycopg
host, port = sys.argv[1].rsplit(":", 1)
def connect(user, password, **how):
    return psycopg.connect(host=host, port=port, user=user, password=password, dbname="salver", autocommit=True, **how)
# The name of a key, and a user whose password is kept as a verifier, prove it without sending it.
for user, password, way in [("team", "a-long-random-text-for-this-test", "scram-sha-256"),
                            ("cleo", "pencil", "scram-sha-256"), ("ann", "pw", "password"),
                            ("anyone", "a-long-random-text-for-this-test", "password")]:
    with connect(user, password, require_auth=way) as c:
        found = c.execute("select count(*) from pg_class where relkind = 'r'").fetchone()
        assert found == ((0,) if user == "ann" else (1,)), (user, found)
with connect("cleo", "pencil") as c:
    assert c.execute("select * from people order by id").fetchall() == [(2, "Ben"), (3, None)]
with connect("anyone", "a-long-random-text-for-this-test") as c:
    assert c.execute("select * from people order by id").fetchall() == [(2, "Ben"), (3, None)]
    assert c.execute("select relname from pg_class where relkind = 'r'").fetchall() == [("people",)]
    assert c.execute("select attname from pg_attribute order by attnum").fetchall() == [("id",), ("name",)]
with connect("ann", "pw") as c:
    assert c.execute("select count(*) from pg_class").fetchone() == (0,)
for user, password in [("ann", "no"), ("anyone", "a-wrong-random-text"), ("ben", "pw"), ("cleo", "pencils"),
                       ("team", "a-wrong-random-text"), ("team", "pencil")]:
    try:
        connect(user, password)
        raise SystemExit("let in: " + user)
    except psycopg.OperationalError as error:
        assert "Authentication failed" in str(error), error
print("well")
"#;
    python("psycopg", program, &[server(rules).postgres()]);
}

/// REST, SQL, GraphQL, this protocol and Arrow Flight SQL show a caller the same rows, and refuse the same.
#[test]
fn every_door_shows_the_same() {
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
import json, sys, urllib.error, urllib.request, psycopg
(host, port), http = sys.argv[1].rsplit(":", 1), sys.argv[2]
def ask(path, body=None):
    request = urllib.request.Request(f"http://{http}{path}", body, {"X-API-Key": "a-long-random-text-for-this-test"})
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)
rows = [{"id": 2, "name": "Ben"}, {"id": 3, "name": None}]
assert ask("/api/tables/people?sort=id") == rows
assert ask("/api/sql", b"select * from people order by id") == rows
found = ask("/api/graphql", json.dumps({"query": "{ people(sort: [{field: id}]) { id name } }"}).encode())
assert found["data"]["people"] == rows, found
secret = "a-long-random-text-for-this-test"
with psycopg.connect(host=host, port=port, user="x", password=secret, dbname="x", autocommit=True) as c:
    cursor = c.execute("select * from people order by id")
    names = [column.name for column in cursor.description]
    assert [dict(zip(names, row)) for row in cursor] == rows
    for statement in ["select born from people", "select * from types", "delete from people"]:
        told = ask("/api/sql", statement.encode())
        try:
            c.execute(statement)
            raise SystemExit("no error: " + statement)
        except psycopg.Error as error:
            assert error.diag.message_primary == told["message"], (told, error.diag.message_primary)
            assert error.diag.message_hint == told.get("hint"), (told, error.diag.message_hint)
try:
    import adbc_driver_flightsql.dbapi as flight
except ImportError:
    flight = None
if flight and len(sys.argv) > 3:
    with flight.connect(sys.argv[3], {"username": "x", "password": secret}, autocommit=True) as c, c.cursor() as cursor:
        cursor.execute("select * from people order by id")
        assert cursor.fetch_arrow_table().to_pylist() == rows
        for statement in ["select born from people", "select * from types", "delete from people"]:
            told = ask("/api/sql", statement.encode())
            try:
                cursor.execute(statement)
                raise SystemExit("no error: " + statement)
            except flight.Error as error:
                assert told["message"] in str(error) and told.get("hint", "") in str(error), (told, error)
print("well")
"#;
    let flight = if cfg!(feature = "flight") { "flight = \"127.0.0.1:0\"\n" } else { "" };
    let server = server(&format!("{flight}{rules}"));
    let mut arguments = vec![server.postgres(), server.address()];
    if cfg!(feature = "flight") {
        arguments.push(server.flight());
    }
    python("psycopg", program, &arguments);
}

/// asyncpg has an exchange of its own by which it shows that it knows a password.
#[test]
fn asyncpg_shows_what_it_knows() {
    let rules = "[auth]\napi_keys = [\"team:a-long-random-text-for-this-test\"]\n";
    let program = r#"
import asyncio, sys, asyncpg
async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    how = {"host": host, "port": int(port), "user": "team", "database": "salver"}
    c = await asyncpg.connect(password="a-long-random-text-for-this-test", **how)
    assert await c.fetchval("select 1") == 1
    await c.close()
    try:
        await asyncpg.connect(password="another-long-random-text", **how)
        raise SystemExit("let in")
    except asyncpg.InvalidPasswordError:
        pass
asyncio.run(main())
print("well")
"#;
    python("asyncpg", program, &[server(rules).postgres()]);
}

/// What is sent row by row ends when its client cancels it, also where rows never have to be waited for.
#[test]
fn what_is_being_sent_can_be_cancelled() {
    let program = r#"
import sys, psycopg
host, port = sys.argv[1].rsplit(":", 1)
many = "select g, repeat('x', 200) from generate_series(1, 20000000) t(g)"
with psycopg.connect(host=host, port=port, user="ann", dbname="salver", autocommit=True) as c:
    for _ in range(2):
        try:
            with c.cursor().copy(f"copy ({many}) to stdout") as copy:
                for at, _ in enumerate(copy):
                    if at == 10:
                        c.cancel()
                    assert at < 19_000_000
            raise SystemExit("not cancelled")
        except psycopg.errors.QueryCanceled:
            pass
        # What is cancelled when nothing runs concerns nothing that comes.
        c.cancel()
        assert c.execute("select 1").fetchone() == (1,)
    assert c.execute("select from people").fetchall() == [(), (), ()]
    try:
        c.execute("select (select from people)")
        raise SystemExit("let through")
    except psycopg.errors.SyntaxError:
        pass
print("well")
"#;
    python("psycopg", program, &[server("").postgres()]);
}

/// The bytes of an answer are bounded as at the other doors.
#[test]
fn answers_have_no_more_bytes_than_they_may() {
    let rules = "[[limit]]\nresponse_bytes_max = 100000\n";
    let program = r#"
import sys, psycopg
host, port = sys.argv[1].rsplit(":", 1)
with psycopg.connect(host=host, port=port, user="ann", dbname="salver", autocommit=True) as c:
    rows = "select g from generate_series(1, {}) t(g)"
    assert len(c.execute(rows.format(1000)).fetchall()) == 1000
    for statement in [rows.format(100000), f"copy ({rows.format(100000)}) to stdout"]:
        for binary in (False, True):
            try:
                if statement.startswith("copy"):
                    with c.cursor().copy(statement) as copy:
                        read = sum(len(piece) for piece in copy)
                else:
                    c.cursor(binary=binary).execute(statement)
                raise SystemExit("let through: " + statement)
            except psycopg.errors.ProgramLimitExceeded as error:
                assert "`response_bytes_max` of [[limit]]" in str(error), error
    assert c.execute("select 1").fetchone() == (1,)
print("well")
"#;
    python("psycopg", program, &[server(rules).postgres()]);
}
