//! Cursors nobody comes back for.

use serde_json::json;

use super::super::server::Server;
use super::{error, numbers, post};

/// What a process has: its open files, and its memory in kilobytes.
fn load(pid: u32) -> (usize, u64) {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its files").count();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    (files, line.trim().trim_end_matches("kB").trim().parse().expect("a number"))
}

/// Waits until a cursor has expired, by asking for it at the door that is not its own, which renews nothing.
fn until_expired(server: &Server, other_door: &str, id: &str) {
    server.until(|server| {
        let (status, number, message) = error(&server.ask("PUT", &format!("{other_door}/{id}"), &[], b""));
        assert_eq!((status, number), (404, 1600));
        message.contains("expired")
    });
}

#[test]
fn expired_and_unknown_are_told_apart() {
    let server = Server::of(&[("many.csv", &numbers(0, 100))]);
    for (open, door, other) in [
        ("/_api/export?collection=many", "/_api/export", "/_api/cursor"),
        ("/_api/cursor", "/_api/cursor", "/_api/export"),
    ] {
        let body = json!({"query": "FOR d IN many RETURN d", "batchSize": 1, "ttl": 0.3});
        let (_, first) = post(&server, open, &body);
        let id = first["id"].as_str().expect("an id");
        until_expired(&server, other, id);
        for method in ["PUT", "DELETE"] {
            let expected = "cursor not found: disposed or unknown cursor; it expired: nobody asked for its next batch within its ttl";
            assert_eq!(error(&server.ask(method, &format!("{door}/{id}"), &[], b"")), (404, 1600, expected.to_owned()));
        }
        let unknown = error(&server.ask("PUT", &format!("{door}/{id}0"), &[], b""));
        assert_eq!(unknown, (404, 1600, "cursor not found: disposed or unknown cursor".to_owned()));
    }
}

/// Who asks in time finds the cursor, however many times its ttl has passed since it was opened.
#[test]
fn renewed_by_asking() {
    let server = Server::of(&[("many.csv", &numbers(0, 100_000))]);
    let open = |ttl: f64| {
        let (_, first) = post(&server, "/_api/export?collection=many", &json!({"batchSize": 1, "ttl": ttl}));
        first["id"].as_str().expect("an id").to_owned()
    };
    let (kept, abandoned) = (open(2.0), open(2.0));
    let next = std::cell::Cell::new(1);
    server.until(|server| {
        let batch = server.ask("PUT", &format!("/_api/export/{kept}"), &[], b"").json();
        assert_eq!(batch["result"][0]["n"], next.get(), "{batch}");
        next.set(next.get() + 1);
        let asked = error(&server.ask("PUT", &format!("/_api/cursor/{abandoned}"), &[], b""));
        asked.2.contains("expired")
    });
}

/// Ten thousand cursors, over an entry in memory and one in a file, are gone after their time, and so is what they had.
#[test]
fn ten_thousand() {
    let maker = Server::of(&[("rows.csv", &numbers(0, 20_000))]);
    let toml = "[[dataset]]\nname = \"resident\"\nsource = \"rows.csv\"\n\
                [[dataset]]\nname = \"scanned\"\nsource = \"rows.parquet\"\nmemory = \"never\"\n";
    let parquet = maker.get("/api/tables/rows.parquet").body;
    let mut server = Server::with(toml, &[("rows.csv", &numbers(0, 20_000)), ("rows.parquet", &parquet)]);
    let pid = server.child().id();
    let open = |name: &str, more: serde_json::Value| {
        let (status, first) = post(&server, &format!("/_api/export?collection={name}"), &more);
        assert_eq!(status, 201, "{first}");
        first["id"].as_str().map(str::to_owned)
    };
    let round = || {
        let mut last = None;
        for name in ["resident", "scanned"].iter().cycle().take(10_000) {
            last = open(name, json!({"batchSize": 200, "ttl": 5}));
            assert!(last.is_some());
        }
        until_expired(&server, "/_api/cursor", &last.expect("an id"));
    };
    // What is opened once and for all is open now.
    for name in ["resident", "scanned"] {
        assert_eq!(open(name, json!({"batchSize": 20_000})), None);
    }
    let (files_idle, kilobytes_idle) = load(pid);
    // The second round finds what the first has left.
    for _ in 0..2 {
        round();
        server.until(|server| {
            // A thread gives memory back when it has something to do.
            assert_eq!(server.get("/health").status, 200);
            let (files, kilobytes) = load(pid);
            files <= files_idle && kilobytes <= kilobytes_idle + 64 * 1024
        });
    }
}
