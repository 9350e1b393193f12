//! Fault tests: servers that are absent, disconnect, hang, or are full.

use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use salver_model::Code;
use salver_model::records::ColumnKind as K;
use salver_testkit::servers::{Kind, Server};

use super::{count, fresh, list, number, open, point, program, rows, spec};
use crate::backend::postgres::Postgres;
use crate::cell::OwnedCell;
use crate::statement::Bind;

#[tokio::test]
async fn a_database_that_is_not_there_is_told_so() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let postgres = open(&format!("postgres://salver:salver@127.0.0.1:{port}/blog"));
    let read = |point: bool| crate::statement::Read { point, ..list("select 1::int8", vec![], &[K::BigInt]) };
    for error in [
        rows(&postgres, read(true)).await.unwrap_err(),
        rows(&postgres, read(false)).await.unwrap_err(),
        postgres.write(program(vec![count("select 1", vec![])])).await.unwrap_err(),
        postgres.reflect().await.unwrap_err(),
        postgres.stamp().await.unwrap_err(),
        postgres.ping().await.unwrap_err(),
    ] {
        assert_eq!(error.code, Code::DatabaseUnavailable);
        assert!(error.message.contains("`blog`") && error.message.contains(&port.to_string()), "{}", error.message);
        assert!(error.hint.is_some() && !error.chain().contains("salver:salver"));
    }
}

#[tokio::test]
async fn a_wrong_password_or_name_is_told_without_saying_it() {
    let (database, _) = fresh("");
    let wrong = open(&database.url().replace("salver:salver", "salver:secret"));
    let error = wrong.ping().await.unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable);
    assert!(error.message.contains("does not let its user in") && !error.chain().contains("secret"), "{error:?}");
    let nowhere = open(&format!("{}_not", database.url()));
    assert!(nowhere.ping().await.unwrap_err().message.contains("has no database"));
}

#[tokio::test]
async fn reads_outlive_the_end_of_their_connections() {
    let (database, postgres) = fresh("create table t (id int primary key); insert into t values (1);");
    let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
               where datname = current_database() and application_name = 'salver'";
    for _ in 0..5 {
        let by_key = point("select id from t where id = $1", vec![Bind::Int(1)], &[K::Integer]);
        assert_eq!(rows(&postgres, by_key).await.unwrap(), [[OwnedCell::Int(1)]]);
        assert_eq!(number(&postgres, "select count(*) from t").await, 1);
        let _ = database.run(end);
    }
    let _ = database.run(end);
    postgres.ping().await.unwrap();
}

#[tokio::test]
async fn few_connections_are_enough() {
    let (database, _) = fresh("create table t (id int primary key); insert into t values (1);");
    let role = format!("few_{}", database.url().rsplit('_').next().unwrap());
    let _ = database
        .run(&format!("create role {role} login password 'few' connection limit 2; grant select on t to {role};"));
    let url = database.url().replace("salver:salver", &format!("{role}:few"));
    let postgres = Arc::new(open(&url));
    let mut tasks = Vec::new();
    for index in 0..60 {
        let postgres = Arc::clone(&postgres);
        tasks.push(tokio::spawn(async move {
            let read = list("select id from t where id = 1", vec![], &[K::Integer]);
            rows(&postgres, crate::statement::Read { point: index % 2 == 0, ..read }).await
        }));
    }
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), [[OwnedCell::Int(1)]]);
    }
}

#[tokio::test]
async fn one_connection_is_enough() {
    let (database, _) = fresh("");
    let mut spec = spec(database.url());
    spec.connections_max = 1;
    let postgres = Arc::new(Postgres::open(&spec).unwrap());
    let mut tasks = Vec::new();
    for _ in 0..30 {
        let postgres = Arc::clone(&postgres);
        tasks.push(tokio::spawn(async move {
            rows(&postgres, point("select 1::int8", vec![], &[K::BigInt])).await.unwrap();
            number(&postgres, "select 2::int8").await
        }));
    }
    for task in tasks {
        assert_eq!(task.await.unwrap(), 2);
    }
    let used =
        "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'salver'";
    assert_eq!(database.run(used).trim(), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_loses_nothing_that_was_acknowledged_and_is_found_again() {
    let server = Server::start(Kind::Postgres);
    let database = server.database("create table t (id int primary key);");
    let postgres = Arc::new(open(database.url()));
    let (mut next, mut acknowledged) = (0_i64, Vec::new());
    for _ in 0..3 {
        let stop = Arc::new(AtomicBool::new(false));
        let mut writers = Vec::new();
        for writer in 0..4_i64 {
            let (postgres, stop) = (Arc::clone(&postgres), Arc::clone(&stop));
            let first = next + writer * 1_000_000;
            writers.push(tokio::spawn(async move {
                let mut kept = Vec::new();
                for id in first.. {
                    let insert = |id: i64| count("insert into t values ($1)", vec![Bind::Int(id)]);
                    let steps = if id % 2 == 0 { vec![insert(id)] } else { vec![insert(id), insert(-id)] };
                    match postgres.write(program(steps)).await {
                        Ok(outcome) => {
                            assert!(outcome.committed);
                            kept.push(id);
                        }
                        Err(error) => {
                            assert_eq!(error.code, Code::DatabaseUnavailable, "{error:?}");
                            if stop.load(Ordering::Relaxed) {
                                break;
                            }
                        }
                    }
                }
                kept
            }));
        }
        while number(&postgres, "select count(*) from t").await < next / 1_000 + 200 {}
        server.kill();
        stop.store(true, Ordering::Relaxed);
        for writer in writers {
            acknowledged.extend(writer.await.unwrap());
        }
        let error = rows(&postgres, list("select 1::int8", vec![], &[K::BigInt])).await.unwrap_err();
        assert_eq!(error.code, Code::DatabaseUnavailable);
        server.restart();
        postgres.ping().await.unwrap();
        let ids = rows(&postgres, list("select id from t", vec![], &[K::Integer])).await.unwrap();
        let ids: std::collections::HashSet<i64> = ids
            .iter()
            .map(|row| match row[0] {
                OwnedCell::Int(id) => id,
                _ => panic!("{row:?}"),
            })
            .collect();
        for id in &acknowledged {
            assert!(ids.contains(id) && (id % 2 == 0 || ids.contains(&-id)), "{id} was acknowledged");
        }
        for id in ids.iter().filter(|id| *id % 2 != 0) {
            assert!(ids.contains(&-id), "half of {id} was kept");
        }
        next += 100_000_000;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_process_that_hangs_is_given_up_and_replaced() {
    let (database, _) = fresh("");
    let mut spec = spec(database.url());
    spec.statement_ms_max = 100;
    let postgres = Postgres::open(&spec).unwrap();
    let process = || point("select pg_backend_pid()", vec![], &[K::Integer]);
    let first = rows(&postgres, process()).await.unwrap();
    let OwnedCell::Int(pid) = first[0][0] else { panic!("{first:?}") };
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
    };
    signal("-STOP");
    let error = rows(&postgres, process()).await.unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable);
    assert_ne!(rows(&postgres, process()).await.unwrap(), first);
    signal("-CONT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_a_connection_and_says_nothing_is_given_up_and_found_again() {
    let server = Server::start(Kind::Postgres);
    let postgres = open(server.database("").url());
    server.pause();
    let error = postgres.ping().await.unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable);
    assert!(error.message.contains("does not answer"), "{error:?}");
    server.resume();
    postgres.ping().await.unwrap();
}
