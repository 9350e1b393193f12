//! The server's side of the protocol, for one host of R: written from its description, not with the code of the crate.

use std::fs::Permissions;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than anything here takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A zygote of R, with its control channel.
pub(crate) struct Host {
    child: Child,
    control: Option<UnixStream>,
    listener: UnixListener,
    /// What the zygote said first.
    pub(crate) first: (u8, Vec<u8>),
    directory: Arc<TempDir>,
}

/// A worker's connection.
pub(crate) struct Worker {
    stream: UnixStream,
    /// Its process id.
    pub(crate) process: u32,
}

/// What a call came to.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Answer { status: u16, headers: Vec<(String, String)>, kind: u8, body: Vec<u8> },
    Failed { kind: u8, message: String, detail: String },
    Ended,
}

impl Host {
    /// Starts a host with a file of this text, and waits for what it says.
    pub(crate) fn start(text: &str) -> Self {
        let private = Permissions::from_mode(0o700);
        Self::start_in(Arc::new(tempfile::Builder::new().permissions(private).tempdir().unwrap()), text)
    }

    /// The same in a directory where there was one before, which has ended.
    pub(crate) fn start_in(directory: Arc<TempDir>, text: &str) -> Self {
        let file = directory.path().join("functions.R");
        std::fs::write(&file, text).unwrap();
        let socket = directory.path().join("socket");
        drop(std::fs::remove_file(&socket));
        let listener = UnixListener::bind(&socket).unwrap();
        let (mut control, theirs) = UnixStream::pair().unwrap();
        let child = Command::new(program())
            .args([&file, &socket])
            .env("SALVER_MEMORY_BYTES_MAX", (256 << 20).to_string())
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        control.set_read_timeout(Some(PATIENCE)).unwrap();
        let first = read_frame(&mut control).expect("the host says what became of the file");
        Self { child, control: Some(control), listener, first, directory }
    }

    /// Starts one that loads.
    pub(crate) fn loaded(text: &str) -> Self {
        let host = Self::start(text);
        assert_eq!(host.first.0, b'R', "{}", String::from_utf8_lossy(&host.first.1));
        host
    }

    /// Where its socket is.
    pub(crate) fn directory(&self) -> Arc<TempDir> {
        Arc::clone(&self.directory)
    }

    /// What it offers.
    pub(crate) fn offer(&self) -> Value {
        serde_json::from_slice(&self.first.1).unwrap()
    }

    /// Asks for a worker and waits until it is there.
    pub(crate) fn fork(&mut self) -> Worker {
        self.order(b'F', 1);
        let (mut stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (kind, process) = read_frame(&mut stream).unwrap();
        assert_eq!(kind, b'H');
        Worker { stream, process: u32::from_le_bytes(process.try_into().unwrap()) }
    }

    /// Gives an order.
    pub(crate) fn order(&mut self, kind: u8, number: u32) {
        let mut frame = vec![5, 0, 0, 0, kind];
        frame.extend(number.to_le_bytes());
        self.control.as_mut().unwrap().write_all(&frame).unwrap();
    }

    /// Ends the control channel, as the end of the server does, and waits for the zygote's end.
    pub(crate) fn end(&mut self) {
        self.control = None;
        self.child.wait().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.end();
    }
}

impl Worker {
    /// Calls an endpoint with named arguments.
    pub(crate) fn call(&mut self, endpoint: i32, arguments: &Value) -> Outcome {
        self.request(endpoint, &arguments.to_string(), "/", b"")
    }

    /// The JSON that the only endpoint gives for one argument `x`.
    pub(crate) fn value(&mut self, x: impl Into<Value>) -> String {
        match self.call(0, &json!({ "x": x.into() })) {
            Outcome::Answer { status: 200, headers, kind: 0, body } => {
                assert_eq!(headers, [("content-type".to_owned(), "application/json".to_owned())]);
                String::from_utf8(body).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    /// What the only endpoint's failure for one argument `x` says: its kind and the words for the log.
    pub(crate) fn failure(&mut self, x: impl Into<Value>) -> (u8, String) {
        match self.call(0, &json!({ "x": x.into() })) {
            Outcome::Failed { kind, detail, .. } => (kind, detail),
            other => panic!("{other:?}"),
        }
    }

    /// Whether the worker has ended by itself, with nothing more to say.
    pub(crate) fn has_ended(&mut self) -> bool {
        read_frame(&mut self.stream).is_none()
    }

    /// Sends a call and waits for what comes.
    pub(crate) fn request(&mut self, endpoint: i32, arguments: &str, path: &str, body: &[u8]) -> Outcome {
        self.send(["POST", path, "a=1"], endpoint, arguments, body);
        self.receive()
    }

    /// The same as a `GET`.
    pub(crate) fn get(&mut self, endpoint: i32, arguments: &str, path: &str, query: &str) -> Outcome {
        self.send(["GET", path, query], endpoint, arguments, b"");
        self.receive()
    }

    /// Calls the only endpoint with a table for its parameter `x`; the answer is to be of the media type `accept`.
    pub(crate) fn table(&mut self, arguments: &str, body: &[u8], accept: &str) -> Outcome {
        let mut payload = vec![0, 0, 0, 0, b'T'];
        put(&mut payload, b"x");
        self.finish(payload, ["POST", "/", ""], (0, arguments), ["accept", accept], body);
        self.receive()
    }

    /// Calls an endpoint; the answer is to be of the media type `accept`.
    pub(crate) fn accepting(&mut self, endpoint: i32, arguments: &str, accept: &str) -> Outcome {
        self.finish(vec![0, 0, 0, 0, b'C'], ["POST", "/", ""], (endpoint, arguments), ["accept", accept], b"");
        self.receive()
    }

    /// Sends a call with this method, path and query.
    pub(crate) fn send(&mut self, line: [&str; 3], endpoint: i32, arguments: &str, body: &[u8]) {
        self.finish(vec![0, 0, 0, 0, b'C'], line, (endpoint, arguments), ["host", "here"], body);
    }

    /// Sends a call whose frame begins so.
    fn finish(
        &mut self,
        mut payload: Vec<u8>,
        line: [&str; 3],
        (endpoint, arguments): (i32, &str),
        field: [&str; 2],
        body: &[u8],
    ) {
        payload.extend(endpoint.to_le_bytes());
        put(&mut payload, arguments.as_bytes());
        for text in line.into_iter().chain(["127.0.0.1"]) {
            put(&mut payload, text.as_bytes());
        }
        payload.extend(1_u32.to_le_bytes());
        for bytes in [field[0].as_bytes(), field[1].as_bytes(), body] {
            put(&mut payload, bytes);
        }
        let length = u32::try_from(payload.len() - 4).unwrap();
        payload[..4].copy_from_slice(&length.to_le_bytes());
        self.stream.write_all(&payload).unwrap();
    }

    /// Waits for what comes of a call.
    pub(crate) fn receive(&mut self) -> Outcome {
        match read_frame(&mut self.stream) {
            None => Outcome::Ended,
            Some((b'X', payload)) => {
                let mut rest = &payload[1..];
                Outcome::Failed { kind: payload[0], message: text(&mut rest), detail: text(&mut rest) }
            }
            Some((kind, payload)) => {
                assert_eq!(kind, b'A');
                let status = u16::from_le_bytes([payload[0], payload[1]]);
                let mut rest = &payload[2..];
                let headers = (0..number(&mut rest)).map(|_| (text(&mut rest), text(&mut rest))).collect();
                Outcome::Answer { status, headers, kind: rest[0], body: rest[1..].to_vec() }
            }
        }
    }
}

/// The host's program, which is built beside the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/r_host")
}

/// Reads a frame; `None` when the other side has ended.
fn read_frame(stream: &mut UnixStream) -> Option<(u8, Vec<u8>)> {
    let mut length = [0; 4];
    if let Err(error) = stream.read_exact(&mut length) {
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "no frame came in time");
        return None;
    }
    let mut frame = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut frame).unwrap();
    Some((frame[0], frame.split_off(1)))
}

fn put(payload: &mut Vec<u8>, bytes: &[u8]) {
    payload.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    payload.extend(bytes);
}

fn number(rest: &mut &[u8]) -> usize {
    let (first, after) = rest.split_at(4);
    *rest = after;
    u32::from_le_bytes(first.try_into().unwrap()) as usize
}

fn text(rest: &mut &[u8]) -> String {
    let (first, after) = rest[4..].split_at(number(&mut &rest[..4]));
    *rest = after;
    String::from_utf8(first.to_vec()).unwrap()
}
