//! Bulk loads: good rows, bad rows, dry runs, upserts.

use std::sync::Arc;

use salver_model::Code;
use salver_model::limits::LOAD_PROBLEMS_MAX;
use salver_model::records::ColumnKind as K;
use tokio::sync::mpsc;

use super::{fresh, list, number, rows, shown, text};
use crate::backend::postgres::Postgres;
use crate::cell::OwnedCell;
use crate::statement::{Bind, BulkLoad, Loaded};

const SCHEMA: &str = "
create table kinds (id int primary key);
insert into kinds select generate_series(0, 9);
create table items (id int primary key, kind int references kinds, name varchar(20), raw bytea, at geometry);";

fn load() -> BulkLoad {
    let columns =
        [("id", K::Integer), ("kind", K::Integer), ("name", K::Varchar), ("raw", K::Blob), ("at", K::Geometry)];
    BulkLoad {
        table: "items".to_owned(),
        columns: columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec(),
        insert: Arc::from(
            "insert into items (id, kind, name, raw, at) values ($1, $2, $3, $4, ST_GeomFromText($5, 4326))",
        ),
        dry_run: false,
        keep_good: false,
        upsert: false,
    }
}

fn item(id: i64) -> Vec<Bind> {
    vec![
        Bind::Int(id),
        Bind::Int(id % 10),
        text(&format!("a\\b\t{id}\n")),
        Bind::Bytes(vec![0, 92, 255]),
        text("POINT(1 2)"),
    ]
}

async fn run(postgres: &Postgres, load: BulkLoad, all: Vec<Vec<Bind>>) -> salver_model::Result<Loaded> {
    let (sender, receiver) = mpsc::channel(2);
    let feed = async move {
        for batch in all.chunks(700) {
            if sender.send(batch.to_vec()).await.is_err() {
                break;
            }
        }
    };
    tokio::join!(postgres.load(load, receiver), feed).0
}

#[tokio::test]
async fn good_rows_arrive_as_they_were() {
    let (_database, postgres) = fresh(SCHEMA);
    let mut all: Vec<_> = (1..=10_000).map(item).collect();
    all.push(vec![Bind::Int(0), Bind::Null, Bind::Null, Bind::Null, Bind::Null]);
    let loaded = run(&postgres, load(), all).await.unwrap();
    assert_eq!((loaded.kept, loaded.refused), (10_001, 0));
    let read = "select name, raw, ST_AsText(at), ST_SRID(at) from items where id in (0, 77) order by id";
    let found = rows(&postgres, list(read, vec![], &[K::Varchar, K::Blob, K::Geometry, K::Integer])).await.unwrap();
    assert!(found[0].iter().all(|cell| *cell == OwnedCell::Null));
    let expected = [shown("a\\b\t77\n"), OwnedCell::Bytes(vec![0, 92, 255]), shown("POINT(1 2)"), OwnedCell::Int(4326)];
    assert_eq!(found[1], expected);
}

#[tokio::test]
async fn bad_rows_are_named_and_the_good_kept() {
    let (_database, postgres) = fresh(SCHEMA);
    let mut all: Vec<_> = (0..9_000).map(item).collect();
    all[3] = item(2);
    all[4_500][1] = Bind::Int(77);
    all[4_501][0] = text("many");
    all[8_999][2] = text("much longer than it may be");
    let keep = BulkLoad { keep_good: true, ..load() };
    let loaded = run(&postgres, keep, all.clone()).await.unwrap();
    assert_eq!((loaded.kept, loaded.refused), (8_996, 4));
    let problems: Vec<_> = loaded.problems.iter().map(|(row, error)| (*row, error.code)).collect();
    let expected = [(3, Code::DuplicateKey), (4_500, Code::Integrity), (4_501, Code::Invalid), (8_999, Code::Invalid)];
    assert_eq!(problems, expected);
    assert_eq!(number(&postgres, "select count(*) from items").await, 8_996);

    let _ = run(&postgres, BulkLoad { dry_run: true, keep_good: true, ..load() }, vec![item(20_000)]).await.unwrap();
    assert_eq!(number(&postgres, "select count(*) from items").await, 8_996);
    all.truncate(5);
    let loaded = run(&postgres, load(), all).await.unwrap();
    assert_eq!((loaded.kept, loaded.refused), (0, 5));
}

#[tokio::test]
async fn very_many_bad_rows_are_counted() {
    let (_database, postgres) = fresh(SCHEMA);
    let mut all: Vec<_> = (0..3_000).map(item).collect();
    for row in all.iter_mut().step_by(2) {
        row[1] = Bind::Int(50);
    }
    let loaded = run(&postgres, BulkLoad { keep_good: true, ..load() }, all).await.unwrap();
    assert_eq!((loaded.kept, loaded.refused, loaded.problems.len()), (1_500, 1_500, LOAD_PROBLEMS_MAX.min(1_500)));
    assert_eq!(number(&postgres, "select count(*) from items where id % 2 = 0").await, 0);
}

#[tokio::test]
async fn an_upsert_sets_what_is_there() {
    let (_database, postgres) = fresh(SCHEMA);
    assert_eq!(run(&postgres, load(), (0..100).map(item).collect()).await.unwrap().kept, 100);
    let insert = format!("{} on conflict (id) do update set kind = 3", load().insert);
    let upsert = BulkLoad { upsert: true, keep_good: true, insert: Arc::from(insert), ..load() };
    let mut all: Vec<_> = (50..600).map(item).collect();
    all[10][1] = Bind::Int(99);
    let loaded = run(&postgres, upsert, all).await.unwrap();
    assert_eq!((loaded.kept, loaded.refused), (550, 0), "the conflict is taken before the key is looked at");
    assert_eq!(number(&postgres, "select count(*) from items where kind = 3 and id between 50 and 99").await, 50);
    assert_eq!(number(&postgres, "select count(*) from items").await, 600);
}

#[tokio::test]
async fn what_can_not_be_copied_into_is_loaded_by_statements() {
    let (_database, postgres) =
        fresh("create table t (id int primary key, v text); create view w as select id, v from t;");
    let load = BulkLoad {
        table: "w".to_owned(),
        columns: vec![("id".to_owned(), K::Integer), ("v".to_owned(), K::Clob)],
        insert: Arc::from("insert into w (id, v) values ($1, $2)"),
        dry_run: false,
        keep_good: true,
        upsert: false,
    };
    let mut all: Vec<_> = (0..1_000).map(|id| vec![Bind::Int(id), text("x")]).collect();
    all[500][0] = Bind::Int(499);
    let loaded = run(&postgres, load, all).await.unwrap();
    assert_eq!((loaded.kept, loaded.refused, loaded.problems[0].0), (999, 1, 500));
}
