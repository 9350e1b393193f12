//! Concurrent appends and readers.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Fixture, check_frames, put, value};
use crate::log::Log;
use crate::log::frame::{Frame, FrameBuilder};

const THREADS: u64 = 8;
const EACH: u64 = 3_000;

/// Follows the log until `end`, and checks that every offset occurs once, in order, and the records of each thread in
/// their order.
async fn follow(log: Arc<Log>, end: u64) {
    let (mut next, mut last_id) = (0, 0);
    let mut seen = vec![0_u64; THREADS as usize];
    while next < end {
        log.arrived(next).await;
        for record in log.read(next, 20_000).unwrap().iter().flat_map(Frame::records) {
            if record.offset < next {
                continue;
            }
            assert_eq!(record.offset, next);
            assert!(record.made_id > last_id);
            (next, last_id) = (next + 1, record.made_id);
            let text = std::str::from_utf8(record.record.value).unwrap();
            let (thread, turn) = text.split_once(' ').unwrap();
            let turns = &mut seen[thread.parse::<usize>().unwrap()];
            assert_eq!(turn.parse::<u64>().unwrap(), *turns);
            *turns += 1;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appends_of_many_threads_and_readers_that_follow() {
    let fixture = Fixture { segment_bytes: 64 << 10, ..Fixture::new() };
    let log = fixture.open();
    let end = THREADS * EACH * 2;
    let readers: Vec<_> = (0..3).map(|_| tokio::spawn(follow(Arc::clone(&log), end))).collect();
    let writers: Vec<_> = (0..THREADS)
        .map(|thread| {
            let log = Arc::clone(&log);
            tokio::spawn(async move {
                for turn in 0..EACH {
                    let mut builder = FrameBuilder::new(0, 64);
                    builder.push_plain(format!("{thread} {}", turn * 2).as_bytes());
                    builder.push_plain(format!("{thread} {}", turn * 2 + 1).as_bytes());
                    let first = log.append(builder.seal()).unwrap().first;
                    if turn % 3 == 0 {
                        log.durable(first + 2).await.unwrap();
                        assert!(log.durable_end() >= first + 2);
                    }
                }
            })
        })
        .collect();
    for task in writers.into_iter().chain(readers) {
        task.await.unwrap();
    }
    log.close().unwrap();
    drop(log);
    follow(fixture.open(), end).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_log_held_while_it_grows_is_whole_each_time() {
    let fixture = Fixture { segment_bytes: 8 << 10, ..Fixture::new() };
    let log = fixture.open();
    let writer = tokio::task::spawn_blocking({
        let log = Arc::clone(&log);
        move || {
            for turn in 0..20_000 {
                put(&log, 1 + turn % 4);
            }
        }
    });
    let mut turns = 0;
    while !writer.is_finished() || turns < 20 {
        turns += 1;
        let held = log.hold();
        let (mut next, mut last_id) = (0, 0);
        for segment in &held.closed {
            while next < segment.end() {
                next = check_frames(&segment.read(next, 1 << 20).unwrap(), next, &mut last_id);
            }
        }
        while next < held.ends.next {
            next = check_frames(&held.open.read(next, 1 << 20).unwrap(), next, &mut last_id);
        }
        assert_eq!(next, held.ends.next);
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
}

#[tokio::test]
async fn who_waits_and_goes_away_disturbs_nobody() {
    let fixture = Fixture::new();
    let log = fixture.open();
    for _ in 0..50 {
        let end = put(&log, 1);
        let mut waiting = Box::pin(log.durable(end));
        // Looked at once, and dropped.
        let _ = futures::poll!(&mut waiting);
        drop(waiting);
        let mut arriving = Box::pin(log.arrived(end));
        assert!(futures::poll!(&mut arriving).is_pending());
        drop(arriving);
    }
    log.durable(50).await.unwrap();
    let values: HashSet<_> = (0..50).map(value).collect();
    assert_eq!(values.len(), 50);
    super::check(&log, 0);
}

#[tokio::test]
async fn closed_segments_come_one_after_the_other() {
    let fixture = Fixture::small();
    let log = fixture.open();
    let following = tokio::spawn({
        let log = Arc::clone(&log);
        async move {
            let (mut after, mut end) = (None, 0);
            while end < 250 {
                let segment = log.closed_segment(after).await;
                assert_eq!(segment.base(), end);
                assert!(segment.bytes() > 0 && segment.first_time_ms() == 1_000 + segment.base() as i64);
                assert!(segment.last_time_ms() >= segment.first_time_ms());
                (after, end) = (Some(segment.base()), segment.end());
            }
        }
    });
    for _ in 0..200 {
        put(&log, 3);
        log.durable(log.ends().next).await.unwrap();
    }
    following.await.unwrap();
}
