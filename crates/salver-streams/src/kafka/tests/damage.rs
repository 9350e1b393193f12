//! Brokers that die and come back, and drainers that die: nothing is lost and nothing is there twice.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use salver_model::Code;
use salver_testkit::servers::{Kafka as Broker, kafka};

use super::{Bench, assert_whole, until};

/// Appends, from another thread, until it is dropped.
struct Load<'a> {
    bench: &'a Bench,
    count: AtomicU64,
    is_over: AtomicBool,
}

impl Load<'_> {
    fn run(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            let count = self.count.load(Ordering::Relaxed);
            self.bench.append_numbers(count..count + 20, 11);
            self.count.store(count + 20, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_killed_twenty_times() {
    let broker = Broker::start();
    broker.create_topic("killed", 3, &[]);
    let bench = Bench::new(&broker, "killed");
    let way = bench.start();
    let load = Load { bench: &bench, count: AtomicU64::new(0), is_over: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        scope.spawn(|| load.run());
        for _ in 0..20 {
            broker.kill();
            broker.restart();
            let before = load.count.load(Ordering::Relaxed);
            let handle = tokio::runtime::Handle::current();
            // Some of it arrives between two deaths.
            tokio::task::block_in_place(|| {
                handle.block_on(until("delivered", || way.shared.delivery.prefix() >= before))
            });
        }
        load.is_over.store(true, Ordering::Relaxed);
    });
    let count = load.count.load(Ordering::Relaxed);
    way.delivered(0..count).await.unwrap();
    way.close().await.unwrap();
    let seen = broker.outside("killed");
    assert_eq!(seen.len() as u64, count);
    assert_whole(&seen, count);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drainer_killed_twenty_times() {
    let broker = kafka();
    broker.create_topic("restarted", 3, &[]);
    let bench = Bench::new(broker, "restarted");
    let load = Load { bench: &bench, count: AtomicU64::new(0), is_over: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        scope.spawn(|| load.run());
        let handle = tokio::runtime::Handle::current();
        for _ in 0..20 {
            let way = bench.start();
            let before = load.count.load(Ordering::Relaxed) + 200;
            tokio::task::block_in_place(|| {
                handle.block_on(until("delivered", || way.shared.delivery.prefix() >= before))
            });
            // In the middle of it, without a close.
            drop(way);
        }
        load.is_over.store(true, Ordering::Relaxed);
    });
    let count = load.count.load(Ordering::Relaxed);
    let way = bench.start();
    way.delivered(0..count).await.unwrap();
    way.close().await.unwrap();
    let seen = broker.outside("restarted");
    assert_eq!(seen.len() as u64, count);
    assert_whole(&seen, count);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_away_is_known_to_be() {
    let broker = Broker::start();
    broker.create_topic("away", 1, &[]);
    let bench = Bench::new(&broker, "away");
    let way = bench.start();
    let first = bench.append_numbers(0..10, 2);
    way.delivered(first..first + 10).await.unwrap();
    way.reachable().unwrap();
    broker.stop();
    until("away", || way.reachable().is_err()).await;
    let error = way.reachable().unwrap_err();
    assert_eq!(error.code, Code::StreamUnavailable);
    assert!(error.to_string().contains("events"), "{error}");
    // What is appended all the same waits.
    let next = bench.append_numbers(10..20, 2);
    assert_eq!(way.backlog(), 10);
    let error = way.delivered(next..next + 10).await.unwrap_err();
    assert_eq!(error.code, Code::StreamUnavailable);
    assert!(error.to_string().contains("kept in the log"), "{error}");
    broker.restart();
    until("back", || way.reachable().is_ok()).await;
    way.delivered(next..next + 10).await.unwrap();
    // One that only does not answer any more.
    broker.pause();
    let last = bench.append_numbers(20..30, 2);
    until("away", || way.reachable().is_err()).await;
    broker.resume();
    way.delivered(last..last + 10).await.unwrap();
    until("back", || way.reachable().is_ok()).await;
    way.close().await.unwrap();
    assert_whole(&broker.outside("away"), 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_starts_without_its_broker() {
    let broker = Broker::start();
    broker.create_topic("late", 1, &[]);
    broker.stop();
    let bench = Bench::new(&broker, "late");
    let way = bench.start();
    bench.append_numbers(0..10, 2);
    until("away", || way.reachable().is_err()).await;
    assert_eq!(way.backlog(), 10);
    way.close().await.unwrap();
    let way = bench.start();
    broker.restart();
    way.delivered(0..10).await.unwrap();
    way.close().await.unwrap();
    assert_whole(&broker.outside("late"), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_larger_than_what_may_be_under_way_waits_and_goes_out() {
    let broker = Broker::start();
    broker.create_topic("backlog", 3, &[]);
    let bench = Bench::new(&broker, "backlog");
    let way = bench.start();
    way.partitions().await.unwrap();
    broker.stop();
    let count = 2 * super::super::delivery::WINDOW + 1_000;
    for first in (0..count).step_by(1_000) {
        while bench.try_append_numbers(first..count.min(first + 1_000), 13).is_err() {
            bench.log.room().await;
        }
    }
    // Also now it is known that the broker is away, and a close ends.
    until("away", || way.reachable().is_err()).await;
    assert_eq!(way.backlog(), count);
    way.close().await.unwrap();
    broker.restart();
    let way = bench.start();
    way.delivered(0..count).await.unwrap();
    assert_eq!(way.backlog(), 0);
    way.close().await.unwrap();
    let seen = broker.outside("backlog");
    assert_eq!(seen.len() as u64, count);
    assert_whole(&seen, count);
}
