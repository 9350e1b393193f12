//! Commands against servers that are no Salver: what these say is neither believed nor given to the terminal as it is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::Place;

/// A server whose answers `answer` writes to what was asked for, which is the first line; its address.
fn serving(answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || asked(&stream).and_then(|asked| answer(&asked, &mut stream)));
        }
    });
    address
}

/// Reads a request; its first line.
fn asked(stream: &TcpStream) -> std::io::Result<String> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse().unwrap_or(0);
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    Ok(first)
}

/// A server that answers every request with a status and a body; its address.
fn answering(status: &'static str, body: &'static str) -> String {
    serving(move |_, stream| answer(stream, status, "", body))
}

/// Writes a whole answer; `headers` each end their line.
fn answer(stream: &mut TcpStream, status: &str, headers: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}");
    stream.write_all(head.as_bytes())
}

/// What opens an export of three rows.
const EXPORT: &str = r#"{"export":"e","entry":"pets","rows":3,"streams":[{"rows":3}]}"#;

#[test]
fn events_of_which_nothing_is_said_are_not_taken() {
    let place = Place::new();
    for body in ["{}", r#"{"taken":0,"duplicates":0,"quarantined":0}"#, r#"{"taken":-1}"#, r#"{"taken":"1"}"#] {
        let server = answering("200 OK", body);
        let run = place.run(&["ingest", "pets", "pets.ndjson", "--url", &server]);
        assert_eq!(run.code, Some(1), "{body}: {run:?}");
        assert!(run.err.contains("does not say what became of the events"), "{body}: {run:?}");
    }
}

#[test]
fn a_terminal_obeys_nothing_that_a_server_says() {
    let place = Place::new();
    let server = answering("400 Bad Request", r#"{"message":"a\u001b]0;b\u0007","hint":"\u001b[2Jc\u009b"}"#);
    for arguments in [
        &["ingest", "pets", "pets.ndjson", "--url", server.as_str()][..],
        &["export", &format!("{server}/pets"), "-o", "out.csv"],
    ] {
        let run = place.run(arguments);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.err.contains("a\u{241b}]0;b\u{2407}") && run.err.contains("\u{241b}[2Jc"), "{run:?}");
        assert!(!run.err.chars().any(|sign| sign != '\n' && sign.is_control()), "{run:?}");
    }
}

#[test]
fn no_more_rows_are_taken_than_there_are() {
    let place = Place::new();
    let server = serving(|asked, stream| {
        let Some((_, rest)) = asked.split_once("offset=") else { return answer(stream, "201 Created", "", EXPORT) };
        let offset: u64 = rest.split('&').next().and_then(|text| text.parse().ok()).unwrap();
        let (body, next) = ("{\"id\":1}\n", offset + 1);
        let sum = crc32fast::hash(body.as_bytes());
        let head =
            format!("salver-rows: 1\r\nsalver-offset: {offset}\r\nsalver-next: {next}\r\nsalver-crc32: {sum:08x}\r\n");
        answer(stream, "200 OK", &head, body)
    });
    let entry = format!("{server}/pets");
    for output in [&["-o", "out.ndjson"][..], &[]] {
        let run = place.run(&[&["export", entry.as_str()][..], output].concat());
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.err.contains("`pets` has 3 rows, but 4 came"), "{run:?}");
        assert!(run.out.lines().count() <= 3, "{run:?}");
    }
}

#[test]
fn a_server_that_drips_is_waited_for_as_long_as_the_patience_lasts() {
    let place = Place::new();
    let server = serving(|asked, stream| {
        if !asked.contains("offset=") {
            return answer(stream, "201 Created", "", EXPORT);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\nsalver-rows: 3\r\n\r\n")?;
        loop {
            stream.write_all(b"x")?;
            thread::sleep(Duration::from_millis(100));
        }
    });
    let started = Instant::now();
    let run = place.run(&["export", &format!("{server}/pets"), "-o", "out.ndjson", "--patience", "1"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("can't reach"), "{run:?}");
    assert!(started.elapsed() < Duration::from_secs(60), "{run:?}");
}
