//! Rows of tens of kilobytes, of one huge value, and of a thousand columns: they keep no thread that answers others,
//! and answers that nobody reads hold little of them in memory.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use salver_testkit::servers::{Database, Kind};

use crate::server::Server;

/// Rows of the table and of the file, and the length of the text in each.
const ROWS: usize = 1_500;
const TEXT_BYTES: usize = 48 * 1024;
/// Answers that nobody reads.
const UNREAD: usize = 100;
/// A guard against hanging, no measurement: the machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(15);
/// What all answers of one kind may hold, with what comes and goes beside them. All of them whole are gigabytes.
const HELD_BYTES_MAX: u64 = 640 * 1024 * 1024;

/// A server of wide rows in a database and in a file, and the database.
fn server() -> (Server, Database) {
    let setup = format!(
        "create table w (id integer primary key, t text not null);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < {ROWS})
         insert into w select i, printf('%0{TEXT_BYTES}d', i) from n;"
    );
    let database = salver_testkit::servers::database(Kind::Sqlite, &setup);
    let mut text = String::from("id,t\n");
    for id in 0..ROWS {
        writeln!(text, "{id},{id:0>TEXT_BYTES$}").unwrap();
    }
    let toml = format!(
        "[limits]\nmemory_bytes_max = \"256MiB\"\nqueries_max = 64\n\
         [[database]]\nname = \"d\"\nurl = \"{}\"\nsearch = \"search\"\n\
         [[dataset]]\nname = \"wide\"\nsource = \"wide.csv\"\nmemory = \"never\"\n",
        database.url()
    );
    (Server::with(&toml, &[("wide.csv", text.as_bytes())]), database)
}

/// Sends a request from an address of this machine, and reads nothing of its answer.
fn send(server: &Server, last: u8, target: &str) -> TcpStream {
    send_whole(server, last, &format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n"))
}

/// The same of a whole request.
fn send_whole(server: &Server, last: u8, request: &str) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0)).into()).unwrap();
    socket.connect(&server.address().parse::<SocketAddr>().unwrap().into()).unwrap();
    let mut stream: TcpStream = socket.into();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn resident_bytes(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
fn wide_rows_that_nobody_reads() {
    let (server, _database) = server();
    server.until(|server| server.get("/api/tables/wide?limit=1").status == 200);
    for target in [
        "/api/records/w",
        "/api/records/w?page=1,1000",
        "/api/records/w?search=0",
        "/api/records/w?filter=t,cs,1",
        "/api/tables/w",
        "/api/tables/w?limit=900",
        "/api/tables/wide",
        "/api/tables/wide.csv",
        "/api/sql?q=select%20t%20from%20wide",
        "/api/sql?q=select%20t%20from%20w",
        "/api/export/wide.csv",
        "/api/export/w.csv",
        "/api/export/d.w.parquet",
    ] {
        let before = resident_bytes(&server);
        let held: Vec<TcpStream> = (0..UNREAD).map(|number| send(&server, 2 + (number % 4) as u8, target)).collect();
        let added = most_while_others_are_answered(&server, target).saturating_sub(before);
        assert!(added < HELD_BYTES_MAX, "{target}: {added} bytes more with {UNREAD} answers that nobody reads");
        drop(held);
    }
}

/// What the server has in memory at most for a while in which others are answered.
fn most_while_others_are_answered(server: &Server, target: &str) -> u64 {
    let (mut most, end) = (0, Instant::now() + Duration::from_secs(3));
    while Instant::now() < end {
        let began = Instant::now();
        assert_eq!(server.get("/health").status, 200, "{target}");
        assert!(began.elapsed() < PATIENCE, "{target}: /health took {:?}", began.elapsed());
        most = most.max(resident_bytes(server));
        thread::sleep(Duration::from_millis(50));
    }
    most
}

#[test]
fn tails_that_nobody_reads() {
    const TAILS: usize = 400;
    // Large events count among the answers that are not taken, which have 256 MiB.
    const SMALL_BYTES_MAX: u64 = 200 * 1024 * 1024;
    const LARGE_BYTES_MAX: u64 = 400 * 1024 * 1024;
    let toml = "[limits]\nmemory_bytes_max = \"256MiB\"\n[[stream]]\nname = \"small\"\n[[stream]]\nname = \"large\"\n";
    let server = Server::with(toml, &[]);
    for (name, count, length, bytes_max) in
        [("small", 20_000, 500, SMALL_BYTES_MAX), ("large", 40, 900_000, LARGE_BYTES_MAX)]
    {
        let text = "x".repeat(length);
        for _ in 0..(count * length).div_ceil(1_500_000) {
            let events = 1_500_000 / length;
            let body: String = (0..events).map(|number| format!("{{\"n\":{number},\"t\":\"{text}\"}}\n")).collect();
            assert_eq!(server.post(&format!("/api/streams/{name}"), &body).status, 200);
        }
        let target = format!("/api/streams/{name}/tail?from=earliest");
        let before = resident_bytes(&server);
        let held: Vec<TcpStream> = (0..TAILS).map(|number| send(&server, 2 + (number % 4) as u8, &target)).collect();
        let added = most_while_others_are_answered(&server, &target).saturating_sub(before);
        assert!(added < bytes_max, "{target}: {added} bytes more with {TAILS} tails that nobody reads");
        assert_eq!(server.post("/api/sql", "select count(*) from generate_series(1, 1000)").status, 200);
        drop(held);
    }
}

#[test]
fn huge_values_that_nobody_reads() {
    // Each of 60 clients would have some of the ten values at once.
    const HUGE_BYTES: usize = 20 * 1024 * 1024;
    const HUGE_HELD_BYTES_MAX: u64 = 2560 * 1024 * 1024;
    let setup = format!(
        "create table huge (id integer primary key, t text not null);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 10)
         insert into huge select i, printf('%0{HUGE_BYTES}d', i) from n;"
    );
    let database = salver_testkit::servers::database(Kind::Sqlite, &setup);
    let toml =
        format!("[limits]\nmemory_bytes_max = \"256MiB\"\n[[database]]\nname = \"d\"\nurl = \"{}\"\n", database.url());
    let server = Server::with(&toml, &[]);
    let cursor = r#"{"query":"for d in huge return d","batchSize":5}"#;
    let cursor =
        format!("POST /api/cursor HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{cursor}", cursor.len());
    let list = |target: &str| format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    for request in [cursor, list("/api/records/huge/1,2"), list("/api/records/huge"), list("/api/tables/huge")] {
        let held: Vec<TcpStream> =
            (0..60).map(|number| send_whole(&server, 2 + (number % 4) as u8, &request)).collect();
        let target = request.lines().next().unwrap_or_default();
        let most = most_while_others_are_answered(&server, target);
        assert!(most < HUGE_HELD_BYTES_MAX, "{target}: {most} bytes");
        drop(held);
    }
}

#[test]
fn tables_of_a_thousand_columns() {
    let names: Vec<String> = (0..1_000).map(|number| format!("c{number}")).collect();
    let setup = format!(
        "create table many ({}); insert into many (c1, c999) values (1, 2), (3, 4);",
        names.iter().map(|name| format!("{name} integer")).collect::<Vec<_>>().join(", ")
    );
    let database = salver_testkit::servers::database(Kind::Sqlite, &setup);
    let row = vec!["1"; names.len()].join(",");
    let csv = format!("{}\n{row}\n{row}\n", names.join(","));
    let toml = format!(
        "[[database]]\nname = \"d\"\nurl = \"{}\"\n\
         [[dataset]]\nname = \"scanned\"\nsource = \"scanned.csv\"\nmemory = \"never\"\n",
        database.url()
    );
    let server = Server::with(&toml, &[("scanned.csv", csv.as_bytes())]);
    server.until(|server| server.get("/api/tables/scanned?limit=1").status == 200);
    let two = r#"{"records":[{"c1":1,"c999":2},{"c1":3,"c999":4}]}"#;
    assert_eq!(server.get("/api/records/many?include=c1,c999").text(), two);
    for target in [
        "/api/records/many",
        "/api/tables/many",
        "/api/tables/scanned?sort=c7",
        "/api/sql?q=select%20*%20from%20scanned",
    ] {
        let held: Vec<TcpStream> = (0..40).map(|number| send(&server, 2 + (number % 4) as u8, target)).collect();
        most_while_others_are_answered(&server, target);
        drop(held);
    }
}

#[test]
fn few_wide_rows_are_all_there() {
    let (server, _database) = server();
    server.until(|server| server.get("/api/tables/wide?limit=1").status == 200);
    for (target, rows) in [
        ("/api/records/w?size=40", 40),
        ("/api/records/w?page=2,30", 30),
        ("/api/records/w?order=id,desc&size=900", 900),
        ("/api/records/w/1,2,3", 3),
    ] {
        let answer = server.get(target).json();
        let records = answer.get("records").unwrap_or(&answer).as_array().expect("rows");
        assert_eq!(records.len(), rows, "{target}");
        assert!(records.iter().all(|row| row["t"].as_str().expect("text").len() == TEXT_BYTES), "{target}");
    }
    for target in ["/api/tables/w?limit=200", "/api/tables/wide?limit=200", "/api/sql?q=select%20*%20from%20wide"] {
        let answer = server.get(target).json();
        let rows = answer.as_array().expect("rows");
        assert_eq!(rows.len(), if target.contains("sql") { ROWS } else { 200 }, "{target}");
        assert!(rows.iter().all(|row| row["t"].as_str().expect("text").len() == TEXT_BYTES), "{target}");
    }
    // All at once are too many to be made before the first goes out.
    let keys: Vec<String> = (1..=ROWS).map(|key| key.to_string()).collect();
    let answer = server.get(&format!("/api/records/w/{}", keys.join(",")));
    assert_eq!((answer.status, answer.json()["error"].as_str()), (413, Some("answer_too_large")), "{}", answer.text());
}
