//! `GET /api/export/{name}`: every format, columns, compression, entity tags, trailers, mistakes.

use std::io::Read as _;

use salver_formats::Format;

use super::rows::{arrow_file, file, rows, stream, text};
use crate::it::server::Server;

const COUNT: i64 = 20_000;

/// A server of the same rows, scanned and in memory, and of no rows.
fn server() -> Server {
    let toml = "[[dataset]]\nname = \"scanned\"\nsource = \"a.parquet\"\nmemory = \"never\"\n\
        [[dataset]]\nname = \"held\"\nsource = \"a.parquet\"\nmemory = \"always\"\n\
        [[dataset]]\nname = \"none\"\nsource = \"none.parquet\"\n[[dataset]]\nname = \"file\"\nsource = \"b.arrow\"\n\
        [[dataset]]\nname = \"converted\"\nsource = \"b.arrow\"\nmemory = \"never\"\n";
    let (a, b) = (file(0..COUNT, Format::Parquet), file(0..COUNT, Format::ArrowFile));
    Server::with(toml, &[("a.parquet", &a), ("none.parquet", &file(0..0, Format::Parquet)), ("b.arrow", &b)])
}

#[test]
fn every_format_is_what_the_tables_give() {
    let server = server();
    for entry in ["scanned", "held", "none"] {
        for format in ["json", "ndjson", "csv", "tsv"] {
            let export = server.get(&format!("/api/export/{entry}.{format}"));
            let table = server.get(&format!("/api/tables/{entry}.{format}"));
            assert_eq!((export.status, &export.body), (200, &table.body), "{entry}.{format}");
            assert_eq!(export.header("content-type"), table.header("content-type"));
        }
        let count = if entry == "none" { 0 } else { COUNT };
        assert!(text(&stream(&server.get(&format!("/api/export/{entry}.arrows")).body)) == text(&rows(0..count)));
        let arrow = server.get(&format!("/api/export/{entry}?format=arrow"));
        assert!(text(&arrow_file(&arrow.body)) == text(&rows(0..count)));
        let answer = server.get(&format!("/api/export/{entry}"));
        assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
        assert_eq!(answer.header("salver-rows"), Some(count.to_string().as_str()));
    }
    let html = server.get_with("/api/export/held", &[("accept", "text/html")]);
    assert!(html.text().starts_with("<!") && html.text().matches("<tr>").count() > 1000);
}

#[test]
fn a_file_in_the_wanted_format_is_sent_as_it_is() {
    let server = server();
    for (target, name) in [
        ("/api/export/scanned.parquet", "a.parquet"),
        ("/api/export/held.parquet", "a.parquet"),
        ("/api/export/file.arrow", "b.arrow"),
        ("/api/export/file?format=arrow", "b.arrow"),
        ("/api/export/converted.arrow", "b.arrow"),
    ] {
        let bytes = std::fs::read(server.file(name)).unwrap();
        for headers in [&[][..], &[("accept-encoding", "gzip, br, zstd")]] {
            let answer = server.get_with(target, headers);
            assert_eq!(answer.header("content-length"), Some(bytes.len().to_string().as_str()), "{target}");
            assert_eq!(answer.header("content-encoding"), None);
            assert_eq!(answer.header("accept-ranges"), Some("bytes"));
            assert!(answer.body == bytes, "{target}: other bytes than the file's");
        }
        let head = server.ask("HEAD", target, &[], b"");
        assert_eq!(head.header("content-length"), Some(bytes.len().to_string().as_str()));
    }
    // Not with other columns.
    let answer = server.get("/api/export/scanned.parquet?columns=id");
    assert!(answer.body.len() < std::fs::metadata(server.file("a.parquet")).unwrap().len() as usize);
    assert!(answer.body.starts_with(b"PAR1") && answer.body.ends_with(b"PAR1"));
    let answer = server.get("/api/export/file.arrow?columns=score,id");
    assert!(text(&arrow_file(&answer.body)) == text(&rows(0..COUNT).project(&[2, 0]).unwrap()));
    assert_eq!(answer.header("accept-ranges"), Some("none"));
    // Nor as a stream, nor of a file that is in another format.
    for target in ["/api/export/file.arrows", "/api/export/converted.arrows"] {
        assert!(text(&stream(&server.get(target).body)) == text(&rows(0..COUNT)), "{target}");
    }
    assert!(text(&arrow_file(&server.get("/api/export/held.arrow").body)) == text(&rows(0..COUNT)));
}

#[test]
fn a_file_that_was_written_over_is_not_sent() {
    let server = server();
    let (path, targets) = (server.file("b.arrow"), ["/api/export/file.arrow", "/api/export/converted.arrow"]);
    let tags = targets.map(|target| server.get(target).header("etag").unwrap().to_owned());
    // Not moved to its place: the same file for the system, at another time for sure.
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[0xff; 5_000], 1_000).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    for (target, tag) in targets.iter().zip(tags) {
        let answer = server.get(target);
        assert!(text(&arrow_file(&answer.body)) == text(&rows(0..COUNT)), "{target}: other rows than were loaded");
        assert_ne!(answer.header("etag"), Some(tag.as_str()), "{target}: other bytes under the file's tag");
        let part = server.get_with(target, &[("range", "bytes=100-"), ("if-range", &tag)]);
        assert_eq!(part.status, 200, "{target}: a part of other bytes");
    }
}

#[test]
fn columns_in_any_order() {
    let server = server();
    let answer = server.get("/api/export/scanned.csv?columns=score,id");
    assert!(answer.text().starts_with("score,id\n,0\n0.125,1\n"), "{}", &answer.text()[..40]);
    let bad = server.get("/api/export/scanned?columns=id,nam");
    assert_eq!(bad.status, 400);
    assert_eq!(bad.json()["hint"], "did you mean `name`?");
    assert_eq!(server.get("/api/export/scanned?columns=id,id").status, 400);
}

#[test]
fn compression_tags_and_heads() {
    let server = server();
    let plain = server.get("/api/export/scanned.csv");
    let gzip = server.get_with("/api/export/scanned.csv", &[("accept-encoding", "gzip")]);
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(gzip.body.as_slice()).read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == plain.body);
    let zstd = server.get_with("/api/export/scanned.csv", &[("accept-encoding", "zstd")]);
    assert!(zstd::decode_all(zstd.body.as_slice()).unwrap() == plain.body);
    let brotli = server.get_with("/api/export/scanned.csv", &[("accept-encoding", "br")]);
    let mut unpacked = Vec::new();
    brotli::BrotliDecompress(&mut brotli.body.as_slice(), &mut unpacked).unwrap();
    assert!(unpacked == plain.body);
    let (tag, packed_tag) = (plain.header("etag").unwrap(), gzip.header("etag").unwrap());
    assert_ne!(tag, packed_tag);
    let again = server.get_with("/api/export/scanned.csv", &[("if-none-match", tag)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    let head = server.ask("HEAD", "/api/export/scanned.csv", &[], b"");
    assert_eq!((head.status, head.body.len(), head.header("etag")), (200, 0, Some(tag)));
    assert_eq!(head.header("accept-ranges"), Some("bytes"));
}

#[test]
fn the_number_of_rows_stands_behind_the_body() {
    let server = server();
    let request =
        "GET /api/export/scanned HTTP/1.1\r\nhost: localhost\r\nconnection: close, te\r\nte: trailers\r\n\r\n";
    let answer = server.raw(request.as_bytes());
    let end = String::from_utf8_lossy(&answer[answer.len() - 40..]).to_ascii_lowercase();
    assert!(end.ends_with(&format!("0\r\nsalver-rows: {COUNT}\r\n\r\n")), "{end:?}");
}

#[test]
fn mistakes_are_told() {
    let server = server();
    for (target, status, message, hint) in [
        ("/api/export/scaned", 404, "no table `scaned`", "did you mean `scanned`?"),
        ("/api/export/scanned?colums=id", 400, "unknown parameter `colums`", "did you mean `columns`?"),
        ("/api/export/scanned?format=cvs", 400, "no format `cvs`", "did you mean `csv`?"),
        ("/api/export/scanned?limit=5", 400, "unknown parameter `limit`", "an export knows columns, format"),
    ] {
        let answer = server.get(target);
        let json = answer.json();
        assert_eq!((answer.status, json["message"].as_str()), (status, Some(message)), "{target}");
        assert_eq!(json["hint"], hint, "{target}");
    }
    assert_eq!(server.get("/api/export/a/b/c").status, 404);
    assert_eq!(server.ask("OPTIONS", "/api/export/scanned", &[], b"").status, 204);
}

#[test]
fn more_rows_than_an_answer_may_have() {
    let server = Server::with("[limits]\nrows_max = 100\n", &[("a.parquet", &file(0..200, Format::Parquet))]);
    let answer = server.get("/api/export/a");
    assert_eq!((answer.status, answer.json()["error"].as_str()), (413, Some("answer_too_large")));
}
