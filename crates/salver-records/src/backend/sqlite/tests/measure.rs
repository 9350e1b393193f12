//! Measures costs. Run by hand:
//! `cargo test --release --workspace --lib -- --ignored --nocapture sqlite::tests::measure`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_model::records::ColumnKind;
use tokio::sync::mpsc;

use super::{Fixture, program, read, step, text};
use crate::cell::{Cell, RowSink};
use crate::statement::{Bind, BulkLoad};

const POSTS: &str =
    "CREATE TABLE posts (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, category_id INTEGER NOT NULL,
        content TEXT NOT NULL);
    CREATE INDEX posts_user ON posts (user_id, id);
    WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM c LIMIT 10000)
        INSERT INTO posts SELECT v, v % 100, v % 7, printf('%050d', v) FROM c;";

/// Looks at every cell and keeps nothing.
#[derive(Default)]
struct Sum(u64);

impl RowSink for Sum {
    type Piece = ();

    fn row(&mut self, _read: usize, cells: &[Cell<'_>]) -> salver_model::Result<()> {
        for cell in cells {
            self.0 += match cell {
                Cell::Int(value) => value.unsigned_abs(),
                Cell::Text(text) => text.len() as u64,
                _ => 1,
            };
        }
        Ok(())
    }
}

#[allow(clippy::print_stderr, reason = "it is run to be read")]
fn told(what: &str, count: u64, took: Duration) {
    let each = took.as_secs_f64() / count as f64;
    eprintln!("{what}: {:.2} us each, {:.0}/s", each * 1e6, 1.0 / each);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn reads() {
    let fixture = Fixture::new(POSTS);
    let database = fixture.open();
    database.stamp().await.unwrap();
    let by_key = "SELECT id, user_id, category_id, content FROM posts WHERE id = ?";
    let list = "SELECT id, user_id, category_id, content FROM posts WHERE user_id = ? ORDER BY id DESC LIMIT 20";
    for (name, sql, count) in [("read_at_once by key", by_key, 200_000_i64), ("read_at_once list of 20", list, 20_000)]
    {
        let reads: Vec<_> = (0..100).map(|id| read(sql, vec![Bind::Int(id)])).collect();
        let since = Instant::now();
        let mut sum = 0;
        for turn in 0..count {
            let index = usize::try_from(turn % 100).unwrap();
            sum += database.read_at_once(&reads[index], &mut Sum::default).unwrap().unwrap().0;
        }
        assert!(sum > 0);
        told(name, count.unsigned_abs(), since.elapsed());
    }
    let since = Instant::now();
    for _ in 0..200_000 {
        assert!(database.version().is_some());
    }
    told("version", 200_000, since.elapsed());
    let since = Instant::now();
    for id in 0..20_000 {
        database.read(vec![read(by_key, vec![Bind::Int(id)])], Sum::default(), None).await.unwrap();
    }
    told("read through the pool", 20_000, since.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn inserts() {
    for tasks in [1, 50, 200] {
        let fixture = Fixture::new(POSTS);
        let database = Arc::new(fixture.open());
        database.stamp().await.unwrap();
        let each = if tasks == 1 { 1_000 } else { 50_000 / tasks };
        let since = Instant::now();
        let running: Vec<_> = (0..tasks)
            .map(|task| {
                let database = Arc::clone(&database);
                tokio::spawn(async move {
                    for turn in 0..each {
                        let binds = vec![Bind::Int(task), Bind::Int(turn), text("It works, and it is quite quick")];
                        let sql = "INSERT INTO posts (user_id, category_id, content) VALUES (?, ?, ?)";
                        assert!(database.write(program(vec![step(sql, binds)])).await.unwrap().committed);
                    }
                })
            })
            .collect();
        for task in running {
            task.await.unwrap();
        }
        told(&format!("insert with {tasks} tasks"), (tasks * each).unsigned_abs(), since.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn loads() {
    let fixture = Fixture::new(POSTS);
    let database = fixture.open();
    let load = BulkLoad {
        table: "posts".to_owned(),
        columns: ["user_id", "category_id", "content"].map(|name| (name.to_owned(), ColumnKind::Clob)).to_vec(),
        insert: Arc::from("INSERT INTO posts (user_id, category_id, content) VALUES (?, ?, ?)"),
        dry_run: false,
        keep_good: false,
        upsert: false,
    };
    let (sender, rows) = mpsc::channel(8);
    tokio::spawn(async move {
        for piece in 0..200 {
            let row = |n: i64| vec![Bind::Int(n % 100), Bind::Int(n % 7), text(&format!("{n:050}"))];
            sender.send((0..1_000).map(|n| row(piece * 1_000 + n)).collect()).await.unwrap();
        }
    });
    let since = Instant::now();
    assert_eq!(database.load(load, rows).await.unwrap().kept, 200_000);
    told("load of a row", 200_000, since.elapsed());
}
