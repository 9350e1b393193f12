//! Sources that change, break and come back while they are served; a bad one never stops the others; the end is clean.

use std::io::{Read, Write};

use salver_formats::Format;

use super::export::rows::file;
use super::server::{Answer, Server};

const TOML: &str = "[[dataset]]\nname = \"t\"\nsource = \"t.csv\"\nrefresh = \"100ms\"\n";

#[test]
fn changed_broken_and_mended() {
    let server = Server::with(TOML, &[("t.csv", b"a\n1\n")]);
    let sum = |server: &Server| server.get("/api/sql?q=select%20sum(a)%20as%20s%20from%20t").text().to_owned();
    assert_eq!(server.get("/api/tables/t").text(), r#"[{"a":1}]"#);
    assert_eq!(sum(&server), r#"[{"s":1}]"#);
    std::fs::write(server.file("t.csv"), "a\n1\n22\n").expect("written");
    server.until(|server| server.get("/api/tables/t").text() == r#"[{"a":1},{"a":22}]"#);
    assert_eq!(sum(&server), r#"[{"s":23}]"#);

    std::fs::remove_file(server.file("t.csv")).expect("removed");
    server.until(|server| server.get("/ready").json()["entries"]["t"]["state"] == "stale");
    assert_eq!(server.get("/api/tables/t").text(), r#"[{"a":1},{"a":22}]"#);
    assert!(server.get("/ready").json()["entries"]["t"]["message"].as_str().is_some_and(|m| m.contains("t.csv")));

    std::fs::write(server.file("t.csv"), "a\n7\n").expect("written");
    server.until(|server| server.get("/api/tables/t").text() == r#"[{"a":7}]"#);
    assert_eq!(server.get("/ready").json()["entries"]["t"]["state"], "ready");
}

/// A Parquet file that is scanned where it lies, and replaced: until it is loaded again there is the old answer or
/// none, never the new rows by the old statistics, also when nobody asked for refreshes.
#[test]
fn a_scanned_file_that_is_replaced() {
    let maker = Server::of(&[("one.csv", b"x\n1\n2\n"), ("two.csv", b"x\n1001\n1002\n")]);
    let parquet = |name: &str| maker.get(&format!("/api/tables/{name}.parquet")).body;
    let toml = "[[dataset]]\nname = \"p\"\nsource = \"p.parquet\"\nmemory = \"never\"\n";
    let server = Server::with(toml, &[("p.parquet", &parquet("one"))]);
    let ask = |server: &Server, n: u32| server.get(&format!("/api/tables/p?filter[x]gt=0&columns=x&limit={n}"));
    assert_eq!(ask(&server, 5).text(), r#"[{"x":1},{"x":2}]"#);
    std::fs::write(server.file("new.tmp"), parquet("two")).expect("written");
    std::fs::rename(server.file("new.tmp"), server.file("p.parquet")).expect("renamed");
    let tries = std::cell::Cell::new(100);
    server.until(|server| {
        tries.set(tries.get() + 1);
        let answer = ask(server, tries.get());
        assert!(answer.status == 200 || answer.json()["error"] == "entry_unavailable", "{}", answer.text());
        let is_new = answer.status == 200 && answer.text() == r#"[{"x":1001},{"x":1002}]"#;
        assert!(is_new || answer.status == 503, "{}", answer.text());
        is_new
    });
}

/// A Parquet file that is scanned where it lies, and replaced while its rows are on their way: they are read to their
/// end as they were.
#[test]
fn a_scanned_file_that_is_replaced_under_its_readers() {
    const ROWS: i64 = 600_000;
    let toml = "[limits]\nrows_max = 1000000\n[[dataset]]\nname = \"p\"\nsource = \"p.parquet\"\nmemory = \"never\"\n";
    let server = Server::with(toml, &[("p.parquet", &file(0..ROWS, Format::Parquet))]);
    let target = "/api/sql?format=ndjson&q=select%20id,name%20from%20p%20where%20id%20%3E=%200";
    let head = format!("GET {target} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address());
    let begun: Vec<_> = (0..3)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(head.as_bytes()).expect("sent");
            let mut first = [0; 1000];
            stream.read_exact(&mut first).expect("an answer begins");
            (stream, first)
        })
        .collect();
    std::fs::write(server.file("new.tmp"), file(ROWS..ROWS + 5, Format::Parquet)).expect("written");
    std::fs::rename(server.file("new.tmp"), server.file("p.parquet")).expect("renamed");
    for (mut stream, first) in begun {
        let mut bytes = first.to_vec();
        stream.read_to_end(&mut bytes).expect("an answer ends");
        assert!(bytes.ends_with(b"\r\n0\r\n\r\n"), "the body is cut");
        let answer = Answer::parse(&bytes);
        assert_eq!(answer.status, 200);
        let mut lines = answer.text().lines();
        assert!(lines.next().is_some_and(|line| line.starts_with("{\"id\":")));
        assert_eq!(lines.count() as i64, ROWS - 1);
    }
    server.until(|server| {
        let answer = server.get("/api/tables/p?filter[id]gteq=0&columns=id");
        assert!(answer.status == 200 || answer.json()["error"] == "entry_unavailable", "{}", answer.text());
        answer.status == 200 && answer.text().starts_with(&format!("[{{\"id\":{ROWS}}}"))
    });
}

/// A dataset of very many small files is loaded in the time that they take, and not in that of their square.
#[test]
fn three_thousand_files() {
    let names: Vec<String> = (0..3_000).map(|n| format!("many/{n}.csv")).collect();
    let texts: Vec<String> = (0..3_000).map(|n| format!("a,b\n{n},x\n")).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let server = Server::with("[[dataset]]\nname = \"many\"\nsource = \"many/*.csv\"\n", &files);
    let answer = server.get("/api/sql?q=select%20count(*)%20as%20n,%20sum(a)%20as%20s%20from%20many");
    assert_eq!(answer.text(), r#"[{"n":3000,"s":4498500}]"#);
}

#[test]
fn a_bad_table_stops_nobody() {
    let server = Server::of(&[("good.csv", b"a\n1\n"), ("bad.parquet", b"not parquet at all"), ("worse.json", b"[{")]);
    assert_eq!(server.get("/api/tables/good").text(), r#"[{"a":1}]"#);
    for bad in ["bad", "worse"] {
        let answer = server.get(&format!("/api/tables/{bad}"));
        assert_eq!(answer.status, 503, "{bad}");
        assert!(answer.json()["message"].as_str().is_some_and(|m| m.contains(bad)), "{}", answer.text());
        assert_eq!(server.get("/ready").json()["entries"][bad]["state"], "failed");
        assert!(server.get("/api/schema").json()[bad]["error"].is_string());
    }
    assert_eq!(server.get("/api/sql?q=select%20a%20from%20good").text(), r#"[{"a":1}]"#);
}

#[test]
fn the_index_is_never_nothing() {
    let server = Server::of(&[("a%20<b>.csv", b"x\n<script>\n")]);
    let json = server.get("/");
    assert_eq!((json.status, json.header("content-type")), (200, Some("application/json")));
    let url = json.json()["entries"]["a%20<b>"]["rows_url"].as_str().expect("an address").to_owned();
    assert_eq!(server.get(&url).text(), r#"[{"x":"<script>"}]"#);
    let page = server.get("/plain");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.text().contains("&lt;script&gt;") && !page.text().contains("<script>"));
    assert_eq!(server.get("/health").text(), "OK");
    assert_eq!(server.get("/no/such").json()["error"], "not_found");
    let refused = server.ask("DELETE", "/api/tables/x", &[], b"");
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
}

/// A request in flight ends whole after SIGTERM, new connections are refused, and the exit code is 0.
#[test]
fn drains() {
    let mut rows = String::from("id,word\n");
    for id in 0..200_000 {
        rows.push_str(&format!("{id},some words to make the row longer {id}\n"));
    }
    let mut server = Server::of(&[("big.csv", rows.as_bytes())]);
    let mut stream = server.connect();
    stream.write_all(b"GET /api/tables/big.ndjson HTTP/1.1\r\nhost: localhost\r\n\r\n").expect("sent");
    let mut first = [0; 1024];
    stream.read_exact(&mut first).expect("the answer begins");
    let id = server.child().id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().is_ok_and(|status| status.success()));
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("the answer ends");
    assert!(rest.ends_with(b"0\r\n\r\n"), "the last chunk arrived");
    assert!(server.child().wait().is_ok_and(|status| status.success()));
}
