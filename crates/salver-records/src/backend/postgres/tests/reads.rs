//! Reads: snapshots, streams, cancellation, statements whose schema changes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_model::records::ColumnKind as K;
use salver_model::{Code, Result};
use salver_testkit::servers::Database;
use tokio::sync::mpsc;

use super::{count, fresh, list, number, open, point, program, rows, shown, spec};
use crate::backend::postgres::Postgres;
use crate::cell::{Cell, Collect, OwnedCell, RowSink};
use crate::statement::Bind;

const ACCOUNTS: &str =
    "create table accounts (id int primary key, amount int); insert into accounts values (1, 50), (2, 50);";

#[tokio::test]
async fn reads_by_key_share_connections() {
    let (database, postgres) = fresh(
        "create table t (id int primary key, v text); insert into t select i, 'v' || i from generate_series(1, 100) i;",
    );
    let postgres = Arc::new(postgres);
    let mut tasks = Vec::new();
    for id in 0..=200_i64 {
        let postgres = Arc::clone(&postgres);
        tasks.push(tokio::spawn(async move {
            let read = point("select id, v from t where id = $1", vec![Bind::Int(id)], &[K::Integer, K::Clob]);
            (id, rows(&postgres, read).await.unwrap())
        }));
    }
    for task in tasks {
        let (id, found) = task.await.unwrap();
        let expected = (1..=100).contains(&id).then(|| vec![OwnedCell::Int(id), shown(&format!("v{id}"))]);
        assert_eq!(found, Vec::from_iter(expected));
    }
    let used =
        "select count(*) from pg_stat_activity where application_name = 'salver' and datname = current_database()";
    assert!(database.run(used).trim().parse::<usize>().unwrap() <= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_that_come_together_see_one_state() {
    let (_database, postgres) = fresh(ACCOUNTS);
    let postgres = Arc::new(postgres);
    let mover = tokio::spawn({
        let postgres = Arc::clone(&postgres);
        async move {
            for _ in 0..300 {
                let steps = vec![
                    count("update accounts set amount = amount - 1 where id = 1", vec![]),
                    count("update accounts set amount = amount + 1 where id = 2", vec![]),
                ];
                assert!(postgres.write(program(steps)).await.unwrap().committed);
            }
        }
    });
    let amount = |id: i64| list("select amount from accounts where id = $1", vec![Bind::Int(id)], &[K::Integer]);
    while !mover.is_finished() {
        let found = postgres.read(vec![amount(1), amount(2)], Collect::default(), None).await.unwrap().rows;
        let (OwnedCell::Int(one), OwnedCell::Int(two)) = (&found[0][0][0], &found[1][0][0]) else {
            panic!("{found:?}")
        };
        assert_eq!(one + two, 100);
    }
    mover.await.unwrap();
}

/// Sends the sum of every thousand rows.
#[derive(Default)]
struct Sums {
    rows: i64,
    sum: i64,
    finished: Option<i64>,
}

impl RowSink for Sums {
    type Piece = i64;

    fn row(&mut self, _read: usize, cells: &[Cell<'_>]) -> Result<()> {
        let [Cell::Int(value)] = cells else { panic!("{cells:?}") };
        self.rows += 1;
        self.sum += value;
        if self.rows % 1_000 == 0 {
            self.finished = Some(std::mem::take(&mut self.sum));
        }
        Ok(())
    }

    fn piece(&mut self) -> Option<i64> {
        self.finished.take()
    }
}

fn series() -> crate::statement::Read {
    list("select i from generate_series(1, 100000) i", vec![], &[K::Integer])
}

#[tokio::test]
async fn rows_stream_through_several_reads() {
    let (_database, postgres) = fresh("");
    let (sender, mut receiver) = mpsc::channel(1);
    let reading = postgres.read(vec![series(), series()], Sums::default(), Some(sender));
    let taking = async {
        let mut sum = 0;
        while let Some(piece) = receiver.recv().await {
            sum += piece.unwrap();
        }
        sum
    };
    let (sums, sum) = tokio::join!(reading, taking);
    assert_eq!((sums.unwrap().rows, sum), (200_000, 2 * 100_000 * 100_001 / 2));
}

#[tokio::test]
async fn a_stream_nobody_takes_ends_and_its_connection_is_good() {
    let (_database, postgres) = fresh("");
    for _ in 0..20 {
        let (sender, mut receiver) = mpsc::channel(1);
        let reading = postgres.read(vec![series(), series()], Sums::default(), Some(sender));
        let leaving = async move {
            let _ = receiver.recv().await;
        };
        assert!(tokio::join!(reading, leaving).0.is_err());
    }
    assert_eq!(number(&postgres, "select 7::int8").await, 7);
}

fn running(database: &Database, what: &str) -> bool {
    let sql = format!(
        "select count(*) from pg_stat_activity where state <> 'idle' and query like '{what}%' and datname = current_database()"
    );
    database.run(&sql).trim() != "0"
}

/// Waits until it no longer runs: the server ends a cancelled statement with a delay.
fn ended(database: &Database, what: &str) -> bool {
    let patience = Instant::now() + Duration::from_secs(60);
    while running(database, what) {
        if Instant::now() > patience {
            return false;
        }
    }
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_a_read_or_a_write_cancels_it_and_cleans_its_connection() {
    let (database, _) = fresh(ACCOUNTS);
    let mut spec = spec(database.url());
    // With one connection the next user gets the same.
    spec.connections_max = 1;
    let postgres = Arc::new(Postgres::open(&spec).unwrap());
    let reading = tokio::spawn({
        let postgres = Arc::clone(&postgres);
        async move { number(&postgres, "select 1 from pg_sleep(600)").await }
    });
    while !running(&database, "select 1 from pg_sleep") {}
    reading.abort();
    assert_eq!(number(&postgres, "select 7::int8").await, 7);
    assert!(ended(&database, "select 1 from pg_sleep"));

    let writing = tokio::spawn({
        let postgres = Arc::clone(&postgres);
        async move {
            let steps = vec![count("update accounts set amount = 0", vec![]), count("select pg_sleep(600)", vec![])];
            postgres.write(program(steps)).await.map(|outcome| outcome.committed)
        }
    });
    while !running(&database, "select pg_sleep") {}
    writing.abort();
    assert_eq!(number(&postgres, "select sum(amount) from accounts").await, 100);
    assert!(ended(&database, "select pg_sleep"));
}

#[tokio::test]
async fn statements_are_prepared_again_when_the_schema_moves() {
    let (database, postgres) = fresh("create table t (id int primary key, v int); insert into t values (1, 5);");
    let read = |is_point: bool| {
        let read = list("select v from t where id = $1", vec![Bind::Int(1)], &[K::BigInt]);
        crate::statement::Read { point: is_point, ..read }
    };
    let update = || {
        program(vec![crate::statement::ProgramStep {
            returns: crate::statement::Returns::Rows([K::BigInt].into()),
            ..count("update t set v = 6 where id = 1 returning v", vec![])
        }])
    };
    for change in
        ["select 1", "alter table t alter v type bigint", "alter table t alter v type smallint", "deallocate all"]
    {
        let _ = database.run(change);
        assert!(postgres.write(update()).await.unwrap().committed, "{change}");
        assert_eq!(rows(&postgres, read(true)).await.unwrap(), [[OwnedCell::Int(6)]], "{change}");
        assert_eq!(rows(&postgres, read(false)).await.unwrap(), [[OwnedCell::Int(6)]], "{change}");
        let found = postgres.read(vec![read(false), read(false)], Collect::default(), None).await.unwrap();
        assert_eq!(found.rows.len(), 2);
    }
    let _ = database.run("alter table t drop v");
    assert_eq!(rows(&postgres, read(true)).await.unwrap_err().code, Code::UnknownColumn);
    let _ = database.run("drop table t");
    assert_eq!(rows(&postgres, read(false)).await.unwrap_err().code, Code::UnknownTable);
}

#[tokio::test]
async fn more_statements_than_are_kept_work_all_the_same() {
    let (_database, postgres) = fresh("");
    for round in 0..2_i64 {
        for index in 0..400_i64 {
            let read = point(&format!("select {index} + $1::int8"), vec![Bind::Int(round)], &[K::BigInt]);
            assert_eq!(rows(&postgres, read).await.unwrap(), [[OwnedCell::Int(index + round)]]);
        }
    }
    let kept =
        rows(&postgres, point("select count(*) from pg_prepared_statements", vec![], &[K::BigInt])).await.unwrap();
    let [OwnedCell::Int(kept)] = kept[0][..] else { panic!("{kept:?}") };
    assert!(kept <= salver_model::limits::PREPARED_MAX as i64 + 1, "{kept}");
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_ended() {
    let (database, _) = fresh("");
    let mut spec = spec(database.url());
    spec.statement_ms_max = 50;
    let postgres = Postgres::open(&spec).unwrap();
    for is_point in [true, false] {
        let read = list("select 1::int8 from pg_sleep(600)", vec![], &[K::BigInt]);
        let error = rows(&postgres, crate::statement::Read { point: is_point, ..read }).await.unwrap_err();
        assert_eq!(error.code, Code::Timeout);
    }
    let error = postgres.write(program(vec![count("select pg_sleep(600)", vec![])])).await.unwrap_err();
    assert_eq!(error.code, Code::Timeout);
    assert_eq!(number(&postgres, "select 7::int8").await, 7);
}

#[tokio::test]
async fn a_slow_read_by_key_does_not_hold_up_others() {
    let (database, postgres) = fresh(ACCOUNTS);
    let postgres = Arc::new(postgres);
    let mut slow = Vec::new();
    for _ in 0..4 {
        let postgres = Arc::clone(&postgres);
        slow.push(tokio::spawn(async move {
            rows(&postgres, point("select 1::int8 from pg_sleep(600)", vec![], &[K::BigInt])).await
        }));
    }
    while !running(&database, "select 1::int8 from pg_sleep") {
        tokio::task::yield_now().await;
    }
    let quick = open(database.url());
    for _ in 0..20 {
        let read = point("select amount from accounts where id = 1", vec![], &[K::Integer]);
        assert_eq!(rows(&quick, read.clone()).await.unwrap(), [[OwnedCell::Int(50)]]);
        // These may wait for a moment, until the lines are seen to be blocked.
        assert_eq!(rows(&postgres, list(&read.sql, vec![], &[K::Integer])).await.unwrap(), [[OwnedCell::Int(50)]]);
    }
    while rows_while_blocked(&postgres).await != [[OwnedCell::Int(50)]] {}
    for task in slow {
        task.abort();
    }
}

async fn rows_while_blocked(postgres: &Postgres) -> Vec<Vec<OwnedCell>> {
    let read = point("select amount from accounts where id = 1", vec![], &[K::Integer]);
    rows(postgres, read).await.unwrap()
}
