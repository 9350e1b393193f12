//! Deletion by age and size, and what is kept.

use std::fs;
use std::time::Duration;

use salver_model::Code;

use super::{Fixture, check, check_frames, frame, put, put_safely, until};
use crate::clock::now_ms;
use crate::log::{Log, LogOptions};

#[tokio::test]
async fn the_oldest_go_by_bytes_but_not_what_is_held() {
    let fixture = Fixture::small();
    let options = LogOptions { retain_bytes: Some(40_000), ..fixture.options() };
    let log = Log::open(options.clone()).unwrap();
    for _ in 0..200 {
        put_safely(&log, 3).await;
    }
    assert_eq!(log.ends().first, 0);
    let held = log.hold();
    let first = held.closed[0].path().to_owned();
    fs::write(held.closed[0].parquet_path(), "rows").unwrap();
    for _ in 0..800 {
        put_safely(&log, 3).await;
    }
    let ends = log.ends();
    assert!(ends.first > held.open.base());
    assert!(log.bytes_on_disk() <= 40_000 + 4_096 + 1_000, "{}", log.bytes_on_disk());
    // A snapshot still reads segments that are removed from the log.
    let (mut next, mut last_id) = (0, 0);
    for segment in &held.closed {
        while next < segment.end() {
            next = check_frames(&segment.read(next, 1 << 20).unwrap(), next, &mut last_id);
        }
    }
    while next < held.ends.next {
        next = check_frames(&held.open.read(next, 1 << 20).unwrap(), next, &mut last_id);
    }
    assert!(held.closed[0].parquet_path().exists());
    assert_eq!(log.read(0, 1).unwrap()[0].head.offset, ends.first);
    check(&log, ends.first);
    // After a crash they are gone.
    let copy = fixture.killed();
    let again = copy.open();
    assert_eq!(again.ends(), ends);
    check(&again, ends.first);
    drop(held);
    until("the held files are gone", || fixture.files("gone").is_empty() && fixture.files("parquet").is_empty());
    assert!(!first.exists());
    assert_eq!(fixture.files("log").len(), log.segments().len() + 1);
}

#[tokio::test]
async fn the_oldest_go_by_age_also_when_nothing_comes_in() {
    let fixture = Fixture::small();
    let log = Log::open(LogOptions { retain: Some(Duration::from_millis(400)), ..fixture.options() }).unwrap();
    for _ in 0..100 {
        let next = log.ends().next;
        log.append(frame(next, 3, now_ms())).unwrap();
    }
    log.durable(300).await.unwrap();
    until("all of it is too old", || log.ends().first == 300);
    assert!(log.read(0, 1).unwrap().is_empty());
    put_safely(&log, 1).await;
    assert_eq!(log.read(0, 1).unwrap()[0].head.offset, log.ends().next - 1);
    log.close().unwrap();
    assert_eq!(fixture.open().ends().next, 301);
}

#[tokio::test]
async fn what_is_needed_stays_and_more_is_refused() {
    let fixture = Fixture::small();
    let bytes_max = 40_000;
    let log =
        Log::open(LogOptions { retain_bytes: Some(bytes_max), refuse_bytes: Some(bytes_max), ..fixture.options() })
            .unwrap();
    let fill = || loop {
        let next = log.ends().next;
        if let Err(error) = log.append(frame(next, 3, 0)) {
            break error;
        }
    };
    let error = fill();
    assert_eq!(error.code, Code::StreamUnavailable);
    assert!(error.message.contains("40000") && error.hint.is_some(), "{error}");
    let end = log.ends().next;
    log.durable(end).await.unwrap();
    assert_eq!(log.ends().first, 0);
    assert!(log.bytes_on_disk() <= bytes_max);
    // Half of it was forwarded.
    log.need_from(end / 2);
    until("there is room again", || log.ends().first > 0);
    assert!(log.ends().first <= end / 2);
    put_safely(&log, 3).await;
    assert_eq!(fill().code, Code::StreamUnavailable);
    log.need_from(u64::MAX);
    until("there is room again", || log.append(frame(log.ends().next, 3, 0)).is_ok());
    check(&log, log.ends().first);
}

#[tokio::test]
async fn files_that_were_too_many_go_when_the_log_is_opened() {
    let fixture = Fixture::small();
    let log = fixture.open();
    for _ in 0..300 {
        put(&log, 3);
    }
    drop(log);
    let log = Log::open(LogOptions { retain_bytes: Some(30_000), ..fixture.options() }).unwrap();
    until("the oldest are gone", || log.bytes_on_disk() <= 30_000);
    assert!(log.ends().first > 0 && log.ends().next == 900);
    check(&log, log.ends().first);
}
