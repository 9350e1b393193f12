//! The fast path of SQLite gives byte for byte what the general path gives.

use salver_model::Result;
use salver_model::ports::Database;
use salver_model::records::{Document, RecordRead};
use salver_testkit::servers::Kind;

use super::fixture::{Ask, World, table, text};

fn now(world: &World, read: &RecordRead) -> Option<Result<Document>> {
    world.database.read(&world.caller, read).ready()
}

fn key_of(table_name: &str, key: &str) -> RecordRead {
    RecordRead::Row { table: table_name.to_owned(), key: vec![key.to_owned()] }
}

#[tokio::test]
async fn at_once_and_otherwise_are_the_same() {
    let world = World::new(Kind::Sqlite, |_| {});
    world.database.refresh().await.unwrap();
    let mut at_once = 0;
    for name in ["users", "posts", "comments", "tags", "spots", "busy", "stock", "bare"] {
        for key in ["1", "2", "red", "9", "x", "", "1.0", "0", "00001", " 1"] {
            // Compares both ways.
            let _ = world.read(&table(name), &[key]).await;
            at_once += usize::from(now(&world, &key_of(name, key)).is_some());
        }
        for filter in ["", "id,eq,1", "id,gt,1", "name,cs,e", "text,neq,one"] {
            for order in ["", "id desc", "name,id"] {
                for size in [None, Some(0), Some(2)] {
                    let mut query = table(name).order(order);
                    query.size = size;
                    if !filter.is_empty() {
                        query = query.filter(filter);
                    }
                    // Not every table has every column.
                    let _ = world.try_list(&query).await;
                    at_once += usize::from(now(&world, &RecordRead::List(Box::new(query))).is_some());
                }
            }
        }
    }
    assert!(at_once > 100, "{at_once}");
}

/// SQLite keeps any text in a column of times or numbers: rows are found by their key as it is shown, and by no other
/// notation of it.
#[tokio::test]
async fn rows_of_sqlite_have_the_key_that_is_shown() {
    let times = ["2024-01-01", "2024-01-01 00:00:00", "2024-01-01T10:00:00", "2024-01-01T10:00:00Z", "1:00", "soon"];
    let mut more =
        "create table words (k int primary key, n integer); insert into words values (7, 0), ('abc', 1);\n".to_owned();
    for kind in ["datetime", "timestamp", "date", "time"] {
        more += &format!("create table {kind}s (k {kind} primary key, n integer);\n");
        for (n, time) in times.iter().enumerate() {
            more += &format!("insert into {kind}s values ('{time}', {n});\n");
        }
        more += &format!("insert into {kind}s values (20240101, 99);\n");
    }
    let world = World::with(Kind::Sqlite, &more, |_| {});
    world.database.refresh().await.unwrap();
    for kind in ["datetime", "timestamp", "date", "time"] {
        let name = format!("{kind}s");
        for (n, time) in times.iter().enumerate() {
            let row = world.read(&table(&name), &[time]).await.unwrap();
            assert_eq!(row, format!("{{\"k\":\"{time}\",\"n\":{n}}}"), "{kind}");
        }
        let both = world.read(&table(&name), &[times[1], times[0]]).await.unwrap();
        assert!(both.find("\"n\":1").is_some_and(|one| both.find("\"n\":0").is_some_and(|two| one < two)), "{both}");
        assert!(world.read(&table(&name), &["20240101"]).await.unwrap().contains("\"n\":99"));
        assert!(world.read(&table(&name), &["2024-01-01T00:00:00"]).await.is_err());
    }
    assert!(world.read(&table("words"), &["abc"]).await.unwrap().contains("\"n\":1"));
    assert!(world.read(&table("words"), &["7"]).await.unwrap().contains("\"n\":0"));
    assert!(world.read(&table("words"), &["x"]).await.is_err());
}

#[tokio::test]
async fn a_new_schema_is_seen() {
    let world = World::new(Kind::Sqlite, |_| {});
    world.database.refresh().await.unwrap();
    let one = || async {
        match now(&world, &key_of("tags", "red")) {
            Some(now) => text(now.unwrap()).await.unwrap(),
            None => world.read(&table("tags"), &["red"]).await.unwrap(),
        }
    };
    assert_eq!(one().await, r#"{"name":"red","hot":true}"#);
    let _ = world.source.run("alter table tags add column more integer");
    world.database.refresh().await.unwrap();
    assert_eq!(one().await, r#"{"name":"red","hot":true,"more":null}"#);
}
