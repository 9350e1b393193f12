//! Fault tests: servers that are down, stop, are killed and restart; clients that disconnect; too few connections.

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_model::Code;
use salver_model::records::ColumnKind::{BigInt, Integer};
use salver_testkit::servers::{Database, Kind, Server};

use super::super::Mysql;
use super::{bind, fresh, program, rows, select, spec, step};
use crate::cell::{Collect, OwnedCell};
use crate::statement::{Read, Returns};

const TABLE: &str =
    "create table t (id int primary key auto_increment, name varchar(20)); insert into t values (1, 'a')";

fn sleep() -> Read {
    select("SELECT SLEEP(60) FROM t", &[Integer], Vec::new())
}

fn one() -> Read {
    select("SELECT id FROM t WHERE id = 1", &[Integer], Vec::new())
}

fn insert() -> crate::statement::Program {
    program(vec![step("INSERT INTO t (name) VALUES (?)", vec![bind("x")], Returns::Key)])
}

async fn code(mysql: &Mysql, read: Read) -> Option<Code> {
    mysql.read(vec![read], Collect::default(), None).await.err().map(|error| error.code)
}

/// Returns the number of connections that run the sleeping statement in this database.
fn sleeping(database: &Database) -> usize {
    let name = database.url().rsplit('/').next().unwrap();
    let sql = format!(
        "select count(*) from information_schema.processlist where db = '{name}' and info like 'SELECT SLEEP(60)%'"
    );
    database.run(&sql).trim().parse().unwrap()
}

/// Polls until the condition holds.
async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < patience, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_waits_for_is_ended() {
    let (_, database) = fresh(TABLE);
    let mut spec = spec(database.url());
    spec.connections_max = 1;
    let mysql = Arc::new(Mysql::open(&spec).unwrap());
    for _ in 0..3 {
        let task = {
            let mysql = Arc::clone(&mysql);
            tokio::spawn(async move { code(&mysql, sleep()).await })
        };
        until("it runs", || sleeping(&database) == 1).await;
        task.abort();
        let _ = task.await;
        until("it was ended", || sleeping(&database) == 0).await;
        assert_eq!(rows(&mysql, one()).await, [[OwnedCell::Int(1)]]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_statements_are_ended_by_the_server() {
    let (_, database) = fresh(TABLE);
    let mut spec = spec(database.url());
    spec.statement_ms_max = 300;
    let mysql = Mysql::open(&spec).unwrap();
    let long =
        || select("SELECT SUM(a.seq * b.seq) FROM seq_1_to_100000 AS a, seq_1_to_100000 AS b", &[BigInt], Vec::new());
    assert_eq!(code(&mysql, long()).await, Some(Code::Timeout));
    assert_eq!(rows(&mysql, one()).await, [[OwnedCell::Int(1)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_waited_for_in_order_and_not_forever() {
    let (_, database) = fresh(TABLE);
    let mut spec = spec(database.url());
    spec.connections_max = 1;
    let mysql = Arc::new(Mysql::open(&spec).unwrap());
    let busy = {
        let mysql = Arc::clone(&mysql);
        tokio::spawn(async move { code(&mysql, sleep()).await })
    };
    until("it runs", || sleeping(&database) == 1).await;
    let error = mysql.read(vec![one()], Collect::default(), None).await.unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable);
    assert!(error.message.contains("out of connections"), "{error:?}");
    busy.abort();
    let _ = busy.await;
    assert_eq!(rows(&mysql, one()).await, [[OwnedCell::Int(1)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_not_there_or_does_not_let_us_in() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mysql = Mysql::open(&spec(&format!("mysql://u:secret@127.0.0.1:{port}/blog"))).unwrap();
    let error = mysql.read(vec![one()], Collect::default(), None).await.unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable);
    assert!(error.hint.is_some() && error.message.contains(&port.to_string()), "{error:?}");
    assert_eq!(mysql.write(insert()).await.unwrap_err().code, Code::DatabaseUnavailable);
    assert_eq!(mysql.stamp().await.unwrap_err().code, Code::DatabaseUnavailable);
    let (_, database) = fresh(TABLE);
    for url in [database.url().replace("salver:salver@", "salver:secret@"), format!("{}_nowhere", database.url())] {
        let error = Mysql::open(&spec(&url)).unwrap().ping().await.unwrap_err();
        assert_eq!(error.code, Code::DatabaseUnavailable, "{error:?}");
        assert!(!error.message.contains("secret"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_and_comes_again() {
    let server = Server::start(Kind::Mariadb);
    let database = server.database(TABLE);
    let mysql = Arc::new(Mysql::open(&spec(database.url())).unwrap());
    assert_eq!(rows(&mysql, one()).await, [[OwnedCell::Int(1)]]);
    assert!(mysql.write(insert()).await.unwrap().committed);

    // Killed in the middle of a change.
    let change = {
        let mysql = Arc::clone(&mysql);
        let slow = step("INSERT INTO t (name) SELECT SLEEP(60) FROM t LIMIT 1", Vec::new(), Returns::Count);
        tokio::spawn(async move { mysql.write(program(vec![slow])).await })
    };
    until("it runs", || {
        let running =
            "select count(*) from information_schema.processlist where info like 'INSERT INTO t (name) SELECT%'";
        database.run(running).trim() == "1"
    })
    .await;
    server.kill();
    let error = change.await.unwrap().unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable);
    assert!(error.message.contains("the outcome is unknown"), "{error:?}");

    // Down.
    assert_eq!(code(&mysql, one()).await, Some(Code::DatabaseUnavailable));
    let error = mysql.write(insert()).await.unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable);
    assert!(!error.message.contains("unknown"), "nothing was sent: {error:?}");

    server.restart();
    assert_eq!(rows(&mysql, one()).await, [[OwnedCell::Int(1)]]);
    assert!(mysql.write(insert()).await.unwrap().committed);
    assert_eq!(rows(&mysql, select("SELECT COUNT(*) FROM t", &[BigInt], Vec::new())).await, [[OwnedCell::Int(3)]]);

    // Restarted while connections were idle: neither reads nor changes notice.
    server.kill();
    server.restart();
    assert_eq!(rows(&mysql, one()).await, [[OwnedCell::Int(1)]]);
    server.kill();
    server.restart();
    assert!(mysql.write(insert()).await.unwrap().committed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stands_still() {
    let server = Server::start(Kind::Mariadb);
    let database = server.database(TABLE);
    let mut spec = spec(database.url());
    spec.statement_ms_max = 500;
    let mysql = Mysql::open(&spec).unwrap();
    assert_eq!(rows(&mysql, one()).await, [[OwnedCell::Int(1)]]);
    server.pause();
    assert_eq!(code(&mysql, one()).await, Some(Code::Timeout));
    server.resume();
    assert_eq!(rows(&mysql, one()).await, [[OwnedCell::Int(1)]]);
}
