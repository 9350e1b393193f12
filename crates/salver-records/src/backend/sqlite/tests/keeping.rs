//! Transactions that are kept between reads: no read sees an old row, and the log is reset all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use salver_model::Result;

use super::{Fixture, read, run};
use crate::backend::sqlite::Sqlite;
use crate::cell::{Cell, RowSink};
use crate::statement::{Bind, Read};

const TABLE: &str = "PRAGMA journal_mode = wal;
    CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, filler TEXT);
    INSERT INTO t VALUES (1, 0, ''), (2, 0, '')";

/// The number in the first cell.
#[derive(Default)]
struct Number(i64);

impl RowSink for Number {
    type Piece = ();

    fn row(&mut self, _: usize, cells: &[Cell<'_>]) -> Result<()> {
        if let [Cell::Int(number), ..] = cells {
            self.0 = *number;
        }
        Ok(())
    }
}

fn by_key(id: i64) -> Read {
    read("SELECT n FROM t WHERE id = ?", vec![Bind::Int(id)])
}

/// Returns the number of the row; `None` where the blocking path is required.
fn number(database: &Sqlite, read: &Read) -> Option<i64> {
    database.read_at_once(read, &mut Number::default).map(|sink| sink.unwrap().0)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_commit_is_seen_at_once() {
    let fixture = Fixture::new(TABLE);
    let (database, other) = (fixture.open(), fixture.other());
    database.stamp().await.unwrap();
    let (one, two) = (by_key(1), by_key(2));
    let mut last = database.version();
    for n in 1..=300 {
        // Two reads without a commit in between, so that a transaction is kept when the next one comes.
        for _ in 0..2 {
            assert_eq!(number(&database, &one), Some(n - 1));
            assert_eq!(number(&database, &two), Some(n - 1));
        }
        other.execute("UPDATE t SET n = ?1 WHERE id = 1", [n]).unwrap();
        assert_eq!(number(&database, &one), Some(n), "another process's");
        run(&database, "UPDATE t SET n = ? WHERE id = 2", vec![Bind::Int(n)]).await.unwrap();
        assert_eq!(number(&database, &two), Some(n), "its own");
        let now = database.version();
        assert!(now > last, "the version moves too");
        last = now;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_sees_what_was_committed_before_it_came() {
    let fixture = Fixture::new(TABLE);
    let database = Arc::new(fixture.open());
    database.stamp().await.unwrap();
    let (committed, done) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicBool::new(false)));
    let runtime = tokio::runtime::Handle::current();
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (database, committed, done) = (Arc::clone(&database), Arc::clone(&committed), Arc::clone(&done));
            let runtime = runtime.clone();
            std::thread::spawn(move || {
                let _inside = runtime.enter();
                let (read, mut reads) = (by_key(1), 0_u64);
                while !done.load(Ordering::Acquire) {
                    let before = committed.load(Ordering::Acquire);
                    let Some(number) = number(&database, &read) else { continue };
                    assert!(number >= before, "{number} was read when {before} was committed");
                    reads += 1;
                }
                reads
            })
        })
        .collect();
    let other = fixture.other();
    for n in 1..=3_000 {
        other.execute("UPDATE t SET n = ?1 WHERE id = 1", [n]).unwrap();
        committed.store(n, Ordering::Release);
    }
    done.store(true, Ordering::Release);
    for reader in readers {
        assert!(reader.join().unwrap() > 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_begins_anew_under_readers() {
    let fixture = Fixture::new(TABLE);
    let database = Arc::new(fixture.open());
    database.stamp().await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let reader = {
        let (database, done) = (Arc::clone(&database), Arc::clone(&done));
        let runtime = tokio::runtime::Handle::current();
        std::thread::spawn(move || {
            let _inside = runtime.enter();
            while !done.load(Ordering::Acquire) {
                let _ = number(&database, &by_key(1));
            }
        })
    };
    let filler = "x".repeat(100_000);
    for _ in 0..1_500 {
        let binds = vec![Bind::Text(filler.clone())];
        run(&database, "UPDATE t SET n = n + 1, filler = ? WHERE id = 2", binds).await.unwrap();
    }
    done.store(true, Ordering::Release);
    reader.join().unwrap();
    // 150 MB were written; without a reader the log stays at about a thousand pages.
    let log = std::fs::metadata(fixture.path.with_extension("db-wal")).unwrap().len();
    assert!(log < 64 * 1024 * 1024, "the log has {log} bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_uses_is_ended() {
    let fixture = Fixture::new(TABLE);
    let database = fixture.open();
    database.stamp().await.unwrap();
    run(&database, "UPDATE t SET n = 7 WHERE id = 1", vec![]).await.unwrap();
    for _ in 0..10 {
        assert_eq!(number(&database, &by_key(1)), Some(7));
    }
    // The log can't be cut while a transaction reads from it.
    let other = fixture.other();
    let cut = || other.query_row("PRAGMA wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0)).unwrap() == 0;
    let deadline = Instant::now() + Duration::from_secs(20);
    while !cut() {
        assert!(Instant::now() < deadline, "a transaction stays open");
        tokio::task::yield_now().await;
    }
}

/// Returns a database that is only read, whose journal is no log.
async fn with_rollback_journal() -> (Fixture, Arc<Sqlite>) {
    let fixture = Fixture::new(&TABLE.replace("wal", "delete"));
    let database = Arc::new(Sqlite::open(&fixture.spec(false)).unwrap());
    database.stamp().await.unwrap();
    (fixture, database)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_lock_of_readers_keeps_a_writer_of_another_process_away() {
    let (fixture, database) = with_rollback_journal().await;
    let (committed, done) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicBool::new(false)));
    let runtime = tokio::runtime::Handle::current();
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (database, committed, done) = (Arc::clone(&database), Arc::clone(&committed), Arc::clone(&done));
            let runtime = runtime.clone();
            std::thread::spawn(move || {
                let _inside = runtime.enter();
                let read = by_key(1);
                while !done.load(Ordering::Acquire) {
                    let before = committed.load(Ordering::Acquire);
                    let Some(number) = number(&database, &read) else { continue };
                    assert!(number >= before, "{number} was read when {before} was committed");
                }
            })
        })
        .collect();
    let other = fixture.other();
    for n in 1..=200 {
        other.execute("UPDATE t SET n = ?1 WHERE id = 1", [n]).unwrap();
        committed.store(n, Ordering::Release);
    }
    done.store(true, Ordering::Release);
    readers.into_iter().for_each(|reader| reader.join().unwrap());
}

/// Reads until a transaction is kept that keeps writers away.
fn keep_lock(database: &Sqlite) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut keeps = false;
    while !keeps {
        assert!(Instant::now() < deadline, "no transaction is kept");
        assert_eq!(number(database, &by_key(2)), Some(0));
        database.connections.each_lane(|reader| keeps |= reader.keeps_writers_away());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_is_kept_is_given_up_without_another_read() {
    let (fixture, database) = with_rollback_journal().await;
    keep_lock(&database);
    // Waits for up to five seconds, as every program of this library does.
    fixture.other().execute("UPDATE t SET n = 5 WHERE id = 1", []).unwrap();
    assert_eq!(number(&database, &by_key(1)).unwrap_or(5), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_are_seen_when_the_journal_becomes_a_log() {
    let (fixture, database) = with_rollback_journal().await;
    keep_lock(&database);
    let other = fixture.other();
    other.query_row("PRAGMA journal_mode = wal", [], |_| Ok(())).unwrap();
    let (mut seen, deadline) = (0, Instant::now() + Duration::from_secs(20));
    for n in 1..=300 {
        other.execute("UPDATE t SET n = ?1 WHERE id = 1", [n]).unwrap();
        for _ in 0..3 {
            let Some(number) = number(&database, &by_key(1)) else { continue };
            assert_eq!(number, n);
            seen += 1;
        }
    }
    while seen == 0 {
        assert!(Instant::now() < deadline, "nothing is read at once any more");
        seen += u32::from(number(&database, &by_key(1)).is_some());
    }
}

/// SQLite asks whether to go on also in the middle of `COMMIT`: of one in a hundred and fifty, since it counts the
/// operations of a statement over all its runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_ends_though_the_time_of_its_reads_is_over() {
    let fixture = Fixture::new(TABLE);
    let database = fixture.open();
    database.stamp().await.unwrap();
    let one = by_key(1);
    for turn in 0..600 {
        let number = || number(&database, &one);
        assert_eq!((number(), number(), number()), (Some(turn), Some(turn), Some(turn)));
        let kept = database.connections.on_lane(|reader| {
            let kept = reader.keeps();
            reader.watch.begin(1, 1);
            std::thread::sleep(Duration::from_micros(1_100));
            reader.release();
            assert!(reader.connection.is_autocommit(), "turn {turn}");
            kept
        });
        assert_eq!(kept, Some(true), "the test is of no use otherwise");
        fixture.other().execute("UPDATE t SET n = n + 1 WHERE id = 1", []).unwrap();
    }
}
