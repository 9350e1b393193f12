//! Clients that are slow on purpose: heads and bodies that come byte by byte. Each is let go, and others are answered
//! meanwhile.

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use super::siege::Siege;
use crate::server::Server;

const SETTINGS: &str = r#"
[limits]
head_ms_max = 300
[[stream]]
name = "clicks"
[[database]]
name = "shop"
url = "sqlite:shop.db"
init = "shop.sql"
writable = true
"#;
const SHOP: &[u8] = b"create table goods (id integer primary key, name text not null);";
/// The pace of a slow client.
const PACE: Duration = Duration::from_millis(20);
/// A guard against a server that waits for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends `start`, then `part` again and again until the server closes; what the server said.
fn trickle(server: &Server, start: &str, part: &str) -> Vec<u8> {
    let mut stream = server.connect();
    stream.set_read_timeout(Some(PACE)).expect("a time-out");
    stream.write_all(start.as_bytes()).expect("sent");
    let (mut said, mut piece, began) = (Vec::new(), [0; 4096], Instant::now());
    loop {
        assert!(began.elapsed() < PATIENCE, "{start:?} goes on");
        if stream.write_all(part.as_bytes()).is_err() {
            return said;
        }
        match stream.read(&mut piece) {
            Ok(0) => return said,
            Ok(count) => said.extend_from_slice(&piece[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return said,
        }
    }
}

#[test]
fn heads_and_bodies_that_come_byte_by_byte_end() {
    let siege = Siege::of(SETTINGS, &[("t.csv", b"a\n1\n"), ("shop.sql", SHOP)]);
    let server = siege.server();
    let sql = "POST /api/sql HTTP/1.1\r\nhost: localhost\r\n";
    let chunked = format!("{sql}transfer-encoding: chunked\r\n\r\n");
    let of = |target: &str| {
        let head = format!("POST {target} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n");
        format!("{head}content-length: 100000\r\n\r\n")
    };
    let slow = [
        ("a header", "GET /health HTTP/1.1\r\nhost: localhost\r\nx: ".to_owned(), "y", None),
        ("headers", "GET /health HTTP/1.1\r\nhost: localhost\r\n".to_owned(), "x: y\r\n", None),
        ("a target", "GET /".to_owned(), "y", None),
        ("line ends", String::new(), "\r\n", None),
        ("a body", format!("{sql}content-length: 100000\r\n\r\n"), " ", Some(400)),
        ("chunks", chunked.clone(), "1\r\n \r\n", Some(400)),
        ("the size of a chunk", chunked.clone(), "0", Some(400)),
        ("an extension", format!("{chunked}1;"), "x", Some(400)),
        ("trailers", format!("{chunked}8\r\nselect 1\r\n0\r\n"), "x: y\r\n", Some(400)),
        ("a record", of("/api/records/goods"), " ", Some(422)),
        ("a document", of("/api/graphql"), " ", Some(400)),
        ("a body that nobody reads", of("/nothing"), " ", Some(404)),
    ];
    std::thread::scope(|scope| {
        let clients: Vec<_> = slow
            .iter()
            .map(|(name, start, part, status)| (name, status, scope.spawn(move || trickle(server, start, part))))
            .collect();
        assert_eq!(server.get("/api/tables/t").status, 200, "others are answered");
        for (name, status, client) in clients {
            let said = String::from_utf8_lossy(&client.join().expect("a client")).into_owned();
            let told = said.split(' ').nth(1).and_then(|text| text.parse::<u16>().ok());
            // A server that closes on a client that is still sending may not be heard.
            assert!(told.is_none() || told == *status, "{name}: {said}");
        }
    });
    assert_eq!(server.get("/api/records/goods").json()["records"], serde_json::json!([]));
    siege.is_well("slow clients");
}
