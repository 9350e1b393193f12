//! `[[limit]]`: how much each caller may ask for, at every door alike.

use std::io::{Read, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use super::server::{Answer, Server};
use crate::client::Client;
use crate::process::Process;

const PEOPLE: &[u8] = b"id,name\n1,ann\n2,bob\n3,eve\n";
/// More requests than any bucket here has, and than come in again meanwhile.
const MANY: usize = 3_000;
const KEYS: &str = "[auth]\nmode = \"optional\"\napi_keys = [\"staff:0123456789abcdef-staff\"]\n\
    [[role]]\nname = \"staff\"\ncallers = [\"api_key:staff\"]\n";
const STAFF: [(&str, &str); 1] = [("x-api-key", "0123456789abcdef-staff")];
/// Something for every door.
const ENTRIES: &str = "[[stream]]\nname = \"clicks\"\n\
    [[store]]\nname = \"who\"\ndataset = \"people\"\nkey = \"id\"\nvalue = \"name\"\n\
    [[dataset]]\nname = \"people\"\nsource = \"people.csv\"\n\
    [[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\ninit = \"shop.sql\"\nwritable = true\n";
const SHOP: &[u8] =
    b"create table items (id integer primary key, name text); insert into items values (1,'a'),(2,'b'),(3,'c');";

fn served(settings: &str) -> Server {
    Server::with(&format!("{settings}\n{ENTRIES}"), &[("people.csv", PEOPLE), ("shop.sql", SHOP)])
}

fn slug(answer: &Answer) -> String {
    answer.json()["error"].as_str().unwrap_or_default().to_owned()
}

/// Asks until the request is refused, and returns how often it was not, and the refusal.
#[track_caller]
fn until_refused(ask: impl Fn() -> Answer) -> (usize, Answer) {
    for count in 0..MANY {
        let answer = ask();
        if answer.status == 429 {
            return (count, answer);
        }
    }
    panic!("{MANY} requests were answered");
}

#[track_caller]
fn refused_for(answer: &Answer, status: u16, error: &str, key: &str) {
    assert_eq!((answer.status, slug(answer).as_str()), (status, error), "{}", answer.text());
    assert!(answer.text().contains(&format!("`{key}` of [[limit]]")), "{}", answer.text());
}

#[test]
fn every_door_counts() {
    let server = served("[[limit]]\nrequests_per_second = 1\n");
    let event = "{\"a\":1}";
    for (method, target, headers, body) in [
        ("GET", "/api/tables/people", &[][..], ""),
        ("HEAD", "/api/tables/people", &[], ""),
        ("GET", "/api/tables/people?filter[id]gt=1&sort=-name", &[], ""),
        ("GET", "/api/sql?q=select+1", &[], ""),
        ("POST", "/api/sql", &[], "select * from people p join items i on p.id = i.id"),
        ("POST", "/api/graphql", &[("content-type", "application/json")], "{\"query\":\"{people{id}}\"}"),
        ("GET", "/api/kv/who/1", &[], ""),
        ("GET", "/api/records/items", &[], ""),
        ("GET", "/api/records/items/1", &[], ""),
        ("POST", "/api/records/items", &[("content-type", "application/json")], "{\"name\":\"d\"}"),
        ("POST", "/api/streams/clicks", &[("content-type", "application/json")], event),
        ("POST", "/api/streams/clicks?ack=memory", &[], event),
        ("POST", "/api/streams/clicks", &[("salver-key", "k")], event),
        ("POST", "/v0/events?name=clicks", &[], event),
        ("POST", "/topics/clicks", &[("content-type", "application/vnd.kafka.json.v2+json")], "{\"records\":[]}"),
        ("GET", "/api/export/people", &[], ""),
        ("POST", "/_api/cursor", &[], "{\"query\":\"for p in people return p\"}"),
        ("GET", "/ready", &[], ""),
        ("GET", "/metrics", &[], ""),
        ("GET", "/", &[], ""),
        ("GET", "/nowhere", &[], ""),
        ("PUT", "/api/sql", &[], "x"),
    ] {
        let (_, refusal) = until_refused(|| server.ask(method, target, headers, body.as_bytes()));
        assert_eq!(refusal.header("retry-after"), Some("1"), "{method} {target}");
        if method != "HEAD" {
            let text = refusal.text();
            assert!(text.contains("`requests_per_second` of [[limit]]"), "{method} {target}: {text}");
        }
    }
    assert!((0..50).all(|_| server.get("/health").status == 200));
    assert!((0..50).all(|_| server.ask("OPTIONS", "/api/sql", &[], b"").status == 204));
}

/// A request that is not answered at once is not charged twice.
#[test]
fn each_request_counts_once() {
    let burst = 1_500;
    let server = served(&format!("[[limit]]\nrequests_per_second = 1\nburst = {burst}\n"));
    let sql = |number: usize| format!("/api/sql?q=select+sum(value)+from+generate_series(1,{number})+a(value)");
    // The server's start took some, and some come in again: neither makes up for twice as many.
    let most = burst * 2 / 3;
    let answered = (0..most).filter(|number| server.get(&sql(*number)).status == 200).count();
    assert_eq!(answered, most);
    let (_, refusal) = until_refused(|| server.get("/api/tables/people"));
    refused_for(&refusal, 429, "too_many_requests", "requests_per_second");
    drop(server);
    let server = served(&format!("[[limit]]\nrequests_per_second = 1\nburst = {burst}\n"));
    let headers = [("content-type", "application/json")];
    let empty = |_: &usize| server.ask("POST", "/api/streams/clicks", &headers, b" ").status == 400;
    assert_eq!((0..most).filter(empty).count(), most, "what begins as an append that is made at once");
}

#[test]
fn the_first_limit_about_a_caller_decides() {
    let server = served(&format!(
        "{KEYS}[[limit]]\nroles = [\"staff\"]\nrequests_per_second = 0\n\
         [[limit]]\nrequests_per_second = 1\nrows_max = 2\n"
    ));
    let staff = || server.get_with("/api/tables/people?limit=2", &STAFF);
    let (_, refusal) = until_refused(|| server.get("/api/tables/people?limit=2"));
    refused_for(&refusal, 429, "too_many_requests", "requests_per_second");
    assert!((0..200).all(|_| staff().status == 200), "no bound for these");
    // The second limit names rows, of which the first says nothing.
    refused_for(&server.get_with("/api/tables/people", &STAFF), 413, "answer_too_large", "rows_max");
    let page = server.get_with("/metrics", &STAFF);
    for name in ["requests_per_second", "rows_max"] {
        let count = page.text().lines().find_map(|line| {
            line.strip_prefix(&format!("salver_limit_refusals_total{{limit=\"{name}\"}} "))?.parse::<f64>().ok()
        });
        assert!(count.is_some_and(|count| count >= 1.0), "{name}: {}", page.text());
    }
}

#[test]
fn callers_are_addresses_and_networks() {
    let server = served("[server]\nreverse_proxy = true\n[[limit]]\nrequests_per_second = 1\nburst = 100\n");
    let from = |address: &str| server.get_with("/api/tables/people", &[("x-forwarded-for", address)]);
    assert!(until_refused(|| from("192.0.2.1")).0 >= 100);
    assert_eq!(from("192.0.2.2").status, 200);
    assert!(until_refused(|| from("2001:db8::1")).0 >= 100);
    assert_eq!(from("2001:db8:0:1::1").status, 200, "another network");
    let (more, _) = until_refused(|| from("2001:db8::ffff:2"));
    assert!(more < 50, "the same network: {more}");
}

#[test]
fn rows_are_bounded_by_caller() {
    let server = served(&format!("{KEYS}[[limit]]\nroles = [\"staff\"]\nrows_max = 0\n[[limit]]\nrows_max = 2\n"));
    let post = [("content-type", "application/json")];
    let requests = [
        ("GET", "/api/tables/people", ""),
        ("GET", "/api/tables/items", ""),
        ("POST", "/api/sql", "select * from people"),
        ("POST", "/api/sql", "select value from generate_series(1,100000) a(value)"),
        ("GET", "/api/records/items", ""),
        ("GET", "/api/records/items?page=1,50", ""),
        ("GET", "/api/export/people", ""),
    ];
    // More than once, so that neither gets what was kept for the other.
    for round in 0..3 {
        for (method, target, body) in requests {
            let whole = server.ask(method, target, &STAFF, body.as_bytes());
            assert_eq!(whole.status, 200, "{round} {target} {body}: {}", whole.text());
            let refused = server.ask(method, target, &[], body.as_bytes());
            assert_eq!(refused.status, 413, "{round} {target} {body}: {}", refused.text());
            assert!(refused.text().contains("`rows_max` of [[limit]]"), "{target}: {}", refused.text());
        }
        let document = b"{\"query\":\"{people{id}}\"}";
        let whole = server.ask("POST", "/api/graphql", &[STAFF[0], post[0]], document);
        assert!(whole.text().contains("\"id\":3"), "{}", whole.text());
        let refused = server.ask("POST", "/api/graphql", &post, document);
        assert!(refused.text().contains("`rows_max` of [[limit]]"), "{}", refused.text());
    }
    for target in ["/api/tables/people?limit=2", "/api/records/items?page=1,2", "/api/records/items/3"] {
        assert_eq!(server.get(target).status, 200, "{target}");
    }
    // A part of an export has as many as may be, and tells where the next begins.
    let opened = server.ask("POST", "/api/export", &post, b"{\"entry\":\"people\"}").json();
    let token = opened["export"].as_str().unwrap_or_else(|| panic!("{opened}"));
    let part = server.get(&format!("/api/export/{token}/0?rows=100"));
    assert_eq!((part.status, part.header("salver-rows"), part.header("salver-next")), (200, Some("2"), Some("2")));
    // So have pages of events, and batches of cursors.
    for event in ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"] {
        assert_eq!(server.ask("POST", "/api/streams/clicks", &post, event.as_bytes()).status, 200);
    }
    let events = |headers: &[(&str, &str)]| {
        let page = server.get_with("/api/streams/clicks/events?limit=100", headers).json();
        page["events"].as_array().map(Vec::len)
    };
    assert_eq!((events(&[]), events(&STAFF)), (Some(2), Some(3)));
    // A tail ends after as many, and goes on where it was.
    let tail = |headers: &[(&str, &str)]| {
        let answer = server.get_with("/api/streams/clicks/tail?from=earliest&limit=3", headers);
        (answer.text().contains("{\"a\":2}"), answer.text().contains("{\"a\":3}"))
    };
    assert_eq!((tail(&[]), tail(&STAFF)), ((true, false), (true, true)));
    assert_eq!(tail(&[("last-event-id", "0")]), (true, true));
    let cursor = |headers: &[(&str, &str)]| {
        let query = b"{\"query\":\"FOR p IN people RETURN p.id\",\"batchSize\":100}";
        let batch = server.ask("POST", "/_api/cursor", headers, query).json();
        (batch["result"].as_array().map(Vec::len), batch["hasMore"].as_bool())
    };
    assert_eq!((cursor(&post), cursor(&[STAFF[0], post[0]])), ((Some(2), Some(true)), (Some(3), Some(false))));
}

/// What functions answer to reads has as many rows as anything else.
#[cfg(feature = "functions")]
#[test]
fn rows_of_functions_are_bounded_by_caller() {
    let code = b"#* @get /rows\ndef rows(n: int = 3):\n    return [{'id': i} for i in range(n)]\n\n\n\
                 #* @get /numbers\ndef numbers(n: int = 3):\n    return list(range(n))\n";
    let limits = "[[limit]]\nroles = [\"staff\"]\nrows_max = 0\n[[limit]]\nrows_max = 2\n";
    let server = Server::with(&format!("{KEYS}{limits}[[function]]\nfile = \"code.py\"\n"), &[("code.py", code)]);
    server.until(|server| server.get("/rows?n=1").status == 200);
    let as_job = [("prefer", "respond-async, wait=60")];
    for answer in [server.get("/rows"), server.get_with("/rows", &as_job)] {
        refused_for(&answer, 413, "answer_too_large", "rows_max");
    }
    assert_eq!(server.get_with("/rows?n=2", &as_job).status, 200);
    for (target, headers) in [("/rows?n=2", &[][..]), ("/rows", &STAFF), ("/numbers?n=50", &[])] {
        let answer = server.get_with(target, headers);
        assert_eq!(answer.status, 200, "{target}: {}", answer.text());
    }
    // It may be the only report of a change.
    let told = server.post_json("/api/functions/code/rows", "{}");
    assert!(told.status == 200 && told.json()[2]["id"] == 2, "{}", told.text());
}

#[test]
fn general_limits_stay_upper_bounds() {
    let server = served("[limits]\nrows_max = 2\n[[limit]]\nrows_max = 100\n");
    let refused = server.get("/api/tables/people");
    assert_eq!(refused.status, 413, "{}", refused.text());
    assert!(refused.text().contains("`limits.rows_max`"), "{}", refused.text());
}

#[test]
fn time_is_bounded_by_caller() {
    let server =
        served(&format!("{KEYS}[[limit]]\nroles = [\"staff\"]\nquery_ms_max = 0\n[[limit]]\nquery_ms_max = 1\n"));
    // Nine million pairs take more than a millisecond anywhere.
    let slow = "select count(*) from generate_series(1,3000) a(x) join generate_series(1,3000) b(y) on a.x + b.y > 10";
    refused_for(&server.post("/api/sql", slow), 503, "timeout", "query_ms_max");
    assert_eq!(server.ask("POST", "/api/sql", &STAFF, slow.as_bytes()).status, 200);
}

#[test]
fn bodies_are_bounded_by_caller() {
    let server =
        served(&format!("{KEYS}[[limit]]\nroles = [\"staff\"]\nbody_bytes_max = 0\n[[limit]]\nbody_bytes_max = 100\n"));
    let long = format!("{{\"name\":\"{}\"}}", "x".repeat(200));
    let json = [("content-type", "application/json")];
    let requests = [
        ("/api/streams/clicks", &json[..], long.clone()),
        ("/api/streams/clicks", &[("salver-key", "k")], long.clone()),
        ("/api/records/items", &json, long.clone()),
        ("/api/sql", &[], format!("select 1 -- {}", "x".repeat(200))),
    ];
    for (target, headers, body) in &requests {
        let refused = server.ask("POST", target, headers, body.as_bytes());
        refused_for(&refused, 413, "body_too_large", "body_bytes_max");
        // Without a length, it is found out while it comes.
        let mut head = format!("POST {target} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", server.address());
        head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        let refused = Answer::parse(&server.raw(chunked.as_bytes()));
        refused_for(&refused, 413, "body_too_large", "body_bytes_max");
        let with_key: Vec<_> = headers.iter().chain(&STAFF).copied().collect();
        let taken = server.ask("POST", target, &with_key, body.as_bytes());
        assert_eq!(taken.status, 200, "{target}: {}", taken.text());
    }
    assert_eq!(server.ask("POST", "/api/streams/clicks", &json, b"{\"a\":1}").status, 200);
    let events = server.post("/api/sql", "select count(*) as n from clicks");
    assert_eq!(events.json()[0]["n"], 3, "what was refused is not there");
}

#[test]
fn responses_are_bounded_by_caller() {
    let rows = |count: usize| format!("id\n{}", (1..=count).map(|id| format!("{id}\n")).collect::<String>());
    let (some, many) = (rows(1_000), rows(300_000));
    let server = Server::with(
        &format!(
            "{KEYS}[[limit]]\nroles = [\"staff\"]\nresponse_bytes_max = 0\n[[limit]]\nresponse_bytes_max = 400000\n"
        ),
        &[("some.csv", some.as_bytes()), ("many.csv", many.as_bytes())],
    );
    for _ in 0..3 {
        assert_eq!(server.get("/api/tables/some").status, 200);
        assert_eq!(server.get_with("/api/tables/many", &STAFF).status, 200);
    }
    for target in ["/api/tables/many", "/api/tables/many.csv", "/api/export/many.csv"] {
        let head = format!("GET {target} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address());
        let answer = server.raw(head.as_bytes());
        assert!(answer.starts_with(b"HTTP/1.1 200 ") || answer.starts_with(b"HTTP/1.1 413 "), "{target}");
        assert!(answer.len() < 500_000, "{target}: {} bytes", answer.len());
        let is_whole = answer.starts_with(b"HTTP/1.1 200 ") && answer.ends_with(b"0\r\n\r\n");
        assert!(!is_whole, "{target}: a part looks like the whole");
    }
    drop(server);
    let server = served(&format!("{KEYS}[[limit]]\nroles = [\"staff\"]\nresponse_bytes_max = 20\n"));
    refused_for(&server.get_with("/api/tables/people", &STAFF), 413, "answer_too_large", "response_bytes_max");
    let rows = server.ask("POST", "/api/sql", &STAFF, b"select * from people");
    refused_for(&rows, 413, "answer_too_large", "response_bytes_max");
    assert_eq!(server.get_with("/api/tables/people?limit=1&columns=id", &STAFF).status, 200);
    assert_eq!(server.get("/api/tables/people").status, 200);
    // What is the only report of a change is told whole.
    let added = server.ask("POST", "/api/streams/clicks?results=true", &STAFF, b"[{\"a\":1},{\"a\":2},{\"a\":3}]");
    assert!(added.status == 200 && added.body.len() > 20, "{}", added.text());
}

#[test]
fn requests_at_a_time_are_bounded_by_caller() {
    let server = served(&format!(
        "{KEYS}[[limit]]\nroles = [\"staff\"]\nconcurrent_requests_max = 0\n[[limit]]\nconcurrent_requests_max = 2\n"
    ));
    let tail = || {
        let mut stream = server.connect();
        let head = format!("GET /api/streams/clicks/tail HTTP/1.1\r\nhost: {}\r\n\r\n", server.address());
        stream.write_all(head.as_bytes()).expect("sent");
        let mut begun = [0; 12];
        stream.read_exact(&mut begun).expect("an answer");
        assert_eq!(&begun, b"HTTP/1.1 200");
        stream
    };
    let (one, two) = (tail(), tail());
    for (method, target, body) in [
        ("GET", "/api/tables/people", ""),
        ("POST", "/api/sql", "select 1"),
        ("POST", "/api/streams/clicks?ack=memory", "{\"a\":1}"),
    ] {
        let refused = server.ask(method, target, &[], body.as_bytes());
        refused_for(&refused, 429, "too_many_requests", "concurrent_requests_max");
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert!(server.ask(method, target, &STAFF, body.as_bytes()).status < 300, "{target}");
    }
    assert_eq!(server.get("/health").status, 200);
    drop(one);
    server.until(|server| server.get("/api/tables/people").status == 200);
    // Each ends with its answer.
    for _ in 0..50 {
        assert_eq!(server.get("/api/tables/people?sort=-id").status, 200);
        assert_eq!(server.post("/api/sql", "select count(*) from people").status, 200);
        assert_eq!(server.post("/api/streams/clicks", "{\"a\":1}").status, 200);
        assert_eq!(server.post("/api/sql", "selekt").status, 400);
    }
    drop(two);
}

#[test]
fn a_reload_changes_limits() {
    let entries = "[[dataset]]\nname = \"people\"\nsource = \"people.txt\"\nformat = \"csv\"\n";
    let people = std::str::from_utf8(PEOPLE).expect("text");
    let process = Process::with(&format!("[[limit]]\nrequests_per_second = 1\n{entries}"), &[("people.txt", people)]);
    let ask = || Client::new(process.address()).send("GET", "/api/tables/people", &[], None).expect("an answer");
    let until = |status: u16| {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = ask();
            if answer.status == status {
                return answer;
            }
            assert!(Instant::now() < patience, "{answer:?} instead of {status}");
        }
    };
    let reload = |settings: &str| {
        std::fs::write(process.directory().join("salver.toml"), settings).expect("a file");
        let sent = Command::new("kill").args(["-HUP", &process.pid().to_string()]).status().expect("kill");
        assert!(sent.success());
    };
    until(429);
    reload(&format!("[[limit]]\nrows_max = 2\n{entries}"));
    let refused = until(413);
    assert!(refused.body.contains("`rows_max` of [[limit]]"), "{}", refused.body);
    assert!((0..100).all(|_| ask().status == 413), "the first limit is gone");
    // A mistake changes nothing.
    reload(&format!("[[limit]]\nroles = [\"nobody\"]\nrows_max = 100\n{entries}"));
    assert!((0..100).all(|_| ask().status == 413));
    reload(entries);
    until(200);
    assert!((0..100).all(|_| ask().status == 200));
}

#[test]
fn the_limits_of_a_caller_are_explained() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = "[[limit]]\nroles = [\"staff\"]\nrequests_per_second = 0\n\
        [[limit]]\nrequests_per_second = 5\nburst = 20\nrows_max = 1000\n";
    let explain = |settings: &str, arguments: &[&str]| {
        std::fs::write(directory.path().join("salver.toml"), settings).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
        let told = command.args(["access", "explain"]).args(arguments).arg(directory.path()).output().expect("it runs");
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        String::from_utf8(told.stdout).expect("text")
    };
    let alone = format!("{KEYS}{limits}");
    let staff = "limits\n  [[limit]] 1: requests_per_second = 0\n  [[limit]] 2: rows_max = 1000\n";
    let told = explain(&alone, &["--as", "api_key:staff"]);
    assert!(
        told.starts_with("roles: staff\nthere is no [[access]]") && told.contains(&format!("\n\n{staff}")),
        "{told}"
    );
    let told = explain(&alone, &[]);
    let other = "limits\n  [[limit]] 2: requests_per_second = 5, burst = 20, rows_max = 1000\n";
    assert!(told.starts_with("roles: none\n") && told.contains(&format!("\n\n{other}")), "{told}");
    let ruled = format!("{alone}[[access]]\nentries = [\"*\"]\n");
    let told = explain(&ruled, &["--as", "api_key:staff", "--entry", "x"]);
    assert!(told.contains(staff) && told.contains("\nx\n  [[access]] 1: read"), "{told}");
}
