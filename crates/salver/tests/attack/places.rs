//! Clients that take every place, connection, snapshot or cursor there is and do nothing with it.
//!
//! The hostile client comes from the server's own address, 127.0.0.1, or from several others of 127.0.0.0/8; who goes
//! on being answered comes from another one yet.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use salver_testkit::servers::{Database, Kind};
use serde_json::Value as Json;

use crate::attack::siege::Siege;
use crate::server::Server;

/// A guard against hanging, no measurement. Who waits behind idle responses of its own waits for half a minute.
const PATIENCE: Duration = Duration::from_secs(120);

/// The address 127.0.0.`last`.
fn from(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, last)
}

/// A connection from an address of this machine; a small window, so that what is not read does not go out.
fn connect(server: &Server, own: Ipv4Addr) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    socket.bind(&SocketAddr::from((own, 0)).into()).unwrap();
    let to: SocketAddr = server.address().parse().unwrap();
    socket.connect(&to.into()).unwrap();
    let stream: TcpStream = socket.into();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends a request whose answer nobody reads.
fn send(server: &Server, own: Ipv4Addr, request: &str) -> TcpStream {
    let mut stream = connect(server, own);
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn request(method: &str, target: &str, body: &str) -> String {
    let length = body.len();
    format!("{method} {target} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// The status and the body of an answer to who closes behind it.
fn ask(server: &Server, own: Ipv4Addr, method: &str, target: &str, body: &str) -> (u16, String) {
    let length = body.len();
    let text = format!(
        "{method} {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let mut stream = send(server, own, &text);
    let mut answer = Vec::new();
    // A connection that is closed while the request is on its way is an answer, too: none.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}

/// Asks until the answer is a good one: what is idle takes a moment to yield.
fn answered(server: &Server, own: Ipv4Addr, method: &str, target: &str, body: &str) -> String {
    let end = Instant::now() + PATIENCE;
    loop {
        let (status, text) = ask(server, own, method, target, body);
        if (200..300).contains(&status) {
            return text;
        }
        assert!(Instant::now() < end, "{method} {target} from {own}: {status} {text}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// What is taken of a kind, as `/ready` tells it.
fn taken(server: &Server, kind: &str) -> u64 {
    let (status, text) = ask(server, from(1), "GET", "/ready", "");
    assert_eq!(status, 200, "{text}");
    // The body may be chunked; what counts lies between the outermost braces.
    let json: Json = serde_json::from_str(&text[text.find('{').unwrap()..=text.rfind('}').unwrap()]).unwrap();
    let held = json["held"].as_array().unwrap_or_else(|| panic!("{json}"));
    held.iter().filter(|one| one["kind"] == kind).map(|one| one["taken"].as_u64().unwrap()).sum()
}

fn until(what: &str, done: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Rows, of which 200,000 are more than the buffers between two programs hold.
fn table(rows: usize) -> Vec<u8> {
    let mut text = String::from("id,text\n");
    for id in 0..rows {
        writeln!(text, "{id},{:0>60}", id).unwrap();
    }
    text.into_bytes()
}

/// A database with a long table and a small one.
const LONG: &str = "create table long (id integer primary key, text text not null);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
    insert into long select i, printf('%0120d', i) from n;
    create table small (id integer primary key, name text not null);
    insert into small values (1, 'one'), (2, 'two');";

/// A server of a SQLite database, which is made beside it first.
fn with_database(settings: &str) -> (Server, Database) {
    let database = salver_testkit::servers::database(Kind::Sqlite, LONG);
    let toml = format!("[[database]]\nname = \"d\"\nurl = \"{}\"\nwritable = true\n{settings}", database.url());
    (Server::with(&toml, &[]), database)
}

#[test]
fn half_requests_stop_nobody() {
    rlimit::increase_nofile_limit(8_192).unwrap();
    let bounds = ["-n 1024", "-v 12582912"];
    let server = Server::bounded(&bounds, "[limits]\nhead_ms_max = 600000\n", &[("t.csv", b"a\n1\n")]);
    let halves = ["", "GET /health HT", "POST /api/sql HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\nsel"];
    for round in halves {
        // From the address of who is answered, too.
        let held: Vec<TcpStream> = (0_u16..1_100)
            .map(|number| {
                let mut stream = connect(&server, from(1 + (number % 3) as u8));
                let _ = stream.write_all(round.as_bytes());
                stream
            })
            .collect();
        let started = Instant::now();
        assert_eq!(answered(&server, from(1), "GET", "/health", ""), "OK");
        assert_eq!(answered(&server, from(9), "GET", "/api/tables/t", ""), "[{\"a\":1}]");
        assert!(started.elapsed() < PATIENCE, "{round:?}");
        drop(held);
    }
}

#[test]
fn connections_that_all_work_leave_room_for_a_word() {
    let toml = "[limits]\nconnections_max = 4\n[[stream]]\nname = \"s\"\n";
    let server = Server::with(toml, &[("t.csv", b"a\n1\n")]);
    // Two of one client are all the answers that may wait; the others are long ones of others.
    let tail = request("GET", "/api/streams/s/tail", "");
    let held: Vec<TcpStream> = (2..12).map(|last| send(&server, from(last), &tail)).collect();
    until("some wait", || taken(&server, "tails") > 0);
    assert_eq!(answered(&server, from(1), "GET", "/health", ""), "OK");
    answered(&server, from(40), "GET", "/api/tables/t", "");
    drop(held);
}

#[test]
fn answers_that_nobody_reads_keep_no_place_of_a_query() {
    let toml = "[limits]\nqueries_max = 4\nqueue_ms_max = 5000\n";
    let long = table(200_000);
    let server = Server::with(toml, &[("long.csv", &long), ("t.csv", b"a\n1\n2\n")]);
    let sql =
        request("POST", "/api/sql", "select a.id, a.text, b.text as other from long a join long b on a.id = b.id");
    let held: Vec<TcpStream> = (0..12).map(|number| send(&server, from(1 + number % 2), &sql)).collect();
    until("answers are under way", || taken(&server, "answers") >= 6);
    for own in [from(1), from(3)] {
        let text = answered(
            &server,
            own,
            "POST",
            "/api/sql",
            "select count(*) as n, sum(a) as s from t t1 join t t2 using (a)",
        );
        assert!(text.contains("\"n\":2"), "{text}");
    }
    until("none of them works", || taken(&server, "queries") == 0);
    drop(held);
}

#[test]
fn connections_of_a_database_yield() {
    let (server, _database) = with_database("");
    let list = request("GET", "/api/records/long", "");
    let table = request("GET", "/api/tables/long", "");
    for text in [&list, &table] {
        let held: Vec<TcpStream> = (0..24).map(|number| send(&server, from(1 + number % 4), text)).collect();
        until("some are under way", || taken(&server, "database connections") >= 5);
        for own in [from(1), from(9)] {
            let text = answered(&server, own, "GET", "/api/records/long?filter=id,lt,3&page=1,2000", "");
            assert!(text.contains("\"results\":2"), "{text}");
        }
        drop(held);
        until("all come back", || taken(&server, "database connections") == 0);
    }
}

/// Who waits for a connection waits for less long than it takes to be refused, once: callers of SQL and of tables are
/// not told apart.
#[test]
fn the_only_connection_of_a_database_yields() {
    let (server, _database) = with_database("connections_max = 1\n");
    let read = ("GET", "/api/records/small/1", "");
    let stream = ("POST", "/api/sql", "select min(text) as name from long");
    let table = request("GET", "/api/tables/long", "");
    // Two reads in one transaction, of which the second would go on when the first is over.
    let both = request("POST", "/api/sql", "select * from long union all select * from long");
    for idle in [table, both] {
        for (method, target, body) in [read, stream] {
            let held = send(&server, from(2), &idle);
            until("it is under way", || taken(&server, "database connections") == 1);
            let (status, text) = ask(&server, from(9), method, target, body);
            assert!(status == 200 && text.contains("name"), "{target}: {status} {text}");
            drop(held);
            until("it comes back", || taken(&server, "database connections") == 0);
        }
    }
}

#[test]
fn snapshots_and_leases_yield_to_others() {
    let (server, _database) = with_database("");
    let open = |own, entry: &str| {
        let body = format!("{{\"entry\":\"{entry}\",\"ttl\":86400}}");
        ask(&server, own, "POST", "/api/export", &body)
    };
    let first = open(from(2), "small").1;
    let mut refused = 0;
    for own in 2..9 {
        refused += (0..64).filter(|_| open(from(own), "small").0 != 201).count();
    }
    assert!(refused > 0, "there is a bound");
    assert!(taken(&server, "snapshots") >= 48);
    let opened = answered(&server, from(20), "POST", "/api/export", "{\"entry\":\"small\",\"ttl\":86400}");
    let json: Json = serde_json::from_str(&opened).unwrap();
    let token = json["export"].as_str().unwrap();
    let rows = answered(&server, from(20), "GET", &format!("/api/export/{token}/0?rows=10"), "");
    assert!(rows.contains("two"), "{rows}");
    // Who had most lost the oldest, and is told so.
    let json: Json = serde_json::from_str(&first).unwrap();
    let (status, text) =
        ask(&server, from(2), "GET", &format!("/api/export/{}/0?rows=10", json["export"].as_str().unwrap()), "");
    assert!(status == 200 || text.contains("gone"), "{status} {text}");
}

#[test]
fn running_cursors_yield_to_others() {
    let long = table(3_000);
    let server = Server::of(&[("long.csv", &long)]);
    let body = "{\"query\":\"FOR d IN long FILTER d.id >= 0 SORT d.text RETURN d\",\"batchSize\":1,\"ttl\":86400}";
    for own in 2..6 {
        for _ in 0..100 {
            ask(&server, from(own), "POST", "/api/cursor", body);
        }
    }
    let (all, live) = (taken(&server, "cursors"), taken(&server, "running cursors"));
    assert!(all >= 100 && live >= 100, "{all} {live}");
    let opened = answered(&server, from(20), "POST", "/api/cursor", body);
    assert!(opened.contains("\"hasMore\":true"), "{opened}");
}

#[test]
fn who_follows_leaves_room_for_others_who_do() {
    let siege = Siege::of("[limits]\nconnections_max = 64\n[[stream]]\nname = \"s\"\n", &[]);
    siege.attack("clients that follow", follow);
}

fn follow(server: &Server) {
    let tail = request("GET", "/api/streams/s/tail?from=earliest", "");
    let held: Vec<TcpStream> = (0..60).map(|_| send(server, from(2), &tail)).collect();
    until("as many as one may have", || taken(server, "tails") == 24);
    answered(server, from(3), "POST", "/api/streams/s?ack=disk", "{\"x\":1}");
    let mut other = send(server, from(3), &tail);
    let mut said = String::new();
    while !said.contains("data: {\"x\":1}") {
        let mut some = [0; 1024];
        let count = other.read(&mut some).unwrap();
        assert!(count > 0, "{said}");
        said.push_str(&String::from_utf8_lossy(&some[..count]));
    }
    drop(held);
}

#[test]
fn a_load_that_comes_slowly_keeps_no_writer() {
    let (server, _database) = with_database("");
    // Fast at first, as what goes into the database while it comes.
    let mut rows = String::new();
    for id in 0..20_000 {
        writeln!(rows, "{{\"id\":{},\"text\":\"{:0>40}\"}}", 1_000_000 + id, id).unwrap();
    }
    let mut load = connect(&server, from(2));
    let head = "POST /api/records/long HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n\
        transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    load.write_all(head.as_bytes()).unwrap();
    write!(load, "{:x}\r\n{rows}\r\n", rows.len()).unwrap();
    thread::sleep(Duration::from_millis(700));
    let done = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        let drip = scope.spawn(|| {
            let mut id = 2_000_000;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                id += 1;
                let row = format!("{{\"id\":{id},\"text\":\"x\"}}\n");
                write!(load, "{:x}\r\n{row}\r\n", row.len()).unwrap();
                thread::sleep(Duration::from_millis(100));
            }
            load.write_all(b"0\r\n\r\n").unwrap();
            let mut answer = String::new();
            load.read_to_string(&mut answer).unwrap();
            (id, answer)
        });
        for id in 10..30 {
            let body = format!("{{\"id\":{id},\"name\":\"n\"}}");
            let (status, text) = ask(&server, from(1), "POST", "/api/records/small", &body);
            assert_eq!(status, 200, "{text}");
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        let (last, answer) = drip.join().unwrap();
        let loaded = 20_000 + last - 2_000_000;
        assert!(answer.contains(&format!("\"loaded\":{loaded},\"refused\":0")), "{answer}");
    });
}

#[cfg(feature = "functions")]
#[test]
fn jobs_of_one_leave_room_for_others() {
    let toml = "[limits]\njobs_max = 8\n[[function]]\nfile = \"f.py\"\nworkers = 1\n";
    let slow = b"import time\ndef nap(s: float):\n    time.sleep(s)\n    return s\n";
    let server = Server::with(toml, &[("f.py", slow)]);
    let job = |own| {
        let text = "POST /api/functions/f/nap HTTP/1.1\r\nhost: localhost\r\nprefer: respond-async\r\n\
            content-type: application/json\r\nconnection: close\r\ncontent-length: 9\r\n\r\n{\"s\": 99}";
        let mut answer = String::new();
        let _ = send(&server, own, text).read_to_string(&mut answer);
        answer.get(9..12).map(str::to_owned)
    };
    let accepted = (0..12).filter(|_| job(from(2)).as_deref() == Some("202")).count();
    assert_eq!(accepted, 6, "three quarters");
    assert_eq!(job(from(3)).as_deref(), Some("202"));
}

#[test]
fn who_holds_what_is_told_to_who_may_see_it() {
    let server = Server::with("[server]\nreverse_proxy = true\n", &[("t.csv", b"a\n1\n")]);
    let (status, text) = ask(&server, from(1), "GET", "/ready", "");
    assert!(status == 200 && !text.contains("held"), "{text}");
    let server = Server::of(&[("t.csv", b"a\n1\n")]);
    let (status, text) = ask(&server, from(5), "GET", "/ready", "");
    assert!(status == 200 && text.contains("\"kind\":\"connections\"") && text.contains("127.0.0.5"), "{text}");
}
