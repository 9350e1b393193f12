//! Published tables, read as their log says, after turns that end well, end in the middle, and are repeated.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use arrow::json::LineDelimitedWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use salver_model::limits::PUBLISHED_CHECKPOINT_COMMITS;
use salver_model::spec::PublishedTable;
use salver_model::{Name, Result};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::sync::mpsc;

use super::action::offsets_of;
use super::crash::CrashPoints;
use super::link::Link;
use super::published::Operation;
use super::schema::{fields_json, fits};
use super::state::TableState;
use super::table_dir::TableDir;
use super::{Publication, Publishing, history};
use crate::event::{Checker, Checks, EventShape};
use crate::log::frame::FrameBuilder;
use crate::log::{Log, LogOptions};
use crate::table::part_reader::Sidecars;

/// A log and its table, which are opened again and again.
struct Fixture {
    root: TempDir,
    checks: Checks,
    retain_bytes: Option<u64>,
    keep: Duration,
    crash: CrashPoints,
}

/// Both, open.
struct Open {
    log: Arc<Log>,
    work: Publishing,
}

impl Fixture {
    fn new() -> Self {
        Self {
            root: TempDir::new().expect("a directory"),
            checks: Checks::new(EventShape::default()),
            retain_bytes: None,
            keep: Duration::from_secs(3_600),
            crash: CrashPoints::default(),
        }
    }

    fn log_dir(&self) -> PathBuf {
        self.root.path().join("log")
    }

    fn table(&self) -> PathBuf {
        self.root.path().join("table")
    }

    fn open(&self) -> Open {
        let dir = self.log_dir();
        let options = LogOptions {
            dir: dir.clone(),
            segment_bytes: 4_096,
            retain: None,
            retain_bytes: self.retain_bytes,
            refuse_bytes: None,
            has_listener: false,
        };
        let log = Log::open(options).expect("a log");
        let table = PublishedTable { keep: self.keep, ..PublishedTable::new(self.table()) };
        let publication = Publication { crash: self.crash.clone(), ..Publication::new(table, &dir) };
        let work = Publishing {
            name: Name::new("events").expect("a name"),
            log: Arc::clone(&log),
            shape: Arc::clone(&self.checks.shape),
            sidecars: Arc::new(Sidecars::new(mpsc::unbounded_channel().0)),
            link: Link::of(&dir),
            publication,
            stop: AtomicBool::new(false),
            table: Mutex::default(),
        };
        Open { log, work }
    }

    /// Appends events, each in a frame of its own.
    async fn append(&self, open: &Open, events: &[String]) {
        for event in events {
            Checker::new(&self.checks).check(event.as_bytes()).expect("an event");
            let mut frame = FrameBuilder::new(1_000, 0);
            frame.push_plain(event.as_bytes());
            open.log.append(frame.seal()).expect("room");
        }
        open.log.durable(open.log.ends().next).await.expect("disk");
    }

    /// Returns the state of the table as another reader finds it.
    fn state(&self) -> TableState {
        history::load(&TableDir::open(&self.table(), CrashPoints::default()).expect("a table")).expect("its log")
    }

    /// Returns the rows of the table, in order, without what is null. Checks that its files are what the log says.
    fn rows(&self) -> Vec<Map<String, Value>> {
        let state = self.state();
        let metadata = state.metadata.as_ref().expect("a table");
        let schema: Value = serde_json::from_str(&metadata.schema_string).expect("JSON");
        let mut rows: Vec<Map<String, Value>> = Vec::new();
        for add in state.files.values() {
            let file = File::open(self.table().join(&add.path)).expect("a file");
            assert_eq!(file.metadata().expect("a file").len(), add.size as u64);
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
            assert!(fits(&fields_json(reader.schema().fields()), &schema), "{}", reader.schema());
            let mut text = Vec::new();
            let mut writer = LineDelimitedWriter::new(&mut text);
            for batch in reader.build().expect("Parquet") {
                writer.write(&batch.expect("rows")).expect("JSON");
            }
            writer.finish().expect("JSON");
            let before = rows.len();
            rows.extend(serde_json::Deserializer::from_slice(&text).into_iter().map(|row| row.expect("JSON")));
            let offsets = offsets_of(&add.path).expect("offsets");
            assert!(rows[before..].iter().all(|row| offsets.contains(&offset(row))));
            let stats: Value = serde_json::from_str(add.stats.as_deref().expect("statistics")).expect("JSON");
            assert_eq!(stats["numRecords"], rows.len() - before);
            assert_eq!(stats["minValues"]["_offset"], offset(&rows[before]));
            assert_eq!(stats["maxValues"]["_offset"], offset(&rows[rows.len() - 1]));
        }
        rows.sort_by_key(offset);
        rows
    }

    /// Checks that the table has the events at these offsets, which have their own offset as `n`.
    fn check(&self, first: u64, end: u64) -> Vec<Map<String, Value>> {
        let rows = self.rows();
        let offsets: Vec<u64> = rows.iter().map(offset).collect();
        assert_eq!(offsets, (first..end).collect::<Vec<_>>());
        let is_as_sent = |row: &Map<String, Value>| {
            row["n"] == row["_offset"]
                && row["_time"].as_str().is_some_and(|time| time.starts_with("1970-01-01T00:00:01"))
        };
        assert!(rows.iter().all(is_as_sent), "{:?}", rows.first());
        rows
    }

    /// Returns the names of the files in the table's directory.
    fn files(&self) -> BTreeSet<String> {
        let files = fs::read_dir(self.table()).expect("a directory").map(|file| file.expect("a file").file_name());
        files.filter_map(|name| name.into_string().ok()).filter(|name| offsets_of(name).is_some()).collect()
    }
}

impl Open {
    fn turn(&self) -> Result<()> {
        self.work.turn()
    }

    fn close(self) {
        self.log.close().expect("closed");
    }
}

fn offset(row: &Map<String, Value>) -> u64 {
    row["_offset"].as_u64().expect("an offset")
}

/// Returns events with their own offset as `n`, and more members.
fn events(first: u64, count: u64, more: &str) -> Vec<String> {
    (first..first + count).map(|n| format!(r#"{{"n":{n},"text":"some more text"{more}}}"#)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_there_once() {
    let fixture = Fixture::new();
    let mut end = 0;
    for round in 0..12 {
        let open = fixture.open();
        open.turn().expect("a turn");
        fixture.check(0, end);
        for _ in 0..10 {
            fixture.append(&open, &events(end, 1 + round, "")).await;
            end += 1 + round;
            open.turn().expect("a turn");
            fixture.check(0, end);
        }
        let version = fixture.state().version;
        open.turn().expect("a turn");
        assert_eq!(fixture.state().version, version, "nothing is new");
        open.close();
    }
    let open = fixture.open();
    open.turn().expect("a turn");
    let (segments, state) = (open.log.segments(), fixture.state());
    assert!(segments.len() > 10 && state.files.len() <= segments.len() + 64);
    // Those of closed files of the log are one each.
    let published: Vec<_> = state.event_files().map(|file| (file.offsets.start, file.offsets.end)).collect();
    for segment in segments {
        assert!(published.contains(&(segment.base(), segment.end())), "{published:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_come_and_change() {
    let fixture = Fixture::new();
    let open = fixture.open();
    let steps = [
        ("", "nothing"),
        (r#","v":null,"o":{"a":null}"#, "nothing known"),
        (r#","v":1,"V":true,"o":{"a":null,"b":[]}"#, "columns"),
        (r#","v":2,"o":{"a":{"x y":1},"b":[{"c":1}]}"#, "columns in them"),
        (r#","v":18446744073709551615"#, "large numbers"),
        (r#","v":0.5"#, "fractions"),
        (r#","v":"x","o":{"b":[{"c":"y"}]}"#, "text"),
    ];
    let mut end = 0;
    for (more, what) in steps {
        fixture.append(&open, &events(end, 60, more)).await;
        end += 60;
        open.turn().expect(what);
        fixture.check(0, end);
    }
    let rows = fixture.check(0, end);
    let value = |row: u64, column: &str| rows[row as usize].get(column).cloned().unwrap_or_default();
    assert_eq!(
        [70, 130, 190, 310, 370].map(|row| value(row, "v")),
        [Value::Null, "1".into(), "2".into(), "0.5".into(), "x".into()]
    );
    assert_eq!(value(250, "v"), "18446744073709551615");
    assert_eq!(value(130, "V_2"), true);
    assert_eq!(value(190, "o"), serde_json::json!({ "a": { "x_y": 1 }, "b": [{ "c": "1" }] }));
    assert_eq!(value(370, "o"), serde_json::json!({ "b": [{ "c": "y" }] }));
    // Another process knows the same.
    open.close();
    let open = fixture.open();
    open.turn().expect("a turn");
    assert_eq!(fixture.check(0, end), rows);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_log_deletes_is_removed_and_stays_for_a_while() {
    for keep in [Duration::from_secs(3_600), Duration::ZERO] {
        let fixture = Fixture { retain_bytes: Some(40_000), keep, ..Fixture::new() };
        let open = fixture.open();
        let mut end = 0;
        for _ in 0..40 {
            fixture.append(&open, &events(end, 50, "")).await;
            end += 50;
            open.turn().expect("a turn");
        }
        assert!(open.log.ends().first > 0);
        // Deleted between two turns, before they were published.
        for _ in 0..40 {
            fixture.append(&open, &events(end, 50, "")).await;
            end += 50;
        }
        open.turn().expect("a turn");
        open.turn().expect("a turn");
        let first = open.log.ends().first;
        fixture.check(first, end);
        let state = fixture.state();
        let live: BTreeSet<String> = state.files.keys().cloned().collect();
        let removed: BTreeSet<String> = state.removed.keys().cloned().collect();
        match keep.is_zero() {
            true => assert_eq!(fixture.files(), live),
            false => assert_eq!(fixture.files(), live.union(&removed).cloned().collect()),
        }
        open.close();
    }
}

/// The work ends at each place where a process may be killed; what is there then is a table, and the next process goes
/// on with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_place() {
    for place in 0.. {
        let left = Some(Arc::new(AtomicU32::new(place)));
        let mut fixture = Fixture { crash: CrashPoints { left }, ..Fixture::new() };
        let open = fixture.open();
        let mut end = 0;
        let mut is_killed = false;
        for more in ["", r#","v":1"#, r#","v":"x""#] {
            fixture.append(&open, &events(end, 45, more)).await;
            end += 45;
            is_killed |= open.turn().is_err();
            if is_killed {
                break;
            }
        }
        // What another reader finds has events from the first on, each once.
        let state = fixture.state();
        if state.version.is_some() {
            let rows = fixture.rows();
            assert!(rows.iter().map(offset).eq(0..rows.len() as u64), "place {place}");
        }
        open.close();
        fixture.crash = CrashPoints::default();
        let open = fixture.open();
        fixture.append(&open, &events(end, 30, "")).await;
        open.turn().unwrap_or_else(|error| panic!("place {place}: {error:?}"));
        fixture.check(0, end + 30);
        let state = fixture.state();
        let known = state.files.keys().chain(state.removed.keys());
        assert_eq!(fixture.files(), known.cloned().collect(), "place {place}: nothing is left over");
        open.close();
        if !is_killed {
            assert!(place > 30, "{place} places");
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checkpoints() {
    let mut fixture = Fixture::new();
    let log_files = |fixture: &Fixture| {
        let names = fs::read_dir(fixture.table().join("_delta_log")).expect("a log").map(|file| file.expect("a file"));
        names.filter_map(|file| file.file_name().into_string().ok()).collect::<BTreeSet<_>>()
    };
    let commits = |open: &Open, count: u64| {
        let mut opened = open.work.table.lock().unwrap_or_else(PoisonError::into_inner);
        let table = opened.as_mut().expect("a table");
        (0..count).for_each(|_| table.commit(Operation::Append, Vec::new()).expect("a commit"));
    };
    let open = fixture.open();
    fixture.append(&open, &events(0, 100, "")).await;
    open.turn().expect("a turn");
    commits(&open, PUBLISHED_CHECKPOINT_COMMITS);
    let files = log_files(&fixture);
    let checkpoint = format!("{PUBLISHED_CHECKPOINT_COMMITS:020}.checkpoint.parquet");
    assert!(files.contains(&checkpoint) && files.contains("00000000000000000000.json"), "{files:?}");
    let last = fs::read_to_string(fixture.table().join("_delta_log/_last_checkpoint")).expect("a file");
    let last: Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!(last["version"], PUBLISHED_CHECKPOINT_COMMITS);
    open.close();

    // With nothing to keep, older versions go; what is left is read and continued.
    fixture.keep = Duration::ZERO;
    let open = fixture.open();
    open.turn().expect("a turn");
    fixture.check(0, 100);
    commits(&open, PUBLISHED_CHECKPOINT_COMMITS);
    let files = log_files(&fixture);
    assert!(!files.contains("00000000000000000000.json"), "{files:?}");
    open.close();
    let open = fixture.open();
    fixture.append(&open, &events(100, 100, "")).await;
    open.turn().expect("a turn");
    fixture.check(0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_others_are_left_alone() {
    let fixture = Fixture::new();
    let open = fixture.open();
    fixture.append(&open, &events(0, 100, "")).await;
    open.turn().expect("a turn");
    open.close();
    let refused = |open: &Open, why: &str| {
        let error = open.turn().expect_err("it is refused");
        assert!(error.message.contains(why), "{error:?}");
        assert!(error.hint.is_some_and(|hint| hint.contains("built anew")));
    };

    // The log has lost events, and gives their offsets to others.
    let (link, lost) = (fixture.log_dir().join("delta.json"), fixture.root.path().join("lost"));
    let linked = fs::read(&link).expect("a link");
    fs::rename(fixture.log_dir(), &lost).expect("renamed");
    let open = fixture.open();
    fs::write(&link, linked).expect("a link");
    refused(&open, "the log ends at 0");
    fixture.append(&open, &events(0, 200, "")).await;
    refused(&open, "not of this stream's log");
    open.close();
    let open = fixture.open();
    refused(&open, "not of this stream's log");
    // Away with it, as the message says.
    fs::rename(fixture.table(), fixture.root.path().join("away")).expect("renamed");
    open.turn().expect("a turn");
    fixture.check(0, 200);
    open.close();

    // Another writer.
    let version = fixture.state().version.expect("a version") + 1;
    let commit = fixture.table().join("_delta_log").join(history::commit_name(version));
    let add =
        r#"{"add":{"path":"part-0.parquet","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}"#;
    fs::write(&commit, add).expect("a commit");
    let open = fixture.open();
    refused(&open, "another writer has added `part-0.parquet`");
    // A commit that changes nothing is none of its business, also when it comes in between.
    fs::write(&commit, "{\"commitInfo\":{\"operation\":\"VACUUM START\"}}\n").expect("a commit");
    open.turn().expect("a turn");
    fixture.append(&open, &events(200, 10, "")).await;
    fs::write(commit.with_file_name(history::commit_name(version + 1)), "{}\n").expect("a commit");
    assert!(open.turn().expect_err("it is there").message.contains("can't be written"));
    open.turn().expect("a turn");
    fixture.check(0, 210);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_events_are_left_out() {
    let fixture = Fixture::new();
    let open = fixture.open();
    fixture.append(&open, &events(0, 200, "")).await;
    let segment = open.log.segments().first().cloned().expect("a closed file");
    let mut bytes = fs::read(segment.path()).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(segment.path(), bytes).expect("a file");
    open.turn().expect("a turn");
    let offsets: Vec<u64> = fixture.rows().iter().map(offset).collect();
    assert_eq!(offsets.len(), 199, "{offsets:?}");
    assert_eq!((offsets[0], offsets[198]), (0, 199));
    assert_eq!(fixture.state().published, Some(200));
}
