//! Packed bodies: they are read at every door, and those that unpack to more than anybody would send are refused, in
//! every coding, once and twice packed.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::siege::{Siege, resident_bytes};
use crate::server::Server;

const SETTINGS: &str = r#"
[[stream]]
name = "events"
[[database]]
name = "shop"
url = "sqlite:shop.db"
init = "shop.sql"
writable = true
[[function]]
file = "code.py"
"#;
const SHOP: &[u8] = b"create table goods (id integer primary key, name text not null);";
const CODE: &[u8] = b"def echo(x):\n    return x\n";
/// A quarter of a gigabyte, which no door takes.
const BOMB_BYTES: usize = 256 * 1024 * 1024;
/// What unpacking may add to the memory of the server while it lasts.
const ADDED_BYTES_MAX: u64 = 192 * 1024 * 1024;

/// Writes a bomb piece by piece, so that the test does not hold it.
fn feed<W: Write>(mut packer: W) -> W {
    let piece = vec![b' '; 1024 * 1024];
    for _ in 0..BOMB_BYTES / piece.len() {
        packer.write_all(&piece).expect("packed");
    }
    packer
}

/// The bomb in each coding.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let gzip = feed(GzEncoder::new(Vec::new(), Compression::best())).finish().expect("packed");
    let mut again = GzEncoder::new(Vec::new(), Compression::best());
    again.write_all(&gzip).expect("packed");
    let mut brotli = Vec::new();
    drop(feed(brotli::CompressorWriter::new(&mut brotli, 1 << 16, 5, 22)));
    // A frame that says that it needs a window of 128 MiB.
    let mut window = zstd::stream::Encoder::new(Vec::new(), 1).expect("an encoder");
    window.window_log(27).expect("a window");
    vec![
        ("gzip", gzip.clone()),
        ("x-gzip", gzip),
        ("gzip, gzip", again.finish().expect("packed")),
        ("deflate", feed(ZlibEncoder::new(Vec::new(), Compression::best())).finish().expect("packed")),
        ("deflate", feed(DeflateEncoder::new(Vec::new(), Compression::best())).finish().expect("packed")),
        ("br", brotli),
        ("zstd", feed(zstd::stream::Encoder::new(Vec::new(), 1).expect("an encoder")).finish().expect("packed")),
        ("zstd", feed(window).finish().expect("packed")),
    ]
}

#[test]
fn bodies_that_unpack_to_more_are_refused() {
    let siege = Siege::of(SETTINGS, &[("t.csv", b"a\n1\n"), ("shop.sql", SHOP), ("code.py", CODE)]);
    let is_there = |server: &Server, path: &str| server.get(path).status == 200;
    siege.server().until(|server| is_there(server, "/api/functions/code") && is_there(server, "/api/tables/goods"));
    let before = resident_bytes(siege.server().pid());
    let json = "application/json";
    for (coding, bomb) in bombs() {
        for (target, media_type) in [
            ("/api/streams/events", json),
            ("/api/streams/events", "application/x-ndjson"),
            ("/v0/events?name=events", json),
            ("/topics/events", "application/vnd.kafka.json.v2+json"),
            ("/api/sql", "text/plain"),
            ("/api/graphql", json),
            ("/api/records/goods", json),
            ("/api/records/goods", "text/csv"),
            ("/api/functions/code/echo", json),
            ("/_api/cursor", json),
            ("/api/export", json),
        ] {
            let headers = [("content-type", media_type), ("content-encoding", coding)];
            let answer = siege.server().ask("POST", target, &headers, &bomb);
            let at = format!("{target} as {media_type} in {coding}: {answer:?}");
            // A load may be of any length; this one is a line of names without rows.
            let is_empty_load = media_type == "text/csv" && answer.text().contains("\"loaded\":0");
            assert!((400..500).contains(&answer.status) || is_empty_load, "{at}");
            let added = resident_bytes(siege.server().pid()).saturating_sub(before);
            assert!(added < ADDED_BYTES_MAX, "{at}: {added} bytes");
        }
    }
    assert_eq!(siege.server().get("/api/streams/events/events").json()["events"], serde_json::json!([]));
    siege.is_well("bombs");
}

#[test]
fn packed_bodies_are_read() {
    let siege = Siege::of(SETTINGS, &[("t.csv", b"a\n1\n"), ("shop.sql", SHOP), ("code.py", CODE)]);
    let is_there = |server: &Server, path: &str| server.get(path).status == 200;
    siege.server().until(|server| is_there(server, "/api/functions/code") && is_there(server, "/api/tables/goods"));
    let json = "application/json";
    for (target, media_type, body) in [
        ("/api/streams/events", json, r#"{"n":1}"#),
        ("/v0/events?name=events", json, r#"{"n":1}"#),
        ("/topics/events", "application/vnd.kafka.json.v2+json", r#"{"records":[{"value":{"n":1}}]}"#),
        ("/v3/clusters/salver/topics/events/records", json, r#"{"value":{"type":"JSON","data":{"n":1}}}"#),
        ("/api/sql", "text/plain", "select a from t"),
        ("/api/graphql", json, r#"{"query":"{ t { a } }"}"#),
        ("/api/records/goods", json, r#"{"name":"pen"}"#),
        ("/api/records/goods", "application/x-www-form-urlencoded", "name=pen"),
        ("/api/records/goods", "text/csv", "name\npen\n"),
        ("/api/records/goods", "application/x-ndjson", r#"{"name":"pen"}"#),
        ("/api/functions/code/echo", json, r#"{"x":1}"#),
        ("/_api/cursor", json, r#"{"query":"FOR d IN t RETURN d"}"#),
    ] {
        let ask = |coding: &str, body: &[u8]| {
            siege.server().ask("POST", target, &[("content-type", media_type), ("content-encoding", coding)], body)
        };
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(body.as_bytes()).expect("packed");
        let gzip = gzip.finish().expect("packed");
        let zstd = zstd::encode_all(body.as_bytes(), 1).expect("packed");
        for (coding, body) in [("identity", body.as_bytes()), ("gzip", &gzip), ("zstd", &zstd)] {
            let answer = ask(coding, body);
            assert!(answer.status < 300, "{target} as {media_type} in {coding}: {answer:?}");
        }
        for (coding, body) in [("gzip", &gzip[..gzip.len() - 9]), ("zstd", &gzip), ("br", &gzip), ("gzip, gzip", &gzip)]
        {
            let answer = ask(coding, body);
            // Kafka's third API has a status for each record.
            let is_told = answer.text().contains("\"error_code\":4");
            assert!((400..500).contains(&answer.status) || is_told, "{target} as {media_type} in {coding}: {answer:?}");
        }
    }
    let goods = siege.server().get("/api/records/goods").json();
    assert_eq!(goods["records"].as_array().map(Vec::len), Some(12), "{goods}");
    siege.is_well("packed bodies");
}
