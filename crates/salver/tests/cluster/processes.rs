//! The processes of a cluster, which end with their values.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cluster::tables;
use crate::server::{Answer, Server};

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(300);

/// A scheduler or an executor.
pub(crate) struct Process {
    child: Child,
    address: String,
    work_dir: tempfile::TempDir,
}

impl Process {
    /// Starts a scheduler.
    pub(crate) fn scheduler() -> Self {
        Self::start("scheduler", &["--listen", "127.0.0.1:0"])
    }

    /// Starts an executor of one core.
    pub(crate) fn executor(scheduler: &Self) -> Self {
        Self::start("executor", &["--scheduler", &scheduler.address, "--threads", "1", "--memory", "512MiB"])
    }

    fn start(command: &str, arguments: &[&str]) -> Self {
        let work_dir = tempfile::tempdir().expect("a temporary directory");
        let mut program = Command::new(env!("CARGO_BIN_EXE_salver"));
        program.arg(command).args(arguments).stdout(Stdio::piped()).stderr(Stdio::inherit());
        if command == "executor" {
            program.arg("--work-dir").arg(work_dir.path());
        }
        let mut child = program.spawn().expect("the process starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let address = loop {
            let line = lines.next().expect("the process says where it listens").expect("text");
            if let Some((_, address)) = line.split_once("listening on ") {
                break address.to_owned();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address, work_dir }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Ends it at once, without a word to anybody.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it ended");
    }

    /// Whether it has rows of a job.
    pub(crate) fn has_rows(&self) -> bool {
        let entries = std::fs::read_dir(self.work_dir.path()).expect("its directory");
        entries.flatten().any(|entry| std::fs::read_dir(entry.path()).is_ok_and(|mut inner| inner.next().is_some()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A cluster with a server that sends statements to it, and one that does not.
pub(crate) struct Cluster {
    _scheduler: Process,
    pub(crate) executors: Vec<Process>,
    pub(crate) server: Server,
    pub(crate) alone: Server,
    _tables: tempfile::TempDir,
}

impl Cluster {
    /// Starts all of it; `toml` is of both servers.
    pub(crate) fn start(toml: &str) -> Self {
        let tables = tempfile::tempdir().expect("a temporary directory");
        let toml = format!("{toml}\n{}", tables::write(tables.path()));
        let scheduler = Process::scheduler();
        let executors = (0..2).map(|_| Process::executor(&scheduler)).collect();
        let server = Server::with(&format!("{}\n{toml}", settings(scheduler.address(), "0")), &[]);
        let alone = Server::with(&toml, &[]);
        Self { _scheduler: scheduler, executors, server, alone, _tables: tables }
    }
}

/// Returns the settings of a server that sends statements to a scheduler.
pub(crate) fn settings(scheduler: &str, bytes_min: &str) -> String {
    format!(
        "[cluster]\nengine = \"ballista\"\nscheduler = \"{scheduler}\"\nbytes_min = \"{bytes_min}\"\npartitions = 4\n"
    )
}

/// Asks a server, and waits for as long as it takes.
pub(crate) fn sql(server: &Server, statement: &str) -> Answer {
    let mut stream = send(server, statement);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Answer::parse(&answer)
}

/// Asks a server, and does not wait.
pub(crate) fn send(server: &Server, statement: &str) -> TcpStream {
    let mut stream = server.connect();
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    let head = format!(
        "POST /api/sql HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{statement}",
        server.address(),
        statement.len()
    );
    stream.write_all(head.as_bytes()).expect("it is sent");
    stream
}

/// Waits until `done`; a test that waits in vain fails.
#[track_caller]
pub(crate) fn until(what: &str, done: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns where a server says that it would run a statement.
pub(crate) fn place(server: &Server, statement: &str) -> String {
    let answer = sql(server, &format!("explain {statement}"));
    assert_eq!(answer.status, 200, "{statement}: {}", answer.text());
    let rows = answer.json();
    let row = rows.as_array().unwrap().iter().find(|row| row["plan_type"] == "runs");
    row.map(|row| row["plan"].as_str().unwrap().to_owned()).unwrap_or_default()
}

/// Returns the statements of TPC-H, of the benchmark.
pub(crate) fn tpch() -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/sql/tpch");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let named = files.into_iter().map(|file| {
        let text = std::fs::read_to_string(&file).unwrap();
        (file.file_name().unwrap().to_string_lossy().into_owned(), text.trim().trim_end_matches(';').to_owned())
    });
    named.collect()
}
