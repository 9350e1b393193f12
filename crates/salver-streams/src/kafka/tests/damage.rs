//! Crashes of brokers and drainers: no event is lost or duplicated.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use salver_model::Code;
use salver_testkit::servers::{Kafka as Broker, kafka};

use super::{Bench, assert_whole, now_ms, number_of, receipt, until};
use crate::log::frame::Record;

/// Appends from another thread, until it is dropped.
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
    way.delivered(&receipt(0..count)).await.unwrap();
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
    way.delivered(&receipt(0..count)).await.unwrap();
    way.close().await.unwrap();
    let seen = broker.outside("restarted");
    assert_eq!(seen.len() as u64, count);
    assert_whole(&seen, count);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_failed_sync_takes_back_is_sent_once() {
    let broker = kafka();
    broker.create_topic("unsynced", 3, &[]);
    let bench = Bench::new(broker, "unsynced");
    let way = bench.start();
    let mut count = 0;
    for _ in 0..10 {
        bench.log.fail_syncs(1);
        let before = count;
        while bench.log.syncs_to_fail() > 0 {
            count = bench.append_numbers(count..count + 5, 7) + 5;
            // Refused when the disk fails in the meantime; the event goes to Kafka all the same.
            let _ = way.delivered(&receipt(count - 5..count)).await;
        }
        until("the disk is well", || bench.log.fault().is_none()).await;
        assert!(count > before);
    }
    way.delivered(&receipt(0..count)).await.unwrap();
    bench.log.durable(count).await.unwrap();
    way.close().await.unwrap();
    let seen = broker.outside("unsynced");
    assert_eq!(seen.len() as u64, count);
    assert_whole(&seen, count);
}

/// Checks that events that were sent but are missing in the log after a crash of the machine leave their offsets to
/// others.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_power_failure_new_events_are_not_taken_for_lost_ones() {
    let broker = kafka();
    broker.create_topic("fallen", 3, &[]);
    let mut bench = Bench::new(broker, "fallen");
    let way = bench.start();
    bench.append_numbers(0..10, 3);
    way.delivered(&receipt(0..10)).await.unwrap();
    bench.log.durable(10).await.unwrap();
    let on_disk = bench.copy();
    let time_ms = now_ms();
    let again = |n: u64| (format!("k{}", n % 3), format!("{{\"n\":{n}}}"));
    let lost: Vec<_> = (10..20).map(again).collect();
    let records = |texts: &[(String, String)], bench: &Bench| {
        let records: Vec<_> = texts
            .iter()
            .map(|(key, value)| Record {
                value: value.as_bytes(),
                key: Some(key.as_bytes()),
                time_ms: Some(time_ms),
                ..Record::default()
            })
            .collect();
        bench.append(&records)
    };
    records(&lost, &bench);
    way.delivered(&receipt(10..20)).await.unwrap();
    drop(way);
    bench.fall_back_to(&on_disk);
    assert_eq!(bench.log.ends().next, 10);
    let way = bench.start();
    // The same again, to the last byte and the time, at the same offsets: they are other events, and are sent.
    assert_eq!(records(&lost, &bench), 10);
    bench.append_numbers(20..30, 3);
    way.delivered(&receipt(10..30)).await.unwrap();
    way.close().await.unwrap();
    let seen = broker.outside("fallen");
    let times = |n: u64| seen.iter().filter(|record| number_of(record) == Some(n)).count();
    let expected = |n: u64| if (10..20).contains(&n) { 2 } else { 1 };
    assert!((0..30).all(|n| times(n) == expected(n)), "{:?}", (0..30).map(times).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_away_is_known_to_be() {
    let broker = Broker::start();
    broker.create_topic("away", 1, &[]);
    let bench = Bench::new(&broker, "away");
    let way = bench.start();
    let first = bench.append_numbers(0..10, 2);
    way.delivered(&receipt(first..first + 10)).await.unwrap();
    way.reachable().unwrap();
    broker.stop();
    until("away", || way.reachable().is_err()).await;
    let error = way.reachable().unwrap_err();
    assert_eq!(error.code, Code::StreamUnavailable);
    assert!(error.to_string().contains("events"), "{error}");
    // What is appended all the same waits.
    let next = bench.append_numbers(10..20, 2);
    assert_eq!(way.backlog(), 10);
    let error = way.delivered(&receipt(next..next + 10)).await.unwrap_err();
    assert_eq!(error.code, Code::StreamUnavailable);
    assert!(error.to_string().contains("kept in the log"), "{error}");
    broker.restart();
    until("back", || way.reachable().is_ok()).await;
    way.delivered(&receipt(next..next + 10)).await.unwrap();
    // One that only does not answer any more.
    broker.pause();
    let last = bench.append_numbers(20..30, 2);
    until("away", || way.reachable().is_err()).await;
    broker.resume();
    way.delivered(&receipt(last..last + 10)).await.unwrap();
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
    way.delivered(&receipt(0..10)).await.unwrap();
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
    way.delivered(&receipt(0..count)).await.unwrap();
    assert_eq!(way.backlog(), 0);
    way.close().await.unwrap();
    let seen = broker.outside("backlog");
    assert_eq!(seen.len() as u64, count);
    assert_whole(&seen, count);
}
