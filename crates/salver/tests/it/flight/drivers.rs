//! ADBC's driver for Flight SQL, from Python.

use super::{python, server};

/// What the programs below need.
const MODULES: &str = "adbc_driver_flightsql.dbapi, adbc_driver_manager, pyarrow";

/// Values of every type, parameters, prepared statements, errors.
const STATEMENTS: &str = r#"
import datetime, decimal, sys
import adbc_driver_flightsql.dbapi as flight
import pyarrow as pa
with flight.connect(sys.argv[1], autocommit=True) as c, c.cursor() as cursor:
    cursor.execute("select * from types order by id")
    table = cursor.fetch_arrow_table()
    rows = [tuple(row.values()) for row in table.to_pylist()]
    first = rows[0]
    assert first[:4] == (1, True, -2**63, 2**64 - 1) and abs(first[4] - 0.1) < 1e-6, first
    assert first[5:] == (1e300, decimal.Decimal("-12345.67"), "it's \u00fc", b"\x00\xff",
        datetime.date(9999, 12, 31), datetime.time(1, 2, 3, 4),
        datetime.datetime(1599, 12, 31, 23, 59, 59, 999994), ["a b", None]), first
    assert rows[1] == (2,) + (None,) * 12, rows[1]
    told = [str(field.type) for field in table.schema]
    assert told == ["int32", "bool", "int64", "uint64", "float", "double", "decimal128(12, 2)", "string", "binary",
        "date32[day]", "time64[us]", "timestamp[us]", "list<item: string>"], told
    for statement in ["select name from people where id = $1", "select name from people where id = ?"]:
        for value in [2, "2", 2.0]:
            cursor.execute(statement, (value,))
            assert cursor.fetchall() == [("Ben",)], (statement, value)
    cursor.execute("select count(*) from people where born > ?", (datetime.date(1990, 1, 1),))
    assert cursor.fetchone() == (1,)
    values = (1, "x", datetime.date(2024, 1, 2), 2.5, True, datetime.datetime(2024, 1, 2, 3, 4, 5, 6))
    cursor.execute("select ?, ?, ?, ?, ?, ?", values)
    assert cursor.fetchone() == values
    cursor.execute("select id from people where id <> ? order by id limit ?", (3, 1))
    assert cursor.fetchall() == [(1,)]
    cursor.execute("select name from people where name = ?", (None,))
    assert cursor.fetchall() == []
    # Prepared once, run with one value after the other.
    parameters = cursor.adbc_prepare("select name from people where id = $1")
    assert [str(field.type) for field in parameters] == ["int64"], parameters
    for number, name in [(1, "Ann"), (2, "Ben"), (1, "Ann")]:
        cursor.execute("select name from people where id = $1", (number,))
        assert cursor.fetchall() == [(name,)]
    assert cursor.adbc_execute_schema("select 1 as a, 'x' as b").names == ["a", "b"]
    cursor.execute("select value from generate_series(1, 300000)")
    assert sum(len(batch) for batch in cursor.fetch_record_batch()) == 300000
    cursor.execute("select id from people where false")
    assert cursor.fetch_arrow_table().schema.names == ["id"]
    wrong = [("select nope from people", "no column `nope`"), ("selec", "line 1, column 1"),
             ("select * from nope", "no table `nope`"), ("insert into people values (1)", "read"),
             ("select id from people where id = $1", "no values for the 1 parameters"), ("select nope(1)", "nope")]
    for statement, said in wrong:
        try:
            cursor.execute(statement)
            raise SystemExit("no error: " + statement)
        except flight.Error as error:
            assert said in str(error), (statement, error)
    try:
        cursor.execute("select 1 / (id - 1) from people")
        cursor.fetchall()
        raise SystemExit("no error")
    except flight.Error as error:
        assert "division by zero" in str(error), error
    for values in [(1, 2), ()]:
        try:
            cursor.execute("select id from people where id = $1", values)
            raise SystemExit("no error")
        except flight.Error as error:
            assert "parameters" in str(error), error
    try:
        cursor.execute("select id from people where id = $1", pa.record_batch([pa.array([1, 2])], names=["0"]))
        raise SystemExit("several rows of values were taken")
    except flight.Error as error:
        assert "2 rows of parameters" in str(error), error
    try:
        cursor.adbc_ingest("other", pa.table({"a": [1]}))
        raise SystemExit("a table was made")
    except flight.Error:
        pass
print("well")
"#;

/// What drivers find out of the catalog.
const METADATA: &str = r#"
import sys
import adbc_driver_flightsql.dbapi as flight
with flight.connect(sys.argv[1], autocommit=True) as c:
    info = c.adbc_get_info()
    assert info["vendor_name"] == "Salver", info
    assert c.adbc_get_table_types() == ["TABLE", "VIEW"]
    catalogs = c.adbc_get_objects(depth="all").read_all().to_pylist()
    assert [catalog["catalog_name"] for catalog in catalogs] == ["salver"], catalogs
    schemas = catalogs[0]["catalog_db_schemas"]
    assert [schema["db_schema_name"] for schema in schemas] == ["public"], schemas
    tables = {t["table_name"]: t for t in schemas[0]["db_schema_tables"]}
    assert {name: t["table_type"] for name, t in tables.items()} == \
        {"people": "TABLE", "types": "TABLE", "adults": "VIEW"}, tables
    columns = [column["column_name"] for column in tables["people"]["table_columns"]]
    assert columns == ["id", "name", "born"], columns
    def names(**filters):
        found = c.adbc_get_objects(depth="tables", **filters).read_all().to_pylist()
        return [t["table_name"] for own in found for s in own["catalog_db_schemas"] or []
                for t in s["db_schema_tables"] or []]
    assert names(table_name_filter="p_o%") == ["people"]
    assert names(table_types_filter=["VIEW"]) == ["adults"]
    assert names(table_types_filter=["NONE"]) == names(catalog_filter="other") == []
    assert c.adbc_get_table_schema("people").names == ["id", "name", "born"]
print("well")
"#;

/// A call that its client ends leaves nothing behind.
const LEAVING: &str = r#"
import sys
import pyarrow.flight as flight
from pyarrow import _flight
def command(text):
    # An `Any` with a CommandStatementQuery, written by hand.
    def field(number, content):
        size, length = len(content), b""
        while size > 127:
            length += bytes([size & 127 | 128])
            size >>= 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + content
    name = b"type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery"
    return field(1, name) + field(2, field(1, text.encode()))
client = flight.connect(sys.argv[1])
endless = "select a, b from generate_series(1, 100000) a, generate_series(1, 100000) b"
info = client.get_flight_info(flight.FlightDescriptor.for_command(command(endless)))
reader = client.do_get(info.endpoints[0].ticket)
assert reader.read_chunk().data.num_rows > 0
reader.cancel()
slow = "select count(*) from generate_series(1, 3000000) a, generate_series(1, 3000) b"
info = client.get_flight_info(flight.FlightDescriptor.for_command(command(slow)))
try:
    client.do_get(info.endpoints[0].ticket, flight.FlightCallOptions(timeout=0.5)).read_all()
    raise SystemExit("no end")
except flight.FlightTimedOutError:
    pass
info = client.get_flight_info(flight.FlightDescriptor.for_command(command(endless)))
left = client.do_get(info.endpoints[0].ticket)
left.read_chunk()
print("well")
sys.stdout.flush()
# The program leaves in the middle.
import os
os._exit(0)
"#;

#[test]
fn adbc_runs_statements() {
    python(MODULES, STATEMENTS, &[server("").flight()]);
}

#[test]
fn adbc_finds_tables() {
    let views = "[[view]]\nname = \"adults\"\nsql = \"select * from people where born < '2000-01-01'\"\n";
    python(MODULES, METADATA, &[server(views).flight()]);
}

#[test]
fn clients_leave() {
    let server = server("");
    python("pyarrow.flight", LEAVING, &[server.flight()]);
    let is_idle = |kind: &str, text: &str| {
        let own = format!("salver_permits_taken{{kind=\"{kind}\"");
        text.lines().filter(|line| line.starts_with(&own)).all(|line| line.ends_with(" 0"))
    };
    server.until(|server| {
        let answer = server.get("/metrics");
        is_idle("queries", answer.text()) && is_idle("answers", answer.text())
    });
}

/// A statement ends after its time, and has no more rows than it may.
#[test]
fn limits_hold() {
    let program = r#"
import sys
import adbc_driver_flightsql.dbapi as flight
with flight.connect(sys.argv[1], autocommit=True) as c, c.cursor() as cursor:
    cursor.execute("select value from generate_series(1, 100)")
    assert len(cursor.fetchall()) == 100
    for statement, said in [("select value from generate_series(1, 101)", "more rows than"),
                            ("select count(*) from generate_series(1, 3000000) a, generate_series(1, 30000) b",
                             "longer than")]:
        try:
            cursor.execute(statement)
            cursor.fetchall()
            raise SystemExit("no error: " + statement)
        except flight.Error as error:
            assert said in str(error) and "limits." in str(error), error
print("well")
"#;
    let server = server("[limits]\nrows_max = 100\nquery_ms_max = 1500\n");
    python(MODULES, program, &[server.flight()]);
    let metrics = server.get("/metrics");
    let counted: Vec<&str> = metrics.text().lines().filter(|line| line.contains("wire=\"flight\"")).collect();
    // Nothing was asked where the driver is not there.
    if !counted.is_empty() {
        for line in ["outcome=\"refused\"} 2", "outcome=\"failed\"} 0"] {
            assert!(counted.iter().any(|counted| counted.ends_with(line)), "{counted:?}");
        }
        // The driver asks what the server can, too.
        assert!(!counted.iter().any(|counted| counted.ends_with("outcome=\"done\"} 0")), "{counted:?}");
    }
}

/// The bytes of an answer are bounded as at the other doors.
#[test]
fn answers_have_no_more_bytes_than_they_may() {
    let program = r#"
import sys
import adbc_driver_flightsql.dbapi as flight
with flight.connect(sys.argv[1], autocommit=True) as c, c.cursor() as cursor:
    cursor.execute("select value from generate_series(1, 100)")
    assert len(cursor.fetchall()) == 100
    try:
        cursor.execute("select value from generate_series(1, 1000000)")
        cursor.fetch_arrow_table()
        raise SystemExit("no error")
    except Exception as error:
        assert "`response_bytes_max` of [[limit]]" in str(error), error
print("well")
"#;
    python(MODULES, program, &[server("[[limit]]\nresponse_bytes_max = 100000\n").flight()]);
}
