//! Every bound holds, with a message, and the work behind a refused or abandoned request ends.

use std::io::{Read, Write};

use super::server::Server;

/// Ten billion rows: more than any test waits for.
const ENDLESS: &str = "select count(*) from generate_series(1,100000) a(value) \
                       cross join generate_series(1,100000) b(value) where a.value + b.value = -1";

fn refused(answer: &super::server::Answer, status: u16, slug: &str) {
    assert_eq!(answer.status, status, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.json()["error"], slug);
    assert!(answer.json()["hint"].is_string(), "{}", answer.text());
}

#[test]
fn time() {
    let server = Server::with("[limits]\nquery_ms_max = 100\n", &[("t.csv", b"a\n1\n")]);
    let answer = server.post("/api/sql", ENDLESS);
    refused(&answer, 503, "timeout");
    assert!(answer.header("retry-after").is_some());
    assert_eq!(server.get("/api/tables/t").status, 200);
}

#[test]
fn rows_and_bodies() {
    let server = Server::with("[limits]\nrows_max = 2\nbody_bytes_max = 100\n", &[("t.csv", b"a\n1\n2\n3\n")]);
    refused(&server.get("/api/tables/t"), 413, "answer_too_large");
    assert_eq!(server.get("/api/tables/t?limit=2").status, 200);
    refused(&server.post("/api/sql", &" ".repeat(101)), 413, "body_too_large");
    let chunked =
        b"POST /api/sql HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n\
                    80\r\n";
    let mut bytes = chunked.to_vec();
    bytes.extend_from_slice(&[b' '; 128]);
    bytes.extend_from_slice(b"\r\n0\r\n\r\n");
    assert!(server.raw(&bytes).starts_with(b"HTTP/1.1 413"));
}

/// Rows in memory that are sent bit by bit are counted too.
#[test]
fn many_rows() {
    let mut csv = "id\n".to_owned();
    (0..20_000).for_each(|id| csv.push_str(&format!("{id}\n")));
    let server = Server::with("[limits]\nrows_max = 10\n", &[("t.csv", csv.as_bytes())]);
    for target in ["/api/tables/t", "/api/tables/t.csv", "/api/tables/t?limit=11", "/api/tables/t?limit=15000"] {
        refused(&server.get(target), 413, "answer_too_large");
    }
    for text in ["select * from t", "select id from t limit 15000", "select id + 1 as a from t"] {
        refused(&server.post("/api/sql", text), 413, "answer_too_large");
    }
    assert_eq!(server.get("/api/tables/t?limit=10").status, 200);
}

/// One query at a time, and it is abandoned: the next gets its place, which it would not while the first ran on.
#[test]
fn a_client_that_leaves_takes_its_work_along() {
    let toml = "[limits]\nqueries_max = 1\nqueue_ms_max = 30000\nquery_ms_max = 600000\n";
    let server = Server::with(toml, &[("t.csv", b"a\n1\n")]);
    let mut stream = server.connect();
    let head =
        format!("POST /api/sql HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{ENDLESS}", ENDLESS.len());
    stream.write_all(head.as_bytes()).expect("sent");
    // Another connection's answer shows that the server has had its turn with the first.
    assert_eq!(server.get("/health").status, 200);
    drop(stream);
    assert_eq!(server.post("/api/sql", "select max(value) as m from generate_series(1,10)").text(), r#"[{"m":10}]"#);
}

#[test]
fn a_crowd_is_told_to_come_back() {
    let toml = "[limits]\nqueries_max = 1\nqueue_ms_max = 50\nquery_ms_max = 5000\n";
    let server = Server::with(toml, &[("t.csv", b"a\n1\n")]);
    std::thread::scope(|scope| {
        let crowd: Vec<_> = (0..4)
            .map(|n| {
                let server = &server;
                scope.spawn(move || server.post("/api/sql", &format!("{ENDLESS} and a.value <> {n}")))
            })
            .collect();
        let answers: Vec<_> = crowd.into_iter().map(|one| one.join().expect("an answer")).collect();
        let slugs: Vec<_> = answers.iter().map(|answer| answer.json()["error"].to_string()).collect();
        assert!(slugs.iter().any(|slug| slug.contains("overloaded")), "{slugs:?}");
        assert!(answers.iter().all(|answer| answer.status == 503 && answer.header("retry-after").is_some()));
        // What costs microseconds takes no place.
        assert_eq!(server.get("/api/tables/t").status, 200);
    });
}

/// 60 MB of rows under 32 MB for everything: scanned, sorted, joined and grouped all the same.
#[test]
fn larger_than_memory() {
    let mut csv = String::with_capacity(64 << 20);
    csv.push_str("id,word,text\n");
    for id in 0..600_000_u64 {
        let mixed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        csv.push_str(&format!("{id},w{},{mixed:016x}{mixed:016x}{mixed:016x}{mixed:016x}{mixed:016x}\n", mixed % 1000));
    }
    let toml = "[limits]\nmemory_bytes_max = 33554432\nquery_ms_max = 300000\n\
                [[dataset]]\nname = \"t\"\nsource = \"t.csv\"\n";
    let server = Server::with(toml, &[("t.csv", csv.as_bytes())]);
    let count = server.post("/api/sql", "select count(*) as n, count(distinct word) as w from t");
    assert_eq!(count.text(), r#"[{"n":600000,"w":1000}]"#);
    let sorted = server.post("/api/sql", "select id, text from t order by text, id");
    assert_eq!(sorted.json().as_array().map(Vec::len), Some(600_000));
    let joined = server.post("/api/sql", "select a.id, b.text from t a join t b on a.text = b.text order by b.text");
    assert_eq!(joined.json().as_array().map(Vec::len), Some(600_000), "{}", &joined.text()[..200]);
    assert_eq!(server.get("/api/tables/t?columns=id&sort=-id&limit=2").text(), r#"[{"id":599999},{"id":599998}]"#);
    assert_eq!(server.get("/api/tables/t?columns=id&filter[id]=77777").text(), r#"[{"id":77777}]"#);
}

/// A failure after the head has gone out aborts the connection: no last chunk, so no client takes it for whole.
#[test]
fn a_failure_in_the_middle_never_looks_whole() {
    let server = Server::of(&[("t.csv", b"a\n1\n")]);
    let sql = "select case when value = 2900000 then cast('x' || value as bigint) else value end as v \
               from generate_series(1,3000000)";
    let request = format!(
        "POST /api/sql HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{sql}",
        sql.len()
    );
    let mut stream = server.connect();
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    // Either end is right: a reset, or a close without the last chunk.
    let _ = stream.read_to_end(&mut answer);
    if answer.starts_with(b"HTTP/1.1 200") {
        assert!(!answer.ends_with(b"0\r\n\r\n"), "the broken answer looks whole");
    } else {
        assert!(answer.starts_with(b"HTTP/1.1 400"), "{}", String::from_utf8_lossy(&answer[..answer.len().min(300)]));
    }
}

/// A client that asks for a hundred million rows and reads none of them costs a few pieces of memory, not the answer.
#[test]
fn a_client_that_does_not_read_costs_little() {
    let mut server = Server::of(&[("t.csv", b"a\n1\n")]);
    let sql = "select a.value as a, b.value as b, 'some words to make the row longer' as c \
               from generate_series(1,10000) a(value) cross join generate_series(1,10000) b(value)";
    let request = format!("POST /api/sql HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{sql}", sql.len());
    let mut stalled = Vec::new();
    for _ in 0..4 {
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        let mut first = [0; 100];
        stream.read_exact(&mut first).expect("the answer begins");
        stalled.push(stream);
    }
    // Time for the four to run ahead, measured in work: two million rows of the same kind, read to the end.
    let other = "select a.value as a, b.value as b from generate_series(1,2000) a(value) \
                 cross join generate_series(1,1000) b(value)";
    assert_eq!(server.post("/api/sql", other).json().as_array().map(Vec::len), Some(2_000_000));
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child().id())).expect("a status");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("the peak");
    let peak_kb: u64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
    assert!(peak_kb < 1_000_000, "{peak_kb} kB");
}

#[test]
fn lists_are_bounded_and_checked() {
    let server = Server::of(&[("t.csv", b"id,name\n1,a\n2,b\n")]);
    let aliases = format!("/api/tables/t?columns={}id", "a:".repeat(8_000));
    refused(&server.get(&aliases), 400, "invalid_projection");
    for parameter in ["columns", "sort", "group"] {
        let long = format!("/api/tables/t?{parameter}={}", "id,".repeat(15_000));
        refused(&server.get(&long), 400, "rest_query");
    }
    let filters = "filter[id]gt=0&".repeat(2_000);
    refused(&server.get(&format!("/api/tables/t?{filters}")), 400, "rest_query");
    refused(&server.get("/api/tables/t?columns=id,id"), 400, "invalid_projection");
    assert_eq!(server.get("/api/tables/t?columns=id,again:id&limit=1").text(), r#"[{"id":1,"again":1}]"#);
}

/// Whoever connects and says nothing, or half a word, or half a body, is let go.
#[test]
fn the_silent_are_let_go() {
    let server = Server::with("[limits]\nhead_ms_max = 200\n", &[("t.csv", b"a\n1\n")]);
    for said in ["", "P", "PRI * HT", "GET / HTTP/1.1\r\nho"] {
        let mut stream = server.connect();
        stream.write_all(said.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{said:?}");
    }
    let half = b"POST /api/sql HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 100\r\n\r\nselect";
    assert!(server.raw(half).starts_with(b"HTTP/1.1 400"));
}

/// A full house does not keep the server from ending.
#[test]
fn ends_with_every_connection_taken() {
    let mut server = Server::with("[limits]\nconnections_max = 1\n", &[("t.csv", b"a\n1\n")]);
    let held = server.connect();
    let id = server.child().id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().is_ok_and(|status| status.success()));
    assert!(server.child().wait().is_ok_and(|status| status.success()));
    drop(held);
}

/// What was sent before an answer breaks off is sent: without its head the client knows nothing at all.
#[test]
fn an_answer_that_breaks_off_has_begun() {
    let server = Server::of(&[("t.csv", b"a\n1\n")]);
    for round in 0..60 {
        let text = format!("select 1/(value - {}) as x from generate_series(1,200000) a(value)", 9_000 + round);
        let head = format!("POST /api/sql HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", server.address());
        let answer = server.raw(format!("{head}content-length: {}\r\n\r\n{text}", text.len()).as_bytes());
        let begun = answer.starts_with(b"HTTP/1.1 200 ") || answer.starts_with(b"HTTP/1.1 400 ");
        assert!(begun, "round {round}: {} bytes", answer.len());
        assert!(!answer.ends_with(b"0\r\n\r\n"), "round {round}: whole");
    }
}
