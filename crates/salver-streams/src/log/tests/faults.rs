//! Failures of the disk.

use std::fs;
use std::process::Command;
use std::sync::atomic::Ordering;

use salver_model::Code;
use tempfile::TempDir;

use super::{Fixture, check, frame, put, put_safely, until};
use crate::log::frame::FrameBuilder;
use crate::log::{Log, LogOptions};

#[tokio::test]
async fn after_a_failed_write_everything_is_written_in_order() {
    let fixture = Fixture::new();
    let log = fixture.open();
    put_safely(&log, 3).await;
    log.faults.writes.store(2, Ordering::SeqCst);
    let end = put(&log, 3);
    let error = log.durable(end).await.unwrap_err();
    assert_eq!(error.code, Code::StreamUnavailable);
    assert!(error.message.contains("the disk is ill") && error.hint.is_some(), "{error}");
    assert!(log.fault().is_some());
    let end = put(&log, 2);
    until("it is written after all", || log.durable_end() == end);
    until("the fault is over", || log.fault().is_none());
    put_safely(&log, 1).await;
    check(&fixture.killed().open(), 0);
    assert_eq!(fixture.files("log").len(), 1);
}

#[tokio::test]
async fn after_a_failed_sync_everything_is_written_anew_elsewhere() {
    for before in [0_u64, 3] {
        let fixture = Fixture::new();
        let log = fixture.open();
        if before > 0 {
            put_safely(&log, before).await;
        }
        log.faults.syncs.store(1, Ordering::SeqCst);
        let end = put(&log, 3);
        assert_eq!(log.durable(end).await.unwrap_err().code, Code::StreamUnavailable);
        put(&log, 2);
        // The pages that could not be written have other content.
        let broken = fixture.files("log").remove(0);
        until("it is written after all", || log.durable_end() == before + 5);
        put_safely(&log, 1).await;
        let copy = fixture.killed();
        let names: Vec<_> = copy.files("log");
        assert_eq!(names.len(), if before > 0 { 2 } else { 1 });
        if before > 0 {
            // Also when the broken file could not be truncated.
            let path = copy.path().join(broken.file_name().unwrap());
            let mut bytes = fs::read(&path).unwrap();
            bytes.extend_from_slice(&frame(before, 2, 0).behind(before, 77, 0).bytes);
            fs::write(&path, bytes).unwrap();
            let _ = fs::remove_file(path.with_extension("index"));
        }
        let again = copy.open();
        assert_eq!(again.ends().next, before + 6);
        check(&again, 0);
        check(&log, 0);
    }
}

#[tokio::test]
async fn what_is_written_outlives_the_process() {
    let fixture = Fixture::small();
    let log = fixture.open();
    let mut end = 0;
    for count in 1..80 {
        end = put(&log, count);
        log.hasten(end);
        log.written(end - 1).await;
        assert!(log.written_end() >= end && log.durable_end() <= log.written_end());
        if count % 9 == 0 {
            let killed = fixture.killed();
            let copy = killed.open();
            assert_eq!(copy.ends().next, end);
            check(&copy, 0);
        }
    }
    // No caller waits for the fsync, but it happens all the same.
    until("it is on disk", || log.durable_end() == end);
    check(&log, 0);
}

#[tokio::test]
async fn what_was_written_before_a_failed_sync_is_written_anew() {
    let fixture = Fixture::new();
    let log = fixture.open();
    put_safely(&log, 3).await;
    log.fail_syncs(2);
    for round in 0..40 {
        let end = put(&log, 2);
        log.hasten(end);
        if round < 20 {
            log.written(end - 1).await;
        }
    }
    until("the syncs failed", || log.faults.syncs.load(Ordering::SeqCst) == 0);
    until("it is written after all", || log.durable_end() == 83);
    until("the fault is over", || log.fault().is_none());
    assert_eq!(log.written_end(), 83);
    check(&log, 0);
    let killed = fixture.killed();
    let copy = killed.open();
    assert_eq!(copy.ends().next, 83);
    check(&copy, 0);
}

#[tokio::test]
async fn without_room_for_more_what_was_written_is_synced() {
    let fixture = Fixture::new();
    let log = fixture.open();
    let written = put(&log, 3);
    log.hasten(written);
    log.written(written - 1).await;
    log.faults.writes.store(1_000, Ordering::SeqCst);
    let end = put(&log, 2);
    assert!(log.durable(end).await.is_err());
    until("what was written is on disk", || log.durable_end() == written);
    log.faults.writes.store(0, Ordering::SeqCst);
    until("the rest too", || log.durable_end() == end);
    check(&fixture.killed().open(), 0);
}

#[tokio::test]
async fn closing_tells_what_could_not_be_written() {
    let fixture = Fixture::new();
    let log = fixture.open();
    put_safely(&log, 3).await;
    log.faults.writes.store(1_000, Ordering::SeqCst);
    put(&log, 4);
    let error = log.close().unwrap_err();
    assert!(error.message.contains("4 events") && error.message.contains("the disk is ill"), "{error}");
    assert!(log.durable(7).await.is_err());
    log.room().await;
    assert_eq!(fixture.open().ends().next, 3);
}

#[tokio::test]
async fn no_more_is_taken_than_memory_may_hold() {
    let fixture = Fixture::new();
    let log = fixture.open();
    log.faults.writes.store(3, Ordering::SeqCst);
    let mut builder = FrameBuilder::new(0, 0);
    builder.push_plain(&vec![b' '; 1 << 20]);
    let sealed = builder.seal();
    let error = loop {
        if let Err(error) = log.append(sealed.clone()) {
            break error;
        }
    };
    assert!(matches!(error.code, Code::Backlogged | Code::StreamUnavailable), "{error}");
    let taken = log.ends().next;
    assert!(taken >= 63);
    log.room().await;
    assert_eq!(log.append(sealed).unwrap().first, log.ends().next - 1);
    log.close().unwrap();
    assert!(fixture.open().ends().next > taken);
}

/// Mounts a file system of four megabytes, if permitted.
struct Small {
    dir: TempDir,
}

impl Small {
    fn mount() -> Option<Self> {
        let small = Self { dir: TempDir::new().unwrap() };
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(small.dir.path()).output();
        mount.is_ok_and(|output| output.status.success()).then_some(small)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.dir.path()).output();
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_got_over() {
    // Only root may mount; the injected failures above need no privileges.
    let Some(small) = Small::mount() else { return };
    let ballast = small.dir.path().join("ballast");
    fs::write(&ballast, vec![1; 2 << 20]).unwrap();
    let dir = small.dir.path().join("log");
    let options = || LogOptions {
        dir: dir.clone(),
        segment_bytes: 512 << 10,
        retain: None,
        retain_bytes: None,
        refuse_bytes: None,
        has_listener: false,
    };
    let log = Log::open(options()).unwrap();
    let mut acknowledged = 0;
    let error = loop {
        let end = put(&log, 500);
        match log.durable(end).await {
            Ok(()) => acknowledged = end,
            Err(error) => break error,
        }
    };
    assert_eq!(error.code, Code::StreamUnavailable);
    assert!(error.message.contains("the disk is full") && error.hint.is_some_and(|hint| hint.contains("space")));
    assert!(acknowledged > 10_000, "{acknowledged}");
    // It is accepted, and waits in memory.
    let end = put(&log, 500);
    assert!(log.durable(end).await.is_err());
    let killed = Fixture::new();
    super::copy_dir(&dir, &killed.path());
    let copy = killed.open();
    assert!(copy.ends().next >= acknowledged);
    check(&copy, 0);
    check(&log, 0);
    fs::remove_file(&ballast).unwrap();
    until("it is written after all", || log.durable_end() == end);
    put_safely(&log, 1).await;
    log.close().unwrap();
    let log = Log::open(options()).unwrap();
    assert_eq!(log.ends().next, end + 1);
    check(&log, 0);
}

/// Checks that events shown to a reader survive a kill at that moment, at the same offset.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_is_in_the_file() {
    let fixture = Fixture::small();
    let log = fixture.open();
    let mut shown = 0;
    for count in 1..120 {
        put(&log, count % 7 + 1);
        let held = log.hold();
        let ends = log.shown();
        assert!(ends.next >= held.ends.next && held.ends.next >= shown, "{ends:?}");
        shown = ends.next;
        if count % 5 == 0 {
            let killed = fixture.killed();
            let copy = killed.open();
            assert!(copy.ends().next >= shown, "{:?} {shown}", copy.ends());
            check(&copy, 0);
        }
    }
    check(&log, 0);
}

/// Checks that nothing is shown while the disk accepts no writes, and that a waiting reader sees it as soon as it does.
#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_written_is_not_shown() {
    let fixture = Fixture::new();
    let log = fixture.open();
    put_safely(&log, 3).await;
    log.faults.writes.store(1_000, Ordering::SeqCst);
    let end = put(&log, 2);
    assert!(log.durable(end).await.is_err());
    assert_eq!((log.shown().next, log.hold().ends.next, log.ends().next), (3, 3, 5));
    let waiting = tokio::spawn({
        let log = std::sync::Arc::clone(&log);
        async move { log.appears(4).await }
    });
    assert_eq!(fixture.killed().open().ends().next, 3);
    log.faults.writes.store(0, Ordering::SeqCst);
    waiting.await.unwrap();
    assert_eq!(log.shown().next, 5);
    check(&log, 0);
}
