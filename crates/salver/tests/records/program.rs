//! The real program over one database, started with a configuration of the test.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use salver_testkit::servers::{Database, Kind};

use super::client::{Answer, Client};
use super::fixture;

/// A running program with its database; both end with the value.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    address: String,
    client: Mutex<Client>,
    database: Database,
    directory: tempfile::TempDir,
}

impl Program {
    /// Serves a fresh blog and shop with `settings` for the database, after `name` and `url`.
    pub(crate) fn new(kind: Kind, settings: &str) -> Self {
        Self::over(fixture::everything(kind), "", settings)
    }

    /// Serves `database` with `settings` for it, and `server` at the top of the configuration.
    pub(crate) fn over(database: Database, server: &str, settings: &str) -> Self {
        let program = Self::start(database, server, settings);
        program.until_ready();
        program
    }

    /// As [`Program::over`], without waiting until the database is there.
    pub(crate) fn start(database: Database, server: &str, settings: &str) -> Self {
        let url = database.url().to_owned();
        Self::start_at(&url, database, server, settings)
    }

    /// As [`Program::start`], with another URL for what is served.
    pub(crate) fn start_at(url: &str, database: Database, server: &str, settings: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let text = format!("{server}\n[[database]]\nname = \"blog\"\nurl = \"{url}\"\n{settings}\n");
        std::fs::write(directory.path().join("salver.toml"), text).expect("the configuration");
        let (child, address) = run(&directory);
        let client = Mutex::new(Client::new(&address));
        Self { child, address, client, database, directory }
    }

    /// Kills the program at once, and starts another over the same database.
    pub(crate) fn kill_and_restart(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        (self.child, self.address) = run(&self.directory);
        self.client = Mutex::new(Client::new(&self.address));
        self.until_ready();
    }

    /// Kills the program at once.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The database, past the program.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Which database it is.
    pub(crate) fn kind(&self) -> Kind {
        self.database.kind()
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// A request below `/api`.
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: Option<&str>) -> Answer {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        client
            .send(method, &format!("/api{target}"), headers, body.map(str::as_bytes))
            .unwrap_or_else(|error| panic!("{:?} {method} {target}: {error}", self.kind()))
    }

    /// GET below `/api` on a connection of its own, where the answer may break off.
    pub(crate) fn try_get(&self, target: &str) -> Result<Answer, std::io::Error> {
        Client::new(&self.address).send("GET", &format!("/api{target}"), &[], None)
    }

    /// GET below `/api`.
    pub(crate) fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[], None)
    }

    /// A request with a body below `/api`.
    pub(crate) fn send(&self, method: &str, target: &str, body: &str) -> Answer {
        self.ask(method, target, &[], Some(body))
    }

    /// What a GET below `/api` says, which must be a success.
    pub(crate) fn ok(&self, target: &str) -> String {
        let answer = self.get(target);
        assert_eq!(answer.status, 200, "{:?} {target}: {}", self.kind(), answer.body);
        answer.body
    }

    /// The values of `id` in the list at `target`.
    pub(crate) fn ids(&self, target: &str) -> Vec<i64> {
        let answer = self.get(target);
        assert_eq!(answer.status, 200, "{:?} {target}: {}", self.kind(), answer.body);
        let records = &answer.json()["records"];
        let records = records.as_array().unwrap_or_else(|| panic!("{target}: {}", answer.body));
        records.iter().map(|record| record["id"].as_i64().unwrap_or_else(|| panic!("{target}: {record}"))).collect()
    }

    /// Asks again until `done`; a test that waits in vain fails.
    pub(crate) fn until(&self, what: &str, done: impl Fn(&Self) -> bool) {
        let patience = Instant::now() + Duration::from_secs(90);
        while !done(self) {
            assert!(Instant::now() < patience, "{:?}: waited in vain until {what}", self.kind());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until everything is loaded.
    pub(crate) fn until_ready(&self) {
        self.until("it is ready", |program| {
            let mut client = Client::new(&program.address);
            // 403: a firewall of the test's own lets nobody in.
            client.send("GET", "/ready", &[], None).is_ok_and(|answer| matches!(answer.status, 200 | 403))
        });
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

fn run(directory: &tempfile::TempDir) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_salver"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .arg(directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let address = loop {
        let line = lines.next().expect("the program says where it listens").expect("text");
        if let Some((_, address)) = line.split_once("http://") {
            break address.trim().trim_end_matches('/').to_owned();
        }
    };
    // Read on, so that the program never waits for somebody to take its output.
    std::thread::spawn(move || lines.for_each(drop));
    (child, address)
}
