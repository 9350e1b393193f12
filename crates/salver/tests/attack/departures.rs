//! Work ends when its client leaves, at every door that makes the server work for long: when a connection closes, and
//! when a stream of HTTP/2 is cancelled.

use std::io::Write;
use std::time::{Duration, Instant};

use super::frames::{DATA, END_HEADERS, END_STREAM, HEADERS, Http2, RESET, frame, head, literal};
use super::siege::Siege;
use crate::server::Server;

const SETTINGS: &str = r#"
[limits]
query_ms_max = "1h"
[[database]]
name = "shop"
url = "sqlite:shop.db"
init = "shop.sql"
statement_ms_max = "1h"
[[function]]
file = "code.py"
timeout = "1h"
"#;
/// Views of more rows than any machine reads: `pairs` gives them, `rare` finds none.
const SHOP: &[u8] = b"
    create table n (id integer primary key);
    with recursive c(id) as (select 1 union all select id + 1 from c where id < 100000) insert into n select id from c;
    create view pairs as select a.id, b.id as b from n a, n b;
    create view rare as select a.id, b.id as b from n a, n b where a.id + b.id < 0;
";
const CODE: &[u8] = b"def spin() -> int:\n    while True:\n        pass\n";
const ENDLESS: &str = "select count(*) as n from range(1, 900000000000) where value % 10 = 11";
/// A guard against work that goes on.
const PATIENCE: Duration = Duration::from_secs(60);
const JSON: &str = "application/json";

/// A request that works without an end.
struct Endless {
    name: &'static str,
    method: &'static str,
    target: String,
    media_type: &'static str,
    body: String,
}

/// Processor time of a process, in hundredths of a second; none if it has ended.
fn own_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, fields)) = stat.rsplit_once(')') else { return 0 };
    // User and system time, fields 14 and 15 of proc(5); the state is the first behind the name.
    fields.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<u64>().ok()).sum()
}

/// The processes that a process has begun, on any of its threads.
fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let numbers = |list: String| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>();
    lists.flat_map(numbers).collect()
}

/// Processor time of the server and all processes below it.
fn family_ticks(server: &Server) -> u64 {
    let mut family = vec![server.pid()];
    let mut next = 0;
    while let Some(pid) = family.get(next).copied() {
        family.extend(children(pid));
        next += 1;
    }
    family.into_iter().map(own_ticks).sum()
}

/// Waits until the server, or what it runs, works for a request.
fn until_busy(server: &Server) {
    let before = family_ticks(server);
    server.until(|server| family_ticks(server) > before + 30);
}

/// Waits until nothing works any more.
fn until_idle(server: &Server, name: &str) {
    let began = Instant::now();
    loop {
        let before = family_ticks(server);
        std::thread::sleep(Duration::from_millis(500));
        // A worker that was ended takes its time along.
        if family_ticks(server).saturating_sub(before) <= 5 {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{name}: work goes on that nobody waits for");
    }
}

fn siege() -> Siege {
    let siege = Siege::of(SETTINGS, &[("t.csv", b"a\n1\n"), ("shop.sql", SHOP), ("code.py", CODE)]);
    let is_there = |server: &Server, path: &str| server.get(path).status == 200;
    siege.server().until(|server| is_there(server, "/api/functions/code") && is_there(server, "/api/columns/rare"));
    siege
}

fn endless() -> Vec<Endless> {
    let get = |name, target: &str| Endless {
        name,
        method: "GET",
        target: target.to_owned(),
        media_type: "text/plain",
        body: String::new(),
    };
    let post = |name, target: &str, media_type, body: &str| Endless {
        name,
        method: "POST",
        target: target.to_owned(),
        media_type,
        body: body.to_owned(),
    };
    let query = |text: &str| serde_json::json!({ "query": text }).to_string();
    vec![
        get("a statement in the target", &format!("/api/sql?q={}", ENDLESS.replace('%', "%25").replace(' ', "%20"))),
        post("a statement", "/api/sql", "text/plain", ENDLESS),
        post("a statement over a view", "/api/sql", "text/plain", "select count(*) as n from rare"),
        get("rows of a table", "/api/tables/rare?limit=1"),
        get("all rows of a table", "/api/tables/rare"),
        get("groups of a table", "/api/tables/pairs?columns=b,count()&group=b"),
        post("a document", "/api/graphql", JSON, &query("{ rare(limit: 1) { id } }")),
        post("an aggregate of a document", "/api/graphql", JSON, &query("{ rare_aggregate { count } }")),
        get("a list of records", "/api/records/rare"),
        get("a page of records", "/api/records/pairs?page=1,10"),
        get("features", "/api/geojson/rare"),
        get("an export", "/api/export/rare.csv"),
        post("a cursor over SQL", "/_api/cursor", JSON, &query(ENDLESS)),
        post("a cursor over AQL", "/_api/cursor", JSON, &query("FOR x IN rare RETURN x")),
        post("a function", "/api/functions/code/spin", JSON, "{}"),
    ]
}

#[test]
fn work_ends_when_a_connection_closes() {
    let siege = siege();
    for Endless { name, method, target, media_type, body } in endless() {
        let mut stream = siege.server().connect();
        let head = format!("{method} {target} HTTP/1.1\r\nhost: {}\r\n", siege.server().address());
        let head = format!("{head}content-type: {media_type}\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
        until_busy(siege.server());
        drop(stream);
        until_idle(siege.server(), name);
    }
    siege.is_well("departures");
}

#[test]
fn work_ends_when_a_stream_is_cancelled() {
    let siege = siege();
    // One connection for all, which goes on.
    let mut connection = Http2::open(siege.server(), b"");
    for (number, Endless { name, method, target, media_type, body }) in endless().into_iter().enumerate() {
        let stream = 2 * u32::try_from(number).expect("few") + 1;
        let head = [head(method, &target), literal("content-type", media_type.as_bytes())].concat();
        let request =
            [frame(HEADERS, END_HEADERS, stream, &head), frame(DATA, END_STREAM, stream, body.as_bytes())].concat();
        assert!(connection.send(&request), "{name}: sent");
        until_busy(siege.server());
        assert!(connection.send(&frame(RESET, 0, stream, &8_u32.to_be_bytes())), "{name}: cancelled");
        until_idle(siege.server(), name);
    }
    siege.is_well("cancelled streams");
}
