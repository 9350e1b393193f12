//! The contract of the `EventStream` port, clause by clause.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use salver_model::Code;
use salver_model::ports::EventStream;
use salver_model::streams::{Ack, Envelope, Event, Framing, NewEvent, Outcome, Receipt};

/// Text of several events, of which the third is bad.
const TEXT: &str = "{\"n\":0}\n{\"n\":1,\"deep\":{\"a\":[1,{\"b\":\"}\"}]}}\n[1]\n{\"n\":2}\n";

/// Runs the suite on an empty stream that deduplicates ids. `reopen` opens the same stream after it was closed.
///
/// # Panics
/// When the contract is broken.
pub async fn run(stream: Arc<dyn EventStream>, reopen: impl AsyncFnOnce() -> Arc<dyn EventStream>) {
    stream.available().expect("an open stream");
    assert_eq!((stream.ends().first, stream.ends().next), (0, 0), "the suite needs an empty stream");
    appends(&*stream).await;
    pieces(&*stream).await;
    duplicates(&*stream).await;
    waits(&stream).await;
    let before = all(&*stream).await;
    stream.commit("group", 3).await.expect("a commit");
    stream.close().await.expect("closed");
    let closed = stream.append(&[event(b"{}")], &Envelope::default()).expect_err("a closed stream takes nothing");
    assert_eq!(closed.code, Code::StreamUnavailable);
    drop(stream);
    let again = reopen().await;
    assert_eq!(all(&*again).await, before, "events differ after a restart");
    assert_eq!(again.committed("group"), Some(3), "a commit is lost");
    assert_eq!(again.groups(), [("group".to_owned(), 3)]);
    let next = again.ends().next;
    let receipt = again.append(&[event(b"{}")], &Envelope::default()).expect("room");
    assert_eq!(receipt.end, next + 1, "an offset is used again, or left out");
    again.close().await.expect("closed");
}

/// Good events are taken in order and visible at once; a bad one is in the quarantine with its reason.
async fn appends(stream: &dyn EventStream) {
    let receipt = text(stream, TEXT, true, &mut Framing::default());
    assert_eq!((receipt.taken, receipt.quarantined, receipt.duplicates, receipt.end), (3, 1, 0, 3));
    let [Outcome::Taken { offset: 0 }, Outcome::Taken { offset: 1 }, Outcome::Quarantined { reason }, last] =
        receipt.each.as_slice()
    else {
        panic!("{:?}", receipt.each)
    };
    assert!(!reason.is_empty());
    assert_eq!(*last, Outcome::Taken { offset: 2 });
    assert_eq!(numbers(&all(stream).await), [0, 1, 2]);
    stream.settle(&receipt, Ack::Disk).await.expect("on disk");
    let places = stream.place(&receipt).await.expect("places");
    assert_eq!(places.len(), 3, "a place for each event that was taken");
    let aside = stream.scans().into_iter().find(|(name, _)| *name != stream.spec().name).expect("a quarantine").1;
    assert_eq!(aside.hold().describe().rows, Some(1), "the quarantine has the bad event");
}

/// Text in two pieces, cut anywhere, gives the events of the whole.
async fn pieces(stream: &dyn EventStream) {
    for cut in 0..=TEXT.len() {
        let begin = stream.ends().next;
        let mut framing = Framing::default();
        let first = text(stream, &TEXT[..cut], false, &mut framing);
        let rest = text(stream, &TEXT[first.consumed..], true, &mut framing);
        let count = |of: fn(&Receipt) -> u64| of(&first) + of(&rest);
        assert_eq!((count(|r| r.taken), count(|r| r.quarantined)), (3, 1), "cut at {cut}");
        let events = stream.events(begin, 100, 1 << 20, Duration::ZERO).await.expect("events");
        assert_eq!(numbers(&events), [0, 1, 2], "cut at {cut}");
    }
}

/// An event whose id was accepted is acknowledged and not appended again.
async fn duplicates(stream: &dyn EventStream) {
    let known = |value: &'static [u8]| NewEvent { id: Some(Bytes::from_static(b"known")), ..event(value) };
    let envelope = Envelope { each: true, ..Envelope::default() };
    let first = stream.append(&[known(b"{\"n\":7}")], &envelope).expect("room");
    let again = stream.append(&[known(b"{\"n\":8}"), event(b"{\"n\":9}")], &envelope).expect("room");
    assert_eq!((first.taken, again.taken, again.duplicates), (1, 1, 1));
    assert_eq!(again.each[0], Outcome::Duplicate { offset: first.end - 1 });
    assert_eq!(numbers(&stream.events(first.end - 1, 9, 1 << 20, Duration::ZERO).await.expect("events")), [7, 9]);
}

/// A reader at the end gets the next event, or nothing once its patience is over.
async fn waits(stream: &Arc<dyn EventStream>) {
    let end = stream.ends().next;
    let none = stream.events(end, 1, 1 << 20, Duration::ZERO).await.expect("no events");
    assert!(none.is_empty());
    let reader = Arc::clone(stream);
    let waiting = tokio::spawn(async move { reader.events(end, 9, 1 << 20, Duration::from_secs(60)).await });
    tokio::task::yield_now().await;
    stream.append(&[event(b"{\"n\":5}")], &Envelope::default()).expect("room");
    assert_eq!(numbers(&waiting.await.expect("no panic").expect("events")), [5]);
    let limited = stream.events(0, 2, 1 << 20, Duration::ZERO).await.expect("events");
    assert_eq!(limited.len(), 2, "no more than asked for");
    let small = stream.events(0, 100, 1, Duration::ZERO).await.expect("events");
    assert!(!small.is_empty(), "at least one, however large");
}

fn event(value: &'static [u8]) -> NewEvent {
    NewEvent { value: Bytes::from_static(value), ..NewEvent::default() }
}

fn text(stream: &dyn EventStream, text: &str, is_last: bool, framing: &mut Framing) -> Receipt {
    let envelope = Envelope { each: true, ..Envelope::default() };
    stream.append_text(&Bytes::copy_from_slice(text.as_bytes()), framing, is_last, &envelope).expect("room")
}

async fn all(stream: &dyn EventStream) -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    loop {
        let from = all.last().map_or(0, |event| event.offset + 1);
        let more = stream.events(from, 7, 1 << 20, Duration::ZERO).await.expect("events");
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

/// Returns the member `n` of each event, after checking that their offsets have no gaps.
fn numbers(events: &[Event]) -> Vec<u64> {
    assert!(events.windows(2).all(|pair| pair[1].offset == pair[0].offset + 1), "offsets have gaps: {events:?}");
    let number = |event: &Event| {
        let text = String::from_utf8_lossy(&event.value).into_owned();
        let digits = text.split_once("\"n\":").and_then(|(_, rest)| rest.split(['}', ',']).next()).map(str::to_owned);
        digits.and_then(|digits| digits.trim().parse().ok()).unwrap_or_else(|| panic!("no `n`: {text}"))
    };
    events.iter().map(number).collect()
}
