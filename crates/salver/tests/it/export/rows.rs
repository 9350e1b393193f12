//! Rows to export, and what they look like outside.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::ipc::reader::{FileReader, StreamReader};
use salver_formats::{Format, Style, encode};

/// Rows with the numbers of a range, some cells of them null.
pub(crate) fn rows(numbers: std::ops::Range<i64>) -> RecordBatch {
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers.clone()));
    let name = |n: i64| (n % 7 != 3).then(|| format!("name \"{n}\", größe\n{}", "x".repeat((n % 23) as usize)));
    let name: ArrayRef = Arc::new(numbers.clone().map(name).collect::<StringArray>());
    let score: ArrayRef = Arc::new(numbers.map(|n| (n % 5 != 0).then_some(n as f64 / 8.0)).collect::<Float64Array>());
    RecordBatch::try_from_iter_with_nullable([("id", id, false), ("name", name, true), ("score", score, true)]).unwrap()
}

/// The same in a file of `format`.
pub(crate) fn file(numbers: std::ops::Range<i64>, format: Format) -> Vec<u8> {
    let rows = rows(numbers);
    encode(format, &rows.schema(), std::slice::from_ref(&rows), &Style::default()).unwrap()
}

/// Plain rows, one a line.
pub(crate) fn lines(numbers: std::ops::Range<i64>) -> String {
    numbers.fold(String::new(), |mut text, n| {
        writeln!(text, "{{\"id\":{n},\"word\":\"word {n}\"}}").unwrap();
        text
    })
}

/// The batches of an Arrow stream.
pub(crate) fn stream(bytes: &[u8]) -> RecordBatch {
    let reader = StreamReader::try_new(bytes, None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    arrow::compute::concat_batches(&schema, &batches).unwrap()
}

/// The batches of an Arrow file.
pub(crate) fn arrow_file(bytes: &[u8]) -> RecordBatch {
    let reader = FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    arrow::compute::concat_batches(&schema, &batches).unwrap()
}

/// Rows as text, in which it does not show how they lay in memory.
pub(crate) fn text(rows: &RecordBatch) -> String {
    let bytes = encode(Format::NdJson, &rows.schema(), std::slice::from_ref(rows), &Style::default()).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// That `text` has the rows with the numbers from 0 to before `count`, each once, in order.
#[track_caller]
pub(crate) fn has_each_once(text: &str, count: usize) {
    let mut expected = 0;
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(row["id"], expected, "in order");
        expected += 1;
    }
    assert_eq!(expected, count);
}

/// That the numbers are each there once, in whatever order.
#[track_caller]
pub(crate) fn are_each_once(numbers: impl IntoIterator<Item = i64>, count: usize) {
    let mut seen = BTreeSet::new();
    for number in numbers {
        assert!(seen.insert(number), "{number} twice");
    }
    assert_eq!(seen, (0..count as i64).collect());
}

/// Numbers that look random, the same in each run.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }
}
