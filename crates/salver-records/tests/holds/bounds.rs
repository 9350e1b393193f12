//! How many may be held, and that nothing of them stays.

use salver_model::Code;
use salver_model::limits::SNAPSHOTS_PER_DATABASE_MAX;
use salver_testkit::servers::Kind;

use super::fixture::{World, all, columns, taken};

const TABLE: &str = "create table t (id int not null primary key, name varchar(40));
insert into t values (1, 'one'), (2, 'two'), (3, 'three');";

#[tokio::test(flavor = "multi_thread")]
async fn no_more_than_the_limit() {
    for kind in Kind::ALL {
        let world = World::new(kind, TABLE).await;
        let before = world.connections();
        let mut held = Vec::new();
        for _ in 0..SNAPSHOTS_PER_DATABASE_MAX {
            held.push(world.hold(1).await);
        }
        let error = world.table.hold(1).await.expect_err("one too many");
        assert_eq!(error.code, Code::Overloaded, "{kind:?}: {error:?}");
        assert!(error.message.contains("64") && error.hint.is_some(), "{kind:?}: {error:?}");
        // Queries have connections of their own.
        assert_eq!(world.rows().await.len(), 3, "{kind:?}");
        for one in &held {
            assert_eq!(all(&**one).await.expect("rows").len(), 3, "{kind:?}");
        }
        drop(held);
        world.settled(before + 1).await;
        assert_eq!(all(&*world.hold(1).await).await.expect("rows").len(), 3, "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_leave_nothing_behind() {
    for kind in Kind::ALL {
        let world = World::new(kind, TABLE).await;
        let _ = world.rows().await;
        let before = world.connections();
        for number in 0..200 {
            let held = loop {
                match world.table.hold(1 + number % 3).await {
                    Ok(held) => break held,
                    // Those that were dropped go soon, and not at once.
                    Err(error) if error.code == Code::Overloaded => tokio::task::yield_now().await,
                    Err(error) => panic!("{kind:?}: {error:?}"),
                }
            };
            match number % 4 {
                0 => {}
                1 => assert_eq!(all(&*held).await.expect("rows").len(), 3, "{kind:?}"),
                2 => drop(held.read(0, &columns(&*held), None, None)),
                // Dropped while somebody reads.
                _ => {
                    let stream = held.read(0, &columns(&*held), None, Some(2));
                    drop(held);
                    assert!(taken(stream).await.is_ok(), "{kind:?}");
                }
            }
        }
        world.settled(before).await;
        if kind == Kind::Postgres {
            let open = "select count(*) from pg_stat_activity where datname = current_database() \
                        and state like 'idle in transaction%'";
            assert_eq!(world.source.run(open).trim(), "0");
        }
    }
}
