//! A real server on a free port, with its own directory of data, and a client small enough to send what a well-bred
//! one would refuse to.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is read of an answer; the rest is left to the server.
const ANSWER_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// A running server; ends with the value.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: String,
    postgres: Option<String>,
    flight: Option<String>,
    directory: tempfile::TempDir,
}

impl Server {
    /// Serves `files` (name and content) with nothing configured.
    pub(crate) fn of(files: &[(&str, &[u8])]) -> Self {
        Self::with("", files)
    }

    /// Serves `files` under the configuration `toml`.
    pub(crate) fn with(toml: &str, files: &[(&str, &[u8])]) -> Self {
        Self::started(Command::new(env!("CARGO_BIN_EXE_salver")), toml, files)
    }

    /// Serves `files` in a process to which `bounds`, words of the shell's `ulimit`, apply.
    // For the program of attacks.
    #[allow(dead_code)]
    pub(crate) fn bounded(bounds: &[&str], toml: &str, files: &[(&str, &[u8])]) -> Self {
        let mut script: String = bounds.iter().map(|bound| format!("ulimit {bound} && ")).collect();
        script.push_str(r#"exec "$0" "$@""#);
        let mut program = Command::new("sh");
        program.args(["-c", &script, env!("CARGO_BIN_EXE_salver")]);
        Self::started(program, toml, files)
    }

    /// Serves `files`, and what `prepare` puts beside them.
    // For the program of attacks.
    #[allow(dead_code)]
    pub(crate) fn prepared(toml: &str, files: &[(&str, &[u8])], prepare: impl FnOnce(&Path)) -> Self {
        Self::begun(Command::new(env!("CARGO_BIN_EXE_salver")), toml, files, prepare)
    }

    /// Serves `files`, and what `prepare` puts beside them, with this command of the program.
    // For the program of other tests.
    #[allow(dead_code)]
    pub(crate) fn run_by(program: Command, toml: &str, files: &[(&str, &[u8])], prepare: impl FnOnce(&Path)) -> Self {
        Self::begun(program, toml, files, prepare)
    }

    fn started(program: Command, toml: &str, files: &[(&str, &[u8])]) -> Self {
        Self::begun(program, toml, files, |_| {})
    }

    fn begun(mut program: Command, toml: &str, files: &[(&str, &[u8])], prepare: impl FnOnce(&Path)) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (name, content) in files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, content).expect("a file");
        }
        if !toml.is_empty() {
            std::fs::write(directory.path().join("salver.toml"), toml).expect("the configuration");
        }
        prepare(directory.path());
        let mut child = program
            .args(["serve", "--listen", "127.0.0.1:0"])
            .arg(directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the server starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let (address, ready) = loop {
            let line = lines.next().expect("the server says where it listens").expect("text");
            if let Some((_, address)) = line.split_once("http://") {
                let address = address.trim().trim_end_matches('/');
                // A base path may follow.
                let at = address.find('/').unwrap_or(address.len());
                break (address[..at].to_owned(), format!("{}/ready", &address[at..]));
            }
        };
        let mut told = |key: &str, before: &str| {
            let is_asked = toml.contains(&format!("[wire]\n{key} = ")) || toml.contains(&format!("0\"\n{key} = "));
            is_asked.then(|| {
                loop {
                    let line = lines.next().expect("the server says where clients of a wire connect").expect("text");
                    if let Some((_, rest)) = line.split_once(before) {
                        break rest.split_once(": ").map_or(rest, |(address, _)| address).to_owned();
                    }
                }
            })
        };
        let postgres = told("postgres", "clients of PostgreSQL at ");
        let flight = told("flight", "clients of Arrow Flight SQL at ");
        // Read on, so that the server never waits for somebody to take its output.
        std::thread::spawn(move || lines.for_each(drop));
        let server = Self { child, address, postgres, flight, directory };
        server.until(|server| server.get(&ready).status == 200);
        server
    }

    /// The directory it serves.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The path of a file it serves.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Where clients of PostgreSQL connect, if the configuration has `[wire]`.
    // For other programs than that of attacks.
    #[allow(dead_code)]
    pub(crate) fn postgres(&self) -> &str {
        self.postgres.as_deref().expect("the configuration has [wire]")
    }

    /// The URI for clients of Arrow Flight SQL, if the configuration has `[wire]` with it.
    // For other programs than that of attacks.
    #[allow(dead_code)]
    pub(crate) fn flight(&self) -> &str {
        self.flight.as_deref().expect("the configuration has [wire] with `flight`")
    }

    /// The number of its process.
    // For the program of attacks.
    #[allow(dead_code)]
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its process.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Asks again until `done`; a test that waits in vain fails.
    #[track_caller]
    pub(crate) fn until(&self, done: impl Fn(&Self) -> bool) {
        let patience = Instant::now() + Duration::from_secs(60);
        while !done(self) {
            assert!(Instant::now() < patience, "waited in vain");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// GET.
    pub(crate) fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[], b"")
    }

    /// GET with headers.
    pub(crate) fn get_with(&self, target: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", target, headers, b"")
    }

    /// POST of a body without a media type.
    pub(crate) fn post(&self, target: &str, body: &str) -> Answer {
        self.ask("POST", target, &[], body.as_bytes())
    }

    /// POST of JSON.
    pub(crate) fn post_json(&self, target: &str, body: &str) -> Answer {
        self.ask("POST", target, &[("content-type", "application/json")], body.as_bytes())
    }

    /// Any request.
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut head = format!("{method} {target} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.address);
        if !body.is_empty() || method == "POST" {
            write!(head, "content-length: {}\r\n", body.len()).expect("text");
        }
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n").expect("text");
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        Answer::parse(&self.raw(&bytes))
    }

    /// Sends bytes as they are and reads until the server closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        // A server that refuses early may close before all is sent; what it said still counts.
        let _ = stream.write_all(bytes);
        let _ = stream.flush();
        let mut answer = Vec::new();
        let _ = stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer);
        answer
    }

    /// Sends bytes that may not even be a request, says that no more will come, and reads until the server closes.
    pub(crate) fn garbage(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// A connection of the test's own.
    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).expect("a connection")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status; 0 when there was no answer.
    pub(crate) status: u16,
    /// Header names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body, put together when it came in chunks.
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// What a server said, until it closed.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Self { status: 0, headers: Vec::new(), body: bytes.to_vec() };
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|s| s.parse().ok()).unwrap_or(0);
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let rest = &bytes[end + 4..];
        let body = if chunked { unchunk(rest) } else { rest.to_vec() };
        Self { status, headers, body }
    }

    /// A header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).ok().and_then(|s| usize::from_str_radix(s, 16).ok()).unwrap_or(0);
        if size == 0 || bytes.len() < end + 2 + size {
            break;
        }
        body.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[(end + 4 + size).min(bytes.len())..];
    }
    body
}
