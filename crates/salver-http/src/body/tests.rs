//! Bodies read by clients that are fast, slow, or gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use http_body::Body as _;
use http_body_util::BodyExt;
use salver_formats::{Coding, Format, Style, encode};
use salver_model::{Error, Result};

use super::{Body, BodySource, Encoding, Idle, Outlet, rows};

const ROWS: u64 = 300_000;
const BATCH_ROWS: u64 = 5_000;

fn batch(from: u64, to: u64) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values((from..to).map(|id| id as i64)));
    let notes: ArrayRef = Arc::new(StringArray::from_iter_values((from..to).map(|id| format!("note \"{id}\""))));
    RecordBatch::try_from_iter([("id", ids), ("note", notes)]).unwrap()
}

/// A source that can be read again, which counts how often it was parked.
struct Again {
    at: u64,
    parked: Arc<AtomicU64>,
    fails_at: u64,
}

impl BodySource for Again {
    async fn next(&mut self) -> Result<Vec<RecordBatch>> {
        if self.at >= self.fails_at {
            return Err(Error::internal("the source broke"));
        }
        let end = (self.at + BATCH_ROWS).min(ROWS);
        let rows = if end > self.at { vec![batch(self.at, end)] } else { Vec::new() };
        self.at = end;
        Ok(rows)
    }

    fn park(&mut self, unread: u64) -> bool {
        self.at -= unread;
        self.parked.fetch_add(1, Ordering::Relaxed);
        true
    }
}

fn body(format: Format, coding: Coding, fails_at: u64) -> (Body, Arc<AtomicU64>) {
    let parked = Arc::new(AtomicU64::new(0));
    let source = Again { at: 0, parked: Arc::clone(&parked), fails_at };
    let encoding = Encoding { format, style: Style::default(), coding, time: None };
    (rows(batch(0, 0).schema(), source, encoding, |_| {}), parked)
}

/// Reads a whole body the way a connection does: each piece is dropped when it is written. A reader that keeps the
/// pieces has taken nothing.
async fn read(body: &mut Body) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        bytes.extend_from_slice(&frame.ok()?.into_data().ok()?);
    }
    Some(bytes)
}

fn whole(format: Format) -> Vec<u8> {
    let batches = [batch(0, ROWS)];
    encode(format, &batches[0].schema(), &batches, &Style::default()).unwrap()
}

#[tokio::test]
async fn pieces_make_the_whole() {
    for format in [Format::Json, Format::NdJson, Format::Csv, Format::Html] {
        let (mut body, _) = body(format, Coding::Identity, u64::MAX);
        assert!(read(&mut body).await.unwrap() == whole(format), "{format:?}");
    }
}

#[tokio::test]
async fn packed_pieces_make_the_whole() {
    let (mut body, _) = body(Format::NdJson, Coding::Zstd, u64::MAX);
    let packed = read(&mut body).await.unwrap();
    assert!(zstd::stream::decode_all(&packed[..]).unwrap() == whole(Format::NdJson));
}

/// A client that pauses gets every row exactly once, and meanwhile the source holds nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_is_parked_while_nobody_reads() {
    let (mut body, parked) = body(Format::NdJson, Coding::Identity, u64::MAX);
    let mut text = Vec::new();
    for pause in 1..=2 {
        // Held, the way a connection holds what it could not write yet.
        let held: Bytes = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while parked.load(Ordering::Relaxed) < pause {
            assert!(Instant::now() < deadline, "it was not parked");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        text.extend_from_slice(&held);
        drop(held);
        // More than there is room for, so that the source is asked again.
        for _ in 0..10 {
            text.extend_from_slice(&body.frame().await.unwrap().unwrap().into_data().unwrap());
        }
    }
    text.extend(read(&mut body).await.unwrap());
    assert!(text == whole(Format::NdJson), "rows were lost or came twice");
}

#[tokio::test]
async fn a_failure_is_not_an_end() {
    let (mut body, _) = body(Format::NdJson, Coding::Identity, 3 * BATCH_ROWS);
    assert!(read(&mut body).await.is_none());
}

#[tokio::test]
async fn a_failure_at_the_start_is_told() {
    let (mut broken, _) = body(Format::NdJson, Coding::Identity, 0);
    assert_eq!(broken.begun().await.unwrap_err().message, "the source broke");
    let (mut later, _) = body(Format::NdJson, Coding::Identity, 3 * BATCH_ROWS);
    assert!(later.begun().await.is_ok() && read(&mut later).await.is_none());
    let (mut good, _) = body(Format::NdJson, Coding::Identity, u64::MAX);
    assert!(good.begun().await.is_ok());
    assert!(read(&mut good).await.unwrap() == whole(Format::NdJson), "the first piece is lost");
}

#[tokio::test]
async fn a_bound_on_what_nobody_takes() {
    let (mut outlet, mut body) = Outlet::new(None);
    let patience = Duration::from_millis(1);
    let mut sent = 0;
    while outlet.room(patience).await.is_ok() {
        outlet.send(vec![b'x'; outlet.piece_bytes()]);
        sent += 1;
        assert!(sent < 100, "there is always room");
    }
    // The connection has it, the system does not.
    let held = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(matches!(outlet.room(patience).await, Err(Idle)));
    let bytes = held.len();
    drop(held);
    assert!(outlet.room(patience).await.is_ok());
    let buffer = outlet.buffer();
    assert!(buffer.is_empty() && buffer.capacity() >= bytes, "the buffer came back");
    outlet.send(Vec::new());
    outlet.end(None);
    assert_eq!(read(&mut body).await.unwrap().len(), (sent - 1) * bytes);
}

#[tokio::test]
async fn an_outlet_that_goes_away_aborts() {
    let (mut outlet, mut body) = Outlet::new(Some(3));
    outlet.send(b"abc".to_vec());
    drop(outlet);
    assert_eq!(body.size_hint().exact(), Some(3));
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "abc");
    assert!(body.frame().await.unwrap().is_err());
    assert!(body.frame().await.is_none());
}
