//! Loading many rows, with bad ones among them.

use std::sync::Arc;

use salver_model::Code;
use salver_model::records::ColumnKind::{self, BigInt, Blob, Boolean, Clob, Geometry, Integer, Varchar};
use tokio::sync::mpsc;

use super::super::Mysql;
use super::{bind, fresh, rows, select, text};
use crate::cell::OwnedCell;
use crate::statement::{Bind, BulkLoad, Loaded};

const TABLE: &str = "create table items (id int primary key, name varchar(20) not null, note text, flag bit(1), \
                     bytes blob, n tinyint, check (n <> 13));";

const COLUMNS: [(&str, ColumnKind); 6] =
    [("id", Integer), ("name", Varchar), ("note", Clob), ("flag", Boolean), ("bytes", Blob), ("n", Integer)];

fn load() -> BulkLoad {
    BulkLoad {
        table: "items".to_owned(),
        columns: COLUMNS.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect(),
        insert: Arc::from("INSERT INTO `items` (`id`, `name`, `note`, `flag`, `bytes`, `n`) VALUES (?, ?, ?, ?, ?, ?)"),
        dry_run: false,
        keep_good: false,
        upsert: false,
    }
}

fn row(id: i64) -> Vec<Bind> {
    vec![
        Bind::Int(id),
        Bind::Text(format!("name {id}\t\n\\")),
        if id % 3 == 0 { Bind::Null } else { bind("\\N") },
        Bind::Bool(id % 2 == 0),
        Bind::Bytes(vec![0, 9, 10, 92, 255, (id % 256) as u8]),
        Bind::Int(id % 10),
    ]
}

async fn run(mysql: &Mysql, load: BulkLoad, rows: Vec<Vec<Bind>>) -> Loaded {
    let (sender, receiver) = mpsc::channel(2);
    let sent = tokio::spawn(async move {
        for chunk in rows.chunks(1000) {
            sender.send(chunk.to_vec()).await.unwrap();
        }
    });
    let loaded = mysql.load(load, receiver).await.unwrap();
    sent.await.unwrap();
    loaded
}

async fn count(mysql: &Mysql) -> i64 {
    match rows(mysql, select("SELECT COUNT(*) FROM items", &[BigInt], Vec::new())).await[0][0] {
        OwnedCell::Int(count) => count,
        ref other => panic!("{other:?}"),
    }
}

async fn assert_rows(mysql: &Mysql) {
    let kinds = COLUMNS.map(|(_, kind)| kind);
    for id in [1, 3, 8192, 8193, 20_000] {
        let read = select("SELECT id, name, note, flag, bytes, n FROM items WHERE id = ?", &kinds, vec![Bind::Int(id)]);
        let note = if id % 3 == 0 { OwnedCell::Null } else { text("\\N") };
        let expected = vec![
            OwnedCell::Int(id),
            text(&format!("name {id}\t\n\\")),
            note,
            OwnedCell::Bool(id % 2 == 0),
            OwnedCell::Bytes(vec![0, 9, 10, 92, 255, (id % 256) as u8]),
            OwnedCell::Int(id % 10),
        ];
        assert_eq!(rows(mysql, read).await, [expected]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_go_in_as_they_are() {
    let (mysql, _database) = fresh(TABLE);
    let loaded = run(&mysql, load(), (1..=20_000).map(row).collect()).await;
    assert_eq!((loaded.kept, loaded.refused), (20_000, 0), "{:?}", loaded.problems);
    assert_rows(&mysql).await;
    assert_eq!(count(&mysql).await, 20_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_rows_go_in_by_fewer_at_a_time() {
    let (mysql, _database) = fresh("create table items (id int primary key, note longtext)");
    let load = BulkLoad {
        columns: vec![("id".to_owned(), Integer), ("note".to_owned(), Clob)],
        insert: Arc::from("INSERT INTO `items` (`id`, `note`) VALUES (?, ?)"),
        ..load()
    };
    let note = |id: i64| "€".repeat(if id % 50 == 0 { 400_000 } else { 10_000 });
    let loaded = run(&mysql, load, (1..=200).map(|id| vec![Bind::Int(id), Bind::Text(note(id))]).collect()).await;
    assert_eq!((loaded.kept, loaded.refused), (200, 0), "{:?}", loaded.problems);
    let read =
        select("SELECT note FROM items WHERE id IN (?, ?) ORDER BY id", &[Clob], vec![Bind::Int(99), Bind::Int(100)]);
    assert_eq!(rows(&mysql, read).await, [[text(&note(99))], [text(&note(100))]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_not_there_ends_the_load() {
    let (mysql, _database) = fresh(TABLE);
    let load = BulkLoad { insert: Arc::from("INSERT INTO `nowhere` (`id`) VALUES (?)"), ..load() };
    let (sender, receiver) = mpsc::channel(1);
    sender.send(vec![vec![Bind::Int(1)]; 1000]).await.unwrap();
    drop(sender);
    assert_eq!(mysql.load(load, receiver).await.unwrap_err().code, Code::UnknownTable);
}

fn bad_rows() -> (Vec<Vec<Bind>>, Vec<(u64, Code)>) {
    let mut rows: Vec<Vec<Bind>> = (1..=10_000).map(row).collect();
    let bad = [
        (0, 1, Bind::Null, Code::Integrity),
        (300, 0, Bind::Int(5), Code::DuplicateKey),
        (301, 5, Bind::Int(1000), Code::Invalid),
        (302, 5, bind("x"), Code::Invalid),
        (5_000, 1, bind("a name that is much too long"), Code::Invalid),
        (9_999, 5, Bind::Int(13), Code::Integrity),
    ];
    for (index, column, value, _) in &bad {
        rows[*index][*column] = value.clone();
    }
    (rows, bad.iter().map(|(index, _, _, code)| (*index as u64, *code)).collect())
}

fn problems(loaded: &Loaded) -> Vec<(u64, Code)> {
    loaded.problems.iter().map(|(row, error)| (*row, error.code)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_rows_are_found_and_good_ones_kept() {
    let (mysql, _database) = fresh(TABLE);
    let (rows, bad) = bad_rows();
    let strict = run(&mysql, load(), rows.clone()).await;
    assert_eq!((strict.kept, strict.refused, problems(&strict)), (0, 6, bad.clone()));
    assert_eq!(count(&mysql).await, 0);
    let dry = run(&mysql, BulkLoad { dry_run: true, keep_good: true, ..load() }, rows.clone()).await;
    assert_eq!((dry.kept, dry.refused, problems(&dry)), (0, 6, bad.clone()));
    assert_eq!(count(&mysql).await, 0);
    let kept = run(&mysql, BulkLoad { keep_good: true, ..load() }, rows).await;
    assert_eq!((kept.kept, kept.refused, problems(&kept)), (9_994, 6, bad));
    assert_eq!(count(&mysql).await, 9_994);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_exist_are_changed_by_an_upsert() {
    let (mysql, _database) = fresh(TABLE);
    run(&mysql, load(), (1..=100).map(row).collect()).await;
    let insert = format!("{} ON DUPLICATE KEY UPDATE `n` = VALUES(`n`) + 100", load().insert);
    let upsert = BulkLoad { insert: Arc::from(insert), upsert: true, ..load() };
    let loaded = run(&mysql, upsert, (51..=1000).map(row).collect()).await;
    assert_eq!((loaded.kept, loaded.refused), (950, 0), "{:?}", loaded.problems);
    assert_eq!(count(&mysql).await, 1000);
    let read = select("SELECT COUNT(*) FROM items WHERE n >= 100", &[BigInt], Vec::new());
    assert_eq!(rows(&mysql, read).await, [[OwnedCell::Int(50)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn geometries_go_through_the_insert() {
    let (mysql, _database) = fresh("create table places (id int primary key auto_increment, shape geometry not null)");
    let load = BulkLoad {
        table: "places".to_owned(),
        columns: vec![("shape".to_owned(), Geometry)],
        insert: Arc::from("INSERT INTO `places` (`shape`) VALUES (ST_GeomFromText(?, 4326))"),
        dry_run: false,
        keep_good: true,
        upsert: false,
    };
    let mut shapes: Vec<Vec<Bind>> = (0..1000).map(|n| vec![Bind::Text(format!("POINT({n} 1)"))]).collect();
    shapes[500][0] = bind("POINT(");
    let loaded = run(&mysql, load, shapes).await;
    assert_eq!((loaded.kept, loaded.refused), (999, 1));
    assert_eq!(loaded.problems[0].0, 500);
    let read = select("SELECT ST_AsText(`shape`) FROM places ORDER BY id LIMIT 1", &[Geometry], Vec::new());
    assert_eq!(rows(&mysql, read).await, [[text("POINT(0 1)")]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_breaks_off_leaves_nothing() {
    let (mysql, _database) = fresh(TABLE);
    let (sender, receiver) = mpsc::channel(1);
    let mysql = Arc::new(mysql);
    let task = {
        let mysql = Arc::clone(&mysql);
        tokio::spawn(async move { mysql.load(load(), receiver).await.map(|loaded| loaded.kept) })
    };
    sender.send((1..=20_000).map(row).collect()).await.unwrap();
    // The second is taken when the first is in the table.
    sender.send(Vec::new()).await.unwrap();
    sender.send(Vec::new()).await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(count(&mysql).await, 0);
}
