//! Streams that are published as tables of Delta Lake, as the package `deltalake` and DuckDB read them, while the
//! program is killed and started again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::delta::Writer;
use crate::process::Process;

/// Settings of a stream with small files, which is published every second.
const STREAM: &str =
    "[[stream]]\nname = \"events\"\nsegment_bytes = \"64KiB\"\ndelta = \"lake/events\"\ndelta_every = \"1s\"\n";

fn table(process: &Process) -> PathBuf {
    process.directory().join("lake/events")
}

/// Appends events from `first` on; `more` is a part of each.
#[track_caller]
fn append(process: &Process, first: u64, count: u64, more: &str) {
    let event = |n: u64| format!("{{\"n\":{n},\"at\":\"{}\"{more}}}\n", "x".repeat(n as usize % 90));
    let body: String = (first..first + count).map(event).collect();
    let answer = process.send("POST", "/api/streams/events", Some(&body));
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// The offset below which everything is in the table, as its newest commits say.
fn published(table: &Path) -> u64 {
    let Ok(log) = fs::read_dir(table.join("_delta_log")) else { return 0 };
    let mut commits: Vec<_> = log.filter_map(|entry| Some(entry.ok()?.path())).collect();
    commits.retain(|path| path.extension().is_some_and(|suffix| suffix == "json"));
    commits.sort();
    let position = |path: &PathBuf| {
        let text = fs::read_to_string(path).ok()?;
        let actions = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        actions.filter_map(|action| action["txn"]["version"].as_u64()).next_back()
    };
    commits.iter().rev().find_map(position).unwrap_or(0)
}

/// Waits for a condition; a test that waits in vain fails.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < patience, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Compares the table with the stream, row by row; returns what the readers say of it.
#[track_caller]
fn compared(writer: &Writer, process: &Process) -> Value {
    let address = format!("http://{}/api/tables/events.parquet?limit=1000000", process.address());
    let told = writer.run(&["published", table(process).to_str().expect("text"), &address]);
    serde_json::from_str(&told).expect("JSON")
}

/// Checks that each of the last versions has events without a gap, and each once.
#[track_caller]
fn versions(writer: &Writer, process: &Process, count: &str) -> Value {
    let told = writer.run(&["versions", table(process).to_str().expect("text"), count]);
    serde_json::from_str(&told).expect("JSON")
}

/// Names of the files with events in the table's directory.
fn files(table: &Path) -> BTreeSet<String> {
    let names =
        fs::read_dir(table).into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.ends_with(".parquet")).collect()
}

/// Columns come, change and differ in what other readers take; every version has each event once.
#[test]
fn other_readers_find_the_rows_of_the_stream() {
    let Some(writer) = Writer::found() else { return };
    let process = Process::start(STREAM);
    until("there is a table", || table(&process).join("_delta_log/00000000000000000000.json").exists());
    assert_eq!(compared(&writer, &process)["rows"], 0);
    let steps = [
        "",
        r#","v":1,"deep":{"a":[1,2],"none":null}"#,
        r#","v":7,"V":true,"a b":"text","deep":{"b":{"c":0.5},"list":[{"x":1}]}"#,
        r#","v":18446744073709551615,"deep":{"list":[{"x":1,"y":"é"},null]}"#,
        r#","v":1.5"#,
        r#","v":"text","deep":{"a":["x"]}"#,
    ];
    let mut end = 0;
    for more in steps {
        append(&process, end, 1_500, more);
        end += 1_500;
        until("it is published", || published(&table(&process)) == end);
        assert_eq!(compared(&writer, &process)["rows"], end);
    }
    let told = compared(&writer, &process);
    assert!(told["versions"].as_u64() > Some(6), "{told}");
}

/// Killed while it writes files, and while it commits.
#[test]
fn a_killed_program_goes_on_with_its_table() {
    let Some(writer) = Writer::found() else { return };
    let mut process = Process::start(STREAM);
    let mut end = 0;
    for round in 0..12 {
        let (before, known) = (published(&table(&process)), files(&table(&process)));
        append(&process, end, 900 + 100 * round, if round > 8 { r#","v":"x""# } else { r#","v":1"# });
        end += 900 + 100 * round;
        match round % 3 {
            0 => until("a file is begun", || files(&table(&process)) != known),
            1 => until("a part is published", || published(&table(&process)) > before),
            _ => until("all is published", || published(&table(&process)) == end),
        }
        process.kill();
        let told = versions(&writer, &process, "20");
        assert!(told["rows"].as_u64() <= Some(end), "{told}");
        process.restart();
    }
    until("all is published", || published(&table(&process)) == end);
    assert_eq!(compared(&writer, &process)["rows"], end);
    assert_eq!(versions(&writer, &process, "1000000")["rows"], end);
}

/// What the log deletes is removed from the table, and from the disk when its time is over. The server reads its own
/// table as any other.
#[test]
fn what_is_deleted_is_removed() {
    let Some(writer) = Writer::found() else { return };
    let settings = format!(
        "{STREAM}delta_keep = \"5s\"\ndisk_bytes_max = \"512KiB\"\n\
         [[dataset]]\nname = \"own\"\nsource = \"lake/events\"\nformat = \"delta\"\nrefresh = \"100ms\"\n"
    );
    let process = Process::started(&settings);
    until("it is ready", || process.send("GET", "/ready", None).status == 200);
    let count = || process.sql("select count(*) as n, min(_offset) as first, max(_offset) as last from events");
    let mut end = 0;
    while count()[0]["first"].as_u64().unwrap_or(0) == 0 {
        append(&process, end, 1_000, "");
        end += 1_000;
    }
    // While there is no table yet, it is no entry either.
    let rows = || {
        let text = "select count(*) as n, min(_offset) as first, max(_offset) as last from own";
        serde_json::from_str(&process.send("POST", "/api/sql", Some(text)).body).unwrap_or(Value::Null)
    };
    until("the table is as the stream", || published(&table(&process)) == end && rows() == Value::Array(count()));
    let expected = count();
    let told = compared(&writer, &process);
    assert_eq!(json!([told["rows"], told["first"]]), json!([expected[0]["n"], expected[0]["first"]]));
    let live: BTreeSet<String> =
        told["files"].as_array().expect("files").iter().map(|name| name.as_str().expect("text").to_owned()).collect();
    until("old files are deleted", || files(&table(&process)) == live);
}
