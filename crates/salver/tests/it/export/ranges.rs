//! The rest of a body that broke off: byte for byte what would have come.

use salver_formats::Format;

use super::rows::{Dice, file, lines};
use crate::it::server::{Answer, Server};

const COUNT: i64 = 30_000;

fn server() -> Server {
    let toml = "[[dataset]]\nname = \"scanned\"\nsource = \"a.parquet\"\nmemory = \"never\"\n\
        [[dataset]]\nname = \"held\"\nsource = \"a.parquet\"\nmemory = \"always\"\n\
        [[dataset]]\nname = \"arrow\"\nsource = \"b.arrow\"\n";
    let (a, b) = (file(0..COUNT, Format::Parquet), file(0..COUNT, Format::ArrowFile));
    Server::with(toml, &[("a.parquet", &a), ("b.arrow", &b)])
}

fn part(server: &Server, target: &str, range: &str, tag: &str) -> Answer {
    server.get_with(target, &[("range", range), ("if-range", tag)])
}

#[test]
fn every_part_of_every_format_that_has_parts() {
    let server = server();
    let mut dice = Dice::new(5);
    for target in [
        "/api/export/scanned.ndjson",
        "/api/export/held.ndjson",
        "/api/export/scanned.csv?columns=name,id",
        "/api/export/scanned.json",
        "/api/export/scanned.parquet",
        "/api/export/held.parquet",
        "/api/export/held.parquet?columns=id,score",
        "/api/export/arrow.arrow",
        "/api/export/held.html",
    ] {
        let whole = server.get(target);
        assert_eq!((whole.status, whole.header("accept-ranges")), (200, Some("bytes")), "{target}");
        let (tag, total) = (whole.header("etag").unwrap(), whole.body.len() as u64);
        for _ in 0..25 {
            let first = dice.below(total);
            let last = first + dice.below(total - first);
            let (range, expected) = match dice.below(3) {
                0 => (format!("bytes={first}-"), first..total),
                1 => (format!("bytes={first}-{last}"), first..last + 1),
                _ => (format!("bytes=-{}", first + 1), total - first - 1..total),
            };
            let answer = part(&server, target, &range, tag);
            assert_eq!(answer.status, 206, "{target} {range}");
            let said = format!("bytes {}-{}/{total}", expected.start, expected.end - 1);
            assert_eq!(answer.header("content-range"), Some(said.as_str()), "{target} {range}");
            let length = (expected.end - expected.start).to_string();
            assert_eq!(answer.header("content-length"), Some(length.as_str()));
            let same = answer.body == whole.body[expected.start as usize..expected.end as usize];
            assert!(same, "{target} {range}: other bytes");
        }
        // What is known of a body is told before it comes.
        let head = server.ask("HEAD", target, &[], b"");
        assert_eq!(head.header("content-length"), Some(total.to_string().as_str()), "{target}");
        assert_eq!(server.get(target).header("content-length"), Some(total.to_string().as_str()), "{target}");
    }
}

/// Programs that read files by ranges begin with one, at the address of the rows.
#[test]
fn files_of_rows_have_parts() {
    let server = server();
    for name in ["held.parquet", "scanned.parquet", "arrow.arrow"] {
        let whole = server.get(&format!("/api/export/{name}")).body;
        let target = format!("/api/tables/{name}");
        // A copy that is kept is not sent in place of the part.
        assert_eq!(server.get(&target).status, 200);
        for (range, expected) in [("bytes=-8", whole.len() - 8..whole.len()), ("bytes=0-3", 0..4)] {
            let answer = server.ask("GET", &target, &[("Range", range)], b"");
            assert_eq!((answer.status, answer.body.as_slice()), (206, &whole[expected]), "{name} {range}");
            let total = answer.header("content-range").and_then(|said| said.rsplit_once('/')).map(|(_, total)| total);
            assert_eq!(total, Some(whole.len().to_string().as_str()), "{name}");
        }
        let beyond = server.ask("GET", &target, &[("Range", &format!("bytes={}-", whole.len()))], b"");
        assert_eq!(beyond.status, 416, "{name}");
        // Of other rows there are no parts.
        let some = server.ask("GET", &format!("{target}?limit=2"), &[("Range", "bytes=0-3")], b"");
        assert_eq!(some.status, 200, "{name}");
    }
    assert_eq!(server.ask("GET", "/api/tables/held.csv", &[("Range", "bytes=0-3")], b"").status, 200);
}

#[test]
fn what_is_no_part_of_this_body() {
    let server = server();
    let target = "/api/export/scanned.ndjson";
    let whole = server.get(target);
    let (tag, total) = (whole.header("etag").unwrap(), whole.body.len());
    let beyond = part(&server, target, &format!("bytes={total}-"), tag);
    assert_eq!(beyond.status, 416);
    assert_eq!(beyond.header("content-range"), Some(format!("bytes */{total}").as_str()));
    for (range, tag) in [
        ("bytes=5-", "\"0000000000000000-0000000000000000\""),
        ("bytes=5-", "Sat, 21 Nov 2026 10:00:00 GMT"),
        ("bytes=0-1,5-6", tag),
        ("rows=1-2", tag),
    ] {
        let answer = part(&server, target, range, tag);
        assert_eq!((answer.status, answer.body.len()), (200, total), "{range} {tag}");
    }
    // Packed bytes are not the same each time; Arrow's unused bits neither.
    let gzip = server.get_with(target, &[("accept-encoding", "gzip")]);
    let answer = server.get_with(
        target,
        &[("accept-encoding", "gzip"), ("range", "bytes=5-"), ("if-range", gzip.header("etag").unwrap())],
    );
    assert_eq!((answer.status, answer.header("content-range")), (200, None));
    assert_eq!(server.get("/api/export/scanned.arrows").header("accept-ranges"), Some("none"));
    assert_eq!(server.get_with("/api/export/scanned.arrows", &[("range", "bytes=5-")]).status, 200);
}

#[test]
fn a_stream_goes_on_at_the_version_that_was_begun() {
    let server = Server::with("[server]\ndata_dir = \"data\"\n[[stream]]\nname = \"events\"\n", &[]);
    let send =
        |numbers: std::ops::Range<i64>| assert_eq!(server.post("/api/streams/events", &lines(numbers)).status, 200);
    send(0..500);
    let target = "/api/export/events.csv";
    let whole = server.get(target);
    let tag = whole.header("etag").unwrap();
    send(500..600);
    let rest = part(&server, target, "bytes=1000-", tag);
    assert_eq!(rest.status, 206, "{}", rest.text());
    assert!(rest.body == whole.body[1000..]);
    let more = server.get(target);
    assert!(more.body.len() > whole.body.len() && more.header("etag") != Some(tag));
}
