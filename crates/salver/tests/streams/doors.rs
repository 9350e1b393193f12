//! The doors of a program with streams, as a client sees them: whole requests, and ones in pieces.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::{Answer, Client};
use super::process::Process;

/// A running program and a connection to it.
#[derive(Debug)]
pub(crate) struct Doors {
    pub(crate) process: Process,
    client: RefCell<Client>,
}

impl Doors {
    /// Serves what `settings` say.
    pub(crate) fn open(settings: &str) -> Self {
        let process = Process::start(settings);
        let client = RefCell::new(Client::new(process.address()));
        Self { process, client }
    }

    /// A request.
    #[track_caller]
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Answer {
        let answer = self.client.borrow_mut().send(method, target, headers, body);
        answer.unwrap_or_else(|error| panic!("{method} {target}: {error}"))
    }

    /// A POST.
    #[track_caller]
    pub(crate) fn post(&self, target: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Answer {
        self.ask("POST", target, headers, Some(body.as_ref()))
    }

    /// A POST, of which the status and the body count.
    #[track_caller]
    pub(crate) fn said(&self, target: &str, body: impl AsRef<[u8]>) -> (u16, String) {
        let answer = self.post(target, &[], body);
        (answer.status, answer.body)
    }

    /// A GET that succeeds, as JSON.
    #[track_caller]
    pub(crate) fn get(&self, target: &str) -> Value {
        let answer = self.ask("GET", target, &[], None);
        assert_eq!(answer.status, 200, "{target}: {}", answer.body);
        answer.json()
    }

    /// The values of all events of a stream.
    #[track_caller]
    pub(crate) fn values(&self, stream: &str) -> Vec<Value> {
        let page = self.get(&format!("/api/streams/{stream}/events?limit=10000"));
        page["events"].as_array().unwrap().iter().map(|event| event["value"].clone()).collect()
    }

    /// Begins a request of which the body, if there is one, comes in chunks.
    pub(crate) fn begin(&self, head: &str) -> Talk {
        let stream = TcpStream::connect(self.process.address()).expect("a connection");
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut talk = Talk { stream: BufReader::new(stream) };
        talk.write(format!("{head}\r\nhost: localhost\r\n\r\n").as_bytes());
        talk
    }

    /// Asks again until `done`; a test that waits in vain fails.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, done: impl Fn(&Self) -> bool) {
        let patience = Instant::now() + Duration::from_secs(60);
        while !done(self) {
            assert!(Instant::now() < patience, "waited in vain until {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A request and its answer, piece by piece.
#[derive(Debug)]
pub(crate) struct Talk {
    stream: BufReader<TcpStream>,
}

impl Talk {
    fn write(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).expect("a server that reads");
    }

    /// A chunk of the body.
    pub(crate) fn send(&mut self, text: &str) {
        self.write(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
    }

    /// A chunk of the body that is not text.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.write(format!("{:x}\r\n", bytes.len()).as_bytes());
        self.write(bytes);
        self.write(b"\r\n");
    }

    /// The answer as JSON, of which the connection's end is the end.
    pub(crate) fn json(&mut self) -> Value {
        self.head();
        let mut body = String::new();
        self.stream.read_to_string(&mut body).expect("an answer");
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
    }

    /// The end of the body.
    pub(crate) fn end(&mut self) {
        self.write(b"0\r\n\r\n");
    }

    /// The head of the answer.
    pub(crate) fn head(&mut self) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(self.stream.read_line(&mut head).expect("a head"), 0, "{head}");
        }
        head.to_ascii_lowercase()
    }

    /// The next chunk of the answer; `None` at its end.
    pub(crate) fn chunk(&mut self) -> Option<String> {
        let mut line = String::new();
        assert_ne!(self.stream.read_line(&mut line).expect("a chunk"), 0, "the answer breaks off");
        let size = usize::from_str_radix(line.trim_end(), 16).unwrap_or_else(|_| panic!("no size: {line:?}"));
        let mut bytes = vec![0; size + 2];
        self.stream.read_exact(&mut bytes).expect("a whole chunk");
        bytes.truncate(size);
        (size > 0).then(|| String::from_utf8(bytes).expect("text"))
    }

    /// Chunks until together they hold `wanted`.
    #[track_caller]
    pub(crate) fn until(&mut self, wanted: &str) -> String {
        let mut text = String::new();
        while !text.contains(wanted) {
            text.push_str(&self.chunk().unwrap_or_else(|| panic!("no {wanted:?} in {text:?}")));
        }
        text
    }

    /// All the rest.
    pub(crate) fn rest(&mut self) -> String {
        std::iter::from_fn(|| self.chunk()).collect()
    }
}

/// Members of the first answer that tests can't foretell, taken out of the text.
pub(crate) fn without_id(body: &str) -> String {
    let Some((before, rest)) = body.split_once(",\"id\":\"") else { return body.to_owned() };
    let (_, after) = rest.split_once('"').expect("a closed string");
    format!("{before}{after}")
}
