//! Floods of heads and frames: what costs a client little and could cost the server much. It keeps its memory, and
//! others are answered.

use super::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, Http2, PING, PRIORITY, RESET, SETTINGS, UNKNOWN,
    WHOLE, WINDOW, frame, head, indexed, literal,
};
use super::secrets::Program;
use super::siege::{Siege, resident_bytes};
use crate::server::{Answer, Server};

const FILES: &[(&str, &[u8])] = &[("t.csv", b"a\n1\n2\n")];
/// The error of a connection that asks for too much (RFC 9113, section 7).
const ENHANCE_YOUR_CALM: u32 = 11;
const PROTOCOL_ERROR: u32 = 1;
/// What a flood may add to the memory of the server while it lasts.
const ADDED_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of one flood.
const FLOOD_BYTES: usize = 32 * 1024 * 1024;
/// A statement that works until it is stopped.
const ENDLESS: &str = "/api/sql?q=select%20count(*)%20from%20range(1,900000000000)%20where%20value%20%25%2010%20=%2011";

/// Numbers of streams that a client opens.
fn streams(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(|n| 2 * n + 1)
}

fn for_each_stream(count: u32, of: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    streams(count).flat_map(of).collect()
}

/// Floods that end their connection: what is sent, and the error that is told if it can still be told.
fn breaking() -> Vec<(&'static str, Vec<u8>, u32)> {
    let get = head("GET", "/api/tables/t");
    let open = frame(HEADERS, 0, 1, &get);
    let post = head("POST", "/api/sql");
    let cancel = |stream| frame(RESET, 0, stream, &8_u32.to_be_bytes());
    let asked_and_cancelled = |path: &str| {
        let head = head("GET", path);
        for_each_stream(20_000, |stream| [frame(HEADERS, WHOLE, stream, &head), cancel(stream)].concat())
    };
    let provoked = |window: [u8; 4]| {
        for_each_stream(20_000, |stream| {
            [frame(HEADERS, END_HEADERS, stream, &post), frame(WINDOW, 0, stream, &window)].concat()
        })
    };
    let continued = |part: &[u8], count: usize| [open.clone(), frame(CONTINUATION, 0, 1, part).repeat(count)].concat();
    // Each byte of it stands for 4,000.
    let bomb = [get.clone(), indexed("x", &[b'y'; 4_000]), vec![0xbe; 10_000]].concat();
    vec![
        ("requests that are cancelled", asked_and_cancelled("/api/tables/t"), ENHANCE_YOUR_CALM),
        ("statements that are cancelled", asked_and_cancelled(ENDLESS), ENHANCE_YOUR_CALM),
        ("streams that the server has to cancel", provoked([0x7f, 0xff, 0xff, 0xff]), ENHANCE_YOUR_CALM),
        ("windows of nothing", provoked([0; 4]), PROTOCOL_ERROR),
        ("small continuations", continued(&literal("a", b"b"), 200_000), ENHANCE_YOUR_CALM),
        ("empty continuations", continued(b"", 500_000), ENHANCE_YOUR_CALM),
        ("large continuations", continued(&literal("a", &[b'b'; 16_000]), 2_000), ENHANCE_YOUR_CALM),
        ("a head that unpacks to megabytes", frame(HEADERS, WHOLE, 1, &bomb), ENHANCE_YOUR_CALM),
        (
            "a table beyond all bounds",
            frame(HEADERS, WHOLE, 1, &[&[0x3f, 0xff, 0xff, 0xff, 0xff, 7][..], &get].concat()),
            PROTOCOL_ERROR,
        ),
        ("a number without an end", frame(HEADERS, WHOLE, 1, &[0xff; 30]), PROTOCOL_ERROR),
        (
            "data of nothing",
            [frame(HEADERS, END_HEADERS, 1, &post), frame(DATA, 0, 1, b"").repeat(500_000)].concat(),
            ENHANCE_YOUR_CALM,
        ),
    ]
}

#[test]
fn floods_of_streams_end_their_connection() {
    let siege = Siege::of("", FILES);
    for (name, bytes, error) in breaking() {
        siege.attack(name, |server| {
            let mut connection = Http2::open(server, b"");
            connection.send(&bytes);
            // Ends with the connection; what the server said before may be lost with it.
            let frames = connection.until(|_| false);
            let told = frames.iter().find_map(super::frames::Frame::error);
            assert!(told.is_none_or(|told| told == error), "{name}: {told:?}");
        });
    }
}

/// What is no mistake may be sent for ever: it costs the client more than the server, and others are answered.
#[test]
fn floods_of_frames_cost_their_sender() {
    let siege = Siege::of("", FILES);
    let before = resident_bytes(siege.server().pid());
    for (name, one) in [
        ("settings", frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100])),
        ("many settings at once", frame(SETTINGS, 0, 0, &[0, 9, 0, 0, 0, 100].repeat(2_700))),
        ("pings", frame(PING, 0, 0, b"12345678")),
        ("priorities", frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 1])),
        ("windows", frame(WINDOW, 0, 0, &1_u32.to_be_bytes())),
        ("frames of a kind that is unknown", frame(UNKNOWN, 0, 0, &[b'x'; 100])),
    ] {
        siege.attack(name, |server| {
            // Nothing of what is answered is read.
            let mut connection = Http2::open(server, b"");
            connection.flood(&one.repeat(1 + 60_000 / one.len()), FLOOD_BYTES);
            assert_eq!(server.get("/api/tables/t").status, 200, "{name}");
            let added = resident_bytes(server.pid()).saturating_sub(before);
            assert!(added < ADDED_BYTES_MAX, "{name}: {added} bytes");
        });
    }
}

/// Answers that nobody takes, because the window of each stream stays shut.
#[test]
fn windows_that_stay_shut_hold_little() {
    const PEAK_BYTES_MAX: u64 = 1_500 * 1024 * 1024;
    const STREAMS: u32 = 100;
    let siege = Siege::of("[limits]\nmemory_bytes_max = \"256MiB\"\n", FILES);
    let head = head("GET", "/api/sql?q=select%20repeat('x',1000000)%20as%20x%20from%20range(1,5)");
    siege.attack("windows that stay shut", |server| {
        let mut connections: Vec<Http2> = (0..20).map(|_| Http2::open(server, &[0, 4, 0, 0, 0, 0])).collect();
        for connection in &mut connections {
            let asked = for_each_stream(STREAMS, |stream| frame(HEADERS, WHOLE, stream, &head));
            assert!(connection.send(&asked), "the requests are taken");
        }
        for connection in &mut connections {
            for _ in 0..STREAMS {
                let frames = connection.until(|frame| frame.kind == HEADERS);
                assert_eq!(frames.last().map(|frame| frame.kind), Some(HEADERS), "each is answered or refused");
                assert!(frames.iter().all(|frame| frame.kind != DATA), "nothing is sent into a window that is shut");
            }
        }
        assert_eq!(server.get("/api/tables/t").status, 200);
        let bytes = resident_bytes(server.pid());
        assert!(bytes < PEAK_BYTES_MAX, "{bytes} bytes");
    });
}

#[test]
fn heads_beyond_the_limit_are_refused() {
    let siege = Siege::of("", FILES);
    let lines = |count: usize, of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<String>();
    let get = "GET /health HTTP/1.1\r\nhost: localhost\r\n";
    for (name, bytes, status) in [
        ("headers", format!("{get}{}\r\n", lines(101, &|n| format!("x-{n}: y\r\n"))), 431),
        ("many headers", format!("{get}{}\r\n", lines(100_000, &|n| format!("x-{n}: y\r\n"))), 431),
        ("a target", format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "y".repeat(70_000)), 414),
        ("a method", "G".repeat(700_000), 431),
        ("lines of nothing", "\r\n".repeat(1_000_000), 431),
        ("a value", format!("{get}x: {}\r\n\r\n", "y".repeat(8_000_000)), 431),
    ] {
        let answer = siege.attack(name, |server| Answer::parse(&server.raw(bytes.as_bytes())));
        // A server that closes while it is sent more may not be heard.
        assert!([status, 0].contains(&answer.status), "{name}: {answer:?}");
    }
    let get = head("GET", "/api/tables/t");
    let long = |count: usize| {
        let parts = (0..count).map(|n| frame(CONTINUATION, 0, 1, &literal(&format!("x{n}"), &[b'y'; 16_000])));
        let parts: Vec<u8> = parts.flatten().collect();
        [frame(HEADERS, END_STREAM, 1, &get), parts, frame(CONTINUATION, END_HEADERS, 1, b"")].concat()
    };
    for (count, is_answered) in [(25, true), (33, false)] {
        let frames = siege.attack(format!("{count} large headers"), |server| {
            let mut connection = Http2::open(server, b"");
            assert!(connection.send(&long(count)), "the head is taken");
            connection.until(|frame| frame.kind == HEADERS)
        });
        let answer = frames.last().expect("an answer");
        assert_eq!((answer.kind, answer.is_success()), (HEADERS, is_answered), "{count}: {answer:?}");
    }
}

/// HTTP/2 has frames for where a body ends: whatever says something else is no request.
#[test]
fn lengths_and_lines_of_http_1_are_mistakes_in_http_2() {
    let server = Server::of(FILES);
    let (get, post) = (head("GET", "/api/tables/t"), head("POST", "/api/sql"));
    let with = |head: &[u8], more: Vec<u8>| [head, &more].concat();
    let bodied = |more: Vec<u8>| {
        [frame(HEADERS, END_HEADERS, 1, &with(&post, more)), frame(DATA, END_STREAM, 1, b"select 1")].concat()
    };
    let plain = |more: Vec<u8>| frame(HEADERS, WHOLE, 1, &with(&get, more));
    let lengths = [literal("content-length", b"8"), literal("content-length", b"9")].concat();
    for (name, bytes) in [
        ("a transfer coding", bodied(literal("transfer-encoding", b"chunked"))),
        ("a length that is short", bodied(literal("content-length", b"4"))),
        ("a length that is long", bodied(literal("content-length", b"40"))),
        ("two lengths", bodied(lengths)),
        ("a connection", plain(literal("connection", b"close"))),
        ("a line end in a value", plain(literal("x", b"a\r\nb: c"))),
        ("a nul in a value", plain(literal("x", b"a\0b"))),
        ("a name in capitals", plain(literal("X-Up", b"a"))),
        ("a path behind the headers", plain([literal("x", b"y"), literal(":path", b"/health")].concat())),
        ("a second path", plain(literal(":path", b"/health"))),
    ] {
        let mut connection = Http2::open(&server, b"");
        connection.send(&bytes);
        let frames = connection.until(|frame| [HEADERS, RESET, GOAWAY].contains(&frame.kind));
        let answer = frames.last().expect("an answer");
        assert!([RESET, GOAWAY].contains(&answer.kind), "{name}: {answer:?}");
        assert!(answer.stream <= 1, "{name}: {answer:?}");
    }
    assert_eq!(server.get("/health").status, 200);
}

/// What hostile clients do over HTTP/2 is not written down each time.
#[test]
fn floods_do_not_fill_the_log() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("t.csv"), "a\n1\n").expect("a file");
    let program = Program::serve(directory.path(), &["--listen", "127.0.0.1:0"], |command| {
        command.env_remove("RUST_LOG");
    });
    let flood = &breaking()[0].1[..200_000];
    for _ in 0..20 {
        let mut connection = Http2::connect(&program.address);
        connection.send(flood);
        connection.until(|_| false);
    }
    let log = program.end();
    assert!(log.lines().count() < 20, "{log}");
}
