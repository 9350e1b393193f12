//! What no driver would say.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::{python, server};

/// Everything that can be sent is refused in words, and the server goes on.
#[test]
fn garbage_is_refused() {
    let program = r#"
import os, random, sys
import pyarrow as pa, pyarrow.flight as flight
client = flight.connect(sys.argv[1])
def refused(work, *said):
    try:
        work()
    except (flight.FlightError, pa.ArrowException, NotImplementedError, KeyError, ValueError) as error:
        assert not said or any(word in str(error) for word in said), error
        return
    raise SystemExit(f"no error: {said}")
def command(name, content=b""):
    url = b"type.googleapis.com/arrow.flight.protocol.sql." + name
    return bytes([10, len(url)]) + url + bytes([18, len(content)]) + content
for ticket in [b"", b"x", os.urandom(300), command(b"TicketStatementQuery"), command(b"TicketStatementQuery", b"\n\x03abc"),
               command(b"CommandPreparedStatementQuery", b"\n\x28" + 40 * b"z"), command(b"CommandStatementUpdate"),
               command(b"Nothing")]:
    refused(lambda: client.do_get(flight.Ticket(ticket)).read_all())
for cmd in [b"", b"x", os.urandom(300), command(b"CommandStatementQuery", b"\n\xff"), command(b"CommandStatementSubstraitPlan"),
            command(b"CommandStatementUpdate"), command(b"Nothing"), command(b"CommandPreparedStatementQuery")]:
    refused(lambda: client.get_flight_info(flight.FlightDescriptor.for_command(cmd)))
    refused(lambda: client.get_schema(flight.FlightDescriptor.for_command(cmd)))
for action in ["BeginTransaction", "CancelQuery", "CreatePreparedSubstraitPlan", "", "x" * 10000]:
    refused(lambda: list(client.do_action(flight.Action(action, b"x"))), "not supported")
for action in ["CreatePreparedStatement", "ClosePreparedStatement"]:
    for body in [b"", b"x", os.urandom(100), command(b"ActionClosePreparedStatementRequest", b"\n\x03abc")]:
        refused(lambda: list(client.do_action(flight.Action(action, body))))
assert {action.type for action in client.list_actions()} == {"CreatePreparedStatement", "ClosePreparedStatement"}
table = pa.table({"a": [1]})
def put(cmd):
    writer, reader = client.do_put(flight.FlightDescriptor.for_command(cmd), table.schema)
    writer.write_table(table)
    writer.done_writing()
    reader.read()
    writer.close()
for cmd in [b"", b"x", command(b"CommandStatementIngest"), command(b"CommandStatementUpdate"),
            command(b"CommandPreparedStatementQuery", b"\n\x28" + 40 * b"z")]:
    refused(lambda: put(cmd))
def exchange():
    writer, reader = client.do_exchange(flight.FlightDescriptor.for_path("people"))
    with writer:
        writer.begin(table.schema)
        writer.write_table(table)
        writer.done_writing()
        reader.read_all()
refused(exchange, "exchanges are not supported")
huge = flight.FlightDescriptor.for_command(b"x" * (8 * 1024 * 1024))
refused(lambda: client.get_flight_info(huge), "limit", "too large", "larger")
# Facts and tables that nobody has, many times.
many = command(b"CommandGetSqlInfo")
info = client.get_flight_info(flight.FlightDescriptor.for_command(many))
assert client.do_get(info.endpoints[0].ticket).read_all().num_rows > 20
print("well")
"#;
    let server = server("");
    python("pyarrow.flight", program, &[server.flight()]);
    assert_eq!(server.get("/health").status, 200);
}

/// Sends these bytes, and reads until the server closes.
fn say(address: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    said
}

#[test]
fn what_is_no_http_ends_the_connection_alone() {
    let server = server("");
    let address = server.flight().trim_start_matches("grpc://");
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let too_long = [&preface[..], &[0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]].concat();
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x16\x03\x01\x00\x05hello", b"", b"PRI * HTT", preface, &too_long] {
        say(address, bytes);
    }
    assert_eq!(server.get("/health").status, 200);
    python(
        "pyarrow.flight",
        "import sys, pyarrow.flight as f\nassert len(list(f.connect(sys.argv[1]).list_flights())) == 2\nprint('well')",
        &[server.flight()],
    );
}
