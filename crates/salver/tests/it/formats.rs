//! Every format, by suffix, parameter and header; every compression; empty answers are valid documents.

use std::io::Read;

use super::server::{Answer, Server};

fn server() -> Server {
    let mut big = String::from("id,word\n");
    for id in 0..20_000 {
        big.push_str(&format!("{id},word number {id}\n"));
    }
    Server::of(&[("t.csv", b"a,b\n1,x\n2,\"y,\"\"z\"\n"), ("big.csv", big.as_bytes())])
}

#[test]
fn suffix_parameter_and_header_agree() {
    let server = server();
    for (suffix, media_type) in [
        ("json", "application/json"),
        ("ndjson", "application/x-ndjson"),
        ("csv", "text/csv"),
        ("tsv", "text/tab-separated-values"),
        ("arrows", "application/vnd.apache.arrow.stream"),
        ("arrow", "application/vnd.apache.arrow.file"),
        ("parquet", "application/vnd.apache.parquet"),
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("html", "text/html"),
    ] {
        let by_suffix = server.get(&format!("/api/tables/t.{suffix}"));
        assert_eq!(by_suffix.status, 200, "{suffix}");
        let by_parameter = server.get(&format!("/api/tables/t?format={suffix}"));
        // A page leads to pages of the same form: its links differ.
        let rows = |answer: &Answer| match suffix {
            "html" => answer.text().split_once("<tbody>").expect("rows").1.as_bytes().to_vec(),
            _ => answer.body.clone(),
        };
        assert_eq!(rows(&by_suffix), rows(&by_parameter), "{suffix}");
        let given = by_suffix.header("content-type").expect("a media type").to_owned();
        assert_eq!(given, by_parameter.header("content-type").expect("a media type"));
        let by_header = server.get_with("/api/tables/t", &[("accept", media_type)]);
        assert_eq!(rows(&by_header), rows(&by_suffix), "{media_type}");
        let sql = server.get(&format!("/api/sql?q=select%20*%20from%20t&format={suffix}"));
        if suffix != "html" {
            assert_eq!(sql.body, by_suffix.body, "{suffix} over SQL");
        }
    }
    assert_eq!(server.get("/api/tables/t.csv").text(), "a,b\n1,x\n2,\"y,\"\"z\"\n");
    assert_eq!(server.get("/api/tables/t.ndjson").text(), "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y,\\\"z\"}\n");
    assert_eq!(server.get("/api/tables/t?format=xml").json()["error"], "unknown_format");
}

#[test]
fn quality_values() {
    let server = server();
    for (accept, expected) in [
        ("text/csv;q=0.5, application/json;q=0.1", "text/csv"),
        ("text/html;q=0.1, */*;q=0.5", "application/json"),
        ("image/png", "application/json"),
        ("application/json;q=0, text/csv", "text/csv"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
    ] {
        let answer = server.get_with("/api/tables/t", &[("accept", accept)]);
        let given = answer.header("content-type").expect("a media type");
        assert!(given.starts_with(expected), "{accept}: {given}");
    }
}

#[test]
fn empty_answers_are_valid() {
    let server = server();
    let empty = |suffix: &str| server.get(&format!("/api/tables/t.{suffix}?filter[a]gt=100"));
    assert_eq!(empty("json").text(), "[]");
    assert_eq!(empty("csv").text(), "a,b\n");
    assert_eq!(empty("ndjson").text(), "");
    let stream = empty("arrows").body;
    let reader = arrow::ipc::reader::StreamReader::try_new(stream.as_slice(), None).expect("an Arrow stream");
    assert_eq!(reader.schema().fields().len(), 2);
    let parquet = empty("parquet").body;
    assert_eq!(&parquet[..4], b"PAR1");
    assert_eq!(&parquet[parquet.len() - 4..], b"PAR1");
    let workbook = empty("xlsx").body;
    assert_eq!(&workbook[..4], b"PK\x03\x04");
    assert_eq!(&workbook[workbook.len() - 22..][..4], b"PK\x05\x06");
}

#[test]
fn large_answers_stream_whole_in_every_coding() {
    let server = server();
    let plain = server.get("/api/tables/big");
    assert_eq!(plain.header("transfer-encoding"), Some("chunked"));
    assert_eq!(plain.json().as_array().map(Vec::len), Some(20_000));
    for coding in ["gzip", "br", "zstd"] {
        let answer = server.get_with("/api/tables/big", &[("accept-encoding", coding)]);
        assert_eq!(answer.header("content-encoding"), Some(coding));
        assert!(answer.body.len() < plain.body.len() / 2, "{coding}");
        let mut unpacked = Vec::new();
        match coding {
            "gzip" => flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut unpacked).map(drop),
            "br" => brotli::Decompressor::new(&answer.body[..], 4096).read_to_end(&mut unpacked).map(drop),
            _ => zstd::stream::copy_decode(&answer.body[..], &mut unpacked),
        }
        .expect("well-formed");
        assert!(unpacked == plain.body, "{coding}");
    }
    let stream = server.get("/api/tables/big.arrows").body;
    let reader = arrow::ipc::reader::StreamReader::try_new(stream.as_slice(), None).expect("an Arrow stream");
    assert_eq!(reader.map(|batch| batch.expect("a batch").num_rows()).sum::<usize>(), 20_000);
}

#[test]
fn head_has_no_body() {
    let answer = server().ask("HEAD", "/api/tables/t", &[], b"");
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    assert!(answer.header("content-length").is_some_and(|length| length != "0"));
}
