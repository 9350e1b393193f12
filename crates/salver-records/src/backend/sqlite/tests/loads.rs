//! Loads of many rows.

use std::sync::Arc;

use salver_model::records::ColumnKind;
use salver_model::{Code, limits};
use tokio::sync::mpsc;

use super::{Fixture, number, run};
use crate::statement::{Bind, BulkLoad, Loaded};

const TABLE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)";

fn bulk() -> BulkLoad {
    BulkLoad {
        table: "t".to_owned(),
        columns: vec![("id".to_owned(), ColumnKind::Integer), ("n".to_owned(), ColumnKind::Integer)],
        insert: Arc::from("INSERT INTO t (id, n) VALUES (?, ?)"),
        dry_run: false,
        keep_good: false,
        upsert: false,
    }
}

/// Loads `count` rows, of which every `bad`th has no number.
async fn load(fixture: &Fixture, load: BulkLoad, count: i64, bad: Option<i64>) -> salver_model::Result<Loaded> {
    let (sender, rows) = mpsc::channel(2);
    tokio::spawn(async move {
        let all: Vec<i64> = (0..count).collect();
        for piece in all.chunks(100) {
            let n = |id: i64| if bad.is_some_and(|bad| id % bad == 0) { Bind::Null } else { Bind::Int(1) };
            let piece = piece.iter().map(|id| vec![Bind::Int(*id), n(*id)]).collect();
            if sender.send(piece).await.is_err() {
                return;
            }
        }
    });
    fixture.open().load(load, rows).await
}

#[tokio::test(flavor = "multi_thread")]
async fn good_rows_are_loaded() {
    let fixture = Fixture::new(TABLE);
    let loaded = load(&fixture, bulk(), 50_000, None).await.unwrap();
    assert_eq!((loaded.kept, loaded.refused), (50_000, 0));
    assert_eq!(fixture.number("SELECT sum(n) FROM t"), 50_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_rows_are_told_and_good_ones_kept_when_asked() {
    let fixture = Fixture::new(TABLE);
    let loaded = load(&fixture, BulkLoad { keep_good: true, ..bulk() }, 5_000, Some(10)).await.unwrap();
    assert_eq!((loaded.kept, loaded.refused), (4_500, 500));
    assert_eq!(loaded.problems.len(), limits::LOAD_PROBLEMS_MAX.min(500));
    let (row, error) = &loaded.problems[1];
    assert_eq!((*row, error.code), (10, Code::Integrity));
    assert_eq!(fixture.number("SELECT count(*) FROM t"), 4_500);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_row_undoes_all_otherwise() {
    let fixture = Fixture::new(TABLE);
    let loaded = load(&fixture, bulk(), 5_000, Some(4_000)).await.unwrap();
    assert_eq!((loaded.kept, loaded.refused), (0, 2));
    assert_eq!(fixture.number("SELECT count(*) FROM t"), 0);
    let dry = load(&fixture, BulkLoad { dry_run: true, keep_good: true, ..bulk() }, 100, Some(50)).await.unwrap();
    assert_eq!((dry.kept, dry.refused), (0, 2));
    assert_eq!(fixture.number("SELECT count(*) FROM t"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_whose_client_goes_leaves_nothing() {
    let fixture = Fixture::new(TABLE);
    let database = Arc::new(fixture.open());
    let (sender, rows) = mpsc::channel(1);
    let loading = tokio::spawn({
        let database = Arc::clone(&database);
        async move { database.load(bulk(), rows).await }
    });
    // So many rows that the load has begun to write when the last of them is taken.
    for piece in 0..100 {
        let rows = (0..1_000).map(|row| vec![Bind::Int(piece * 1_000 + row), Bind::Int(1)]).collect();
        sender.send(rows).await.unwrap();
    }
    loading.abort();
    assert!(loading.await.unwrap_err().is_cancelled());
    drop(sender);
    run(&database, "INSERT INTO t VALUES (-1, 1)", vec![]).await.unwrap();
    assert_eq!(number(&database, "SELECT count(*) FROM t").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_not_there_fails_the_load() {
    let fixture = Fixture::new(TABLE);
    let missing = BulkLoad { insert: Arc::from("INSERT INTO u VALUES (?, ?)"), ..bulk() };
    let error = load(&fixture, missing, 1_000, None).await.unwrap_err();
    assert_eq!(error.code, Code::UnknownTable);
}
