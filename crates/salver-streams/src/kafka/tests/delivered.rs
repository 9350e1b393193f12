//! Delivered events equal the appended ones.

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use salver_model::streams::{EventDelivery, Placement, Receipt};
use salver_testkit::servers::kafka;

use super::{Bench, assert_whole, now_ms, number_of, receipt};
use crate::kafka::Kafka;
use crate::log::frame::Record;

#[tokio::test(flavor = "multi_thread")]
async fn keys_headers_times_and_partitions_are_kept() {
    let broker = kafka();
    broker.create_topic("kept", 5, &[]);
    let mut bench = Bench::new(broker, "kept");
    bench.set(|kafka| kafka.id_header = Some("salver-id".to_owned()));
    let way = bench.start();
    let time_ms = now_ms() - 123_456;
    let plain = Record { value: b"{\"a\":1}", id: Some(b"mine"), ..Record::default() };
    let full = Record {
        value: b"{\"a\":\"\xc3\xa5\"}",
        key: Some(b"a-little-bit-long-string"),
        headers: vec![("h", Some(b"v")), ("h", Some(b"w"))],
        time_ms: Some(time_ms),
        ..Record::default()
    };
    let own = Record { partition: Some(4), ..full.clone() };
    let first = bench.append(&[plain, full, own]);
    let place = |delivery| match delivery {
        EventDelivery::Placed(Some(place)) => place,
        other => panic!("{other:?}"),
    };
    let places: Vec<_> = way.places(&receipt(first..first + 3)).await.unwrap().into_iter().map(place).collect();
    let of_key = ((-985_981_536_i32) as u32 & 0x7fff_ffff) % 5;
    let partitions: Vec<_> = places.iter().map(|place| place.partition).collect();
    assert_eq!(partitions, [0, of_key, 4]);
    way.delivered(&receipt(first..first + 3)).await.unwrap();
    assert_eq!((way.partitions().await.unwrap(), way.backlog()), (5, 0));
    let seen = broker.outside("kept");
    assert_eq!(seen.len(), 3);
    let at = |place: Placement| {
        let found = seen.iter().find(|record| (record.partition, record.offset) == (place.partition, place.offset));
        found.expect("a record where the event was said to be")
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!((&at(places[0]).value[..], &at(places[0]).key), (&b"{\"a\":1}"[..], &None));
    assert_eq!(at(places[0]).headers, [pair("salver-id", "mine")]);
    for place in &places[1..] {
        let record = at(*place);
        assert_eq!(record.value, b"{\"a\":\"\xc3\xa5\"}");
        assert_eq!(record.key.as_deref(), Some(&b"a-little-bit-long-string"[..]));
        assert_eq!(record.time_ms, time_ms);
        assert_eq!(record.headers[..2], [pair("h", "v"), pair("h", "w")]);
        assert_eq!((record.headers[2].0.as_str(), record.headers[2].1.len()), ("salver-id", 36));
    }
    way.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn order_is_kept_per_key_from_request_to_request() {
    let broker = kafka();
    broker.create_topic("ordered", 3, &[]);
    let bench = Bench::new(broker, "ordered");
    let way = bench.start();
    let mut end = 0;
    for round in 0..500 {
        end = bench.append_numbers(round * 40..round * 40 + 40, 7) + 40;
    }
    way.delivered(&receipt(0..end)).await.unwrap();
    way.close().await.unwrap();
    assert_whole(&broker.outside("ordered"), 20_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_topic_is_made_as_the_broker_likes() {
    let bench = Bench::new(kafka(), "made");
    let way = bench.start();
    assert_eq!(way.partitions().await.unwrap(), 3);
    let first = bench.append_numbers(0..1, 1);
    way.delivered(&receipt(first..first + 1)).await.unwrap();
    way.close().await.unwrap();
    assert_whole(&kafka().outside("made"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_log_had_before_is_handed_on_and_a_good_end_needs_no_comparison() {
    let broker = kafka();
    broker.create_topic("before", 2, &[]);
    let bench = Bench::new(broker, "before");
    bench.append_numbers(0..1_000, 5);
    let way = bench.start();
    way.delivered(&receipt(0..1_000)).await.unwrap();
    way.close().await.unwrap();
    let checkpoint = super::super::Checkpoint::read(&bench.spec.dir).unwrap().expect("a checkpoint");
    assert!(checkpoint.is_clean);
    assert_eq!((checkpoint.delivered, checkpoint.positions.iter().sum::<u64>()), (1_000, 1_000));
    bench.append_numbers(1_000..1_500, 5);
    let way = bench.start();
    assert_eq!(way.backlog(), 500);
    way.delivered(&receipt(0..1_500)).await.unwrap();
    way.close().await.unwrap();
    assert_whole(&broker.outside("before"), 1_500);
}

/// A broker that refuses some records of a batch fails all of it.
#[tokio::test(flavor = "multi_thread")]
async fn several_bad_events_of_one_batch_hold_nobody_up() {
    let broker = kafka();
    broker.create_topic("mixed", 1, &[("message.timestamp.after.max.ms", "3600000")]);
    broker.create_topic("compacted", 1, &[("cleanup.policy", "compact")]);
    for (topic, is_bad_without_key) in [("mixed", false), ("compacted", true)] {
        let bench = Bench::new(broker, topic);
        let way = bench.start();
        let texts: Vec<_> = (0..12).map(|n| format!("{{\"n\":{n}}}")).collect();
        let is_bad = |n: usize| [1, 2, 5, 6, 7, 11].contains(&n);
        let record = |n: usize| Record {
            value: texts[n].as_bytes(),
            key: (!is_bad(n) || !is_bad_without_key).then_some(b"k"),
            time_ms: (is_bad(n) && !is_bad_without_key).then(|| now_ms() + 86_400_000),
            ..Record::default()
        };
        bench.append(&(0..12).map(record).collect::<Vec<_>>());
        assert_eq!(rejected(&way, receipt(0..12)).await, [1, 2, 5, 6, 7, 11], "{topic}");
        assert_eq!(bench.asides.lock().unwrap().len(), 6, "{topic}");
        way.close().await.unwrap();
        let values: Vec<_> = broker.outside(topic).into_iter().map(|record| record.value).collect();
        let good: Vec<_> = (0..12).filter(|n| !is_bad(*n)).map(|n| texts[n].clone().into_bytes()).collect();
        assert_eq!(values, good, "{topic}");
    }
}

/// Returns the offsets of the events that Kafka never takes.
async fn rejected(way: &Kafka, receipt: Receipt) -> Vec<u64> {
    way.delivered(&receipt).await.unwrap().into_iter().map(|event| event.offset).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_kafka_never_takes_goes_aside_and_the_rest_goes_on() {
    let broker = kafka();
    broker.create_topic("picky", 1, &[("max.message.bytes", "5000"), ("message.timestamp.after.max.ms", "3600000")]);
    let bench = Bench::new(broker, "picky");
    let way = bench.start();
    let large = format!("\"{}\"", "x".repeat(6_000));
    let record = |value: &'static [u8]| Record { value, key: Some(b"k"), ..Record::default() };
    // The first is refused by the client itself; the second only by the broker.
    bench.append(&[
        record(b"{\"n\":0}"),
        Record { value: large.as_bytes(), ..Record::default() },
        record(b"{\"n\":1}"),
    ]);
    let late =
        Record { value: b"{\"n\":-1}", key: Some(b"k"), time_ms: Some(now_ms() + 86_400_000), ..Record::default() };
    bench.append(&[record(b"{\"n\":2}"), late, record(b"{\"n\":3}"), record(b"{\"n\":4}")]);
    assert!(way.delivered(&receipt(5..7)).await.unwrap().is_empty());
    assert_eq!(rejected(&way, receipt(0..7)).await, [1, 4]);
    for (good, repeated, expected) in [(0, vec![], vec![]), (2, vec![1, 3], vec![1]), (3, vec![4, 1], vec![1, 4])] {
        let receipt = Receipt { repeated, ..receipt(good..good + 1) };
        assert_eq!(rejected(&way, receipt).await, expected);
    }
    let asides = bench.asides.lock().unwrap().clone();
    let told: Vec<_> = asides.iter().map(|(value, reason)| (value.len(), reason.as_str())).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(asides[0].0 == large && asides[1].0 == "{\"n\":-1}", "{told:?}");
    way.close().await.unwrap();
    // A retry is told of it also after a restart, and of a good one only that its place is not known any more.
    let way = bench.start();
    let again = Receipt { repeated: vec![0, 4], ..Receipt::default() };
    assert_eq!(rejected(&way, again.clone()).await, [4]);
    let places = way.places(&again).await.unwrap();
    assert!(matches!(&places[..], [EventDelivery::Placed(None), EventDelivery::Rejected(_)]), "{places:?}");
    way.close().await.unwrap();
    let seen = broker.outside("picky");
    assert_whole(&seen, 5);
    assert_eq!(seen.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn records_of_others_are_passed_over() {
    let broker = kafka();
    broker.create_topic("shared", 2, &[]);
    let others: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", broker.address()).create().expect("another producer");
    let bench = Bench::new(broker, "shared");
    let hour_ago = now_ms() - 3_600_000;
    let mut count = 0;
    for round in 0..10 {
        let way = bench.start();
        for _ in 0..20 {
            count = bench.append_numbers(count..count + 10, 3) + 10;
            // One that looks like one of ours, but for its time.
            let text = format!("{{\"n\":{}}}", count - 1);
            for value in ["other", text.as_str()] {
                let record = BaseRecord::to("shared").payload(value).key("k9").timestamp(hour_ago + round);
                others.send(record).expect("room");
            }
        }
        way.delivered(&receipt(0..count - 100)).await.unwrap();
        others.flush(std::time::Duration::from_secs(30)).expect("their records");
        // Without a close: a crash.
        drop(way);
    }
    let way = bench.start();
    way.delivered(&receipt(0..count)).await.unwrap();
    way.close().await.unwrap();
    let seen = broker.outside("shared");
    let (theirs, ours): (Vec<_>, Vec<_>) = seen.into_iter().partition(|record| record.time_ms < hour_ago + 10);
    assert_eq!(theirs.len(), 400);
    assert!(ours.iter().all(|record| number_of(record).is_some()));
    assert_whole(&ours, count);
}
