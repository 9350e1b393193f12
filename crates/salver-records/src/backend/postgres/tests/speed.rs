//! Measures speed without asserting it: `cargo test ... -- --ignored --nocapture speed`, beside
//! `pgbench -S -M prepared`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use salver_model::records::ColumnKind as K;
use tokio::sync::mpsc;

use super::{fresh, point, rows, text};
use crate::statement::{Bind, BulkLoad};

const SCHEMA: &str = "create table pgbench_accounts (aid int primary key, bid int, abalance int, filler char(84));
insert into pgbench_accounts select i, 1, 0, '' from generate_series(1, 100000) i;";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures"]
#[expect(clippy::print_stderr, reason = "what it is for")]
async fn reads_by_key_a_second() {
    let (database, postgres) = fresh(SCHEMA);
    let _ = database.run("vacuum analyze pgbench_accounts");
    eprintln!("{}", database.url());
    let postgres = Arc::new(postgres);
    for tasks in [1, 16, 64] {
        let reads = Arc::new(AtomicU64::new(0));
        let end = Instant::now() + Duration::from_secs(4);
        let mut running = Vec::new();
        for task in 0..tasks {
            let (postgres, reads) = (Arc::clone(&postgres), Arc::clone(&reads));
            running.push(tokio::spawn(async move {
                let read = point("SELECT abalance FROM pgbench_accounts WHERE aid = $1", vec![], &[K::Integer]);
                let mut id = task * 7919_i64;
                while Instant::now() < end {
                    id = (id * 1_103_515_245 + 12_345) % 100_000;
                    let read = crate::statement::Read { binds: vec![Bind::Int(id.abs() + 1)], ..read.clone() };
                    assert_eq!(rows(&postgres, read).await.unwrap().len(), 1);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        for task in running {
            task.await.unwrap();
        }
        eprintln!("{tasks} tasks: {} reads/s", reads.load(Ordering::Relaxed) / 4);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures"]
#[expect(clippy::print_stderr, reason = "what it is for")]
async fn rows_loaded_a_second() {
    let (database, postgres) =
        fresh("create table l (id int primary key, name text, n double precision, at timestamp);");
    let columns = [("id", K::Integer), ("name", K::Clob), ("n", K::Double), ("at", K::Timestamp)];
    for upsert in [false, true] {
        let load = BulkLoad {
            table: "l".to_owned(),
            columns: columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec(),
            insert: Arc::from(
                "insert into l values ($1, $2, $3, $4) on conflict (id) do update set name = excluded.name",
            ),
            dry_run: false,
            keep_good: false,
            upsert,
        };
        let began = Instant::now();
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            for batch in 0..100_i64 {
                let row = |id: i64| {
                    vec![
                        Bind::Int(id),
                        text(&format!("name of {id}")),
                        Bind::Float(id as f64 / 7.0),
                        text("2024-01-01 10:00:00"),
                    ]
                };
                sender.send((batch * 1_000..(batch + 1) * 1_000).map(row).collect()).await.unwrap();
            }
        });
        let loaded = postgres.load(load, receiver).await.unwrap();
        eprintln!("upsert {upsert}: {} rows in {:?}", loaded.kept, began.elapsed());
    }
    let file = std::env::temp_dir().join(format!("salver-speed-{}", std::process::id()));
    let _ = database.run(&format!("\\copy l to '{}'", file.display()));
    let _ = database.run("truncate l");
    let began = Instant::now();
    let _ = database.run(&format!("\\copy l from '{}'", file.display()));
    eprintln!("psql \\copy: {:?}", began.elapsed());
    std::fs::remove_file(file).unwrap();
}
