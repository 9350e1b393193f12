//! Rows of streams, compared with what `serde_json` parses from the same events; from frames, from Parquet, and both.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type, TimestampMillisecondType};
use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use salver_model::filter::{Comparison, Filter};
use salver_model::ports::{Held, Scan};
use salver_model::value::Value as Literal;
use salver_model::{Name, Version};
use serde_json::Value;

use super::EventScan;
use crate::event::tests::Dice;
use crate::event::{Checker, Checks, EventShape};
use crate::log::frame::{FrameBuilder, Record};
use crate::log::{Log, LogOptions};

mod damage;
mod measure;
mod slow_readers;

/// Log with its table.
struct Stream {
    log: Arc<Log>,
    checks: Checks,
    scan: Arc<EventScan>,
}

impl Stream {
    fn open(dir: &Path, segment_bytes: u64) -> Self {
        Self::open_bounded(dir, segment_bytes, None)
    }

    fn open_bounded(dir: &Path, segment_bytes: u64, retain_bytes: Option<u64>) -> Self {
        let options = LogOptions {
            dir: dir.to_owned(),
            segment_bytes,
            retain: None,
            retain_bytes,
            refuse_bytes: None,
            has_listener: false,
        };
        let log = Log::open(options).expect("a log");
        let checks = Checks::new(EventShape::default());
        let name = Name::new("events").expect("a name");
        let scan = EventScan::open(name, Arc::clone(&log), Arc::clone(&checks.shape), None).expect("a scan");
        Self { log, checks, scan }
    }

    async fn append(&self, time_ms: i64, events: &[String]) {
        let mut frame = FrameBuilder::new(time_ms, 0);
        let mut checker = Checker::new(&self.checks);
        for (index, event) in events.iter().enumerate() {
            // A value that is not an event is a row without members.
            let _ = checker.check(event.as_bytes());
            let key = format!("k{index}");
            let record = Record {
                value: event.as_bytes(),
                key: (index % 3 == 0).then_some(key.as_bytes()),
                id: (index % 5 == 0).then_some(b"own"),
                time_ms: (index % 7 == 0).then_some(time_ms - 1),
                ..Record::default()
            };
            frame.push(&record);
        }
        self.log.room().await;
        self.log.append(frame.seal()).expect("room");
        self.log.durable(self.log.ends().next).await.expect("disk");
    }

    /// Waits until every closed segment has its file.
    async fn compacted(&self) {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !self.log.segments().iter().all(|segment| segment.parquet_path().exists()) {
            assert!(std::time::Instant::now() < until, "the files are written");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
}

async fn rows_of(held: &Arc<dyn Held>, columns: &[usize], filter: Option<&Filter>) -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    for part in 0..held.parts() {
        let mut stream = held.read(part, columns, filter, None);
        while let Some(batch) = stream.next().await {
            let batch = batch.expect("rows");
            assert_eq!(batch.schema(), held.schema_of(columns));
            assert!(batch.num_rows() > 0 && batch.num_rows() <= super::BATCH_ROWS);
            batches.push(batch);
        }
    }
    batches
}

async fn table_of(held: &Arc<dyn Held>) -> RecordBatch {
    let columns: Vec<_> = (0..held.describe().schema.fields().len()).collect();
    let batches = rows_of(held, &columns, None).await;
    let table = arrow::compute::concat_batches(&held.describe().schema, &batches).expect("one table");
    assert_eq!(held.describe().rows, Some(table.num_rows() as u64));
    table
}

/// Checks a cell against its source value.
fn assert_cell(array: &ArrayRef, row: usize, value: Option<&Value>, event: &str) {
    let value = value.filter(|value| !value.is_null());
    let Some(value) = value else { return assert!(array.is_null(row), "{event}") };
    match array.data_type() {
        DataType::Utf8 => {
            assert!(array.is_valid(row), "{event}");
            let cell = array.as_string::<i32>().value(row);
            match value {
                Value::String(text) => assert_eq!(cell, text, "{event}"),
                other => assert_eq!(&serde_json::from_str::<Value>(cell).expect("JSON"), other, "{event}"),
            }
        }
        DataType::Boolean => assert_eq!(array.as_boolean().value(row), value.as_bool().expect("a boolean"), "{event}"),
        DataType::Int64 => {
            assert_eq!(array.as_primitive::<Int64Type>().value(row), value.as_i64().expect("whole"), "{event}");
        }
        DataType::Decimal128(_, 0) => {
            let cell = array.as_primitive::<Decimal128Type>().value(row);
            match value.as_i64().map(i128::from).or(value.as_u64().map(i128::from)) {
                Some(value) => assert_eq!(cell, value, "{event}"),
                // What the plain parser makes of still larger ones.
                None => assert_eq!((cell as f64).to_bits(), value.as_f64().expect("a number").to_bits(), "{event}"),
            }
        }
        DataType::Float64 => {
            let cell = array.as_primitive::<Float64Type>().value(row);
            assert_eq!(cell.to_bits(), value.as_f64().expect("a number").to_bits(), "{event}");
        }
        DataType::Struct(fields) => {
            let object = value.as_object().expect("an object");
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                assert_cell(column, row, member(object, field.name()), event);
            }
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>().value(row);
            let values = value.as_array().expect("an array");
            assert_eq!(list.len(), values.len(), "{event}");
            for (index, value) in values.iter().enumerate() {
                assert_cell(&list, index, Some(value), event);
            }
        }
        other => panic!("no column is {other}"),
    }
}

/// Returns the value of a column in an object: the member with its name, or the one without a name.
fn member<'v>(object: &'v serde_json::Map<String, Value>, name: &str) -> Option<&'v Value> {
    object.get(name).or_else(|| object.get("").filter(|_| name == "unnamed"))
}

/// Checks all rows of a table against the events.
fn assert_table(table: &RecordBatch, events: &[String]) {
    assert_eq!(table.num_rows(), events.len());
    for (row, event) in events.iter().enumerate() {
        let value: Value = serde_json::from_str(event).unwrap_or_default();
        let object = value.as_object();
        assert_eq!(table.column(0).as_primitive::<Int64Type>().value(row), row as i64);
        for (field, column) in table.schema().fields().iter().zip(table.columns()).skip(4) {
            assert_cell(column, row, object.and_then(|object| member(object, field.name())), event);
        }
        if let Some(object) = object {
            let known = |name: &String| {
                let name = if name.is_empty() { "unnamed" } else { name };
                name.starts_with('_') || table.column_by_name(name).is_some()
            };
            assert!(object.keys().all(known), "{event}");
        }
    }
}

/// An event as a service sends them; what comes later has more, and other types.
fn event(dice: &mut Dice, phase: usize) -> String {
    let mut members = vec![
        format!("\"id\":{}", dice.roll(1_000_000)),
        format!("\"user\":{}", dice.string()),
        format!("\"ok\":{}", dice.pick(&["true", "false", "null"])),
        format!("\"tags\":[{}]", (0..dice.roll(3)).map(|_| dice.string()).collect::<Vec<_>>().join(", ")),
        format!("\"_key\":{}", dice.roll(9)),
        "\"empty\":{}".to_owned(),
    ];
    let place = if phase > 1 { ",\"alt\":-0" } else { "" };
    members.push(format!("\"geo\":{{\"lat\":{}.5,\"lon\":{}{place}}}", dice.roll(90), dice.roll(180)));
    members.push(format!("\"wide\":{}", if phase > 1 { "1.25e1".to_owned() } else { dice.roll(99).to_string() }));
    let huge = ["7", "18446744073709551615", "123456789012345678901234567890", "0.5"][phase];
    members.push(format!("\"huge\":{huge},\"code\":{}", if phase == 2 { huge } else { "-7" }));
    members.push(format!("\"mixed\":{}", if phase > 2 { dice.value(2) } else { dice.roll(99).to_string() }));
    members.push(format!("\"late\":{}", if phase > 0 { dice.roll(99).to_string() } else { "null".to_owned() }));
    let steps = (0..dice.roll(4)).map(|_| match dice.roll(5) {
        0 => "null".to_owned(),
        1 => "{}".to_owned(),
        n => format!("{{\"x\":{n},\"n\":[[{}],[],null]}}", dice.roll(9)),
    });
    let steps: Vec<_> = steps.collect();
    members.push(format!("\"path\":[{}]", steps.join(",")));
    if dice.roll(10) == 0 {
        members.push("\"id\":-1".to_owned());
    }
    if dice.roll(20) == 0 {
        members.reverse();
    }
    if dice.roll(30) == 0 {
        members.truncate(2);
    }
    format!("{{{}}}", members.join(dice.pick(&[",", ", ", " ,\n"])))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_events_make_the_rows_serde_json_reads() {
    for seed in 0..20 {
        let dir = tempfile::tempdir().expect("a directory");
        let stream = Stream::open(dir.path(), 1 << 30);
        let mut dice = Dice(seed);
        let mut events: Vec<_> = (0..300).map(|_| dice.object(0)).collect();
        events.extend(["no event", "[1]", "7", "{\"a\":", "\u{0}"].map(str::to_owned));
        for piece in events.chunks(70) {
            stream.append(1_000, piece).await;
        }
        let table = table_of(&stream.scan.hold()).await;
        assert_table(&table, &events);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_beyond_floats_are_text() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open(dir.path(), 1 << 30);
    let events = ["{\"a\":1.5}", "{\"a\":1e999}", "{\"a\":-1e999}", "{\"a\":2}"].map(str::to_owned);
    stream.append(0, &events).await;
    let table = table_of(&stream.scan.hold()).await;
    let column = table.column(4).as_string::<i32>();
    assert_eq!(column.iter().collect::<Vec<_>>(), [Some("1.5"), Some("1e999"), Some("-1e999"), Some("2")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whole_numbers_keep_their_digits() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open(dir.path(), 1 << 30);
    let nines = "9".repeat(38);
    let numbers = ["1", "9223372036854775807", "-9223372036854775809", "18446744073709551615", &nines];
    stream.append(0, &numbers.map(|number| format!("{{\"a\":{number}}}"))).await;
    stream.append(0, &["{\"a\":null}".to_owned()]).await;
    let table = table_of(&stream.scan.hold()).await;
    let column = table.column(4).as_primitive::<Decimal128Type>();
    let digits: Vec<_> = (0..numbers.len()).map(|row| column.value_as_string(row)).collect();
    assert_eq!(digits, numbers);
    assert!(column.is_null(numbers.len()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn own_columns() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open(dir.path(), 1 << 30);
    let table = table_of(&stream.scan.hold()).await;
    assert_eq!((table.num_rows(), table.num_columns()), (0, 4));
    let events: Vec<_> = (0..10).map(|n| format!("{{\"a\":{n}}}")).collect();
    stream.append(5_000, &events).await;
    let table = table_of(&stream.scan.hold()).await;
    let (ids, keys) = (table.column(1).as_string::<i32>(), table.column(3).as_string::<i32>());
    let times = table.column(2).as_primitive::<TimestampMillisecondType>();
    assert_eq!((ids.value(0), ids.value(5)), ("own", "own"));
    assert!(ids.value(1).len() == 36 && ids.value(1) < ids.value(2));
    assert_eq!((times.value(0), times.value(1)), (4_999, 5_000));
    assert_eq!((keys.value(3), keys.is_null(4)), ("k3", true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parquet_gives_the_rows_that_frames_give() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open(dir.path(), 200_000);
    let mut dice = Dice(7);
    let mut events = Vec::new();
    for phase in 0..4 {
        for _ in 0..15 {
            let some: Vec<_> = (0..300).map(|_| event(&mut dice, phase)).collect();
            stream.append(1_000 + events.len() as i64, &some).await;
            events.extend(some);
        }
        // Files of every phase, so that later ones have columns that the earlier ones lack or have otherwise.
        stream.compacted().await;
        let table = table_of(&stream.scan.hold()).await;
        assert_table(&table, &events);
    }
    assert!(stream.log.segments().len() > 5);
    let held = stream.scan.hold();
    let with_files = table_of(&held).await;
    let paths: Vec<_> = stream.log.segments().iter().map(|segment| segment.parquet_path()).collect();

    // Damaged in any place: the same rows, and the file is written again.
    for (index, path) in paths.iter().enumerate() {
        let mut bytes = std::fs::read(path).expect("a file");
        let at = if index % 2 == 0 { dice.roll(bytes.len()) } else { bytes.len() / 3 };
        bytes[at] ^= 0x10;
        std::fs::write(path, bytes).expect("a file");
    }
    assert_eq!(table_of(&held).await, with_files);
    stream.compacted().await;

    // Without files.
    for path in &paths {
        let _ = std::fs::remove_file(path);
    }
    assert_eq!(table_of(&held).await, with_files);
    stream.compacted().await;
    assert_eq!(table_of(&held).await, with_files);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn projections_filters_limits_and_counts() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open(dir.path(), 300_000);
    let mut dice = Dice(8);
    let events: Vec<_> = (0..40_000).map(|_| event(&mut dice, 2)).collect();
    for piece in events.chunks(500) {
        stream.append(1_000, piece).await;
    }
    stream.compacted().await;
    let held = stream.scan.hold();
    let table = table_of(&held).await;
    assert!(held.parts() > 1);
    let width = table.num_columns();
    for _ in 0..40 {
        let columns: Vec<_> = (0..dice.roll(4)).map(|_| dice.roll(width)).collect();
        let batches = rows_of(&held, &columns, None).await;
        let found = arrow::compute::concat_batches(&held.schema_of(&columns), &batches);
        if columns.is_empty() {
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), events.len());
        } else {
            assert_eq!(found.expect("one table"), table.project(&columns).expect("columns"));
        }
    }
    // What is left out does not pass; what passes is there.
    let ids = table.column_by_name("id").expect("ids").as_primitive::<Int64Type>();
    for (column, op, value) in [
        ("_offset", Comparison::Lt, 12_345),
        ("_offset", Comparison::Eq, 29_999),
        ("_offset", Comparison::GtEq, 29_000),
        ("_offset", Comparison::Gt, 40_000),
        ("id", Comparison::Eq, -1),
        ("id", Comparison::Gt, 999_000),
        ("id", Comparison::LtEq, -2),
    ] {
        let filter = Filter::And(vec![Filter::compare(column, op, Literal::Int(value))]);
        let batches = rows_of(&held, &[0, 4], Some(&filter)).await;
        let found: Vec<i64> =
            batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec()).collect();
        let passes = |row: &usize| {
            let own = if column == "id" {
                if ids.is_null(*row) { return false } else { ids.value(*row) }
            } else {
                *row as i64
            };
            match op {
                Comparison::Eq => own == value,
                Comparison::Lt => own < value,
                Comparison::LtEq => own <= value,
                Comparison::Gt => own > value,
                _ => own >= value,
            }
        };
        let expected: Vec<_> = (0..events.len()).filter(passes).map(|row| row as i64).collect();
        assert!(expected.iter().all(|row| found.contains(row)), "{column} {op:?} {value}");
        if column == "_offset" {
            assert_eq!(found, expected);
        }
    }
    assert!(
        rows_of(&held, &[0, 4], Some(&Filter::compare("id", Comparison::Gt, Literal::Int(2_000_000))))
            .await
            .iter()
            .map(RecordBatch::num_rows)
            .sum::<usize>()
            < events.len()
    );
    let late = Filter::compare("_time", Comparison::Gt, Literal::Text("2020-01-01T00:00:00Z".to_owned()));
    let open = stream.log.ends().next - stream.log.segments().last().expect("a segment").end();
    assert_eq!(rows_of(&held, &[2], Some(&late)).await.iter().map(|batch| batch.num_rows() as u64).sum::<u64>(), open);
    let batches: Vec<_> = held.read(0, &[4], None, Some(3)).collect().await;
    assert_eq!(batches.iter().map(|batch| batch.as_ref().expect("rows").num_rows()).sum::<usize>(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_hold_what_they_held() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open(dir.path(), 1 << 30);
    stream.append(1_000, &["{\"a\":1}".to_owned(), "{\"a\":2}".to_owned()]).await;
    let first = stream.scan.hold();
    let (version, before) = (first.describe().version, table_of(&first).await);
    assert_eq!(stream.scan.hold().describe().version, version);
    stream.append(1_000, &["{\"a\":3}".to_owned()]).await;
    let second = stream.scan.hold();
    assert_ne!(second.describe().version, version);
    stream.append(1_000, &["{\"a\":\"x\",\"b\":3}".to_owned()]).await;
    assert_eq!(stream.scan.hold().describe().schema.fields().len(), 6);
    for held in [first, stream.scan.hold_at(version).expect("the rows are there")] {
        assert_eq!(held.describe().version, version);
        assert_eq!(table_of(&held).await, before);
    }
    assert!(stream.scan.hold_at(Version(version.0 ^ (1 << 60))).is_none());
    assert!(stream.scan.hold_at(Version(version.0 | 0xffff)).is_none());
    drop(second);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_stay_as_long_as_they_are_held() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open_bounded(dir.path(), 50_000, Some(200_000));
    let mut dice = Dice(9);
    let some: Vec<_> = (0..1_000).map(|_| event(&mut dice, 2)).collect();
    stream.append(1_000, &some).await;
    let held = stream.scan.hold();
    let (version, before) = (held.describe().version, table_of(&held).await);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while stream.log.ends().first < 1_000 {
        assert!(std::time::Instant::now() < until, "old segments go: {:?}", stream.log.ends());
        stream.append(1_000, &some).await;
        // Rows are read while segments close, get their files and go.
        let now = stream.scan.hold();
        let rows: u64 = rows_of(&now, &[4, 1], None).await.iter().map(|batch| batch.num_rows() as u64).sum();
        assert_eq!(now.describe().rows, Some(rows));
    }
    assert_eq!(table_of(&held).await, before);
    assert!(stream.scan.hold_at(version).is_none(), "rows of it are gone");
    drop(held);
    stream.scan.close();
    assert!(stream.scan.hold().describe().rows > Some(0));
}
