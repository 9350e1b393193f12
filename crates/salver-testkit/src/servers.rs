//! Real databases for tests: private MariaDB and PostgreSQL servers on free ports, and SQLite files; and a Kafka
//! broker.
//!
//! [`mariadb`] and [`postgres`] are shared by all tests of one process and start with their first use; a test gets a
//! database of its own from [`database`]. Bad weather needs a server of its own: [`Server::start`]. However the test
//! process ends, the servers and their files go with it (see `guard`), and nothing of an installed server is touched.

mod guard;
mod kafka;
mod mariadb;
mod postgres;
mod programs;
mod sqlite;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use guard::{Directory, Guard, Running};
pub use kafka::{Kafka, TopicRecord, kafka};

/// How long a server may take to start.
const START_S: u64 = 120;

/// The databases that tests run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// SQLite: a file.
    Sqlite,
    /// MariaDB.
    Mariadb,
    /// PostgreSQL, with PostGIS.
    Postgres,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sqlite, Self::Mariadb, Self::Postgres];
}

/// The MariaDB server of this process.
pub fn mariadb() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(Kind::Mariadb))
}

/// The PostgreSQL server of this process.
pub fn postgres() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(Kind::Postgres))
}

/// A fresh database of `kind`, made by the statements of `sql`, on the server of this process.
pub fn database(kind: Kind, sql: &str) -> Database {
    match kind {
        Kind::Sqlite => sqlite::database(sql),
        Kind::Mariadb => mariadb().database(sql),
        Kind::Postgres => postgres().database(sql),
    }
}

/// One fresh database.
#[derive(Clone, Debug)]
pub struct Database {
    kind: Kind,
    url: String,
    client: Client,
    /// What goes with the last handle: the directory of a SQLite file.
    _directory: Option<Arc<Directory>>,
}

impl Database {
    /// Which database this is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it is: `sqlite:/path`, `mysql://user:password@127.0.0.1:port/name`, `postgres://…`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs statements past everything that is tested. What they answer: a line a row, tabs between columns.
    ///
    /// # Panics
    ///
    /// When the database says no.
    #[must_use]
    pub fn run(&self, sql: &str) -> String {
        self.client.run(sql).unwrap_or_else(|error| panic!("{:?}: {error}\n{sql}", self.kind))
    }

    /// The database's own client and its arguments, for a conversation.
    #[must_use]
    pub fn client(&self) -> (&Path, &[String]) {
        (&self.client.program, &self.client.arguments)
    }

    /// As [`Database::run`], for statements that may fail.
    ///
    /// # Errors
    ///
    /// What the database's own client says.
    pub fn try_run(&self, sql: &str) -> Result<String, String> {
        self.client.run(sql)
    }
}

/// A database's own client, and how it is called.
#[derive(Clone, Debug)]
struct Client {
    program: PathBuf,
    arguments: Vec<String>,
}

impl Client {
    fn run(&self, sql: &str) -> Result<String, String> {
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("can't run {}: {error}", self.program.display()))?;
        // The statements go in beside what comes out, so that neither pipe waits for the other.
        let mut input = child.stdin.take().ok_or("no way in")?;
        let sql = sql.to_owned();
        let writer = std::thread::spawn(move || input.write_all(sql.as_bytes()));
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        // A client that stops at an error reads no further; what it says is what counts.
        let _ = writer.join();
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }
}

/// A server of a test's own, or the one of the process.
#[derive(Debug)]
pub struct Server {
    kind: Kind,
    port: u16,
    /// Before the directory: the server ends before its files do.
    running: Running,
    directory: Directory,
    count: AtomicU32,
    /// PostgreSQL: the template made for the statements with this hash.
    templates: Mutex<HashMap<u64, String>>,
}

impl Server {
    /// Starts a server.
    ///
    /// # Panics
    ///
    /// When its programs are missing, or it doesn't start.
    #[must_use]
    pub fn start(kind: Kind) -> Self {
        let directory = Directory::for_server(match kind {
            Kind::Mariadb => "mariadb",
            Kind::Postgres => "postgres",
            Kind::Sqlite => panic!("SQLite has no server"),
        });
        match kind {
            Kind::Mariadb => mariadb::initialise(directory.path()),
            _ => postgres::initialise(directory.path()),
        }
        let mut server = Self {
            kind,
            port: 0,
            running: Running::default(),
            directory,
            count: AtomicU32::new(0),
            templates: Mutex::default(),
        };
        // A port that was free a moment ago may be taken by now; then there is another.
        for _ in 0..5 {
            server.port = free_port();
            if server.run() {
                server.prepare();
                return server;
            }
        }
        panic!("{kind:?} does not start:\n{}", server.log());
    }

    /// The TCP port, on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A fresh database made by the statements of `sql`. PostgreSQL runs them once and copies what they made.
    #[must_use]
    pub fn database(&self, sql: &str) -> Database {
        let name = format!("test_{}", self.count.fetch_add(1, Ordering::Relaxed));
        match self.kind {
            Kind::Mariadb => {
                self.command(None, &format!("create database {name} character set utf8mb4"));
                self.command(Some(&name), sql);
            }
            _ => {
                let template = self.template(sql);
                self.command(None, &format!("create database {name} template {template} owner salver"));
            }
        }
        self.handle(&name)
    }

    /// Stops the server where it stands; it keeps its connections and answers nothing.
    pub fn pause(&self) {
        self.running.signal("STOP");
    }

    /// Lets a stopped server go on.
    pub fn resume(&self) {
        self.running.signal("CONT");
    }

    /// Kills the server; its files stay.
    pub fn kill(&self) {
        self.running.kill();
    }

    /// Starts a killed server again, on the same port and files.
    ///
    /// # Panics
    ///
    /// When it doesn't start.
    pub fn restart(&self) {
        let patience = Instant::now() + Duration::from_secs(START_S);
        // What a killed server left behind (a lock, a process on its way out) may be in the way for a moment.
        while !self.run() {
            assert!(Instant::now() < patience, "{:?} does not start again:\n{}", self.kind, self.log());
        }
    }

    /// Runs the server and waits until it answers; `false` when it ended instead.
    fn run(&self) -> bool {
        let (command, signal) = match self.kind {
            Kind::Mariadb => (mariadb::command(self.directory.path(), self.port), "KILL"),
            // A quick end that leaves no shared memory behind, unlike KILL.
            _ => (postgres::command(self.directory.path(), self.port), "QUIT"),
        };
        let (guard, client) = (Guard::start(self.directory.path(), signal, &command), self.client(None));
        self.running.up(guard, || client.run("select 1").is_ok())
    }

    fn prepare(&self) {
        if self.kind == Kind::Postgres {
            self.command(None, "create role salver login password 'salver'");
        }
    }

    /// The PostgreSQL database that `sql` makes, to be copied.
    fn template(&self, sql: &str) -> String {
        let mut hasher = DefaultHasher::new();
        sql.hash(&mut hasher);
        let hash = hasher.finish();
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        templates
            .entry(hash)
            .or_insert_with(|| {
                let name = format!("template_{hash:016x}");
                self.command(None, &format!("create database {name} owner salver"));
                if sql.contains("geometry") {
                    self.command(Some(&name), "create extension postgis");
                }
                self.command(Some(&name), &format!("set role salver;\n{sql}"));
                name
            })
            .clone()
    }

    fn command(&self, database: Option<&str>, sql: &str) {
        if let Err(error) = self.client(database).run(sql) {
            panic!("{:?}: {error}\n{sql}", self.kind);
        }
    }

    fn client(&self, database: Option<&str>) -> Client {
        match self.kind {
            Kind::Mariadb => mariadb::client(self.directory.path(), database),
            _ => postgres::client(self.directory.path(), self.port, database),
        }
    }

    fn handle(&self, name: &str) -> Database {
        let scheme = if self.kind == Kind::Mariadb { "mysql" } else { "postgres" };
        Database {
            kind: self.kind,
            url: format!("{scheme}://salver:salver@127.0.0.1:{}/{name}", self.port),
            client: self.client(Some(name)),
            _directory: None,
        }
    }

    fn log(&self) -> String {
        let log = std::fs::read(log_of(self.directory.path())).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }
}

/// A TCP port nobody listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// What a server says goes here.
fn log_of(directory: &Path) -> PathBuf {
    directory.join("log")
}

/// Runs a program that prepares a server's files, as the user the server runs as.
fn prepare(directory: &Path, command: &[String]) {
    let output = Command::new(&command[0])
        .args(&command[1..])
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("can't run {}: {error}", command[0]));
    assert!(
        output.status.success(),
        "{} failed:\n{}{}",
        command.join(" "),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
