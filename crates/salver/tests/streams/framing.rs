//! Where events begin and end does not depend on how their text arrives: bodies with values around the largest an event
//! may be, in every layout, in pieces of many sizes, packed, at each door and from files, against a plain parser.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::doors::Doors;

const MIB: usize = 1 << 20;
/// A pause after which what has come so far is looked at.
const PAUSE: Duration = Duration::from_millis(8);

/// How events lie in a text.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Array,
    PrettyArray,
    Lines,
    PrettyLines,
}

/// An object that says its number, of exactly so many bytes.
fn sized(n: usize, bytes: usize, is_pretty: bool) -> String {
    let rows = if is_pretty {
        // Objects that begin a line, as in a value that holds a table.
        let rows = vec![format!("{{\"text\":\"{}\"}}", "\\\"}{[".repeat(20)); bytes / 400];
        format!("{{\n\"n\": {n},\n\"rows\": [\n{}\n],\n\"fill\": \"", rows.join(",\n"))
    } else {
        format!("{{\"n\":{n},\"fill\":\"")
    };
    let end = if is_pretty { "\"\n}" } else { "\"}" };
    let left = bytes.checked_sub(rows.len() + end.len()).expect("room");
    format!("{rows}{}{end}", "é".repeat(left / 2) + &"x".repeat(left % 2))
}

/// A text, and what a plain parser finds in it: the numbers of the objects that are no longer than an event may be, and
/// how many values are something else.
fn text(layout: Layout, sizes: &[usize]) -> (String, Vec<u64>, u64) {
    let is_pretty = matches!(layout, Layout::PrettyArray | Layout::PrettyLines);
    let mut values: Vec<_> = sizes.iter().enumerate().map(|(n, bytes)| sized(n, *bytes, is_pretty)).collect();
    if matches!(layout, Layout::Array) {
        values.extend(["7".to_owned(), format!("[{}1]", "1,".repeat(MIB)), "{\"n\":1000}".to_owned()]);
    }
    let text = match layout {
        Layout::Array => format!("[{}]", values.join(",")),
        Layout::PrettyArray => format!("[\n  {}\n]\n", values.join(",\n  ")),
        Layout::Lines | Layout::PrettyLines => values.join("\n") + "\n",
    };
    let parsed: Vec<Value> = match layout {
        Layout::Array | Layout::PrettyArray => serde_json::from_str(&text).expect("an array"),
        _ => serde_json::Deserializer::from_str(&text).into_iter().map(|value| value.expect("a value")).collect(),
    };
    assert_eq!(parsed.len(), values.len());
    let (mut numbers, mut others) = (Vec::new(), 0);
    for (value, own) in parsed.iter().zip(&values) {
        match value["n"].as_u64() {
            Some(n) if own.len() <= MIB => numbers.push(n),
            _ => others += 1,
        }
    }
    (text, numbers, others)
}

/// What became of a text: the numbers that are in the stream now and were not before, and how many were put aside.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    numbers: Vec<u64>,
    quarantined: u64,
}

struct Before {
    next: u64,
    quarantined: u64,
}

fn before(doors: &Doors) -> Before {
    let next = doors.get("/api/streams/events")["next"].as_u64().expect("an offset");
    let rows = doors.process.sql("SELECT max(_offset) + 1 AS n FROM events_quarantine");
    Before { next, quarantined: rows[0]["n"].as_u64().expect("a count") }
}

fn outcome(doors: &Doors, since: &Before) -> Outcome {
    let now = before(doors);
    let rows = doors.process.sql(&format!("SELECT n FROM events WHERE _offset >= {} ORDER BY _offset", since.next));
    let numbers = rows.iter().map(|row| row["n"].as_u64().expect("a number")).collect();
    Outcome { numbers, quarantined: now.quarantined - since.quarantined }
}

/// Sends a body in chunks of a size, the first of them with pauses between.
fn in_chunks(doors: &Doors, target: &str, coding: &str, body: &[u8], size: usize) -> Value {
    let mut talk = doors.begin(&format!(
        "POST {target} HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-encoding: {coding}\r\nconnection: close"
    ));
    for (number, chunk) in body.chunks(size).enumerate() {
        talk.send_bytes(chunk);
        if number < 12 {
            std::thread::sleep(PAUSE);
        }
    }
    talk.end();
    talk.json()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).expect("packed");
    gzip.finish().expect("packed")
}

fn ingest(doors: &Doors, name: &str, bytes: &[u8], batch_bytes: &str) {
    let path = doors.process.directory().join(name);
    std::fs::write(&path, bytes).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_salver"))
        .args(["ingest", "--url", &format!("http://{}", doors.process.address()), "--batch-bytes", batch_bytes])
        .args(["--restart", "events"])
        .arg(&path)
        .stdin(Stdio::null())
        .output()
        .expect("the program is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn however_a_text_arrives_its_events_are_the_same() {
    let doors = Doors::open("[[stream]]\nname = \"events\"\n");
    // So that there are columns to ask for.
    doors.post("/api/streams/events", &[], "{\"n\":0}");
    doors.post("/api/streams/events", &[], "7");
    let sizes: [&[usize]; 5] = [
        &[2 * MIB],
        &[2_000, 2 * MIB, 2_000, 3_000],
        &[MIB - 1, MIB, MIB + 1, 2_000, 3 * MIB + 17, MIB],
        &[5 * MIB, 5 * MIB, 2_000],
        &[3 * MIB / 4; 6],
    ];
    for (round, sizes) in sizes.into_iter().enumerate() {
        for layout in [Layout::Array, Layout::PrettyArray, Layout::Lines, Layout::PrettyLines] {
            let (text, numbers, quarantined) = text(layout, sizes);
            let expected = Outcome { numbers, quarantined };
            let is_right = |since: &Before, how: &str| {
                assert_eq!(outcome(&doors, since), expected, "{layout:?} {sizes:?}: {how}");
            };
            let counted = |answer: &Value, how: &str| {
                assert_eq!(answer["taken"], expected.numbers.len(), "{layout:?} {sizes:?} {how}: {answer}");
                assert_eq!(answer["quarantined"], expected.quarantined, "{layout:?} {sizes:?} {how}: {answer}");
            };
            let since = before(&doors);
            let answer = doors.post("/api/streams/events", &[], &text).json();
            counted(&answer, "whole");
            is_right(&since, "whole");
            for size in [MIB + 3, 200_003, 65_536, 9_973].into_iter().skip(round % 2).step_by(2) {
                let since = before(&doors);
                counted(&in_chunks(&doors, "/api/streams/events", "identity", text.as_bytes(), size), "in chunks");
                is_right(&since, &format!("in chunks of {size}"));
            }
            let packed = gzip(&text);
            for size in [packed.len(), 997] {
                let since = before(&doors);
                counted(&in_chunks(&doors, "/api/streams/events", "gzip", &packed, size), "gzip");
                is_right(&since, &format!("gzip in chunks of {size}"));
            }
            let since = before(&doors);
            let target = "/v0/events?name=events&wait=true";
            let answer = in_chunks(&doors, target, "gzip", &packed, packed.len() / 3 + 1);
            assert_eq!(answer["successful_rows"], expected.numbers.len(), "{layout:?} {sizes:?}: {answer}");
            assert_eq!(answer["quarantined_rows"], expected.quarantined, "{layout:?} {sizes:?}: {answer}");
            is_right(&since, "at /v0/events");
            for (name, bytes, batch) in [
                ("x.json", text.as_bytes(), "1048576"),
                ("x.ndjson", text.as_bytes(), "4000"),
                ("x.json.gz", &packed, "70000"),
            ] {
                let since = before(&doors);
                ingest(&doors, name, bytes, batch);
                is_right(&since, &format!("salver ingest {name} by {batch}"));
            }
        }
    }
}
