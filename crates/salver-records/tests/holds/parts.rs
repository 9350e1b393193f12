//! Parts: disjoint, in order, and in PostgreSQL on connections of their own.

use futures::future::join_all;
use futures::{StreamExt, TryStreamExt};
use salver_testkit::servers::Kind;

use super::fixture::{World, all, columns, counted, lines, numbers, sorted};

const ROWS: usize = 40_000;

#[tokio::test(flavor = "multi_thread")]
async fn together_they_are_the_rows() {
    for kind in Kind::ALL {
        let rows = numbers(kind, ROWS, "t", "select i * 3 - 60000, 'row ' || i from n");
        let world =
            World::new(kind, &format!("create table t (id int not null primary key, name varchar(40));\n{rows}")).await;
        let whole = all(&*world.hold(1).await).await.expect("rows");
        assert_eq!(whole.len(), ROWS, "{kind:?}");
        for parts in [2, 4, 7] {
            let held = world.hold(parts).await;
            assert_eq!(held.parts(), parts, "{kind:?}");
            let (held_ref, all_columns) = (&held, columns(&*held));
            let each = (0..parts).map(|part| held_ref.read(part, &all_columns, None, None).try_collect::<Vec<_>>());
            let each = join_all(each).await;
            let each: Vec<Vec<String>> = each.into_iter().map(|part| lines(&part.expect("rows"))).collect();
            for (part, rows) in each.iter().enumerate() {
                assert!(rows.len() > ROWS / parts / 2, "{kind:?}: part {part} of {parts} has {} rows", rows.len());
                assert_eq!(held.part_rows(part), Some(rows.len() as u64), "{kind:?}: known once read");
            }
            assert!(each.concat() == whole, "{kind:?}: {parts} parts");
            assert_eq!(counted(&*held).await, ROWS, "{kind:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_by_pages_in_postgresql() {
    let rows = numbers(Kind::Postgres, ROWS, "t", "select i, 'row ' || i from n");
    let sql = format!("create table t (id int, name varchar(40));\n{rows} delete from t where id % 100 = 0;");
    let world = World::new(Kind::Postgres, &sql).await;
    let held = world.hold(4).await;
    assert_eq!(held.parts(), 4);
    let before = all(&*held).await.expect("rows");
    assert_eq!(sorted(before.clone()), sorted(world.rows().await));
    // New versions of rows come to lie on the same pages, and on new ones.
    let _ = world.source.run("update t set name = 'other' where id % 2 = 0; insert into t select * from t; vacuum t");
    assert!(all(&*held).await.expect("rows") == before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_same_time_on_connections_of_their_own() {
    let rows = numbers(Kind::Postgres, ROWS, "t", "select i, 'row ' || i from n");
    let sql = format!("create table t (id int not null primary key, name varchar(40));\n{rows}");
    let world = World::new(Kind::Postgres, &sql).await;
    let _ = world.rows().await;
    let before = world.connections();
    let held = world.hold(8).await;
    assert_eq!(world.connections(), before + 1, "connections nobody needs yet");
    let _ = world.source.run("delete from t where id > 5");
    let reads = join_all((0..8).map(|part| held.read(part, &[0], None, None).try_collect::<Vec<_>>())).await;
    let rows: usize = reads.into_iter().map(|batches| lines(&batches.expect("rows")).len()).sum();
    assert_eq!(rows, ROWS, "a connection of another state");
    let now = world.connections() - before;
    assert!((2..=4).contains(&now), "{now} connections");
    drop(held);
    world.settled(before).await;
}

/// A reader who stops in the middle keeps nobody from reading, whatever they share.
#[tokio::test(flavor = "multi_thread")]
async fn one_who_stops_holds_up_nobody() {
    for kind in Kind::ALL {
        let rows = numbers(kind, ROWS, "t", "select i, 'row ' || i from n");
        let sql = format!("create table t (id int not null primary key, name varchar(40));\n{rows}");
        for sql in [
            sql.clone(),
            sql.replace("create table t", "create table x").replace("into t", "into x")
                + "create view t as select id, name from x;",
        ] {
            let world = World::new(kind, &sql).await;
            let held = world.hold(1).await;
            let mut stopped = Vec::new();
            for _ in 0..20 {
                let mut stream = held.read(0, &columns(&*held), None, None);
                let first = stream.next().await.expect("a batch").expect("rows");
                stopped.push((first, stream));
            }
            let whole = all(&*held).await.expect("rows");
            assert_eq!(whole.len(), ROWS, "{kind:?}");
            for (first, rest) in stopped {
                let rest = rest.try_collect::<Vec<_>>().await.expect("rows");
                let rows: Vec<_> = std::iter::once(first).chain(rest).collect();
                assert!(lines(&rows) == whole, "{kind:?}");
            }
        }
    }
}
