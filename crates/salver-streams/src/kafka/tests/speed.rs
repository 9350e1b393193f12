//! Throughput, with a broker tuned for speed, compared with Kafka's own benchmark. Run by hand:
//! `cargo test --release -p salver-streams --lib -- kafka::tests::speed --ignored --nocapture --test-threads 1`.
#![allow(clippy::print_stdout, reason = "figures are what these are run for")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_testkit::servers::Kafka as Broker;

use super::{Bench, now_ms, receipt};
use crate::log::frame::{FrameBuilder, Record};

const EVENT: &[u8] = br#"{"client_id":"c-000001","name":"click","data":{"x":1,"y":234567}}"#;

/// Appends frames of `events` from `callers` tasks that wait for each, for some seconds, and says how it went. Single
/// events have keys, as the founding service gives them.
async fn rate(bench: &Bench, callers: usize, events: u32) {
    let way = Arc::new(bench.start());
    let first = bench.append_numbers(0..1, 1);
    way.delivered(&receipt(first..first + 1)).await.unwrap();
    let (begin, time) = (Instant::now(), Duration::from_secs(5));
    let mut tasks = tokio::task::JoinSet::new();
    for caller in 0..callers as u64 {
        let (way, log) = (Arc::clone(&way), Arc::clone(&bench.log));
        tasks.spawn(async move {
            let mut key = 0_u64;
            let (mut count, mut slowest) = (0_u64, Duration::ZERO);
            while begin.elapsed() < time {
                let asked = Instant::now();
                let mut frame = FrameBuilder::new(now_ms(), EVENT.len() * events as usize);
                if events == 1 {
                    key = key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1 + caller);
                    let key = key.to_be_bytes();
                    frame.push(&Record { value: EVENT, key: Some(&key), ..Record::default() });
                } else {
                    (0..events).for_each(|_| frame.push_plain(EVENT));
                }
                let place = match log.append(frame.seal()) {
                    Ok(place) => place.first,
                    Err(_) => {
                        log.room().await;
                        continue;
                    }
                };
                way.delivered(&receipt(place..place + u64::from(events))).await.unwrap();
                count += u64::from(events);
                slowest = slowest.max(asked.elapsed());
            }
            (count, slowest)
        });
    }
    let told = tasks.join_all().await;
    let count: u64 = told.iter().map(|(count, _)| count).sum();
    let slowest = told.iter().map(|(_, slowest)| *slowest).max().unwrap_or_default();
    let rate = count as f64 / begin.elapsed().as_secs_f64();
    let mean_us = callers as f64 * f64::from(events) / rate * 1e6;
    println!("{callers} callers, {events} events each: {rate:.0} events/s, mean {mean_us:.0} us, slowest {slowest:?}");
    way.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes the whole machine"]
async fn figures() {
    let broker = Broker::start_fast();
    let properties = std::env::var("KAFKA_PROPERTIES").unwrap_or_default();
    for (index, (callers, events)) in
        [(1, 1), (50, 1), (50, 1), (8, 1_000), (8, 1_000), (50, 1_000)].into_iter().enumerate()
    {
        let topic = format!("speed-{index}");
        broker.create_topic(&topic, 3, &[]);
        let mut bench = Bench::new(&broker, &topic);
        bench.set(|kafka| {
            let pairs = properties.split(',').filter_map(|pair| pair.split_once('='));
            kafka.properties = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        });
        rate(&bench, callers, events).await;
    }
    if std::env::var_os("NO_PEER").is_some() {
        return;
    }
    broker.create_topic("peer", 3, &[]);
    for compression in ["none", "lz4"] {
        let said = broker.tool(
            "org.apache.kafka.tools.ProducerPerformance",
            &[
                "--topic",
                "peer",
                "--num-records",
                "5000000",
                "--record-size",
                "64",
                "--throughput",
                "-1",
                "--producer-props",
                &format!("bootstrap.servers={}", broker.address()),
                "acks=all",
                &format!("compression.type={compression}"),
            ],
        );
        println!("Kafka's own ({compression}): {}", said.lines().last().unwrap_or_default());
    }
}
