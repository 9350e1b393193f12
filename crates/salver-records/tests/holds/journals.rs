//! SQLite without a write-ahead log: who holds rows is in no writer's way, and is told when they are not the same.

use salver_model::Code;
use salver_testkit::servers::{Kind, database};

use super::fixture::{World, all, numbers};

const ROWS: usize = 20_000;

fn table() -> String {
    let rows = numbers(Kind::Sqlite, ROWS, "t", "select i, 'row ' || i from n");
    format!("pragma journal_mode = delete; create table t (id integer primary key, name text);\n{rows}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_does_not_wait_and_the_rows_are_gone() {
    let world = World::with(Kind::Sqlite, &table(), |_| {}).await;
    let held = world.hold(2).await;
    let before = all(&*held).await.expect("rows");
    assert_eq!(before.len(), ROWS);
    assert_eq!(all(&*held).await.expect("rows"), before);
    let changed = "pragma busy_timeout = 100; update t set name = 'other' where id = 15000; select changes()";
    assert!(world.source.run(changed).trim().ends_with('1'), "a writer was kept from writing");
    let error = all(&*held).await.expect_err("other rows");
    assert_eq!(error.code, Code::ExpiredCursor, "{error:?}");
    assert!(error.message.contains("changed") && error.hint.is_some(), "{error:?}");
    let again = all(&*world.hold(1).await).await.expect("rows");
    assert_eq!(again[14_999], "15000|other|");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_salver_writes_there_is_a_log() {
    let world = World::with(Kind::Sqlite, &table(), |spec| spec.writable = true).await;
    let held = world.hold(1).await;
    let _ = world.source.run("update t set name = 'other'");
    assert_eq!(all(&*held).await.expect("rows")[0], "1|row 1|");
    // The log goes into the file again when nobody needs the old rows.
    drop(held);
    let first = database(Kind::Sqlite, "create table x (a)");
    drop(first);
    assert_eq!(all(&*world.hold(1).await).await.expect("rows")[0], "1|other|");
}
