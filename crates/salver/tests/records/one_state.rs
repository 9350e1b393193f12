//! A statement that reads a database in several places sees one state of it, whatever others commit meanwhile.

use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use salver_testkit::servers::{Database, Kind, database};

use super::client::Client;
use super::program::Program;

/// Every transaction adds a row of the same number and amount to both tables.
const TABLES: &str = "create table debits (id integer not null primary key, amount integer);
                      create table credits (id integer not null primary key, amount integer);
                      insert into debits values (0, 1); insert into credits values (0, 1);";

/// Statements that give 0 in every state. The fourth stops the read of a table before its end.
const STATEMENTS: [&str; 7] = [
    "select (select sum(amount) from debits) - (select sum(amount) from credits) as d",
    "select sum(amount) as d from (select amount from debits union all select -amount from credits) t",
    "select count(*) as d from debits d full join credits c on c.id = d.id where d.id is null or c.id is null",
    "select coalesce(max(id) - min(id), 0) as d from ((select 0 as id from debits limit 1) union all \
     (select max(id) from debits) union all (select max(id) from credits)) t where id > 0",
    "select count(*) as d from debits where id not in (select id from credits)",
    "select abs(count(*) - (select count(*) from credits)) as d from debits where exists (select 1 from credits)",
    "with recursive r as (select 1 as n, (select count(*) from debits) as c union all \
     select n + 1, (select count(*) from credits) from r where n < 4) select max(c) - min(c) as d from r",
];

/// Adds rows with the database's own client until `stop`; returns how many.
fn add_rows(database: &Database, stop: &AtomicBool) -> usize {
    let (program, arguments) = database.client();
    let mut client = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the database's client");
    let mut input = client.stdin.take().expect("a pipe");
    if database.kind() == Kind::Sqlite {
        writeln!(input, ".timeout 20000").expect("the client reads");
    }
    let mut added = 0;
    while !stop.load(Ordering::Relaxed) {
        added += 1;
        let amount = added % 7;
        writeln!(
            input,
            "begin; insert into debits values ({added}, {amount}); insert into credits values ({added}, {amount}); \
             commit;"
        )
        .expect("the client reads");
        // The client has a buffer of its own, and a row per millisecond is change enough.
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(input);
    assert!(client.wait().expect("the client ends").success());
    added
}

/// Has three clients ask again and again while rows are added. `ask` gets the number of the request.
fn while_rows_are_added(program: &Program, ask: impl Fn(usize, &mut Client) + Sync) {
    let stop = AtomicBool::new(false);
    let until = Instant::now() + Duration::from_secs(4);
    std::thread::scope(|scope| {
        let adding = scope.spawn(|| add_rows(program.database(), &stop));
        let askers: Vec<_> = (0..3)
            .map(|first| {
                let ask = &ask;
                scope.spawn(move || {
                    let mut client = Client::new(program.address());
                    for request in (first..).take_while(|_| Instant::now() < until) {
                        ask(request, &mut client);
                    }
                })
            })
            .collect();
        let ended: Vec<_> = askers.into_iter().map(|asker| asker.join()).collect();
        stop.store(true, Ordering::Relaxed);
        assert!(adding.join().expect("rows") > 100);
        ended.into_iter().for_each(|ended| ended.expect("one state"));
    });
}

/// Asks every statement again and again while rows are added; returns the numbers of answers and of refusals.
fn asked_while_rows_are_added(program: &Program) -> (usize, usize) {
    let (answered, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    while_rows_are_added(program, |request, client| {
        let statement = STATEMENTS[request % STATEMENTS.len()];
        let answer = client.send("POST", "/api/sql", &[], Some(statement.as_bytes())).expect("an answer");
        match answer.status {
            200 => {
                assert_eq!(answer.body, "[{\"d\":0}]", "{:?} {statement}", program.kind());
                answered.fetch_add(1, Ordering::Relaxed);
            }
            _ => {
                assert!(answer.body.contains("\"contention\""), "{statement}: {:?}", answer.said());
                refused.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    (answered.into_inner(), refused.into_inner())
}

#[test]
fn a_statement_sees_one_state() {
    for kind in Kind::ALL {
        let program = Program::over(database(kind, TABLES), "", "writable = true\n");
        let (answered, refused) = asked_while_rows_are_added(&program);
        assert!(answered > STATEMENTS.len() && refused == 0, "{kind:?}: {answered} answers, {refused} refusals");
    }
}

/// Without a write-ahead log, SQLite keeps no earlier state: a statement that would see two is refused.
#[test]
fn or_it_is_refused() {
    let program = Program::over(database(Kind::Sqlite, TABLES), "", "");
    let (answered, _) = asked_while_rows_are_added(&program);
    assert!(answered > 0);
}

/// The tables of a view are held in one state, also those of a view behind it.
#[test]
fn an_export_of_a_view_sees_one_state() {
    let views = "[[view]]\nname = \"paid\"\nsql = \"select id, amount from credits\"\n
                 [[view]]\nname = \"both\"\nsql = \"select d.amount as owed, p.amount as paid from debits d full join \
                 paid p on p.id = d.id\"\n";
    for kind in Kind::ALL {
        let program = Program::over(database(kind, TABLES), views, "writable = true\n");
        let exported = AtomicUsize::new(0);
        while_rows_are_added(&program, |_, client| {
            let answer = client.send("GET", "/api/export/both.csv", &[], None).expect("an answer");
            assert_eq!(answer.status, 200, "{kind:?}: {}", answer.body);
            for row in answer.body.lines().skip(1) {
                let (owed, paid) = row.split_once(',').expect("two columns");
                assert_eq!(owed, paid, "{kind:?}");
            }
            exported.fetch_add(answer.body.lines().count() - 1, Ordering::Relaxed);
        });
        assert!(exported.into_inner() > 1_000, "{kind:?}");
    }
}

/// A read that nobody wants any more is stopped in the database, and the others of its statement go on: the view would
/// run for minutes.
#[test]
fn a_read_that_is_not_wanted_is_stopped() {
    let endless = [
        (Kind::Sqlite, "with recursive n(id) as (select 1 union all select id + 1 from n where id < 1000000000)"),
        (Kind::Mariadb, "with recursive n(id) as (select 1 union all select id + 1 from n where id < 4000)"),
        (Kind::Postgres, "with recursive n(id) as (select 1 union all select id + 1 from n where id < 4000)"),
    ];
    for (kind, numbers) in endless {
        let slow = match kind {
            Kind::Sqlite => format!("{numbers} select cast(id as integer) as id from n"),
            Kind::Mariadb => format!("{numbers} select a.id from n a, n b, n c"),
            Kind::Postgres => format!("{numbers} select a.id from n a, n b, n c"),
        };
        let tables =
            format!("{TABLES} create view slow as {slow}; create view never as select id from slow where id < 0;");
        let server = "[limits]\nquery_ms_max = 60000\n";
        let program =
            Program::over(database(kind, &tables), server, "statement_ms_max = 600000\nconnections_max = 1\n");
        // No database knows this condition, so that the engine ends the reads.
        let statement = "select count(*) as n from ((select id from slow where id % 2 = 1 limit 10) union all \
                         (select id from debits) union all (select id from slow where id % 2 = 1 limit 5)) t";
        let answer = program.send("POST", "/sql", statement);
        assert_eq!(answer.said(), (200, "[{\"n\":16}]"), "{kind:?}");
        // So is one whose client leaves while it finds nothing: else the only connection would be busy for minutes.
        let body = "select (select count(*) from debits) + count(*) as n from (select id from never limit 9) t";
        let address = program.address();
        let mut leaving = TcpStream::connect(address).expect("a connection");
        write!(leaving, "POST /api/sql HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
            .expect("sent");
        std::thread::sleep(Duration::from_millis(500));
        drop(leaving);
        // The connections are clean.
        for _ in 0..20 {
            let answer = program.send("POST", "/sql", STATEMENTS[0]);
            assert_eq!(answer.said(), (200, "[{\"d\":0}]"), "{kind:?}");
        }
    }
}

/// More clients than connections wait for each other, and none for itself: a statement that has a connection goes on.
#[test]
fn statements_wait_for_connections_and_not_for_each_other() {
    for kind in Kind::ALL {
        for connections in [1, 2, 4] {
            let settings = format!("writable = true\nconnections_max = {connections}\n");
            let program = Program::over(database(kind, TABLES), "", &settings);
            let address = program.address();
            std::thread::scope(|scope| {
                for _ in 0..12 {
                    scope.spawn(|| {
                        let mut client = Client::new(address);
                        for statement in STATEMENTS.iter().chain(&["select count(*) - 1 as d from debits"]) {
                            let body = Some(statement.as_bytes());
                            let answer = client.send("POST", "/api/sql", &[], body).expect("an answer");
                            let what = format!("{kind:?}, {connections} connections: {statement}");
                            assert_eq!(answer.said(), (200, "[{\"d\":0}]"), "{what}");
                        }
                    });
                }
            });
        }
    }
}
