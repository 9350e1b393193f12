//! Damaged and truncated files.

use std::fs;
use std::path::Path;

use salver_model::Code;

use super::{Fixture, check, check_frames, frame, put, put_safely};
use crate::log::Log;
use crate::log::frame::{Frame, HEADER_BYTES};

/// A closed log of `count` frames of three records each; where the last one begins, and where it ends.
async fn closed(fixture: &Fixture, count: u64) -> (usize, usize) {
    let log = fixture.open();
    for _ in 0..count {
        put_safely(&log, 3).await;
    }
    let end = fs::metadata(fixture.files("log").last().unwrap());
    let last = log.read(count * 3 - 1, 1).unwrap()[0].bytes.len();
    log.close().unwrap();
    drop(end);
    let end = fs::metadata(fixture.files("log").last().unwrap()).unwrap().len() as usize;
    (end - last, end)
}

/// Opens a log whose last file has these bytes, and checks that it has the first `count` records, and can be appended
/// to.
fn reopen(fixture: &Fixture, bytes: &[u8], counts: &[u64], why: &str) {
    let path = fixture.files("log").pop().unwrap();
    fs::write(&path, bytes).unwrap();
    let _ = fs::remove_file(path.with_extension("index"));
    let log = fixture.open();
    assert!(counts.contains(&log.ends().next), "{why}: {:?}", log.ends());
    check(&log, 0);
    put(&log, 2);
    drop(log);
    check(&fixture.open(), 0);
}

#[tokio::test]
async fn a_torn_tail_is_cut_off_at_whatever_byte() {
    let fixture = Fixture::new();
    let (start, end) = closed(&fixture, 4).await;
    let bytes = fs::read(fixture.files("log").pop().unwrap()).unwrap();
    assert_eq!(bytes.len(), end);
    for cut in start..=end {
        let counts = [if cut == end { 12 } else { 9 }];
        reopen(&fixture, &bytes[..cut], &counts, &format!("cut at {cut}"));
        let mut filled = bytes[..cut].to_vec();
        filled.resize(end + 5_000, 0);
        // What was cut may have been zeros by itself.
        let counts = [if bytes[cut..].iter().all(|byte| *byte == 0) { 12 } else { 9 }];
        reopen(&fixture, &filled, &counts, &format!("zeros from {cut}"));
    }
}

#[tokio::test]
async fn a_flipped_byte_in_the_last_frame_is_a_torn_tail() {
    let fixture = Fixture::new();
    let (start, end) = closed(&fixture, 4).await;
    let bytes = fs::read(fixture.files("log").pop().unwrap()).unwrap();
    for at in start..end {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x41;
        reopen(&fixture, &bytes, &[9], &format!("flipped at {at}"));
    }
}

#[tokio::test]
async fn what_lies_behind_a_torn_frame_is_not_found_again() {
    let fixture = Fixture::new();
    let log = fixture.open();
    put_safely(&log, 3).await;
    // One batch, none of which was acknowledged as durable.
    for _ in 0..5 {
        put(&log, 3);
    }
    log.durable(18).await.unwrap();
    log.close().unwrap();
    let path = fixture.files("log").pop().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let frame_bytes = bytes.len() / 6;
    bytes[frame_bytes..frame_bytes + 4].fill(0);
    // The disk wrote the later pages first.
    reopen(&fixture, &bytes, &[3], "torn in the middle");
    assert_eq!(fixture.open().ends().next, 5);
}

#[tokio::test]
async fn damage_to_what_was_on_disk_is_told_and_stepped_over() {
    let fixture = Fixture::new();
    let log = fixture.open();
    for _ in 0..10 {
        put_safely(&log, 3).await;
    }
    log.close().unwrap();
    let path = fixture.files("log").pop().unwrap();
    let bytes = fs::read(&path).unwrap();
    let frame_bytes = bytes.len() / 10;
    // In the body, in the header, and over two frames.
    for (at, count, to) in [(HEADER_BYTES + 9, 1, 9), (5, 1, 9), (2, frame_bytes + 9, 12), (0, frame_bytes, 9)] {
        let mut bytes = bytes.clone();
        bytes[frame_bytes * 2 + at..][..count].fill(0xee);
        fs::write(&path, bytes).unwrap();
        let _ = fs::remove_file(path.with_extension("index"));
        let log = fixture.open();
        damaged(&log, 6, to, frame_bytes * 2, &path);
        put(&log, 1);
        assert_eq!(log.ends().next, 31);
        drop(log);
        // The same in a closed segment.
        let next = path.with_file_name(format!("{:020}.log", 31));
        fs::write(&next, b"").unwrap();
        let _ = fs::remove_file(path.with_extension("index"));
        for _ in 0..2 {
            damaged(&fixture.open(), 6, to, frame_bytes * 2, &path);
        }
        fs::remove_file(&next).unwrap();
        let _ = fs::remove_file(next.with_extension("index"));
    }
}

/// Checks that everything but the range from `from` to `to` is readable.
fn damaged(log: &Log, from: u64, to: u64, at: usize, path: &Path) {
    let mut last_id = 0;
    let frames = log.read(0, 1_000_000).unwrap();
    assert_eq!(check_frames(&frames, 0, &mut last_id), from);
    for bad in from..to {
        let error = log.read(bad, 1).unwrap_err();
        assert_eq!(error.code, Code::Source);
        for part in [format!("events {from} to {}", to - 1), format!("byte {at}"), path.display().to_string()] {
            assert!(error.message.contains(&part), "{error} has no {part}");
        }
        assert_eq!(log.good_from(bad).unwrap(), to);
    }
    assert_eq!(log.good_from(from - 1).unwrap(), from - 1);
    assert_eq!(log.good_from(to).unwrap(), to);
    check(log, to);
}

#[tokio::test]
async fn a_lost_file_is_told_and_stepped_over() {
    let fixture = Fixture::small();
    closed(&fixture, 100).await;
    let lost = fixture.files("log").remove(1);
    let base = |path: &Path| path.file_stem().unwrap().to_str().unwrap().parse::<u64>().unwrap();
    let (from, to) = (base(&lost), base(&fixture.files("log")[2]));
    fs::remove_file(&lost).unwrap();
    let log = fixture.open();
    let frames = log.read(0, 1_000_000).unwrap();
    assert_eq!(check_frames(&frames, 0, &mut 0), from);
    let error = log.read(from, 1).unwrap_err();
    assert!(error.code == Code::Source && error.message.contains("missing"), "{error}");
    assert_eq!(log.good_from(from).unwrap(), to);
    check(&log, to);
    assert_eq!(log.ends().next, 300);
}

#[tokio::test]
async fn what_belongs_to_no_log_file_goes() {
    let fixture = Fixture::small();
    closed(&fixture, 100).await;
    let first = fixture.files("log").remove(0);
    fs::write(first.with_extension("parquet"), "derived").unwrap();
    let other = first.with_file_name(format!("{:020}.parquet", 7));
    fs::write(&other, "an orphan").unwrap();
    let gone = first.with_file_name(format!("{:020}.gone", 0));
    fs::write(&gone, "retired").unwrap();
    let log = fixture.open();
    assert!(!other.exists() && !gone.exists());
    assert!(log.segments()[0].parquet_path().exists());
    check(&log, 0);
}

#[test]
fn a_frame_inside_an_event_is_no_frame() {
    let fixture = Fixture::new();
    let log = fixture.open();
    let inner = frame(5, 1, 0).behind(5, 1, 0);
    let mut builder = crate::log::frame::FrameBuilder::new(0, 0);
    builder.push_plain(&inner.bytes);
    log.append(builder.seal()).unwrap();
    log.append(frame(1, 2, 0)).unwrap();
    log.close().unwrap();
    let path = fixture.files("log").pop().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    // The outer body is damaged before the inner frame.
    bytes[HEADER_BYTES + 1] ^= 1;
    fs::write(&path, bytes).unwrap();
    fs::write(path.with_file_name(format!("{:020}.log", 3)), b"").unwrap();
    fs::remove_file(path.with_extension("index")).unwrap();
    let log = fixture.open();
    assert_eq!(log.good_from(0).unwrap(), 1);
    let frames: Vec<Frame> = log.read(1, 1_000).unwrap();
    assert_eq!(check_frames(&frames, 1, &mut 0), 3);
}

/// Checks a file that was truncated after a clean shutdown: the loss is reported, also to readers, and the offsets are
/// not reused.
#[tokio::test]
async fn what_a_truncated_file_lost_is_known_and_never_given_away() {
    for (keep, index_is_there) in [(0, true), (1, true), (2, true), (3, true), (0, false), (2, false)] {
        let fixture = Fixture::new();
        let log = fixture.open();
        for _ in 0..4 {
            put_safely(&log, 3).await;
        }
        log.commit("g", 12).unwrap();
        log.close().unwrap();
        let path = fixture.files("log").pop().unwrap();
        let bytes = fs::read(&path).unwrap();
        let kept = keep as u64 * 3;
        // In the middle of a frame.
        fs::write(&path, &bytes[..bytes.len() / 4 * keep + 20]).unwrap();
        if !index_is_there {
            // The group's offset also proves that they existed.
            fs::remove_file(path.with_extension("index")).unwrap();
        }
        for round in 0..3 {
            let log = fixture.open();
            assert_eq!((log.ends().first, log.ends().next), (0, 12 + round), "{keep}");
            for lost in kept..12 {
                let error = log.read(lost, 1).unwrap_err();
                assert!(error.code == Code::Source && error.message.contains("missing"), "{error}");
                assert_eq!(log.good_from(lost).unwrap(), 12);
            }
            if keep > 0 {
                assert_eq!(check_frames(&log.read(0, 1_000_000).unwrap(), 0, &mut 0), kept);
            }
            put(&log, 1);
            check(&log, 12);
            let held = log.hold();
            assert_eq!(held.events(&(0..held.ends.next)), kept + 1 + round);
            assert_eq!((held.behind(0, kept + 1), held.behind(kept, 1)), (13, 13));
        }
    }
}

#[tokio::test]
async fn damage_behind_an_orderly_end_is_no_torn_write() {
    let fixture = Fixture::new();
    let (start, end) = closed(&fixture, 4).await;
    let path = fixture.files("log").pop().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    // More was written since, as far as the file shows.
    bytes[start + HEADER_BYTES + 3] ^= 1;
    bytes.resize(end + 500, 0);
    fs::write(&path, bytes).unwrap();
    let log = fixture.open();
    assert_eq!(log.ends().next, 12);
    assert!(log.read(9, 1).is_err());
    assert_eq!(log.good_from(9).unwrap(), 12);
}
