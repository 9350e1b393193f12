//! The version: it changes with every commit, and only then.

use std::sync::Arc;

use super::{Fixture, number, run};
use crate::backend::sqlite::Sqlite;

const TABLE: &str = "CREATE TABLE t (n INTEGER)";

#[tokio::test(flavor = "multi_thread")]
async fn the_version_moves_with_own_and_foreign_writes() {
    let fixture = Fixture::new(TABLE);
    let database = fixture.open();
    assert_eq!(database.version(), None, "nothing was opened yet");
    database.stamp().await.unwrap();
    let first = database.version().unwrap();
    assert_eq!(database.version(), Some(first));
    number(&database, "SELECT count(*) FROM t").await;
    assert_eq!(database.version(), Some(first), "reads move nothing");

    run(&database, "INSERT INTO t VALUES (1)", vec![]).await.unwrap();
    let own = database.version().unwrap();
    assert!(own > first);
    assert_eq!(database.version(), Some(own));

    fixture.other().execute_batch("INSERT INTO t VALUES (2)").unwrap();
    let foreign = database.version().unwrap();
    assert!(foreign > own);
    assert_eq!(database.version(), Some(foreign));

    let again = fixture.open();
    again.stamp().await.unwrap();
    assert!(again.version().unwrap() > foreign, "no number comes again after a restart");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_threads_are_told_the_same() {
    let fixture = Fixture::new(TABLE);
    let database = Arc::new(fixture.open());
    database.stamp().await.unwrap();
    let mut last = 0;
    for n in 0..20 {
        run(&database, "INSERT INTO t VALUES (1)", vec![]).await.unwrap();
        let tell = |database: &Arc<Sqlite>| {
            let database = Arc::clone(database);
            std::thread::spawn(move || {
                // Two threads may share a lane, in which case one of them gets no version.
                (0..100).filter_map(|_| database.version()).collect::<Vec<_>>()
            })
        };
        let told: Vec<u64> = (0..4).map(|_| tell(&database)).flat_map(|thread| thread.join().unwrap()).collect();
        assert!(!told.is_empty());
        assert!(told.windows(2).all(|two| two[0] == two[1]), "{n}: {told:?}");
        assert!(told[0] > last);
        last = told[0];
    }
}
