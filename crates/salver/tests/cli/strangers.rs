//! Commands against servers that are no Salver: what these say is neither believed nor given to the terminal as it is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use crate::Place;

/// A server that answers every request with a status and a body; its address.
fn answering(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = answer(&stream, status, body);
        }
    });
    address
}

fn answer(stream: &TcpStream, status: &str, body: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
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
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    let mut stream = stream;
    stream.write_all(head.as_bytes())
}

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
