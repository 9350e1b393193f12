//! Whole tables, in shares that are read side by side.

use super::{FLIGHT, Server, python};

/// As many rows as are divided.
fn numbers() -> Vec<u8> {
    let mut text = String::from("n,word\n");
    (0..300_000).for_each(|n| text.push_str(&format!("{n},word {}\n", n % 97)));
    text.into_bytes()
}

#[test]
fn tickets_of_a_table_are_all_of_one_version() {
    let program = r#"
import concurrent.futures, os, sys, time, urllib.request
import pyarrow as pa, pyarrow.compute as pc, pyarrow.flight as flight
uri, http, path = sys.argv[1:4]
client = flight.connect(uri)
info = client.get_flight_info(flight.FlightDescriptor.for_path("numbers", "5"))
assert len(info.endpoints) == 5 and info.total_records == 300000, info
# The file is another by now; the tickets are for what was there.
with open(path, "w") as file:
    file.write("n,word\n1,one\n")
def version():
    with urllib.request.urlopen(f"http://{http}/api/sql?q=select%20count(*)%20as%20n%20from%20numbers") as answer:
        return answer.read()
while b"300000" in version():
    time.sleep(0.05)
def read(endpoint):
    return flight.connect(uri).do_get(endpoint.ticket).read_all()
with concurrent.futures.ThreadPoolExecutor(5) as pool:
    tables = list(pool.map(read, info.endpoints))
assert all(0 < table.num_rows < 300000 for table in tables)
whole = pa.concat_tables(tables)
assert whole.num_rows == 300000 and whole.schema == info.schema
assert whole["n"].to_pylist() == list(range(300000)), "in order"
# Once all was read, nothing is held any more.
try:
    read(info.endpoints[0])
    raise SystemExit("read again")
except Exception as error:
    assert "no such ticket" in str(error), error
info = client.get_flight_info(flight.FlightDescriptor.for_path("numbers"))
assert [read(endpoint).num_rows for endpoint in info.endpoints] == [1]
assert client.get_schema(flight.FlightDescriptor.for_path("numbers")).schema.names == ["n", "word"]
listed = {bytes(flight.descriptor.path[0]): flight.total_records for flight in client.list_flights()}
assert listed == {b"numbers": 1, b"wide": 3}, listed
# A row may be larger than clients take messages by default; others come in smaller ones.
[endpoint] = client.get_flight_info(flight.FlightDescriptor.for_path("wide")).endpoints
assert [len(text) for text in read(endpoint)["text"].to_pylist()] == [3_000_000] * 3
for path in [["nope"], ["numbers", "0"], ["numbers", "x"], ["numbers", "1000"], ["a", "b", "c"], []]:
    try:
        client.get_flight_info(flight.FlightDescriptor.for_path(*path))
        raise SystemExit(f"no error: {path}")
    except (flight.FlightError, pa.ArrowException, KeyError) as error:
        assert "no table" in str(error) or "path" in str(error) or "number of tickets" in str(error), error
print("well")
"#;
    let text = "x".repeat(3_000_000);
    let wide = format!("text\n{text}\n{text}\n{text}\n");
    let files = [("numbers.csv", &numbers()[..]), ("wide.csv", wide.as_bytes())];
    let settings = format!(
        "{FLIGHT}[[dataset]]\nname = \"numbers\"\nsource = \"numbers.csv\"\nrefresh = \"100ms\"\n\
         [[dataset]]\nname = \"wide\"\nsource = \"wide.csv\"\n"
    );
    let server = Server::with(&settings, &files);
    let path = server.file("numbers.csv");
    python("pyarrow.flight", program, &[server.flight(), server.address(), path.to_str().expect("a path")]);
}
