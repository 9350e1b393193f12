//! `salver ingest` with a real server: formats, retries, interruptions, exit codes.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::process::Process;

const STREAM: &str = "[[stream]]\nname = \"events\"\n";

/// What a run gave.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

fn command(process: &Process, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    let url = format!("http://{}", process.address());
    command.args(["ingest", "--url", &url]).args(arguments).current_dir(process.directory());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn ended(child: Child) -> Run {
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn ingest(process: &Process, arguments: &[&str]) -> Run {
    ended(command(process, arguments).spawn().expect("the program is there"))
}

/// Events with the numbers of a range, one a line.
fn lines(numbers: std::ops::Range<usize>) -> String {
    numbers.fold(String::new(), |mut text, n| {
        writeln!(text, "{{\"n\":{n},\"text\":\"an event\"}}").unwrap();
        text
    })
}

fn write(process: &Process, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = process.directory().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// That the stream has the numbers from 0 on, each once, in this order.
#[track_caller]
fn holds(process: &Process, count: usize) {
    let rows = process.sql(
        "SELECT count(*) AS n, count(DISTINCT n) AS different, min(n) AS least, max(n) AS most, \
         sum(CASE WHEN n = _offset THEN 0 ELSE 1 END) AS misplaced FROM events",
    );
    let expected =
        format!("[{{\"n\":{count},\"different\":{count},\"least\":0,\"most\":{},\"misplaced\":0}}]", count - 1);
    assert_eq!(serde_json::to_string(&rows).unwrap(), expected);
}

#[test]
fn every_way_events_lie_in_files() {
    let process = Process::start(STREAM);
    write(&process, "a.ndjson", lines(0..1000));
    let array: Vec<String> = lines(1000..2000).lines().map(str::to_owned).collect();
    write(&process, "b.json", format!("[\n  {}\n]\n", array.join(",\n  ")));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(lines(2000..3000).as_bytes()).unwrap();
    write(&process, "c.jsonl.gz", gzip.finish().unwrap());
    write(&process, "d.ndjson.zst", zstd::encode_all(lines(3000..4000).as_bytes(), 1).unwrap());
    write(&process, "e.json", lines(4000..4100).replace(',', ",\n  "));
    let run = ingest(
        &process,
        &["events", "a.ndjson", "b.json", "c.jsonl.gz", "d.ndjson.zst", "e.json", "--batch-bytes", "5000"],
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.starts_with("4 100 events in `events`; "), "{run:?}");
    holds(&process, 4100);
    // Standard input, and other acknowledgements.
    for (ack, numbers) in [("memory", 4100..4200), ("broker", 4200..4300)] {
        let mut child = command(&process, &["events", "-", "--ack", ack]).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines(numbers).as_bytes()).unwrap();
        let run = ended(child);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    holds(&process, 4300);
    let left = std::fs::read_dir(process.directory()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!left.into_iter().any(|name| name.to_string_lossy().contains(".ingest")), "nothing is left behind");
}

#[test]
fn records_of_csv_are_events() {
    let process = Process::start(STREAM);
    let record = |n: usize| format!("{n},\"an, event\"\r\n");
    let records = |numbers: std::ops::Range<usize>| numbers.map(record).collect::<String>();
    write(&process, "a.csv", format!("n,text\r\n{}", records(0..2000)));
    let packed = zstd::encode_all(format!("n,text\n{}", records(2000..3000)).as_bytes(), 1).unwrap();
    write(&process, "b.csv.zst", packed);
    write(&process, "c.tsv", "n\ttext\n3000\tan event\n");
    let run = ingest(&process, &["events", "a.csv", "b.csv.zst", "c.tsv", "--batch-bytes", "5000"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.starts_with("3 001 events in `events`; "), "{run:?}");
    holds(&process, 3001);
    write(&process, "bad.csv", "n,text\n3001,x\n3002\n");
    let run = ingest(&process, &["events", "bad.csv"]);
    assert_ne!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("`bad.csv`: the record in line 3 has 1 fields, and the first line has 2"), "{run:?}");
    holds(&process, 3001);
}

#[test]
fn several_at_a_time() {
    let process = Process::start(STREAM);
    write(&process, "a.ndjson", lines(0..20_000));
    let run = ingest(&process, &["events", "a.ndjson", "--unordered", "--batch-bytes", "3000"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let rows = process.sql("SELECT count(*) AS n, count(DISTINCT n) AS different FROM events");
    assert_eq!(serde_json::to_string(&rows).unwrap(), r#"[{"n":20000,"different":20000}]"#);
}

#[test]
fn bad_events_are_counted_and_kept() {
    let process = Process::start(STREAM);
    write(&process, "a.ndjson", format!("{}{{\"n\":}}\n{}nothing\n{}", lines(0..10), lines(10..15), lines(15..20)));
    let run = ingest(&process, &["events", "a.ndjson"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.starts_with("20 events in `events`; 2 in its quarantine (the first: "), "{run:?}");
    // Also when a batch has nothing else.
    write(&process, "b.ndjson", "nothing\n");
    let run = ingest(&process, &["events", "b.ndjson"]);
    assert!(run.code == Some(0) && run.out.starts_with("0 events in `events`; 1 in its quarantine"), "{run:?}");
    let rows = process.sql("SELECT count(*) AS n FROM events_quarantine");
    assert_eq!(rows[0]["n"], 3, "{rows:?}");
}

#[test]
fn what_goes_wrong_is_said() {
    let process = Process::start(STREAM);
    write(&process, "a.ndjson", lines(0..10));
    write(&process, "cut.json", "[{\"n\":1},{\"n\":");
    let check = |arguments: &[&str], code: i32, said: &str| {
        let run = ingest(&process, arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {run:?}");
        assert!(run.err.contains(said), "{arguments:?}: {run:?}");
    };
    check(&["event", "a.ndjson"], 1, "did you mean `events`?");
    check(&["events", "none.ndjson"], 1, "can't read `none.ndjson`: No such file");
    check(&["events", "."], 1, "`.` is a directory");
    check(&["events", "cut.json"], 1, "the array of events does not end");
    check(&["events"], 2, "<FILE>");
    check(&["a/b", "a.ndjson"], 2, "it contains `/`");
    check(&["events", "a.ndjson", "--ack", "all"], 2, "memory");
    check(&["events", "a.ndjson", "--header", "x"], 2, "`x` is not a header");
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    let output = command.args(["ingest", "events", "a.ndjson", "--url", "localhost"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("`localhost` is not the address of a server"),
        "{output:?}"
    );
}

#[test]
fn a_server_that_is_away_is_waited_for() {
    let mut process = Process::start(STREAM);
    write(&process, "a.ndjson", lines(0..200_000));
    // Nobody is there.
    process.kill();
    let run = ingest(&process, &["events", "a.ndjson", "--patience", "0"]);
    assert!(run.code == Some(1) && run.err.contains("can't reach"), "{run:?}");
    // It comes, and is killed again and again.
    let mut child = command(&process, &["events", "a.ndjson", "--batch-bytes", "4000"]).spawn().unwrap();
    for round in 1..=5 {
        process.restart();
        let note = process.directory().join("a.ndjson.events.ingest");
        until("batches are sent", || sent(&note) >= round * 20 || child.try_wait().unwrap().is_some());
        process.kill();
    }
    assert!(child.try_wait().unwrap().is_none(), "it was not through already");
    process.restart();
    let run = ended(child);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.starts_with("200 000 events in `events`"), "{run:?}");
    holds(&process, 200_000);
}

#[test]
fn an_interrupted_run_is_gone_on_with() {
    let process = Process::start(STREAM);
    write(&process, "a.ndjson", lines(0..300_000));
    let note = process.directory().join("a.ndjson.events.ingest");
    let arguments = ["events", "a.ndjson", "--batch-bytes", "10000"];
    for (signal, batches) in [("INT", 30), ("KILL", 60), ("TERM", 90)] {
        let mut child = command(&process, &arguments).spawn().unwrap();
        until("batches are sent", || sent(&note) >= batches || child.try_wait().unwrap().is_some());
        assert!(child.try_wait().unwrap().is_none(), "it was not through already");
        let killed = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let run = ended(child);
        if signal != "KILL" {
            assert!(run.code == Some(1) && run.err.contains("interrupted after "), "{signal}: {run:?}");
        }
    }
    let run = ingest(&process, &arguments);
    assert!(run.code == Some(0) && run.err.contains("goes on behind"), "{run:?}");
    assert!(run.out.starts_with("300 000 events in `events`"), "{run:?}");
    assert!(!note.exists());
    holds(&process, 300_000);
}

/// How many batches a run has sent, as it notes.
fn sent(note: &Path) -> u64 {
    let text = std::fs::read_to_string(note).unwrap_or_default();
    serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|note| note["next"].as_u64()).unwrap_or(0)
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < patience, "waited in vain until {what}");
        std::thread::yield_now();
    }
}
