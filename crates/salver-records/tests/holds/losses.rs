//! A connection that is lost is a failure, never an end.

use futures::TryStreamExt;
use salver_model::Code;
use salver_testkit::servers::Kind;

use super::fixture::{World, all, columns, numbers, taken};

const ROWS: usize = 50_000;

async fn world(kind: Kind) -> World {
    let rows = numbers(kind, ROWS, "t", "select i, 'row ' || i from n");
    World::new(kind, &format!("create table t (id int not null primary key, name varchar(40));\n{rows}")).await
}

/// Ends what holds the rows, from the other side.
fn cut(world: &World) {
    let held = match world.kind {
        Kind::Postgres => {
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() \
             and application_name = 'salver' and (state like 'idle in transaction%' or backend_xmin is not null)"
        }
        Kind::Mariadb => {
            "select concat('kill ', id, ';') from information_schema.processlist \
             where db = database() and user = 'salver'"
        }
        Kind::Sqlite => {
            let path = world.source.url().trim_start_matches("sqlite:");
            let other = format!("{path}.other");
            std::fs::copy(path, &other).expect("a copy");
            std::fs::rename(other, path).expect("another file");
            return;
        }
    };
    let kills = world.source.run(held);
    if world.kind == Kind::Mariadb {
        let _ = world.source.run(&kills);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_middle() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let world = world(kind).await;
        let held = world.hold(1).await;
        let mut stream = held.read(0, &columns(&*held), None, None);
        let first = stream.try_next().await.expect("rows").expect("a batch");
        assert!(first.num_rows() < ROWS, "{kind:?}");
        cut(&world);
        let error = stream.try_collect::<Vec<_>>().await.expect_err("a clean end");
        assert_eq!(error.code, Code::ExpiredCursor, "{kind:?}: {error:?}");
        // What is gone is gone: no other connection takes its place with other rows.
        for _ in 0..2 {
            let error = all(&*held).await.expect_err("rows of another state");
            assert_eq!(error.code, Code::ExpiredCursor, "{kind:?}: {error:?}");
            assert!(error.message.contains("gone") && error.hint.is_some(), "{kind:?}: {error:?}");
        }
        assert_eq!(all(&*world.hold(1).await).await.expect("rows").len(), ROWS, "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_replaced() {
    let world = world(Kind::Sqlite).await;
    let _ = world.source.run("pragma wal_checkpoint(truncate)");
    let held = world.hold(1).await;
    assert_eq!(taken(held.read(0, &columns(&*held), None, Some(5))).await.expect("rows").len(), 5);
    cut(&world);
    // The next look finds it out; what is held does not keep the new file from being served.
    let _ = salver_model::ports::Database::refresh(&world.database).await;
    let error = all(&*held).await.expect_err("rows of another file");
    assert_eq!(error.code, Code::ExpiredCursor, "{error:?}");
    assert_eq!(all(&*world.hold(1).await).await.expect("rows").len(), ROWS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_fails_does_not_take_the_rows_with_it() {
    let sql = "create view t as select i as id, case when i = 5000 then 1 / (i - 5000) else i end as n \
               from generate_series(1, 10000) i";
    let world = World::new(Kind::Postgres, sql).await;
    let held = world.hold(1).await;
    let error = all(&*held).await.expect_err("a division by nought");
    assert_eq!(error.code, Code::Execution, "{error:?}");
    assert_eq!(taken(held.read(0, &[1], None, Some(3))).await.expect("rows"), ["1|", "2|", "3|"]);
}

/// Rows are sent in the forms of their columns' types: a table that was altered is not held by what was known of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_column_that_has_another_type() {
    let world =
        World::new(Kind::Postgres, "create table t (id int primary key, b int); insert into t values (1, 2)").await;
    for native in ["bigint", "integer", "text"] {
        let _ = world.source.run(&format!("alter table t alter column b type {native}"));
        let table =
            salver_model::ports::Database::tables(&world.database, &mut |name| salver_model::Name::new(name).ok());
        let error = table[0].hold(1).await.expect_err("rows of another type");
        assert_eq!(error.code, Code::Contention, "{error:?}");
        // The next look finds it out.
        let table =
            salver_model::ports::Database::tables(&world.database, &mut |name| salver_model::Name::new(name).ok());
        assert_eq!(all(&*table[0].hold(1).await.expect("rows")).await.expect("rows"), ["1|2|"]);
    }
}
