//! Appending, reading, snapshots, closing and reopening.

use salver_model::Code;
use salver_model::streams::Ends;

use super::{Fixture, check, check_frames, frame, put, put_safely, until, value};
use crate::log::Log;

#[tokio::test]
async fn what_is_appended_is_read_at_once_and_after_opening_again() {
    let fixture = Fixture::small();
    let log = fixture.open();
    assert_eq!(log.ends(), Ends { first: 0, next: 0 });
    assert!(log.read(0, 1_000).unwrap().is_empty());
    for count in 1..100 {
        put(&log, count % 7 + 1);
        check(&log, log.ends().next.saturating_sub(10));
    }
    let end = log.ends().next;
    log.durable(end).await.unwrap();
    assert_eq!(log.durable_end(), end);
    assert!(fixture.files("log").len() > 3);
    log.close().unwrap();
    assert_eq!(log.append(frame(0, 1, 0)).unwrap_err().code, Code::StreamUnavailable);
    let log = fixture.open();
    assert_eq!(log.ends(), Ends { first: 0, next: end });
    assert!(log.recent(0, 1).is_none());
    check(&log, 0);
    put_safely(&log, 3).await;
    check(&log, 0);
}

#[test]
fn events_that_nobody_waits_for_come_to_disk_soon() {
    let fixture = Fixture::new();
    let log = fixture.open();
    for _ in 0..3 {
        let end = put(&log, 2);
        until("it is on disk", || log.durable_end() == end);
    }
    let copy = fixture.killed();
    check(&copy.open(), 0);
}

#[tokio::test]
async fn a_directory_belongs_to_one_log() {
    let fixture = Fixture::new();
    let log = fixture.open();
    let error = Log::open(fixture.options()).unwrap_err();
    assert_eq!(error.code, Code::StreamUnavailable);
    assert!(error.message.contains(&fixture.path().display().to_string()), "{error}");
    put(&log, 5);
    drop(log);
    let log = fixture.open();
    assert_eq!(log.ends().next, 5);
    check(&log, 0);
    log.close().unwrap();
    assert_eq!(fixture.open().ends().next, 5);
}

#[tokio::test]
async fn a_sudden_end_loses_nothing_that_was_acknowledged() {
    let fixture = Fixture::small();
    let log = fixture.open();
    for _ in 0..200 {
        put_safely(&log, 2).await;
    }
    let last_id = log.read(399, 1).unwrap()[0].head.last_id();
    let copy = fixture.killed();
    let log = copy.open();
    assert_eq!(log.ends().next, 400);
    let appended = log.append(frame(400, 1, 0)).unwrap();
    assert!(appended.first == 400 && appended.id > last_id);
    check(&log, 0);
}

#[tokio::test]
async fn an_id_is_greater_than_all_before_also_in_a_new_segment() {
    let fixture = Fixture::small();
    let mut last = 0;
    for _ in 0..20 {
        let log = fixture.open();
        for _ in 0..10 {
            let next = log.ends().next;
            let appended = log.append(frame(next, 3, 0)).unwrap();
            assert!(appended.id > last);
            last = appended.id + 2;
        }
    }
}

#[tokio::test]
async fn frames_large_and_small_lie_in_order() {
    let fixture = Fixture { segment_bytes: 3 << 20, ..Fixture::new() };
    let log = fixture.open();
    for turn in 0..60_u64 {
        put(&log, if turn % 5 == 0 { 10_000 } else { 1 + turn % 3 });
        if turn % 7 == 0 {
            log.durable(log.ends().next).await.unwrap();
        }
    }
    check(&log, 0);
    log.close().unwrap();
    check(&fixture.open(), 0);
    // The log can be recovered without the indexes as well.
    for path in fixture.files("index") {
        std::fs::remove_file(path).unwrap();
    }
    check(&fixture.open(), 0);
}

#[tokio::test]
async fn a_held_log_stays_as_it_was() {
    let fixture = Fixture::small();
    let log = fixture.open();
    for _ in 0..100 {
        put(&log, 3);
    }
    log.durable(300).await.unwrap();
    put(&log, 3);
    let held = log.hold();
    assert_eq!(held.ends, Ends { first: 0, next: 303 });
    for _ in 0..200 {
        put_safely(&log, 3).await;
    }
    let mut next = 0;
    let mut last_id = 0;
    for segment in &held.closed {
        assert_eq!(segment.base(), next);
        while next < segment.end() {
            next = check_frames(&segment.read(next, 500).unwrap(), next, &mut last_id);
        }
        assert!(segment.read(next, 500).unwrap().is_empty());
    }
    assert_eq!(held.open.base(), next);
    while next < held.ends.next {
        next = check_frames(&held.open.read(next, 500).unwrap(), next, &mut last_id);
    }
    assert_eq!(next, 303);
    assert!(held.open.read(303, 500).unwrap().is_empty());
}

#[tokio::test]
async fn times_are_found_also_when_the_clock_jumps_back() {
    let fixture = Fixture::small();
    let log = fixture.open();
    let times = [10, 20, 20, 500, 30, 40, 600, 50];
    for turn in 0..400_u64 {
        let time_ms = if turn < 8 { times[turn as usize] } else { 1_000 + turn as i64 };
        log.append(frame(turn * 2, 2, time_ms)).unwrap();
        if turn == 300 {
            log.durable(turn).await.unwrap();
        }
    }
    for (time_ms, offset) in
        [(0, 0), (10, 0), (11, 2), (20, 2), (21, 6), (500, 6), (501, 12), (601, 16), (1_100, 200), (1_399, 798)]
    {
        assert_eq!(log.offset_at(time_ms).unwrap(), offset, "{time_ms}");
    }
    assert_eq!(log.offset_at(1_400).unwrap(), 800);
    log.close().unwrap();
    let log = fixture.open();
    assert_eq!((log.offset_at(501).unwrap(), log.offset_at(1_398).unwrap()), (12, 796));
    assert_eq!(log.offset_at(9_999).unwrap(), 800);
}

#[tokio::test]
async fn groups_are_remembered() {
    let fixture = Fixture::new();
    let log = fixture.open();
    assert_eq!((log.committed("a"), log.groups()), (None, Vec::new()));
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let log = &log;
            scope.spawn(move || {
                for turn in 0..20 {
                    log.commit(&format!("group \"{thread}\""), turn).unwrap();
                    assert_eq!(log.committed(&format!("group \"{thread}\"")), Some(turn));
                }
            });
        }
    });
    log.commit("a", 7).unwrap();
    log.commit("a", 3).unwrap();
    let copy = fixture.killed();
    let log = copy.open();
    assert_eq!(log.committed("a"), Some(3));
    assert_eq!(log.groups().len(), 9);
    assert!(log.groups().iter().skip(1).all(|(_, offset)| *offset == 19));
    drop(log);
    std::fs::write(copy.path().join("groups.json"), "{").unwrap();
    assert_eq!(copy.open().groups(), []);
    assert!(copy.path().join("groups.json.damaged").exists());
}

#[test]
fn an_empty_frame_takes_no_place() {
    let fixture = Fixture::new();
    let log = fixture.open();
    assert_eq!(log.append(frame(0, 0, 0)).unwrap().first, 0);
    put(&log, 1);
    drop(log);
    let log = fixture.open();
    assert_eq!(log.read(0, 1).unwrap()[0].records().next().unwrap().record.value, value(0).as_bytes());
}
