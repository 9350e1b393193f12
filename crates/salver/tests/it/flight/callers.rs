//! Who is let in, and what each caller sees.

use super::{python, server};

/// Two teams, of which one sees part of what the other does.
const RULES: &str = r#"
[auth]
api_keys = ["team:a-long-random-text-for-this-test", "other:another-long-random-text-for-it"]
basic_users = ["ann:$2b$05$tYmmr/4AJAVAHBEquHM7muJTaVZbwkq.kQEoFtIWggTsHMCzWeJfC"]
[[role]]
name = "team"
callers = ["api_key:team"]
[[role]]
name = "other"
callers = ["api_key:other"]
[[access]]
roles = ["team"]
entries = ["people"]
columns_hidden = ["born"]
rows = "id != 1"
[[access]]
roles = ["other"]
entries = ["people"]
"#;

/// What each of them finds, and what nobody else is let in with.
const CALLERS: &str = r#"
import sys
import adbc_driver_flightsql.dbapi as flight
import pyarrow.flight as wire
uri = sys.argv[1]
key, other = "a-long-random-text-for-this-test", "another-long-random-text-for-it"
header = "adbc.flight.sql.authorization_header"
for login in [{"username": "anyone", "password": key}, {header: "Bearer " + key}]:
    with flight.connect(uri, login, autocommit=True) as c, c.cursor() as cursor:
        cursor.execute("select * from people order by id")
        assert cursor.fetchall() == [(2, "Ben"), (3, None)]
        assert c.adbc_get_table_schema("people").names == ["id", "name"]
        found = c.adbc_get_objects(depth="tables").read_all().to_pylist()
        names = [t["table_name"] for s in found[0]["catalog_db_schemas"] for t in s["db_schema_tables"]]
        assert names == ["people"], names
        for statement in ["select born from people", "select * from types"]:
            try:
                cursor.execute(statement)
                raise SystemExit("no error: " + statement)
            except flight.Error as error:
                assert "no column" in str(error) or "no table" in str(error), error
with flight.connect(uri, {"username": "ann", "password": "pw"}, autocommit=True) as c:
    found = c.adbc_get_objects(depth="tables").read_all().to_pylist()
    assert not [t for s in found[0]["catalog_db_schemas"] for t in s["db_schema_tables"] or []], found
for login in [{}, {"username": "ann", "password": "no"}, {header: "Bearer a-wrong-random-text"}, {header: "Bearer"},
              {header: "Basic !"}, {header: "Bearer flight_" + 48 * "0"}]:
    try:
        with flight.connect(uri, login, autocommit=True) as c, c.cursor() as cursor:
            cursor.execute("select 1")
        raise SystemExit(f"let in: {login}")
    except flight.Error as error:
        said = str(error)
        assert any(word in said for word in ["uthenticat", "authorization", "login", "proof", "prove"]), (login, said)
# What one caller was given is nothing to another, also of the same table.
client = wire.connect(uri)
def of(secret):
    return wire.FlightCallOptions(headers=[(b"authorization", b"Bearer " + secret.encode())])
token = client.authenticate_basic_token("anyone", key)
assert token[0] == b"authorization" and token[1].startswith(b"Bearer flight_"), token
people = wire.FlightDescriptor.for_path("people")
info = client.get_flight_info(people, wire.FlightCallOptions(headers=[token]))
assert info.schema.names == ["id", "name"]
[endpoint] = info.endpoints
try:
    client.do_get(endpoint.ticket, of(other)).read_all()
    raise SystemExit("the ticket of another caller was taken")
except Exception as error:
    assert "no such ticket" in str(error), error
assert client.do_get(endpoint.ticket, of(key)).read_all().num_rows == 2
[seen] = client.list_flights(options=of(key))
assert seen.descriptor.path == [b"people"], seen
print("well")
"#;

/// Keys, tokens of a handshake and passwords let in, and what a caller may not see is not there.
#[test]
fn callers_see_what_they_may() {
    python("adbc_driver_flightsql.dbapi, pyarrow.flight", CALLERS, &[server(RULES).flight()]);
}

/// Whoever guesses has to wait.
#[test]
fn guesses_are_few() {
    let rules = "[auth]\nbasic_users = [\"ann:$2b$05$tYmmr/4AJAVAHBEquHM7muJTaVZbwkq.kQEoFtIWggTsHMCzWeJfC\"]\n";
    let program = r#"
import sys
import pyarrow.flight as wire
client = wire.connect(sys.argv[1])
said = []
for guess in range(200):
    try:
        client.authenticate_basic_token("ann", f"guess {guess}")
        raise SystemExit("let in")
    except (wire.FlightError, Exception) as error:
        said.append(str(error))
assert "failed" in said[0], said[0]
assert "too many" in said[-1].lower(), said[-1]
print("well")
"#;
    python("pyarrow.flight", program, &[server(rules).flight()]);
}
