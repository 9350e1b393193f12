//! Reads: their snapshot, their cost, and their end.

use std::sync::Arc;

use salver_model::records::ColumnKind;
use salver_model::{Code, Error, Result};
use tokio::sync::mpsc;

use super::{Fixture, number, read, rows, run, spec_of, text};
use crate::backend::sqlite::Sqlite;
use crate::cell::{Cell, Collect, OwnedCell, RowSink};
use crate::statement::{Bind, Read};

const MANY: &str = "CREATE TABLE n (id INTEGER PRIMARY KEY, v INTEGER);
    INSERT INTO n SELECT value, value % 97 FROM generate(100000)";

fn many() -> Fixture {
    let sql = MANY.replace(
        "generate(100000)",
        "(WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c LIMIT 100000) SELECT value FROM c)",
    );
    Fixture::new(&sql)
}

/// A statement that runs for minutes.
const ENDLESS: &str = "SELECT count(*) FROM n a, n b WHERE a.v + b.v = -1";

#[tokio::test(flavor = "multi_thread")]
async fn cells_are_what_is_stored() {
    let fixture = Fixture::new("CREATE TABLE t (a, b, c, d, e, f boolean, g boolean, h)");
    let database = fixture.open();
    let binds = vec![
        Bind::Null,
        Bind::Int(i64::MIN),
        Bind::Float(0.1),
        text("käse"),
        Bind::Bytes(vec![0, 255]),
        Bind::Bool(true),
        text("yes"),
        Bind::Bytes(vec![]),
    ];
    run(&database, "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", binds).await.unwrap();
    let kinds: Arc<[ColumnKind]> =
        (0..8).map(|index| if index == 5 || index == 6 { ColumnKind::Boolean } else { ColumnKind::Clob }).collect();
    let all = Read { sql: Arc::from("SELECT * FROM t"), binds: vec![], kinds, point: false };
    let expected = vec![
        OwnedCell::Null,
        OwnedCell::Int(i64::MIN),
        OwnedCell::Float(0.1),
        OwnedCell::Text("käse".to_owned()),
        OwnedCell::Bytes(vec![0, 255]),
        OwnedCell::Bool(true),
        OwnedCell::Text("yes".to_owned()),
        OwnedCell::Bytes(vec![]),
    ];
    let collected = database.read(vec![all.clone()], Collect::default(), None).await.unwrap();
    assert_eq!(collected.rows, [[expected.clone()]]);
    let at_once = database.read_at_once(&all, &mut Collect::default).unwrap().unwrap();
    assert_eq!(at_once.rows, [[expected]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_is_not_utf8_is_mended() {
    let fixture = Fixture::new("CREATE TABLE t (a, b, c); INSERT INTO t VALUES (1, CAST(x'61ff62' AS TEXT), 'z')");
    let database = fixture.open();
    let expected = [OwnedCell::Int(1), OwnedCell::Text("a\u{fffd}b".to_owned()), OwnedCell::Text("z".to_owned())];
    assert_eq!(rows(&database, "SELECT * FROM t").await.unwrap(), [expected]);
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_that_come_together_see_one_state() {
    let fixture = Fixture::new("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)");
    let database = Arc::new(fixture.open());
    let writer = Arc::clone(&database);
    let writing = tokio::spawn(async move {
        for _ in 0..200 {
            run(&writer, "UPDATE t SET n = n + 1", vec![]).await.unwrap();
        }
    });
    while !writing.is_finished() {
        let reads = (0..5).map(|_| read("SELECT n FROM t", vec![])).collect();
        let collected = database.read(reads, Collect::default(), None).await.unwrap();
        assert!(collected.rows.windows(2).all(|two| two[0] == two[1]), "{:?}", collected.rows);
    }
    writing.await.unwrap();
    assert_eq!(number(&database, "SELECT n FROM t").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_quick_is_read_at_once() {
    let fixture = many();
    let database = fixture.open();
    let by_key = read("SELECT v FROM n WHERE id = ?", vec![Bind::Int(98)]);
    assert!(database.read_at_once(&by_key, &mut Collect::default).is_none(), "nothing was opened yet");
    database.stamp().await.unwrap();
    let collected = database.read_at_once(&by_key, &mut Collect::default).unwrap().unwrap();
    assert_eq!(collected.rows, [[[OwnedCell::Int(1)]]]);
    let scan = read("SELECT sum(v) FROM n WHERE v <> 3", vec![]);
    assert!(database.read_at_once(&scan, &mut Collect::default).is_none(), "a scan is over the budget");
    // The same connection goes on after that.
    assert!(database.read_at_once(&by_key, &mut Collect::default).is_some());
    assert!(database.version().is_some());
    let collected = database.read(vec![scan], Collect::default(), None).await.unwrap();
    assert!(matches!(collected.rows[0][0][0], OwnedCell::Int(sum) if sum > 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_has_its_time() {
    let fixture = many();
    let mut spec = fixture.spec(false);
    spec.statement_ms_max = 50;
    let database = Sqlite::open(&spec).unwrap();
    let error = rows(&database, ENDLESS).await.unwrap_err();
    assert_eq!(error.code, Code::Timeout, "{error:?}");
    assert_eq!(number(&database, "SELECT count(*) FROM n").await, 100_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_read_ends() {
    let fixture = many();
    let mut spec = fixture.spec(false);
    spec.connections_max = 1;
    let database = Sqlite::open(&spec).unwrap();
    // Several, of which some never began: with one connection all must yield to the last.
    for _ in 0..3 {
        let mut endless = Box::pin(rows(&database, ENDLESS));
        tokio::select! {
            biased;
            ended = &mut endless => panic!("{ended:?}"),
            () = tokio::task::yield_now() => {}
        }
        drop(endless);
    }
    assert_eq!(number(&database, "SELECT count(*) FROM n").await, 100_000);
}

/// Has a piece after each row.
#[derive(Default)]
struct Pieces(Vec<i64>, Option<i64>);

impl RowSink for Pieces {
    type Piece = Vec<i64>;

    fn row(&mut self, _read: usize, cells: &[Cell<'_>]) -> Result<()> {
        let Cell::Int(value) = cells[0] else { return Err(Error::internal("no number")) };
        if self.1 == Some(value) {
            return Err(Error::internal("enough"));
        }
        self.0.push(value);
        Ok(())
    }

    fn piece(&mut self) -> Option<Vec<i64>> {
        (self.0.len() == 10).then(|| std::mem::take(&mut self.0))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_go_out_while_rows_come() {
    let fixture = many();
    let database = Arc::new(fixture.open());
    let (out, mut pieces) = mpsc::channel(1);
    let reader = Arc::clone(&database);
    let reading = tokio::spawn(async move {
        let all = read("SELECT id FROM n WHERE id <= 1005 ORDER BY id", vec![]);
        reader.read(vec![all], Pieces::default(), Some(out)).await
    });
    let mut seen = Vec::new();
    while let Some(piece) = pieces.recv().await {
        seen.extend(piece.unwrap());
    }
    seen.extend(reading.await.unwrap().unwrap().0);
    assert_eq!(seen, (1..=1005).collect::<Vec<i64>>());

    let (out, pieces) = mpsc::channel(1);
    drop(pieces);
    let all = read("SELECT a.id FROM n a, n b, n c", vec![]);
    assert!(database.read(vec![all], Pieces::default(), Some(out)).await.is_err(), "it ends when nobody takes it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sink_that_refuses_ends_the_read() {
    let fixture = many();
    let database = fixture.open();
    let reads = || vec![read("SELECT id FROM n", vec![]), read("SELECT id FROM n", vec![])];
    let error = database.read(reads(), Pieces(vec![], Some(5)), None).await.err().unwrap();
    assert_eq!(error.message, "enough");
    let error = database.read_at_once(&reads()[0], &mut || Pieces(vec![], Some(5))).unwrap().err().unwrap();
    assert_eq!(error.message, "enough");
    // The aborted connection is not left in a transaction.
    run(&database, "UPDATE n SET v = 1234567 WHERE id = 1", vec![]).await.unwrap();
    assert_eq!(number(&database, "SELECT v FROM n WHERE id = 1").await, 1_234_567);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_reads_writes_nothing() {
    let fixture = Fixture::new("CREATE TABLE t (n INTEGER)");
    let database = Sqlite::open(&fixture.spec(false)).unwrap();
    let error = rows(&database, "INSERT INTO t VALUES (1) RETURNING n").await.unwrap_err();
    assert_eq!(error.code, Code::DatabaseUnavailable, "{error:?}");
    let error = run(&database, "INSERT INTO t VALUES (1)", vec![]).await.unwrap_err();
    assert_eq!(error.code, Code::ReadOnly);
    assert_eq!(fixture.number("SELECT count(*) FROM t"), 0);
    let mode: String = fixture.other().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete", "the file's journal is left as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_in_memory_is_one_for_all_connections() {
    let mut spec = spec_of(std::path::Path::new(":memory:"), true);
    spec.url = "sqlite::memory:".to_owned();
    let database = Sqlite::open(&spec).unwrap();
    database.define(vec!["CREATE TABLE t (n INTEGER)".to_owned()]).await.unwrap();
    for n in 0..10 {
        run(&database, "INSERT INTO t VALUES (?)", vec![Bind::Int(n)]).await.unwrap();
        let before = database.version();
        assert!(before.is_some());
        assert_eq!(number(&database, "SELECT count(*) FROM t").await, n + 1);
    }
    let another = Sqlite::open(&spec).unwrap();
    assert_eq!(rows(&another, "SELECT * FROM t").await.unwrap_err().code, Code::UnknownTable, "each entry has its own");
}
