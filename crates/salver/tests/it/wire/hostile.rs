//! What no driver would say.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::server;

/// A packet without a kind.
fn packet(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

/// A message of a kind.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &packet(body)].concat()
}

fn start() -> Vec<u8> {
    packet(b"\0\x03\0\0user\0ann\0database\0salver\0\0")
}

/// Sends these bytes and returns everything that comes back until the server closes.
fn say(address: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    // For a server that never does.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let _ = stream.write_all(bytes);
    let (mut said, mut part) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut part) {
        said.extend(&part[..count]);
    }
    said
}

fn has(said: &[u8], text: &str) -> bool {
    said.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn what_is_no_message_ends_the_connection_alone() {
    let server = server("");
    let address = server.postgres();
    for bytes in
        [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\0\0\0\x03", b"\xff\xff\xff\xff\xff", b"\0\0\0\x08\x04\xd2\x16\x2f", b""]
    {
        let _ = TcpStream::connect(address).unwrap().write_all(bytes);
    }
    // Version 2, no user, a message before the start.
    assert!(has(&say(address, &packet(b"\0\x02\0\0\0")), "unsupported frontend protocol"));
    assert!(has(&say(address, &packet(b"\0\x03\0\0\0")), "no PostgreSQL user name"));
    for (kind, body) in [(b'Q', &b"no end"[..]), (b'B', b"\0\0\xff\xff"), (b'!', b""), (b'D', b"Zx\0"), (b'p', b"x\0")]
    {
        let said = say(address, &[start(), message(kind, body)].concat());
        assert!(has(&said, "FATAL"), "{kind}: {}", String::from_utf8_lossy(&said));
    }
    let said = say(address, &[start(), b"Q\x7f\xff\xff\xff".to_vec()].concat());
    assert!(has(&said, "larger than the server takes"));
    // A later client finds everything as it was.
    let said =
        say(address, &[start(), message(b'Q', b"select count(*) as n from people\0"), message(b'X', b"")].concat());
    assert!(has(&said, "SELECT 1"), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn a_failure_skips_up_to_sync() {
    let server = server("");
    let parse = |text: &str| message(b'P', format!("\0{text}\0\0\0").as_bytes());
    let execute = message(b'E', b"\0\0\0\0\0");
    let bind = message(b'B', b"\0\0\0\0\0\0\0\0");
    let group = [parse("selec"), bind.clone(), execute.clone(), message(b'S', b"")].concat();
    let good = [parse("select 1"), bind, execute, message(b'S', b"")].concat();
    let said = say(server.postgres(), &[start(), group, good, message(b'X', b"")].concat());
    assert_eq!(said.windows(3).filter(|window| *window == b"C42").count(), 1, "one error");
    assert!(has(&said, "SELECT 1"));
}

/// Returns the kinds of the messages of a server, in order.
fn kinds(mut said: &[u8]) -> String {
    let mut found = String::new();
    while let [kind, length @ ..] = said {
        found.push(char::from(*kind));
        let length = u32::from_be_bytes(length[..4].try_into().unwrap()) as usize;
        said = &said[1 + length..];
    }
    found
}

/// A statement is complete before the message that follows it is refused, as in PostgreSQL, and then once.
#[test]
fn a_statement_is_answered_before_what_follows_it() {
    let server = server("");
    let parse = |types: &[u8]| message(b'P', &[b"\0select id from people where id = $1\0", types].concat());
    let unknown_format = message(b'B', b"\0\0\0\x01\0\x07\0\x01\0\0\0\x011\0\0");
    let no_text = message(b'B', b"\xff\0\0\0\0\0\0\0\0");
    let no_value = message(b'B', b"\0\0\0\0\0\x01\0\0\0\x01x\0\0");
    let too_many = message(b'B', b"\0\0\0\0\0\x02\0\0\0\x011\0\0\0\x011\0\0");
    let sync = message(b'S', b"");
    for bind in [unknown_format, no_text, no_value, too_many] {
        for types in [&b"\0\0"[..], b"\0\x01\0\0\0\x14"] {
            let sent = [start(), parse(types), bind.clone(), sync.clone(), message(b'X', b"")].concat();
            let said = kinds(&say(server.postgres(), &sent));
            assert!(said.ends_with("Z1EZ"), "{said}: {bind:?}");
        }
    }
}

#[test]
fn a_connection_keeps_no_more_than_it_may() {
    let server = server("");
    let mut sent = start();
    for number in 0..1_001 {
        sent.extend(message(b'P', format!("s{number}\0select 1\0\0\0").as_bytes()));
    }
    sent.extend(message(b'S', b""));
    sent.extend(message(b'X', b""));
    let said = say(server.postgres(), &sent);
    assert!(has(&said, "1000 prepared statements at most"), "{}", String::from_utf8_lossy(&said[said.len() - 300..]));
}

#[test]
fn a_client_that_leaves_ends_its_statement() {
    let server = server("");
    let mut stream = TcpStream::connect(server.postgres()).unwrap();
    let long = b"select count(*) from generate_series(1, 3000000) a, generate_series(1, 3000) b\0";
    stream.write_all(&[start(), message(b'Q', long)].concat()).unwrap();
    let taken = |server: &super::Server| {
        let answer = server.get("/metrics");
        let page = answer.text();
        page.lines().any(|line| line.starts_with("salver_permits_taken{kind=\"queries\"} 1"))
    };
    server.until(taken);
    drop(stream);
    server.until(|server| !taken(server));
}
