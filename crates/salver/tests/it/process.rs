//! The real program in a directory of its own, to be killed and started again at the same address.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{Answer, Client};

/// A library in the directory that is put before the system's own when the program starts.
#[allow(dead_code, reason = "not every binary of tests has such a one")]
pub(crate) const PRELOADED: &str = "preloaded.so";

/// A running program; ends with the value.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    address: String,
    directory: tempfile::TempDir,
}

impl Process {
    /// Serves what `settings` say.
    pub(crate) fn start(settings: &str) -> Self {
        Self::with(settings, &[])
    }

    /// Serves what `settings` say, with `files` beside them.
    pub(crate) fn with(settings: &str, files: &[(&str, &str)]) -> Self {
        let process = Self::begun(settings, files);
        process.until_ready();
        process
    }

    /// Serves what `settings` say as far as it can: something in it may never be ready.
    #[allow(dead_code, reason = "not every binary of tests has such a one")]
    pub(crate) fn started(settings: &str) -> Self {
        Self::begun(settings, &[])
    }

    /// The same, with `files` beside the settings.
    #[allow(dead_code, reason = "not every binary of tests has such a one")]
    pub(crate) fn started_with(settings: &str, files: &[(&str, &str)]) -> Self {
        Self::begun(settings, files)
    }

    fn begun(settings: &str, files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (name, text) in files.iter().chain(&[("salver.toml", settings)]) {
            std::fs::write(directory.path().join(name), text).expect("a file");
        }
        // The same port at each start, for clients that come again. Another process may have taken it meanwhile.
        let (child, address) = (0..5).find_map(|_| run(directory.path(), free_port())).expect("the program starts");
        Self { child, address, directory }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its directory.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills it at once.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Kills it if it runs, and starts it again on the same files and the same port.
    pub(crate) fn restart(&mut self) {
        self.kill();
        let port = self.address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        let patience = Instant::now() + Duration::from_secs(60);
        (self.child, self.address) = loop {
            if let Some(started) = run(self.directory.path(), port) {
                break started;
            }
            assert!(Instant::now() < patience, "the program does not start again");
        };
        self.until_ready();
    }

    /// A request.
    pub(crate) fn send(&self, method: &str, target: &str, body: Option<&str>) -> Answer {
        Client::new(&self.address).send(method, target, &[], body.map(str::as_bytes)).expect("an answer")
    }

    /// What a GET says, which must be a success.
    pub(crate) fn get(&self, target: &str) -> String {
        let answer = self.send("GET", target, None);
        assert_eq!(answer.status, 200, "{target}: {}", answer.body);
        answer.body
    }

    /// The rows of a SQL query.
    pub(crate) fn sql(&self, text: &str) -> Vec<Value> {
        let answer = self.send("POST", "/api/sql", Some(text));
        assert_eq!(answer.status, 200, "{text}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {}", answer.body))
    }

    fn until_ready(&self) {
        let patience = Instant::now() + Duration::from_secs(60);
        let is_ready = || Client::new(&self.address).send("GET", "/ready", &[], None).is_ok_and(|a| a.status == 200);
        while !is_ready() {
            assert!(Instant::now() < patience, "the program is not ready");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port()
}

/// Starts the program; `None` when it ends before it listens.
fn run(directory: &Path, port: u16) -> Option<(Child, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    let preloaded = directory.join(PRELOADED);
    if preloaded.exists() {
        command.env("LD_PRELOAD", preloaded);
    }
    let mut child = command
        .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
        .arg(directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the program is there");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    loop {
        let Some(line) = lines.next() else {
            let _ = child.wait();
            return None;
        };
        if let Some((_, address)) = line.expect("text").split_once("://") {
            let address = address.trim().trim_end_matches('/').to_owned();
            // Read on, so that the program never waits for somebody to take its output.
            std::thread::spawn(move || lines.for_each(drop));
            return Some((child, address));
        }
    }
}
