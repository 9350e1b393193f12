//! The program is killed, again and again, while clients write: what was acknowledged is there, and no batch by halves.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use salver_testkit::servers::{Database, Kind};

use super::client::Client;
use super::fixture::everything;
use super::program::Program;

const ROUNDS: usize = 50;
const WRITERS: usize = 8;
/// Items of a batch.
const ITEMS: usize = 5;

/// What the clients know of their batches.
#[derive(Debug, Default)]
struct Ledger {
    acknowledged: Mutex<HashSet<String>>,
    count: AtomicUsize,
}

/// Writes batches and single records in turn until the connection breaks.
fn write(address: &str, name: &str, ledger: &Ledger) {
    let mut client = Client::new(address);
    for number in 0.. {
        let single = number % 3 == 2;
        let batch = format!("{name}-{number}{}", if single { "-single" } else { "" });
        let items: Vec<String> =
            (0..if single { 1 } else { ITEMS }).map(|item| format!(r#"{{"batch":"{batch}","item":{item}}}"#)).collect();
        let body = if single { items[0].clone() } else { format!("[{}]", items.join(",")) };
        match client.send("POST", "/api/records/ledger", &[], Some(body.as_bytes())) {
            Ok(answer) if answer.status == 200 => {
                ledger.acknowledged.lock().expect("no writer panics").insert(batch);
                ledger.count.fetch_add(1, Ordering::Release);
            }
            // Busy is an answer too; nothing of it is there then.
            Ok(answer) if answer.status == 503 => {}
            Ok(answer) => panic!("{batch}: {:?}", answer.said()),
            Err(_) => return,
        }
    }
}

/// Compares what is in the table with what the clients were told.
fn check(database: &Database, ledger: &Ledger, round: usize) {
    let rows = database.run("select batch, count(*) from ledger group by batch");
    let acknowledged = ledger.acknowledged.lock().expect("no writer panics");
    let mut there = HashSet::new();
    for line in rows.lines() {
        let (batch, count) = line.split_once('\t').expect("two columns");
        let whole = if batch.ends_with("-single") { 1 } else { ITEMS };
        assert_eq!(count.parse(), Ok(whole), "round {round}: half of the batch {batch}");
        there.insert(batch.to_owned());
    }
    let lost: Vec<_> = acknowledged.difference(&there).collect();
    assert!(lost.is_empty(), "round {round}: acknowledged and lost: {lost:?}");
}

#[test]
fn nothing_acknowledged_is_lost() {
    let mut program = Program::over(everything(Kind::Sqlite), "", "writable = true");
    let database = program.database().clone();
    let ledger = Ledger::default();
    for round in 0..ROUNDS {
        let address = program.address().to_owned();
        // From at once to well under way, and never the same number twice in a row.
        let until = ledger.count.load(Ordering::Acquire) + round * 37 % 250;
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (address, ledger) = (&address, &ledger);
                scope.spawn(move || write(address, &format!("r{round}w{writer}"), ledger));
            }
            while ledger.count.load(Ordering::Acquire) < until {
                assert!(program.is_alive(), "round {round}: the program ended by itself");
                std::thread::yield_now();
            }
            program.kill();
        });
        check(&database, &ledger, round);
        program.kill_and_restart();
        let answer = program.get("/records/ledger?size=1");
        assert_eq!(answer.status, 200, "round {round}: {}", answer.body);
    }
    assert_eq!(database.run("pragma integrity_check").trim(), "ok");
    assert!(ledger.count.load(Ordering::Acquire) > 1000, "{ledger:?}");
}

/// The same for the servers of databases, killed under the program: what the program said was done is done.
#[test]
fn a_killed_database_server_leaves_no_halves() {
    use salver_testkit::servers::Server;

    for kind in [Kind::Mariadb, Kind::Postgres] {
        let server = Server::start(kind);
        let database = server.database(&super::fixture::statements(kind));
        let program = Program::over(database.clone(), "", "writable = true");
        let ledger = Ledger::default();
        for round in 0..5 {
            let until = ledger.count.load(Ordering::Acquire) + 20 + round * 40;
            let stop = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for writer in 0..WRITERS {
                    let (program, ledger, stop) = (&program, &ledger, &stop);
                    scope.spawn(move || write_on(program.address(), &format!("r{round}w{writer}"), ledger, stop));
                }
                while ledger.count.load(Ordering::Acquire) < until {
                    std::thread::yield_now();
                }
                server.kill();
                stop.store(1, Ordering::Release);
            });
            server.restart();
            check(&database, &ledger, round);
            program.until("it has found the server again", |program| {
                program
                    .send("POST", "/records/ledger", &format!(r#"{{"batch":"again-{round}-single","item":0}}"#))
                    .status
                    != 503
            });
        }
    }
}

/// Writes until told to stop; every answer but success must be a clear 503.
fn write_on(address: &str, name: &str, ledger: &Ledger, stop: &AtomicUsize) {
    let mut client = Client::new(address);
    for number in 0.. {
        if stop.load(Ordering::Acquire) == 1 {
            return;
        }
        let batch = format!("{name}-{number}");
        let items: Vec<String> = (0..ITEMS).map(|item| format!(r#"{{"batch":"{batch}","item":{item}}}"#)).collect();
        let body = format!("[{}]", items.join(","));
        let answer = client.send("POST", "/api/records/ledger", &[], Some(body.as_bytes())).expect("an answer");
        match answer.status {
            200 => {
                ledger.acknowledged.lock().expect("no writer panics").insert(batch);
                ledger.count.fetch_add(1, Ordering::Release);
            }
            503 => assert!(answer.header("retry-after").is_some(), "{batch}: no Retry-After"),
            _ => panic!("{batch}: {:?}", answer.said()),
        }
    }
}
