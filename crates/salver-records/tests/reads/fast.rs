//! The fast path of SQLite gives byte for byte what the general path gives.

use salver_model::ports::Database;
use salver_testkit::servers::Kind;

use super::fixture::{Ask, World, table, text};

#[tokio::test]
async fn at_once_and_otherwise_are_the_same() {
    let world = World::new(Kind::Sqlite, |_| {});
    world.database.refresh().await.unwrap();
    let mut at_once = 0;
    for name in ["users", "posts", "comments", "tags", "spots", "busy", "stock", "bare"] {
        for key in ["1", "2", "red", "9", "x", "", "1.0", "0", "00001", " 1"] {
            let now = world.database.read_now(&world.caller, &table(name), Some(key));
            let keys = [vec![key.to_owned()]];
            let then = world.database.read(&world.caller, &table(name), &keys, false).await;
            match (now, then) {
                (None, _) => continue,
                (Some(Ok(now)), Ok(then)) => {
                    assert_eq!(now.tag, then.tag);
                    assert_eq!(text(now).await.unwrap(), text(then).await.unwrap(), "{name} {key}");
                }
                (Some(Err(now)), Err(then)) => assert_eq!((now.code, now.message), (then.code, then.message)),
                (now, then) => panic!("{name} {key}: {now:?} and {then:?}"),
            }
            at_once += 1;
        }
        for filter in ["", "id,eq,1", "id,gt,1", "name,cs,e", "text,neq,one"] {
            for order in ["", "id desc", "name,id"] {
                for size in [None, Some(0), Some(2)] {
                    let mut query = table(name).order(order);
                    query.size = size;
                    if !filter.is_empty() {
                        query = query.filter(filter);
                    }
                    let Some(now) = world.database.read_now(&world.caller, &query, None) else { continue };
                    assert_eq!(text(now.unwrap()).await.unwrap(), world.list(&query).await, "{query:?}");
                    at_once += 1;
                }
            }
        }
    }
    assert!(at_once > 100, "{at_once}");
}

#[tokio::test]
async fn a_new_schema_is_seen() {
    let world = World::new(Kind::Sqlite, |_| {});
    world.database.refresh().await.unwrap();
    let one = || async {
        match world.database.read_now(&world.caller, &table("tags"), Some("red")) {
            Some(now) => text(now.unwrap()).await.unwrap(),
            None => world.read(&table("tags"), &["red"]).await.unwrap(),
        }
    };
    assert_eq!(one().await, r#"{"name":"red","hot":true}"#);
    let _ = world.source.run("alter table tags add column more integer");
    world.database.refresh().await.unwrap();
    assert_eq!(one().await, r#"{"name":"red","hot":true,"more":null}"#);
}
