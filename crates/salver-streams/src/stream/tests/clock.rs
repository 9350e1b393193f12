//! Changes of the system clock, forwards and backwards, while events arrive. It runs in a separate process, because the
//! clock is global.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use salver_model::ports::EventStream;
use salver_model::streams::{Ack, Envelope, Event, EventOutcome};

use super::super::LogStream;
use super::{all, each, open, spec, text};
use crate::clock::skew;

const CHILD: &str = "SALVER_TEST_CLOCK";
const CALLERS: u64 = 4;
/// Events of each caller.
const EVENTS: u64 = 600;
/// The clock is set after so many events of one caller.
const SET_EVERY: u64 = 23;
const HOUR_MS: i64 = 3_600_000;
/// Clock offsets, in turn.
const SKEWS_MS: [i64; 7] = [0, 24 * HOUR_MS, -24 * HOUR_MS, -1, HOUR_MS, -9 * HOUR_MS, 700];

/// Appends under ids, each event with its number, and each of them twice now and then.
async fn call(stream: Arc<LogStream>, caller: u64) {
    let envelope = |n: u64| Envelope {
        key: Some(Bytes::from(format!("k{caller}"))),
        id: Some(Bytes::from(format!("k{caller}-{n}"))),
        ..each()
    };
    for n in 0..EVENTS {
        if caller == 0 && n.is_multiple_of(SET_EVERY) {
            let turn = (n / SET_EVERY) as usize % SKEWS_MS.len();
            skew::MS.store(SKEWS_MS[turn], Ordering::SeqCst);
        }
        let event = format!("{{\"caller\":{caller},\"n\":{n}}}");
        let receipt = text(&stream, &event, &envelope(n));
        assert_eq!(receipt.taken, 1, "{event}: {receipt:?}");
        stream.settle(&receipt, Ack::Disk).await.expect("on disk");
        // One that was sent a while ago, under another clock.
        let old = n.saturating_sub(SET_EVERY + caller);
        let again = text(&stream, &format!("{{\"caller\":{caller},\"n\":{old}}}"), &envelope(old));
        assert!(matches!(again.each[..], [EventOutcome::Duplicate { .. }]), "{caller} {old}: {again:?}");
        // Beside them one without an id of its own.
        text(&stream, "{\"plain\":true}", &Envelope::default());
    }
}

fn check(events: &[Event]) {
    let mut next = [0_u64; CALLERS as usize];
    for (event, offset) in events.iter().zip(0..) {
        assert_eq!(event.offset, offset);
        let value: serde_json::Value = serde_json::from_slice(&event.value).expect("JSON");
        let Some(caller) = value["caller"].as_u64() else { continue };
        assert_eq!(event.key.as_deref(), Some(format!("k{caller}").as_bytes()));
        assert_eq!(value["n"], next[caller as usize], "{value}");
        next[caller as usize] += 1;
    }
    assert_eq!(next, [EVENTS; CALLERS as usize]);
    assert_eq!(events.len() as u64, 2 * CALLERS * EVENTS);
    // Ids that the stream made: UUIDs of version 7, as text in the same order as in bytes.
    let made: Vec<_> = events.iter().filter(|event| event.key.is_none()).map(|event| &event.id).collect();
    assert!(made.is_sorted_by(|one, next| one < next));
    assert!(made.iter().all(|id| id.len() == 36 && &id[14..15] == "7"));
}

async fn check_times(stream: &LogStream, events: &[Event]) {
    let times = || events.iter().step_by(37).map(|event| event.time_ms);
    assert!(times().max().zip(times().min()).is_some_and(|(most, least)| most - least > 40 * HOUR_MS));
    for time_ms in times().flat_map(|time_ms| [time_ms, time_ms + 1]) {
        let first = events.iter().find(|event| event.time_ms >= time_ms).map(|event| event.offset);
        let found = stream.offset_at(time_ms).await.expect("an offset");
        assert_eq!(found, first.unwrap_or(events.len() as u64), "{time_ms}");
    }
}

/// Runs under the changing clock.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "another test starts it in a process of its own"]
async fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let mut spec = spec(dir.path());
    // Several files, so that times are looked for in their indexes.
    spec.segment_bytes = 32 << 10;
    let stream = open(&spec).await;
    let callers: Vec<_> = (0..CALLERS).map(|caller| tokio::spawn(call(Arc::clone(&stream), caller))).collect();
    for caller in callers {
        caller.await.expect("a caller");
    }
    let events = all(&stream).await;
    check(&events);
    check_times(&stream, &events).await;
    stream.close().await.expect("closed");
    // Found again a day before most of it was written.
    skew::MS.store(-24 * HOUR_MS, Ordering::SeqCst);
    let stream = open(&spec).await;
    let again = all(&stream).await;
    assert_eq!(again, events);
    check_times(&stream, &again).await;
    let last = events.iter().filter(|event| event.key.is_none()).map(|event| event.id.clone()).max();
    let receipt = text(&stream, "{\"plain\":true}", &Envelope::default());
    assert!(receipt.id > last, "{:?} after {last:?}", receipt.id);
    stream.events(receipt.end - 1, 1, 1, Duration::ZERO).await.expect("it is there");
    stream.close().await.expect("closed");
}

#[test]
fn a_clock_that_jumps_loses_nothing_and_mixes_nothing_up() {
    let run = Command::new(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "stream::tests::clock::child"])
        .env(CHILD, "1")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&run.stderr));
}
