//! Bad weather: a database that is not there yet, is killed, hangs, is full of others, or is held by somebody. A clear
//! 503 that says when to come again, and everything as before when the weather is good again, without a restart.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};

use salver_testkit::servers::{Database, Kind, Server};

use super::client::{Answer, Client};
use super::fixture::{everything, statements};
use super::program::Program;

const BODY: &str = r#"{"batch":"weather","item":1}"#;

fn unavailable(answer: &Answer, what: &str) {
    assert_eq!(answer.status, 503, "{what}: {:?}", answer.said());
    let seconds = answer.header("retry-after").and_then(|value| value.parse::<u32>().ok());
    assert!(seconds.is_some_and(|seconds| seconds >= 1), "{what}: {:?}", answer.headers);
}

fn good(program: &Program) {
    program.until("the database is there again", |program| program.get("/records/people/1").status == 200);
    assert_eq!(program.ids("/records/people?size=2"), [1, 2]);
    program.until("it can be written again", |program| {
        program.send("PUT", "/records/people/1", r#"{"score":10}"#).status == 200
    });
}

#[test]
fn killed_and_back() {
    for kind in [Kind::Mariadb, Kind::Postgres] {
        let server = Server::start(kind);
        let database = server.database(&statements(kind));
        let program = Program::over(database.clone(), "", "writable = true");
        good(&program);
        for round in 0..3 {
            server.kill();
            for _ in 0..3 {
                unavailable(&program.get("/records/people/1"), "read");
                unavailable(&program.get("/records/people?filter=name,eq,Bob"), "list");
                unavailable(&program.send("POST", "/records/ledger", BODY), "create");
                unavailable(&program.send("PUT", "/records/people/1,2", r#"[{"score":1},{"score":1}]"#), "batch");
                unavailable(&program.ask("DELETE", "/records/messages/1", &[], None), "delete");
            }
            server.restart();
            good(&program);
            assert_eq!(database.run("select count(*) from ledger").trim(), "0", "{kind:?} {round}");
            assert_eq!(database.run("select count(*) from messages").trim(), "4", "{kind:?} {round}");
        }
    }
}

#[test]
fn not_there_at_start() {
    for kind in [Kind::Mariadb, Kind::Postgres] {
        let server = Server::start(kind);
        let database = server.database(&statements(kind));
        server.kill();
        let program = Program::start(database, "", "writable = true");
        program.until("it answers", |program| program.get("/records/people/1").status != 0);
        unavailable(&program.get("/records/people/1"), "read");
        let ready = Client::new(program.address()).send("GET", "/ready", &[], None).expect("an answer");
        assert!(ready.status == 503 || ready.body.contains("blog"), "{:?}", ready.said());
        server.restart();
        good(&program);
    }
}

#[test]
fn a_server_that_hangs() {
    for kind in [Kind::Mariadb, Kind::Postgres] {
        let server = Server::start(kind);
        // The limit of queries is longer than a client of this test waits.
        let program = Program::over(
            server.database(&statements(kind)),
            "[limits]\nquery_ms_max = 600000\nqueue_ms_max = 600000",
            "writable = true\ncolumns = true\nstatement_ms_max = 1000",
        );
        good(&program);
        server.pause();
        // One after the other on what connections there are, until all are given up, and then new ones are.
        for _ in 0..2 {
            unavailable(&program.get("/records/people/1"), "read");
            unavailable(&program.get("/records/people/1,2"), "several");
            unavailable(&program.get("/records/people?filter=score,gt,0&join=messages"), "joined");
            unavailable(&program.send("PUT", "/records/people/2", r#"{"score":1}"#), "update");
            unavailable(&program.send("POST", "/records/ledger", r#"[{"batch":"a","item":1}]"#), "batch");
            let operations = r#"{"operations":[{"increment":"people","id":1,"record":{"score":1}}]}"#;
            unavailable(&program.send("POST", "/records", operations), "operations");
            let ndjson = [("content-type", "application/x-ndjson")];
            unavailable(&program.ask("POST", "/records/ledger", &ndjson, Some(BODY)), "load");
            let column = r#"{"name":"more","type":"integer"}"#;
            unavailable(&program.send("POST", "/columns/people", column), "definition");
            for target in ["/tables/people?limit=3", "/status/ping"] {
                assert!(program.get(target).status >= 500, "{kind:?} {target}");
            }
        }
        // What is not about the database goes on.
        let health = Client::new(program.address()).send("GET", "/health", &[], None).expect("an answer");
        assert_eq!(health.status, 200, "{kind:?}");
        server.resume();
        good(&program);
    }
}

/// Every connection the server has is taken by others.
#[test]
fn no_connection_left() {
    let server = Server::start(Kind::Postgres);
    let database = server.database(&statements(Kind::Postgres));
    let _ = database.run("alter role salver connection limit 0");
    let program = Program::start(database.clone(), "", "");
    program.until("it answers", |program| program.get("/records/people/1").status != 0);
    unavailable(&program.get("/records/people/1"), "read");
    let _ = database.run("alter role salver connection limit -1");
    program.until("it may connect", |program| program.get("/records/people/1").status == 200);
}

/// Somebody else holds a row, or the whole file.
#[test]
fn held_by_somebody() {
    for kind in Kind::ALL {
        let program = Program::over(everything(kind), "", "writable = true\nstatement_ms_max = 1000");
        let begin = if kind == Kind::Sqlite { "begin immediate;" } else { "begin;" };
        let holder = Holder::new(program.database(), &format!("{begin} update people set score = 11 where id = 1;"));
        let what = format!("{kind:?} update");
        unavailable(&program.send("PUT", "/records/people/1", r#"{"score":12}"#), &what);
        // Reading does not wait for writers.
        assert_eq!(program.ok("/records/people/1?include=score"), r#"{"score":10}"#, "{kind:?}");
        holder.end();
        program.until("the row is free", |program| {
            program.send("PUT", "/records/people/1", r#"{"score":12}"#).said() == (200, "1")
        });
        assert_eq!(program.ok("/records/people/1?include=score"), r#"{"score":12}"#, "{kind:?}");
    }
}

/// Batches that take the same rows in opposite orders: each is done whole or not at all, and told so.
#[test]
fn in_each_others_way() {
    for kind in Kind::ALL {
        let program = Program::over(everything(kind), "", "writable = true");
        let before: Vec<i64> = scores(&program);
        let done = AtomicI64::new(0);
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let (program, done) = (&program, &done);
                scope.spawn(move || {
                    let mut client = Client::new(program.address());
                    let keys = if worker % 2 == 0 { "1,2,4,5" } else { "5,4,2,1" };
                    let body = r#"[{"score":1},{"score":1},{"score":1},{"score":1}]"#;
                    for _ in 0..25 {
                        let target = format!("/api/records/people/{keys}");
                        let answer = client.send("PATCH", &target, &[], Some(body.as_bytes())).expect("an answer");
                        if answer.status == 200 {
                            assert_eq!(answer.body, "[1,1,1,1]");
                            done.fetch_add(1, Ordering::Relaxed);
                        } else {
                            unavailable(&answer, "batch");
                        }
                    }
                });
            }
        });
        let done = done.load(Ordering::Relaxed);
        assert!(done > 0, "{kind:?}: none of 200 came through");
        let expected: Vec<i64> = before.iter().map(|score| score + done).collect();
        assert_eq!(scores(&program), expected, "{kind:?}: {done} were done");
    }
}

fn scores(program: &Program) -> Vec<i64> {
    let rows = program.database().run("select score from people where id in (1, 2, 4, 5) order by id");
    rows.lines().map(|line| line.parse().expect("a number")).collect()
}

/// A client of the database in the middle of a transaction.
#[derive(Debug)]
struct Holder {
    child: std::process::Child,
}

impl Holder {
    /// Begins with `sql`, and holds what that takes.
    fn new(database: &Database, sql: &str) -> Self {
        let (program, arguments) = database.client();
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("a client");
        let mut input = child.stdin.as_ref().expect("a way in");
        input.write_all(format!("{sql}\nselect 'held';\n").as_bytes()).expect("statements");
        // What it says last says that all before it was done.
        let mut output = std::io::BufReader::new(child.stdout.take().expect("a way out"));
        let mut line = String::new();
        while !line.contains("held") {
            line.clear();
            assert!(std::io::BufRead::read_line(&mut output, &mut line).expect("text") > 0, "the holder ended");
        }
        Self { child }
    }

    /// Undoes everything.
    fn end(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
