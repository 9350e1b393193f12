//! Exports of many streams: disjoint, read again at any offset, through changes and restarts.

use salver_formats::Format;
use serde_json::{Value, json};

use super::rows::{are_each_once, file, lines};
use crate::client;
use crate::it::server::{Answer, Server};
use crate::process::Process;

const COUNT: i64 = 10_000;

fn server() -> Server {
    let toml = "[[dataset]]\nname = \"a\"\nsource = \"a.parquet\"\nmemory = \"never\"\n\
        [[dataset]]\nname = \"none\"\nsource = \"none.parquet\"\n";
    let empty = file(0..0, Format::Parquet);
    Server::with(toml, &[("a.parquet", &file(0..COUNT, Format::Parquet)), ("none.parquet", &empty)])
}

fn open(server: &Server, body: &Value) -> Value {
    let answer = server.post_json("/api/export", &body.to_string());
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

fn ids(answer: &Answer) -> Vec<i64> {
    answer.text().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_i64().unwrap()).collect()
}

/// Reads a stream batch by batch.
fn read(server: &Server, url: &str, rows: u64) -> Vec<i64> {
    let (mut all, mut next) = (Vec::new(), Some(0));
    while let Some(offset) = next {
        let answer = server.get(&format!("{url}?offset={offset}&rows={rows}"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let number = |name: &str| answer.header(name).map(|text| text.parse::<u64>().unwrap());
        let sum = u32::from_str_radix(answer.header("salver-crc32").unwrap(), 16).unwrap();
        assert_eq!(sum, crc32fast::hash(&answer.body));
        assert_eq!(number("salver-offset"), Some(offset));
        let got = ids(&answer);
        assert_eq!(number("salver-rows"), Some(got.len() as u64));
        all.extend(got);
        next = number("salver-next");
        assert!(next.is_none_or(|next| next == all.len() as u64));
    }
    all
}

#[test]
fn streams_are_disjoint_and_all() {
    let server = server();
    for streams in [1, 2, 7, 64] {
        let export = open(&server, &json!({ "entry": "a", "streams": streams, "columns": ["id"] }));
        assert_eq!((&export["rows"], &export["entry"]), (&json!(COUNT), &json!("a")));
        assert_eq!(export["schema"], json!([{ "name": "id", "type": "Int64" }]));
        let urls: Vec<&str> =
            export["streams"].as_array().unwrap().iter().map(|s| s["url"].as_str().unwrap()).collect();
        assert_eq!(urls.len(), streams);
        let mut all = Vec::new();
        for url in &urls {
            let rows = read(&server, url, 700);
            // The rest of a stream in one body is the same.
            assert_eq!(ids(&server.get(&format!("{url}?offset=0"))), rows);
            all.extend(rows);
        }
        assert!(all.is_sorted());
        are_each_once(all, COUNT as usize);
        let token = export["export"].as_str().unwrap();
        assert_eq!(server.get(&format!("/api/export/{token}")).json(), export);
    }
}

#[test]
fn any_offset_any_number_of_times_in_any_format() {
    let server = server();
    let export = open(&server, &json!({ "entry": "a", "streams": 2 }));
    let url = export["streams"][1]["url"].as_str().unwrap();
    let first = COUNT / 2;
    for offset in [0, 4_000, 17, 4_999, 17] {
        let answer = server.get(&format!("{url}?offset={offset}&rows=3"));
        let expected: Vec<i64> = (first + offset..(first + offset + 3).min(COUNT)).collect();
        assert_eq!(ids(&answer), expected);
        let csv = server.get(&format!("{url}?offset={offset}&rows=3&format=csv"));
        let bare = server.get(&format!("{url}?offset={offset}&rows=3&format=csv&header=false"));
        assert_eq!(csv.text().strip_prefix("id,name,score\n"), Some(bare.text()));
        let arrow = server.get(&format!("{url}?offset={offset}&rows=3&format=arrows"));
        assert_eq!(super::rows::stream(&arrow.body).num_rows(), expected.len());
    }
    let end = server.get(&format!("{url}?offset=5000&rows=3"));
    assert_eq!((end.status, end.header("salver-rows"), end.header("salver-next")), (200, Some("0"), None));
    let beyond = server.get(&format!("{url}?offset=5001&rows=3"));
    assert_eq!(beyond.status, 400);
    assert!(beyond.json()["message"].as_str().unwrap().contains("has 5000 rows"), "{}", beyond.text());
    let none = open(&server, &json!({ "entry": "none", "streams": 3 }));
    for stream in none["streams"].as_array().unwrap() {
        assert_eq!(read(&server, stream["url"].as_str().unwrap(), 10), [0_i64; 0]);
    }
}

#[test]
fn mistakes_are_told() {
    let server = server();
    for (body, message, hint) in [
        (json!({ "entry": "a", "steams": 2 }), "unknown field `steams`", "did you mean `streams`?"),
        (json!({ "entry": "a", "streams": 65 }), "`streams` is a whole number from 1 to 64", "send something like"),
        (json!({ "entry": "a", "streams": 0 }), "`streams` is a whole number from 1 to 64", "send something like"),
        (json!({ "entry": "a", "ttl": -1 }), "`ttl` is a whole number from 1 to 86400", "send something like"),
        (json!({ "entry": "a", "columns": "id" }), "`columns` is an array", "send something like"),
        (json!({ "entry": "a", "columns": ["ids"] }), "no column `ids` in `a`", "did you mean `id`?"),
        (json!({ "entry": 1 }), "`entry` is the name of an entry", "send something like"),
    ] {
        let answer = server.post_json("/api/export", &body.to_string());
        let json = answer.json();
        assert_eq!(answer.status, 400, "{body}");
        assert!(json["message"].as_str().unwrap().starts_with(message), "{body}: {json}");
        assert!(json["hint"].as_str().unwrap().starts_with(hint), "{body}: {json}");
    }
    assert_eq!(server.post_json("/api/export", "{\"entry\":\"b\"}").status, 404);
    let export = open(&server, &json!({ "entry": "a" }));
    let token = export["export"].as_str().unwrap();
    for (target, status) in [
        (format!("/api/export/{token}/1"), 404),
        (format!("/api/export/{token}/x"), 404),
        (format!("/api/export/{token}/0?offest=1"), 400),
        (format!("/api/export/{token}/0?rows=0"), 400),
        (format!("/api/export/{token}/0?offset=-1"), 400),
        (format!("/api/export/{token}A/0"), 400),
        ("/api/export/x_AAAA/0".to_owned(), 400),
        ("/api/export/nothing/0".to_owned(), 400),
    ] {
        assert_eq!(server.get(&target).status, status, "{target}");
    }
    assert_eq!(server.ask("DELETE", &format!("/api/export/{token}"), &[], b"").status, 204);
    let over = server.get(&format!("/api/export/{token}/0?rows=1"));
    assert_eq!((over.status, over.json()["message"].as_str()), (410, Some("this export of `a` was ended")));
}

#[test]
fn a_snapshot_stays_while_the_entry_is_replaced() {
    let server = Server::with(
        "[[dataset]]\nname = \"a\"\nsource = \"a.parquet\"\nrefresh = \"1s\"\n",
        &[("a.parquet", &file(0..COUNT, Format::Parquet))],
    );
    let export = open(&server, &json!({ "entry": "a", "streams": 3 }));
    let urls: Vec<&str> = export["streams"].as_array().unwrap().iter().map(|s| s["url"].as_str().unwrap()).collect();
    let mut all = read(&server, urls[0], 1000);
    let new = server.file("new.parquet");
    std::fs::write(&new, file(0..7, Format::Parquet)).unwrap();
    std::fs::rename(&new, server.file("a.parquet")).unwrap();
    server.until(|server| server.get("/api/export/a").header("salver-rows") == Some("7"));
    all.extend(read(&server, urls[1], 1000));
    all.extend(read(&server, urls[2], 1000));
    are_each_once(all, COUNT as usize);
}

#[test]
fn a_stream_s_export_has_the_events_of_its_beginning() {
    let server = Server::with("[server]\ndata_dir = \"data\"\n[[stream]]\nname = \"events\"\n", &[]);
    let send =
        |numbers: std::ops::Range<i64>| assert_eq!(server.post("/api/streams/events", &lines(numbers)).status, 200);
    send(0..1000);
    let export = open(&server, &json!({ "entry": "events", "streams": 3, "columns": ["id"] }));
    let mut all = Vec::new();
    for (index, stream) in export["streams"].as_array().unwrap().iter().enumerate() {
        send(1000 + index as i64 * 10..1010 + index as i64 * 10);
        all.extend(read(&server, stream["url"].as_str().unwrap(), 100));
    }
    are_each_once(all, 1000);
}

#[test]
fn tokens_survive_the_server_but_not_the_version() {
    let mut process =
        Process::with("[[dataset]]\nname = \"a\"\nsource = \"a.ndjson\"\n", &[("a.ndjson", &lines(0..1000))]);
    let body = "{\"entry\":\"a\",\"streams\":2}";
    let answer = process.send("POST", "/api/export", Some(body));
    assert_eq!(answer.status, 201, "{}", answer.body);
    let export = answer.json();
    let url = |stream: usize| export["streams"][stream]["url"].as_str().unwrap().to_owned();
    let before = encoded_rows(&process.send("GET", &format!("{}?rows=1000", url(0)), None));
    process.restart();
    let after = encoded_rows(&process.send("GET", &format!("{}?rows=1000", url(1)), None));
    are_each_once(before.into_iter().chain(after), 1000);
    std::fs::write(process.directory().join("a.ndjson"), lines(0..1001)).unwrap();
    process.restart();
    let gone = process.send("GET", &url(1), None);
    assert_eq!(gone.status, 410);
    assert_eq!(gone.json()["message"], "this export is gone: `a` changed since it began");
    std::fs::rename(process.directory().join("a.ndjson"), process.directory().join("b.ndjson")).unwrap();
    std::fs::write(process.directory().join("salver.toml"), "[[dataset]]\nname = \"b\"\nsource = \"b.ndjson\"\n")
        .unwrap();
    process.restart();
    let gone = process.send("GET", &url(1), None);
    assert_eq!(gone.status, 410);
    assert!(gone.body.contains("`a` is not served any more"), "{}", gone.body);
}

#[test]
fn a_database_s_export_is_one_transaction_and_expires_with_it() {
    let toml = "[[database]]\nname = \"db\"\nurl = \"sqlite:db.sqlite\"\ninit = \"db.sql\"\nwritable = true\n";
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT);\n\
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)\n\
        INSERT INTO t SELECT i, 'word ' || i FROM n;\n";
    let server = Server::with(toml, &[("db.sql", sql.as_bytes())]);
    server.until(|server| server.get("/api/tables/t?limit=1").status == 200);
    let export = open(&server, &json!({ "entry": "t", "streams": 3 }));
    let streams = export["streams"].as_array().unwrap();
    let mut all = read(&server, streams[0]["url"].as_str().unwrap(), 700);
    let new = server.post_json("/api/records/t", "{\"id\":5000,\"word\":\"new\"}");
    assert_eq!(new.status, 200, "{}", new.text());
    for stream in &streams[1..] {
        all.extend(read(&server, stream["url"].as_str().unwrap(), 700));
    }
    are_each_once(all, 5000);
    assert_eq!(server.get("/api/export/t").text().lines().count(), 5001);
    let short = open(&server, &json!({ "entry": "t", "ttl": 1 }));
    let url = format!("{}?rows=1", short["streams"][0]["url"].as_str().unwrap());
    // Each try renews it, so that each waits longer than the one before.
    let mut wait = std::time::Duration::from_millis(1100);
    let over = loop {
        std::thread::sleep(wait);
        let answer = server.get(&url);
        if answer.status != 200 {
            break answer;
        }
        wait *= 2;
        assert!(wait.as_secs() < 60, "it does not expire");
    };
    assert_eq!(over.status, 410);
    assert!(over.json()["message"].as_str().unwrap().contains("expired: nobody read it for 1 s"), "{}", over.text());
}

/// The numbers of rows in NDJSON.
fn encoded_rows(answer: &client::Answer) -> Vec<i64> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let number = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_i64().unwrap();
    answer.body.lines().map(number).collect()
}
