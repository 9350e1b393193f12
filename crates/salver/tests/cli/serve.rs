//! `salver serve`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::Place;

/// A server that was started, and what it said.
struct Server {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    address: String,
}

impl Server {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
        let command = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended: {said}");
            if let Some(url) = line.strip_prefix("listening on http://") {
                break url.trim().to_owned();
            }
            said.push_str(&line);
        };
        Self { child, out, address }
    }

    /// The lines until one that begins with `end`.
    fn listing(&mut self, end: &str) -> String {
        let mut said = String::new();
        while !said.lines().last().is_some_and(|line| line.starts_with(end)) {
            assert!(self.out.read_line(&mut said).unwrap() > 0, "it ended: {said}");
        }
        said
    }

    fn get(&self, path: &str) -> String {
        let address = self.address.split('/').next().unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a signal and gives the exit code.
    fn end(mut self, signal: &str) -> Option<i32> {
        Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the environment says goes before the settings.
#[test]
fn the_log_by_environment() {
    let place = Place::new();
    place.write("a.csv", "x\n1\n");
    for (variable, has_debug) in [("debug", true), ("error", false), ("salver_http=warn", false), ("=====", false)] {
        let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "a.csv"]);
        let command =
            command.env("RUST_LOG", variable).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("try http://") && out.read_line(&mut said).unwrap() > 0 {}
        let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let log = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
        assert_eq!(log.contains("DEBUG"), has_debug, "{variable}: {log}");
        assert_eq!(log.contains("RUST_LOG is ignored"), variable == "=====", "{variable}: {log}");
    }
}

/// A terminal that closes sends it, and so do administrators who want settings to be read again.
#[cfg(unix)]
#[test]
fn a_hang_up_does_not_end_it() {
    let place = Place::new();
    place.write("a.csv", "x\n1\n");
    let mut server = Server::start(&place, &["a.csv"]);
    for _ in 0..3 {
        let sent = Command::new("kill").args(["-HUP", &server.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert!(server.get("/health").contains("200 OK"));
    }
    assert!(server.child.try_wait().unwrap().is_none());
}

#[test]
fn a_directory_is_served_until_sigterm() {
    let place = Place::new();
    let mut server = Server::start(&place, &["."]);
    let said = server.listing("try ");
    assert!(said.contains("people  3 rows, ") && said.contains("pets    2 rows, "), "{said}");
    assert!(said.contains(&format!("try http://{}/\n", server.address)), "{said}");
    let answer = server.get("/api/tables/people?columns=name&limit=1");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("[{\"name\":\"Ada\"}]"), "{answer}");
    assert_eq!(place.left_behind().len(), 1);
    assert_eq!(server.end("-TERM"), Some(0));
    assert_eq!(place.left_behind(), [""; 0]);
}

#[test]
fn a_bad_table_stops_nothing() {
    let place = Place::new();
    place.write("broken.parquet", "no parquet");
    let mut server = Server::start(&place, &["."]);
    let said = server.listing("try ");
    assert!(said.contains("broken  FAILED: "), "{said}");
    assert!(server.get("/api/tables/people?limit=1").starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(server.get("/api/tables/broken").starts_with("HTTP/1.1 503 "));
    assert_eq!(server.end("-INT"), Some(0));
}

#[test]
fn a_file_of_sqlite_is_served_as_a_database() {
    let place = Place::new();
    let database = place.path().join("app.sqlite3");
    let made = Command::new("sqlite3").arg(&database).arg("create table users (id integer primary key)").status();
    assert!(made.unwrap().success());
    for argument in ["app.sqlite3", "app=app.sqlite3"] {
        let mut server = Server::start(&place, &[argument]);
        let said = server.listing("try ");
        assert!(said.contains("users  table of the database app"), "{said}");
        assert!(server.get("/api/tables/users").ends_with("\r\n\r\n[]"));
        assert_eq!(server.end("-TERM"), Some(0));
    }
    // One of DuckDB can't be, and says what to do.
    place.write("app.duckdb", "");
    let run = place.run(&["serve", "--listen", "127.0.0.1:0", "app.duckdb"]);
    assert_ne!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("`app.duckdb` is a database of DuckDB") && run.err.contains("EXPORT DATABASE"), "{run:?}");
}

#[test]
fn settings_of_the_directory_are_taken() {
    let place = Place::new();
    place.write(
        "salver.toml",
        "[server]\nbase_path = '/data'\n[[dataset]]\nname = 'folk'\nsource = 'people.csv'\n\
         [[store]]\nname = 'name_of'\ndataset = 'folk'\nkey = 'id'\nvalue = 'name'\n",
    );
    let mut server = Server::start(&place, &["."]);
    let said = server.listing("try ");
    assert!(said.contains("folk") && said.contains("pets") && !said.contains("people  "), "{said}");
    assert!(server.address.ends_with("/data"));
    let answer = server.get("/data/api/kv/name_of/2");
    assert!(answer.ends_with("\r\n\r\nAlan"), "{answer}");
}

#[test]
fn a_killed_server_leaves_nothing_for_long() {
    let place = Place::new();
    let mut server = Server::start(&place, &["people.csv"]);
    server.listing("try ");
    assert_eq!(server.end("-KILL"), None);
    assert_eq!(place.left_behind().len(), 1);
    place.run(&["query", "select 1", "people.csv"]).good();
    assert_eq!(place.left_behind(), [""; 0]);
}

#[test]
fn a_named_data_directory_is_cleaned_too() {
    let place = Place::new();
    // The key of tokens stays, the format, and the file that a server locks.
    let left = || {
        let names = std::fs::read_dir(place.path().join("kept")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name != "tokens.key" && name != "format" && name != "server.lock").count()
    };
    let mut server = Server::start(&place, &["people.csv", "--data-dir", "kept"]);
    server.listing("try ");
    // A process that lives keeps its own.
    place.run(&["query", "select 1", "people.csv", "--data-dir", "kept"]).good();
    assert_eq!(left(), 1);
    assert_eq!(server.end("-KILL"), None);
    assert_eq!(left(), 1);
    place.run(&["query", "select 1", "people.csv", "--data-dir", "kept"]).good();
    assert_eq!(left(), 0);
    let run = place.run(&["query", "select 1", "people.csv", "--data-dir", "people.csv/x"]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.err.contains("`people.csv/x`") && run.err.contains("hint: ") && run.err.contains("--data-dir"),
        "{run:?}"
    );
    assert_eq!(run.err.matches("os error").count(), 1, "{run:?}");
}

#[test]
fn a_path_where_nothing_is_serves_nothing() {
    let place = Place::new();
    let run = place.run(&["serve", "poeple.csv"]);
    assert_eq!((run.code, run.text()), (Some(1), ""));
    assert_eq!(run.err, "error: there is no file or directory `poeple.csv`\n  hint: did you mean `./people.csv`?\n");
    // The others are served.
    let mut server = Server::start(&place, &["people.csv", "nowhere"]);
    let said = server.listing("try ");
    assert!(said.contains("nowhere  FAILED: ") && said.contains("people   3 rows"), "{said}");
}

#[test]
fn addresses_are_percent_encoded() {
    let place = Place::new();
    std::fs::rename(place.path().join("people.csv"), place.path().join("a ?#\u{e9}.csv")).unwrap();
    std::fs::remove_file(place.path().join("pets.ndjson")).unwrap();
    let mut server = Server::start(&place, &["."]);
    let said = server.listing("    http");
    assert!(said.contains("/api/tables/a%20%3F%23%C3%A9?limit=5"), "{said}");
}

#[test]
fn a_busy_port_is_named() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = place.run(&["serve", "people.csv", "--listen", &address]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.err.starts_with(&format!("error: can't listen on {address}: another program listens there\n")),
        "{run:?}"
    );
    assert!(run.err.contains("hint: choose another with `--listen 127.0.0.1:"), "{run:?}");
}

/// Nothing of a directory that a later release wrote is opened, let alone changed.
#[test]
fn a_data_directory_of_a_newer_format_is_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("kept")).unwrap();
    place.write("kept/format", "salver-data 2\nwritten by salver 9.8.7\n");
    let run = place.run(&["serve", "people.csv", "--listen", "127.0.0.1:0", "--data-dir", "kept"]);
    assert_eq!((run.code, run.text()), (Some(1), ""), "{run:?}");
    assert!(run.err.contains("`kept` has the format 2 of salver 9.8.7") && run.err.contains("hint: "), "{run:?}");
    let left: Vec<_> = std::fs::read_dir(place.path().join("kept")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["format"]);
}
