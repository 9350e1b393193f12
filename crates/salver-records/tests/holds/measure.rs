//! How fast a held table is read, told and not asserted, beside what the database's own client takes:
//! `cargo test ... --test holds -- --ignored --nocapture measure`.

use std::process::{Command, Stdio};
use std::time::Instant;

use futures::TryStreamExt;
use futures::future::join_all;
use salver_testkit::servers::Kind;

use super::fixture::{World, columns, numbers};

const ROWS: usize = 1_000_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
#[expect(clippy::print_stderr, reason = "what it is for")]
async fn rows_a_second() {
    let tables = [(Kind::Postgres, true), (Kind::Postgres, false), (Kind::Sqlite, true), (Kind::Mariadb, true)];
    for (kind, keyed) in tables {
        let (double, text) = match kind {
            Kind::Postgres => ("double precision", "'customer ' || (i % 1000)"),
            Kind::Sqlite => ("double", "'customer ' || (i % 1000)"),
            Kind::Mariadb => ("double", "concat('customer ', i % 1000)"),
        };
        let select = format!(
            "select i, {text}, i / 7.0, i % 100, i % 2 = 0, '2024-05-06 07:08:09', \
             'a note that is a little longer' from n"
        );
        let sql = format!(
            "create table t (id bigint not null {}, name varchar(40), price {double}, n int, done boolean, \
             at timestamp, note text);\n{}",
            if keyed { "primary key" } else { "" },
            numbers(kind, ROWS, "t", &select)
        );
        let world = World::new(kind, &sql).await;
        if kind == Kind::Postgres {
            let _ = world.source.run("vacuum analyze t");
        }
        eprintln!("{kind:?}, {} a key: {}", if keyed { "with" } else { "without" }, world.source.url());
        for _ in 0..3 {
            if kind == Kind::Postgres {
                eprintln!("  psql copy text: {}", rate(own(&world, "copy t to stdout;")));
                eprintln!("  psql copy binary: {}", rate(own(&world, "copy t to stdout (format binary);")));
            } else {
                eprintln!("  its own client: {}", rate(own(&world, "select * from t;")));
            }
            for parts in [1, 4] {
                let began = Instant::now();
                let held = world.hold(parts).await;
                let opened = began.elapsed();
                let mut first = held.read(0, &columns(&*held), None, Some(1_000));
                let _ = first.try_next().await.expect("rows");
                let seen = began.elapsed();
                drop(first);
                let began = Instant::now();
                let each = (0..held.parts()).map(async |part| {
                    let mut stream = held.read(part, &columns(&*held), None, None);
                    let mut rows = 0;
                    while let Some(batch) = stream.try_next().await.expect("rows") {
                        rows += batch.num_rows();
                    }
                    rows
                });
                let rows: usize = join_all(each).await.into_iter().sum();
                assert_eq!(rows, ROWS);
                let rate = rate(began.elapsed().as_secs_f64());
                eprintln!("  held, {} parts: {rate}; held after {opened:?}, first rows after {seen:?}", held.parts());
            }
        }
    }
}

fn rate(seconds: f64) -> String {
    format!("{:.0} rows/s", ROWS as f64 / seconds)
}

/// How long the database's own client takes to say all rows to nobody.
fn own(world: &World, sql: &str) -> f64 {
    let (program, arguments) = world.source.client();
    let file = std::env::temp_dir().join(format!("salver-measure-{}", std::process::id()));
    std::fs::write(&file, sql).expect("a file");
    let input = std::fs::File::open(&file).expect("a file");
    let began = Instant::now();
    let status = Command::new(program).args(arguments).stdin(input).stdout(Stdio::null()).status();
    assert!(status.expect("a client").success());
    let seconds = began.elapsed().as_secs_f64();
    std::fs::remove_file(file).expect("a file");
    seconds
}
