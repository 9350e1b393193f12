//! Benchmarks. Run by hand:
//! `cargo test --release -p salver-streams --lib -- --ignored --nocapture log::tests::measure`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Fixture;
use crate::log::frame::{FrameBuilder, SealedFrame};

fn event() -> SealedFrame {
    let mut builder = FrameBuilder::new(1_700_000_000_000, 128);
    builder.push_plain(&[b'x'; 62]);
    builder.seal()
}

#[allow(clippy::print_stderr, reason = "it is run to be read")]
fn told(what: &str, count: u64, took: Duration) {
    let each = took.as_secs_f64() / count as f64;
    eprintln!("{what}: {:.2} us each, {:.0}/s", each * 1e6, 1.0 / each);
}

#[test]
#[ignore = "a measurement"]
fn appends_without_waiting() {
    for threads in [1, 2, 8] {
        let fixture = Fixture { segment_bytes: 128 << 20, ..Fixture::new() };
        let log = fixture.open();
        let (each, refused) = (2_000_000 / threads, AtomicU64::new(0));
        let since = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..each {
                        while log.append(event()).is_err() {
                            refused.fetch_add(1, Ordering::Relaxed);
                            std::thread::yield_now();
                        }
                    }
                });
            }
        });
        let refused = refused.into_inner();
        told(&format!("append with {threads} threads, {refused} refused"), threads * each, since.elapsed());
        log.close().unwrap();
        told("the same, until all is on disk", threads * each, since.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn appends_until_they_are_on_disk() {
    for tasks in [1_u64, 10, 50, 200] {
        let fixture = Fixture { segment_bytes: 128 << 20, ..Fixture::new() };
        let log = fixture.open();
        let each = if tasks == 1 { 5_000 } else { 400_000 / tasks };
        let since = Instant::now();
        let running: Vec<_> = (0..tasks)
            .map(|_| {
                let log = Arc::clone(&log);
                tokio::spawn(async move {
                    for _ in 0..each {
                        let first = log.append(event()).unwrap().first;
                        log.durable(first + 1).await.unwrap();
                    }
                })
            })
            .collect();
        for task in running {
            task.await.unwrap();
        }
        told(&format!("append and wait for the disk, {tasks} tasks"), tasks * each, since.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn appends_of_a_thousand() {
    let mut builder = FrameBuilder::new(1_700_000_000_000, 70_000);
    for _ in 0..1_000 {
        builder.push_plain(&[b'x'; 64]);
    }
    let sealed = builder.seal();
    let fixture = Fixture { segment_bytes: 128 << 20, ..Fixture::new() };
    let log = fixture.open();
    let since = Instant::now();
    let running: Vec<_> = (0..20)
        .map(|_| {
            let (log, sealed) = (Arc::clone(&log), sealed.clone());
            tokio::spawn(async move {
                for _ in 0..500 {
                    let first = log.append(sealed.clone()).unwrap().first;
                    log.durable(first + 1_000).await.unwrap();
                }
            })
        })
        .collect();
    for task in running {
        task.await.unwrap();
    }
    told("an event among a thousand, on disk", 10_000_000, since.elapsed());
    let since = Instant::now();
    let (mut next, mut count) = (0, 0);
    while next < log.ends().next {
        let frames = log.read(next, 1 << 20).unwrap();
        count += frames.iter().flat_map(|frame| frame.records()).count() as u64;
        next = frames.last().unwrap().head.end();
    }
    told("reading an event", count, since.elapsed());
    drop(log);
    let since = Instant::now();
    drop(fixture.open());
    told("opening", 1, since.elapsed());
}
