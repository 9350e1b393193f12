//! What is written while a table is held does not show in it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use salver_testkit::contract;
use salver_testkit::servers::Kind;

use super::fixture::{World, all, columns, counted, numbers, taken};

const ROWS: usize = 30_000;
const WRITERS: usize = 8;

fn table(kind: Kind) -> String {
    let rows = numbers(kind, ROWS, "t", "select i, 'row ' || i, i * 7 from n");
    format!("create table t (id int not null primary key, name varchar(40), n int);\n{rows}")
}

/// Statements of one turn of a writer: rows come, change and go, some of them more than once.
fn turn(writer: usize, turn: usize) -> String {
    let first = ROWS * (2 + turn % 50) + writer * 1000;
    let changed = (turn * 97 + writer * 3571) % ROWS;
    format!(
        "insert into t values ({first}, 'new', 0), ({}, 'new', 1);
         update t set name = 'changed', n = n + 1 where id between {changed} and {};
         delete from t where id in ({first}, {}, {});
         update t set id = -id where id = {};",
        first + 1,
        changed + 20,
        changed + 40,
        changed + 41,
        changed + 60,
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_of_them() {
    for kind in Kind::ALL {
        let world = World::new(kind, &table(kind)).await;
        let held = world.hold(2).await;
        let before = all(&*held).await.expect("rows");
        assert_eq!(before.len(), ROWS, "{kind:?}");
        assert_eq!(before[ROWS - 1], format!("{ROWS}|row {ROWS}|{}|", ROWS * 7), "{kind:?}");
        let (over, turns) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (source, over, turns) = (&world.source, &over, &turns);
                scope.spawn(move || {
                    for number in 0.. {
                        // Writers may be in each other's way; then the statements that came before count.
                        if source.try_run(&turn(writer, number)).is_ok() {
                            turns.fetch_add(1, Ordering::Relaxed);
                        }
                        if over.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
            }
            let reading = async {
                let patience = Instant::now() + std::time::Duration::from_secs(60);
                let mut reads = 0;
                while reads < 3 || turns.load(Ordering::Relaxed) < 2 * WRITERS {
                    assert!(Instant::now() < patience, "{kind:?}: the writers don't get on");
                    assert!(all(&*held).await.expect("rows") == before, "{kind:?}: other rows");
                    // In batches, each by its offset.
                    let mut batches = Vec::new();
                    for part in 0..held.parts() {
                        let mut rows: u64 = 0;
                        loop {
                            let stream = held.read_behind(part, rows, &columns(&*held), Some(1_777));
                            let batch = taken(stream.expect("an offset")).await.expect("rows");
                            let (got, some) = (batch.len() as u64, batch.len() < 1_777);
                            batches.extend(batch);
                            rows += got;
                            if some {
                                break;
                            }
                        }
                    }
                    assert!(batches == before, "{kind:?}: other rows in batches");
                    assert_eq!(counted(&*held).await, ROWS, "{kind:?}");
                    reads += 1;
                }
                over.store(true, Ordering::Relaxed);
            };
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(reading));
        });
        // They did write.
        let now = all(&*world.hold(1).await).await.expect("rows");
        assert!(now != before, "{kind:?}: nothing was written");
        assert!(all(&*held).await.expect("rows") == before, "{kind:?}: other rows at the end");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_is_that_of_the_moment_of_holding() {
    for kind in Kind::ALL {
        let world = World::new(kind, &table(kind)).await;
        let held = world.hold(1).await;
        // Before the first row is read.
        let _ = world.source.run("delete from t where id > 10; insert into t values (-1, 'new', 0)");
        assert_eq!(all(&*held).await.expect("rows").len(), ROWS, "{kind:?}");
        assert_eq!(all(&*world.hold(1).await).await.expect("rows").len(), 11, "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_the_contract_s_changes() {
    for kind in Kind::ALL {
        let world = World::new(kind, &table(kind)).await;
        contract::held::unchanged(&*world.table, 4, async |number| {
            let _ = world.source.run(&match number {
                3 => "delete from t".to_owned(),
                number => turn(number, number),
            });
        })
        .await;
    }
}

/// What takes all rows away at once waits until nobody holds them, or is told so; where files keep old rows it does not
/// wait.
#[tokio::test(flavor = "multi_thread")]
async fn truncate_waits() {
    for (kind, patience) in
        [(Kind::Postgres, "set lock_timeout = '300ms';"), (Kind::Mariadb, "set lock_wait_timeout = 1;")]
    {
        let world = World::new(kind, &table(kind)).await;
        let held = world.hold(1).await;
        let refused = world.source.try_run(&format!("{patience} truncate table t"));
        assert!(refused.is_err(), "{kind:?}: the rows were taken away from who holds them");
        assert_eq!(all(&*held).await.expect("rows").len(), ROWS, "{kind:?}");
        drop(held);
        world.settled(world.connections()).await;
        let _ = world.source.run("truncate table t");
        assert_eq!(all(&*world.hold(1).await).await.expect("rows").len(), 0, "{kind:?}");
    }
    let world = World::new(Kind::Sqlite, &table(Kind::Sqlite)).await;
    let held = world.hold(1).await;
    let _ = world.source.run("drop table t; create table t (other text)");
    assert_eq!(all(&*held).await.expect("rows").len(), ROWS);
}
