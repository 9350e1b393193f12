//! A whole stream: accepted events, the quarantine, and deduplication.

mod clock;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use salver_model::ports::EventStream;
use salver_model::spec::{Pick, StreamSpec};
use salver_model::streams::{Ack, Envelope, Event, EventDelivery, EventOutcome, Framing, NewEvent, Placement, Receipt};
use salver_model::{Code, Name};

use super::LogStream;

fn spec(dir: &Path) -> StreamSpec {
    StreamSpec::new(Name::new("clicks").expect("a name"), dir.join("clicks"))
}

/// Opens the stream; one that was dropped without an orderly end lets go of its directory in a moment.
async fn open(spec: &StreamSpec) -> Arc<LogStream> {
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let spec = spec.clone();
        match tokio::task::spawn_blocking(move || LogStream::open(spec)).await.expect("no panic") {
            Ok(stream) => return stream,
            Err(error) if std::time::Instant::now() > deadline => panic!("{error:?}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

fn text(stream: &LogStream, text: &str, envelope: &Envelope) -> Receipt {
    let text = Bytes::copy_from_slice(text.as_bytes());
    stream.append_text(&text, &mut Framing::default(), true, envelope).expect("room")
}

fn each() -> Envelope {
    Envelope { each: true, ..Envelope::default() }
}

async fn all(stream: &LogStream) -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    loop {
        let from = all.last().map_or(0, |event| event.offset + 1);
        let more = stream.events(from, 100, 1 << 20, Duration::ZERO).await.expect("events");
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

fn values(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| std::str::from_utf8(&event.value).expect("text")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_of_the_port() {
    let dir = tempfile::tempdir().expect("a directory");
    let spec = spec(dir.path());
    let stream = open(&spec).await;
    salver_testkit::contract::event_stream::run(stream, async || open(&spec).await as Arc<dyn EventStream>).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn good_ones_are_taken_and_bad_ones_put_aside() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = open(&spec(dir.path())).await;
    let receipt = text(&stream, "{\"a\":1}\n{\"a\":\n{\"a\":2}\n[3]\n", &each());
    assert_eq!((receipt.taken, receipt.quarantined, receipt.end, receipt.quarantine_end), (2, 2, 2, 2));
    assert_eq!(receipt.each[0], EventOutcome::Taken { offset: 0 });
    assert!(matches!(&receipt.each[1], EventOutcome::Quarantined { .. }), "{:?}", receipt.each);
    assert_eq!(receipt.each[2], EventOutcome::Taken { offset: 1 });
    stream.settle(&receipt, Ack::Disk).await.expect("on disk");
    let events = all(&stream).await;
    assert_eq!(values(&events), ["{\"a\":1}", "{\"a\":2}"]);
    assert_eq!(receipt.id.as_deref(), Some(events[0].id.as_str()));
    assert_eq!((events[0].id.len(), &events[0].id[14..15]), (36, "7"));
    assert!(events[0].id < events[1].id);
    let names: Vec<_> = stream.scans().into_iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["clicks", "clicks_quarantine"]);
    assert_eq!(stream.scans()[1].1.hold().describe().rows, Some(2));
    stream.close().await.expect("closed");
    let refused = stream.append_text(&Bytes::from_static(b"{}"), &mut Framing::default(), true, &each());
    assert_eq!(refused.expect_err("closed").code, Code::StreamUnavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_speaks_for_its_events() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut spec = spec(dir.path());
    spec.key = Some(Pick::Member(vec!["user".into()]));
    spec.time = Some(Pick::Member(vec!["at".into()]));
    let stream = open(&spec).await;
    let envelope = Envelope {
        key: Some(Bytes::from_static(b"k")),
        partition: Some(3),
        headers: vec![("h".into(), Bytes::from_static(b"v"))],
        time_ms: Some(7),
        ..Envelope::default()
    };
    text(&stream, r#"[{"user":"u","at":5},{}]"#, &envelope);
    let own =
        NewEvent { value: Bytes::from_static(b" {} "), key: Some(Bytes::from_static(b"own")), ..NewEvent::default() };
    stream.append(&[own], &envelope).expect("room");
    let events = all(&stream).await;
    let keys: Vec<_> = events.iter().map(|event| event.key.as_deref().unwrap_or_default()).collect();
    assert_eq!(keys, [b"u".as_slice(), b"k", b"own"]);
    assert_eq!(events.iter().map(|event| event.time_ms).collect::<Vec<_>>(), [5, 7, 7]);
    for event in &events {
        assert_eq!((event.partition, event.headers.len()), (Some(3), 1));
    }
    stream.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_that_is_none_is_no_arrival() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut spec = spec(dir.path());
    spec.time = Some(Pick::Member(vec!["at".into()]));
    let stream = open(&spec).await;
    let receipt = text(&stream, r#"[{"at":5},{"at":"yesterday"},{"at":true},{"at":null},{}]"#, &each());
    assert_eq!((receipt.taken, receipt.quarantined), (3, 2));
    assert!(receipt.reason.as_deref().is_some_and(|reason| reason.contains("time is none")), "{receipt:?}");
    // Where the protocol says the time, the member is not asked.
    let own = NewEvent { value: Bytes::from_static(br#"{"at":"yesterday"}"#), time_ms: Some(9), ..NewEvent::default() };
    stream.append(&[own], &Envelope::default()).expect("room");
    let times: Vec<_> = all(&stream).await.iter().map(|event| event.time_ms).collect();
    assert_eq!((times[0], times[3], times.len()), (5, 9, 4));
    stream.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_id_is_known_also_after_a_restart() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut spec = spec(dir.path());
    spec.id = Some(Pick::Member(vec!["id".into()]));
    let stream = open(&spec).await;
    let receipt = text(&stream, r#"{"id":"a"}{"id":"b"}{"id":"a"}{"no":1}"#, &each());
    assert_eq!((receipt.taken, receipt.duplicates, receipt.id.as_deref()), (3, 1, Some("a")));
    assert_eq!(receipt.each[2], EventOutcome::Duplicate { offset: 0 });
    let receipt = text(&stream, r#"{"id":"b"}"#, &each());
    assert_eq!((receipt.taken, receipt.end, receipt.through()), (0, 0, 2));
    assert_eq!(receipt.each, [EventOutcome::Duplicate { offset: 1 }]);
    stream.settle(&receipt, Ack::Disk).await.expect("the first one is on disk");
    // Without an orderly end: the log is all that is left.
    drop(stream);
    let stream = open(&spec).await;
    assert_eq!(
        text(&stream, r#"{"id":"b"}{"id":"c"}"#, &each()).each,
        [EventOutcome::Duplicate { offset: 1 }, EventOutcome::Taken { offset: 3 }]
    );
    let envelope = Envelope { id: Some(Bytes::from_static(b"r")), ..each() };
    assert_eq!(text(&stream, r#"{"x":1}"#, &envelope).id.as_deref(), Some("r"));
    assert_eq!(text(&stream, r#"{"x":1}{"x":2}"#, &envelope).taken, 2);
    let again = text(&stream, r#"{"x":1}{"x":2}{"x":3}"#, &envelope);
    assert_eq!((again.taken, again.duplicates), (1, 2));
    assert_eq!(all(&stream).await.last().map(|event| event.id.clone()).as_deref(), Some("r-2"));
    stream.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_one_id_at_a_time_one_is_taken() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut spec = spec(dir.path());
    spec.id = Some(Pick::Member(vec!["id".into()]));
    let stream = open(&spec).await;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for id in 0..500 {
                    let receipt = text(&stream, &format!("{{\"id\":{id}}}"), &each());
                    assert_eq!(receipt.taken + receipt.duplicates, 1);
                }
            });
        }
    });
    let mut ids: Vec<_> = all(&stream).await.into_iter().map(|event| event.id).collect();
    assert_eq!(ids.len(), 500);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 500);
    stream.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_may_come_in_pieces() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = open(&spec(dir.path())).await;
    let whole = r#" [ {"a":"x,]"} , {"b":[{}]},{"c":1.5e3} ] "#;
    for cut in 0..whole.len() {
        let (mut framing, mut rest, mut taken) = (Framing::default(), Vec::new(), 0);
        for (piece, is_last) in [(&whole[..cut], false), (&whole[cut..], true)] {
            rest.extend_from_slice(piece.as_bytes());
            let text = Bytes::from(std::mem::take(&mut rest));
            let envelope = Envelope { before: taken, ..Envelope::default() };
            let receipt = stream.append_text(&text, &mut framing, is_last, &envelope).expect("room");
            taken += receipt.taken;
            rest = text[receipt.consumed..].to_vec();
            assert_eq!(receipt.quarantined, 0, "{cut}: {receipt:?}");
        }
        assert_eq!((taken, rest.len()), (3, 0), "{cut}");
    }
    assert_eq!(stream.ends().next, 3 * whole.len() as u64);
    stream.close().await.expect("closed");
}

/// The log keeps less than the window of deduplication.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_id_is_known_when_its_event_is_deleted() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut spec = spec(dir.path());
    spec.id = Some(Pick::Member(vec!["id".into()]));
    spec.disk_bytes_max = Some(40_000);
    let ids = |numbers: std::ops::Range<u32>| numbers.map(|n| format!("{{\"id\":{n}}}\n")).collect::<String>();
    for round in 0..3 {
        let stream = open(&spec).await;
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        for part in 0..10 {
            let first = round * 10_000 + part * 1_000;
            let receipt = text(&stream, &ids(first..first + 1_000), &Envelope::default());
            assert_eq!((receipt.taken, receipt.duplicates), (1_000, 0), "{round} {part}");
            stream.settle(&receipt, Ack::Disk).await.expect("on disk");
        }
        while stream.ends().first < u64::from(round * 10_000) + 5_000 {
            assert!(std::time::Instant::now() < deadline, "nothing is deleted: {:?}", stream.ends());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if round == 1 {
            stream.close().await.expect("closed");
        }
        drop(stream);
        let stream = open(&spec).await;
        let receipt = text(&stream, &ids(0..(round + 1) * 10_000), &Envelope::default());
        assert_eq!((receipt.taken, receipt.duplicates), (0, u64::from(round + 1) * 10_000), "{round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_bytes_where_the_protocol_has_them() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = open(&spec(dir.path())).await;
    let event = NewEvent { value: Bytes::from_static(b"\xff\x00"), ..NewEvent::default() };
    let receipt = stream.append(std::slice::from_ref(&event), &each()).expect("room");
    assert_eq!((receipt.taken, receipt.quarantined), (0, 1));
    let opaque = Envelope { opaque: true, ..Envelope::default() };
    assert_eq!(stream.append(&[event], &opaque).expect("room").taken, 1);
    assert_eq!(&all(&stream).await[0].value[..], b"\xff\x00");
    let placed = stream.place(&Receipt { end: 1, taken: 1, ..Receipt::default() }).await.expect("places");
    assert_eq!(placed, [EventDelivery::Placed(Some(Placement { partition: 0, offset: 0 }))]);
    stream.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_the_schema_is_put_aside_and_columns_are_known_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut spec = spec(dir.path());
    spec.schema = Some(r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#.into());
    let stream = open(&spec).await;
    let receipt = text(&stream, r#"{"n":1}{"n":"x"}{}"#, &each());
    assert_eq!((receipt.taken, receipt.quarantined), (1, 2));
    assert!(receipt.reason.as_deref().is_some_and(|reason| reason.contains("/n")), "{receipt:?}");
    let before = stream.widened(u64::MAX).await;
    text(&stream, r#"{"n":1,"new":true}"#, &each());
    assert_ne!(stream.widened(before).await, before);
    let columns = |stream: &LogStream| {
        let schema = std::sync::Arc::clone(&stream.scans()[0].1.hold().describe().schema);
        schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>()
    };
    let known = columns(&stream);
    assert_eq!(known, ["_offset", "_id", "_time", "_key", "n", "new"]);
    drop(stream);
    let stream = open(&spec).await;
    assert_eq!(columns(&stream), known);
    stream.close().await.expect("closed");
    let stream = open(&spec).await;
    assert_eq!(columns(&stream), known);
    stream.close().await.expect("closed");
}
