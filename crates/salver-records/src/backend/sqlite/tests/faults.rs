//! Fault tests: files that are missing, replaced, damaged, locked.

use std::fs;
use std::sync::Arc;

use rusqlite::Connection;
use salver_model::Code;

use super::{Fixture, number, rows, run, spec_of, text};
use crate::backend::sqlite::Sqlite;

const TABLE: &str = "CREATE TABLE t (name TEXT)";

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_file_is_made_only_where_it_may_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new.db");
    let database = Sqlite::open(&spec_of(&path, false)).unwrap();
    let error = database.reflect().await.unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable);
    assert!(error.hint.unwrap().contains("writable"));
    assert!(!path.exists());

    let writable = Sqlite::open(&spec_of(&path, true)).unwrap();
    assert!(writable.reflect().await.unwrap().is_empty());
    writable.define(vec![TABLE.to_owned()]).await.unwrap();
    assert_eq!(database.reflect().await.unwrap().len(), 1, "the other finds it now, without restart");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_database_is_said_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("text.db");
    fs::write(&path, "this is not a database, and it is longer than a header of one would be".repeat(10)).unwrap();
    for writable in [false, true] {
        let database = Sqlite::open(&spec_of(&path, writable)).unwrap();
        let error = database.reflect().await.unwrap_err();
        assert_eq!(error.code, Code::DatabaseUnavailable);
        assert!(error.message.contains("not a SQLite database"), "{error:?}");
    }
    assert!(fs::read(&path).unwrap().starts_with(b"this"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_file_is_noticed() {
    for writable in [false, true] {
        let fixture = Fixture::new("CREATE TABLE t (name TEXT); INSERT INTO t VALUES ('old')");
        let database = Sqlite::open(&fixture.spec(writable)).unwrap();
        let stamp = database.stamp().await.unwrap();
        let version = database.version().unwrap();
        if writable {
            // The log of the old file must not be taken for the new one's.
            run(&database, "INSERT INTO t VALUES (?)", vec![text(&"x".repeat(10_000))]).await.unwrap();
        }
        let other = fixture.directory.path().join("other.db");
        Connection::open(&other)
            .unwrap()
            .execute_batch("CREATE TABLE t (name TEXT); CREATE TABLE u (a); INSERT INTO t VALUES ('new')")
            .unwrap();
        fs::rename(&other, &fixture.path).unwrap();

        if writable {
            // The writer notices by itself: this must not go into the file that is gone.
            assert!(run(&database, "INSERT INTO u VALUES (1)", vec![]).await.unwrap().committed);
        }
        assert_ne!(database.stamp().await.unwrap(), stamp);
        assert!(database.version().unwrap() > version);
        assert_eq!(number(&database, "SELECT count(*) FROM t WHERE name = 'new'").await, 1);
        assert_eq!(number(&database, "SELECT count(*) FROM t").await, 1);
        assert_eq!(database.reflect().await.unwrap().len(), 2);
        drop(database);
        let check: String = fixture.other().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
        assert_eq!(fixture.number("SELECT count(*) FROM u"), i64::from(writable));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_comes_back_is_used_again() {
    let fixture = Fixture::new(TABLE);
    let database = Sqlite::open(&fixture.spec(true)).unwrap();
    run(&database, "INSERT INTO t VALUES ('a')", vec![]).await.unwrap();
    let kept = fixture.directory.path().join("kept.db");
    fixture.other().execute_batch(&format!("VACUUM INTO '{}'", kept.display())).unwrap();
    fs::remove_file(&fixture.path).unwrap();
    let error = run(&database, "INSERT INTO t VALUES ('b')", vec![]).await.unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable, "{error:?}");
    assert!(!fixture.path.exists(), "an empty one must not be in its way");
    fs::rename(&kept, &fixture.path).unwrap();
    assert!(run(&database, "INSERT INTO t VALUES ('b')", vec![]).await.unwrap().committed);
    assert_eq!(number(&database, "SELECT count(*) FROM t").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_writer_is_waited_for_and_then_told() {
    let fixture = Fixture::new(TABLE);
    let database = Arc::new(fixture.open());
    database.stamp().await.unwrap();
    let other = fixture.other();
    other.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES ('other')").unwrap();
    assert_eq!(number(&database, "SELECT count(*) FROM t").await, 0, "readers don't wait");
    let error = run(&database, "INSERT INTO t VALUES ('a')", vec![]).await.unwrap_err();
    assert_eq!(error.code, Code::Contention, "{error:?}");

    let waiting = tokio::spawn({
        let database = Arc::clone(&database);
        async move {
            loop {
                match run(&database, "INSERT INTO t VALUES ('a')", vec![]).await {
                    Ok(done) => return done.committed,
                    // On a busy disk the other's commit may take longer than the busy timeout.
                    Err(error) => assert_eq!(error.code, Code::Contention),
                }
            }
        }
    });
    tokio::task::yield_now().await;
    other.execute_batch("COMMIT").unwrap();
    assert!(waiting.await.unwrap());
    assert_eq!(number(&database, "SELECT count(*) FROM t").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_database_says_so_and_goes_on() {
    let fixture = Fixture::new(TABLE);
    let database = fixture.open();
    // No larger than it is: to SQLite this is a full disk.
    database.define(vec!["PRAGMA max_page_count = 10".to_owned()]).await.unwrap();
    let done = run(&database, "INSERT INTO t VALUES (?)", vec![text(&"x".repeat(200_000))]).await.unwrap();
    let error = done.steps[0].as_ref().unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable);
    assert!(error.message.contains("full"));
    assert!(run(&database, "INSERT INTO t VALUES ('small')", vec![]).await.unwrap().committed);
    assert_eq!(number(&database, "SELECT count(*) FROM t").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_an_error_and_no_answer() {
    let fixture =
        Fixture::new("CREATE TABLE t (name TEXT); CREATE TABLE fine (n INTEGER); INSERT INTO fine VALUES (7)");
    fixture
        .other()
        .execute_batch(
            "WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM c LIMIT 5000)
             INSERT INTO t SELECT printf('%0100d', v) FROM c",
        )
        .unwrap();
    let mut bytes = fs::read(&fixture.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 50_000].fill(0xAB);
    fs::write(&fixture.path, bytes).unwrap();
    let database = Sqlite::open(&fixture.spec(false)).unwrap();
    let error = rows(&database, "SELECT sum(length(name)) FROM t").await.unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable, "{error:?}");
    assert!(error.message.contains("damaged"));
    assert_eq!(number(&database, "SELECT n FROM fine").await, 7);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_log_whose_index_can_not_be_made_is_read() {
    let fixture = Fixture::new("PRAGMA journal_mode = wal; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)");
    // As in a directory that takes no files.
    let index = fixture.directory.path().join("test.db-shm");
    std::os::unix::fs::symlink(fixture.directory.path().join("nowhere/at/all"), &index).unwrap();
    let database = Sqlite::open(&fixture.spec(false)).unwrap();
    let stamp = database.stamp().await.unwrap();
    assert_eq!(number(&database, "SELECT count(*) FROM t").await, 1);
    assert!(database.version().is_some());

    // SQLite does not watch such a file, but its time tells.
    let longer = Fixture::new(
        "PRAGMA journal_mode = wal; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2); CREATE TABLE u (n INTEGER)",
    );
    fs::write(&fixture.path, fs::read(&longer.path).unwrap()).unwrap();
    assert_ne!(database.stamp().await.unwrap(), stamp);
    assert_eq!(number(&database, "SELECT count(*) FROM t").await, 2);

    let log = fixture.directory.path().join("test.db-wal");
    fs::write(log, "what is in it would be missing").unwrap();
    let database = Sqlite::open(&fixture.spec(false)).unwrap();
    assert_eq!(database.stamp().await.unwrap_err().code, Code::DatabaseUnavailable);
}
