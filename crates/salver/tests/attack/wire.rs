//! Where a request ends: lengths, codings, chunks and line ends that two readers may read differently, so that what one
//! takes for a body is a request to the other. After each, either the connection ends, or the next request on it is
//! answered for itself.

use crate::server::{Answer, Server};

const SETTINGS: &str = "[[stream]]\nname = \"clicks\"\n";
const PLAIN: &[u8] = b"select 1";
const CHUNKED: &[u8] = b"8\r\nselect 1\r\n0\r\n\r\n";
/// A request that must never run: it would leave an event.
const SMUGGLED: &[u8] =
    b"POST /api/streams/clicks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 14\r\n\r\n{\"smuggled\":1}";
/// A request that is answered for itself, after which the server closes.
const NEXT: &[u8] = b"GET /next HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

/// A statement: what is wrong, its header lines, its body, and the only status that is answered.
type Statement = (&'static str, &'static [u8], &'static [u8], u16);

/// Transfer codings.
const CODINGS: [Statement; 19] = [
    ("both, of which the length is short", b"content-length: 4\r\ntransfer-encoding: chunked\r\n", CHUNKED, 200),
    ("both, the other way round", b"transfer-encoding: chunked\r\ncontent-length: 4\r\n", CHUNKED, 200),
    ("both, of which the length is long", b"content-length: 99\r\ntransfer-encoding: chunked\r\n", CHUNKED, 200),
    ("two codings", b"transfer-encoding: identity\r\ntransfer-encoding: chunked\r\n", CHUNKED, 415),
    ("chunked before another", b"transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n", CHUNKED, 400),
    ("chunked twice in a line", b"transfer-encoding: chunked, chunked\r\n", CHUNKED, 415),
    ("chunked twice in two lines", b"transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", CHUNKED, 415),
    ("an empty coding before", b"transfer-encoding: ,chunked\r\n", CHUNKED, 415),
    ("identity", b"transfer-encoding: identity\r\ncontent-length: 8\r\n", PLAIN, 400),
    ("a coding that is none", b"transfer-encoding: xchunked\r\ncontent-length: 8\r\n", PLAIN, 400),
    ("a space before the colon", b"transfer-encoding : chunked\r\ncontent-length: 8\r\n", PLAIN, 400),
    ("a space before the name", b" transfer-encoding: chunked\r\ncontent-length: 8\r\n", PLAIN, 400),
    ("a vertical tab", b"transfer-encoding: \x0bchunked\r\ncontent-length: 8\r\n", PLAIN, 400),
    ("nothing", b"transfer-encoding: \r\ncontent-length: 8\r\n", PLAIN, 400),
    ("a parameter", b"transfer-encoding: chunked;q=1\r\ncontent-length: 8\r\n", PLAIN, 400),
    ("quotes", b"transfer-encoding: \"chunked\"\r\ncontent-length: 8\r\n", PLAIN, 400),
    ("a folded line", b"transfer-encoding:\r\n chunked\r\ncontent-length: 8\r\n", PLAIN, 400),
    ("a line folded into another", b"x: y\r\n transfer-encoding: chunked\r\ncontent-length: 8\r\n", PLAIN, 400),
    ("a nul in the name", b"transfer\0-encoding: chunked\r\ncontent-length: 8\r\n", PLAIN, 400),
];

/// Lengths, and line ends among them.
const LENGTHS: [Statement; 16] = [
    ("two that differ", b"content-length: 8\r\ncontent-length: 0\r\n", PLAIN, 400),
    ("a list", b"content-length: 8, 8\r\n", PLAIN, 400),
    ("a plus", b"content-length: +8\r\n", PLAIN, 400),
    ("a minus", b"content-length: -8\r\n", PLAIN, 400),
    ("hexadecimal", b"content-length: 0x8\r\n", PLAIN, 400),
    ("two numbers", b"content-length: 8 8\r\n", PLAIN, 400),
    ("none", b"content-length: \r\n", PLAIN, 400),
    ("beyond 64 bits", b"content-length: 18446744073709551624\r\n", PLAIN, 400),
    ("the largest of 64 bits", b"content-length: 18446744073709551615\r\n", PLAIN, 431),
    ("nearly the largest", b"content-length: 18446744073709551613\r\n", PLAIN, 413),
    ("a space before the colon", b"content-length : 8\r\n", PLAIN, 400),
    ("a fraction", b"content-length: 8.0\r\n", PLAIN, 400),
    ("an exponent", b"content-length: 8e0\r\n", PLAIN, 400),
    ("digits of another script", b"content-length: \xd9\xa8\r\n", PLAIN, 400),
    ("a carriage return before it", b"x: a\rcontent-length: 8\r\n", PLAIN, 400),
    ("a nul in a value", b"x: a\0b\r\ncontent-length: 8\r\n", PLAIN, 400),
];

/// Chunks.
const CHUNKS: [Statement; 13] = [
    ("an extension that ends in a line feed", b"transfer-encoding: chunked\r\n", b"8;a\nselect 1\r\n0\r\n\r\n", 400),
    ("an extension with a carriage return", b"transfer-encoding: chunked\r\n", b"8;a\rb\r\nselect 1\r\n0\r\n\r\n", 400),
    ("a size that ends in a line feed", b"transfer-encoding: chunked\r\n", b"8\nselect 1\r\n0\r\n\r\n", 400),
    ("a space before the size", b"transfer-encoding: chunked\r\n", b" 8\r\nselect 1\r\n0\r\n\r\n", 400),
    ("a prefix", b"transfer-encoding: chunked\r\n", b"0x8\r\nselect 1\r\n0\r\n\r\n", 400),
    ("a plus", b"transfer-encoding: chunked\r\n", b"+8\r\nselect 1\r\n0\r\n\r\n", 400),
    ("a minus", b"transfer-encoding: chunked\r\n", b"-8\r\nselect 1\r\n0\r\n\r\n", 400),
    ("no size", b"transfer-encoding: chunked\r\n", b"\r\nselect 1\r\n0\r\n\r\n", 400),
    ("an extension alone", b"transfer-encoding: chunked\r\n", b";a\r\nselect 1\r\n0\r\n\r\n", 400),
    ("beyond 64 bits", b"transfer-encoding: chunked\r\n", b"10000000000000008\r\nselect 1\r\n0\r\n\r\n", 400),
    ("more than was said", b"transfer-encoding: chunked\r\n", b"8\r\nselect 1XX0\r\n\r\n", 400),
    ("a line feed after the data", b"transfer-encoding: chunked\r\n", b"8\r\nselect 1\n0\r\n\r\n", 400),
    ("a trailer that ends in line feeds", b"transfer-encoding: chunked\r\n", b"8\r\nselect 1\r\n0\n\n", 400),
];

/// Whole requests that are refused.
const HEADS: [(&str, &[u8]); 8] = [
    ("two spaces", b"GET  /health HTTP/1.1\r\nhost: localhost\r\n\r\n"),
    ("HTTP/1.2", b"GET /health HTTP/1.2\r\nhost: localhost\r\n\r\n"),
    ("HTTP/2.0", b"GET /health HTTP/2.0\r\nhost: localhost\r\n\r\n"),
    ("HTTP/0.9", b"GET /health\r\n"),
    ("a nul in the target", b"GET /a\0b HTTP/1.1\r\nhost: localhost\r\n\r\n"),
    ("a space before the colon of the host", b"GET /health HTTP/1.1\r\nhost : localhost\r\n\r\n"),
    ("lines that end in carriage returns", b"GET /health HTTP/1.1\rhost: localhost\r\r"),
    (
        "chunks in HTTP/1.0",
        b"POST /api/sql HTTP/1.0\r\nhost: localhost\r\nconnection: keep-alive\r\n\
          transfer-encoding: chunked\r\n\r\n8\r\nselect 1\r\n0\r\n\r\n",
    ),
];

/// What a request carries.
#[derive(Clone, Copy)]
enum Carries {
    Bytes(&'static [u8]),
    /// The request that must never run, with its length.
    Smuggled,
    /// The same as a chunk.
    SmuggledChunk,
}

/// A request that has one meaning: its name, method, target, header lines, body and status.
type Framed = (&'static str, &'static str, &'static str, &'static [u8], Carries, u16);

const FRAMED: [Framed; 28] = [
    (
        "two equal lengths",
        "POST",
        "/api/sql",
        b"content-length: 8\r\ncontent-length: 8\r\n",
        Carries::Bytes(PLAIN),
        200,
    ),
    ("zeros before the length", "POST", "/api/sql", b"content-length: 008\r\n", Carries::Bytes(PLAIN), 200),
    ("spaces behind the length", "POST", "/api/sql", b"content-length: 8  \r\n", Carries::Bytes(PLAIN), 200),
    ("a tab before the coding", "POST", "/api/sql", b"transfer-encoding:\tchunked\t\r\n", Carries::Bytes(CHUNKED), 200),
    (
        "an extension",
        "POST",
        "/api/sql",
        b"transfer-encoding: chunked\r\n",
        Carries::Bytes(b"8;a=b\r\nselect 1\r\n0\r\n\r\n"),
        200,
    ),
    (
        "a space behind the size",
        "POST",
        "/api/sql",
        b"transfer-encoding: chunked\r\n",
        Carries::Bytes(b"8 \r\nselect 1\r\n0\r\n\r\n"),
        200,
    ),
    (
        "zeros before the size",
        "POST",
        "/api/sql",
        b"transfer-encoding: chunked\r\n",
        Carries::Bytes(b"00000000000000000000008\r\nselect 1\r\n00\r\n\r\n"),
        200,
    ),
    (
        "a length among the trailers",
        "POST",
        "/api/sql",
        b"transfer-encoding: chunked\r\n",
        Carries::Bytes(b"8\r\nselect 1\r\n0\r\ncontent-length: 44\r\n\r\n"),
        200,
    ),
    (
        "a length that the connection is to drop",
        "POST",
        "/api/sql",
        b"connection: content-length\r\ncontent-length: 8\r\n",
        Carries::Bytes(PLAIN),
        200,
    ),
    ("a length with an underscore", "POST", "/api/sql", b"content_length: 8\r\n", Carries::Bytes(b""), 400),
    ("no length", "POST", "/api/sql", b"", Carries::Bytes(b""), 400),
    ("a request in the body of GET", "GET", "/health", b"", Carries::Smuggled, 200),
    (
        "a request in the chunks of GET",
        "GET",
        "/health",
        b"transfer-encoding: chunked\r\n",
        Carries::SmuggledChunk,
        200,
    ),
    ("a request in the body of HEAD", "HEAD", "/health", b"", Carries::Smuggled, 200),
    ("a request in the body of OPTIONS", "OPTIONS", "/health", b"", Carries::Smuggled, 204),
    ("a request in the body of DELETE", "DELETE", "/health", b"", Carries::Smuggled, 405),
    ("a request in a body that nobody reads", "POST", "/nothing", b"", Carries::Smuggled, 404),
    ("a request that nobody waited for", "POST", "/nothing", b"expect: 100-continue\r\n", Carries::Smuggled, 404),
    ("line ends in the target", "GET", "/api/tables/t%0d%0ax:%20y", b"", Carries::Bytes(b""), 404),
    ("a line feed in a value", "POST", "/api/sql", b"x: a\ncontent-length: 8\r\n", Carries::Bytes(PLAIN), 200),
    (
        "an upgrade to HTTP/2",
        "GET",
        "/nothing",
        b"upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n",
        Carries::Bytes(b""),
        404,
    ),
    (
        "an upgrade to a socket",
        "GET",
        "/nothing",
        b"upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n",
        Carries::Bytes(b""),
        404,
    ),
    ("a tunnel", "CONNECT", "localhost:1", b"", Carries::Bytes(b""), 405),
    ("no target", "OPTIONS", "*", b"", Carries::Bytes(b""), 404),
    ("a target of another host", "GET", "http://evil.example/health", b"", Carries::Bytes(b""), 200),
    ("a table of another host", "GET", "http://evil.example/api/tables/t", b"", Carries::Bytes(b""), 403),
    (
        "a target of another host behind a name",
        "GET",
        "http://localhost@evil.example/api/tables/t",
        b"",
        Carries::Bytes(b""),
        403,
    ),
    ("a second host", "GET", "/api/tables/t", b"host: localhost\r\n", Carries::Bytes(b""), 400),
];

/// The statuses of all answers of a connection, but for 100.
fn statuses(answers: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(answers);
    let told = text.split("HTTP/1.").skip(1).filter_map(|answer| answer.get(2..5)?.parse().ok());
    told.filter(|status| *status != 100).collect()
}

fn server() -> Server {
    Server::with(SETTINGS, &[("t.csv", b"id\n1\n")])
}

/// Whether no smuggled request ran, and the stream takes others.
fn assert_nothing_ran(server: &Server) {
    let events = server.get("/api/streams/clicks/events");
    assert_eq!(events.json()["events"], serde_json::json!([]), "{}", events.text());
    let own = server.post_json("/api/streams/clicks", "{\"own\":1}");
    assert_eq!(own.status, 200, "{}", own.text());
    assert!(server.get("/api/streams/clicks/events").text().contains("own"));
}

fn assert_refused(kind: &str, statements: &[Statement]) {
    let server = server();
    for (name, fields, body, status) in statements {
        let head: &[u8] = b"POST /api/sql HTTP/1.1\r\nhost: localhost\r\n";
        let answers = server.raw(&[head, fields, b"\r\n", body, SMUGGLED].concat());
        let shown = String::from_utf8_lossy(&answers);
        assert_eq!(statuses(&answers), [*status], "{kind}: {name}: {shown}");
    }
    assert_nothing_ran(&server);
}

#[test]
fn codings_that_are_not_clear_end_the_connection() {
    assert_refused("coding", &CODINGS);
}

#[test]
fn lengths_that_are_not_clear_end_the_connection() {
    assert_refused("length", &LENGTHS);
}

#[test]
fn chunks_that_are_not_clear_end_the_connection() {
    assert_refused("chunk", &CHUNKS);
}

#[test]
fn heads_that_are_not_clear_end_the_connection() {
    let server = server();
    for (name, head) in HEADS {
        let answers = server.raw(&[head, SMUGGLED].concat());
        assert_eq!(statuses(&answers), [400], "{name}: {}", String::from_utf8_lossy(&answers));
    }
    assert_nothing_ran(&server);
}

/// What has one meaning is taken in it: whatever is in the body, the next request is the one behind it.
#[test]
fn what_follows_a_request_is_answered_for_itself() {
    let server = server();
    for (name, method, target, fields, carries, status) in FRAMED {
        let head = format!("{method} {target} HTTP/1.1\r\nhost: localhost\r\n");
        let (length, body) = match carries {
            Carries::Bytes(bytes) => (String::new(), bytes.to_vec()),
            Carries::Smuggled => (format!("content-length: {}\r\n", SMUGGLED.len()), SMUGGLED.to_vec()),
            Carries::SmuggledChunk => {
                let size = format!("{:x}\r\n", SMUGGLED.len());
                (String::new(), [size.as_bytes(), SMUGGLED, b"\r\n0\r\n\r\n"].concat())
            }
        };
        let answers = server.raw(&[head.as_bytes(), fields, length.as_bytes(), b"\r\n", &body, NEXT].concat());
        let shown = String::from_utf8_lossy(&answers);
        assert_eq!(statuses(&answers), [status, 404], "{name}: {shown}");
        let (_, last) = shown.rsplit_once("HTTP/1.1 ").expect("an answer");
        assert!(last.contains("/next"), "{name}: {shown}");
    }
    assert_nothing_ran(&server);
}

/// HTTP/1.0 ends with its answer, whatever lies behind it.
#[test]
fn what_follows_a_last_request_is_left() {
    let server = server();
    for head in ["GET /health HTTP/1.0\r\n\r\n", "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"]
    {
        let answers = server.raw(&[head.as_bytes(), SMUGGLED].concat());
        assert_eq!(Answer::parse(&answers).status, 200, "{head}");
        assert_eq!(String::from_utf8_lossy(&answers).matches("HTTP/1.").count(), 1, "{head}");
    }
    assert_nothing_ran(&server);
}
