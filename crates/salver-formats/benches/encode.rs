//! How fast rows become bytes, on one core: `cargo bench --workspace --bench encode`.
//!
//! The rows are those of the end-to-end benchmark: two integers, a float, a colour, a timestamp, a boolean and a note.

#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]
#![allow(missing_docs, reason = "a program has no documentation to publish")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::*;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use salver_formats::{Coding, Format, Nulls, Style, TextEncoder, encode};

const ROWS: usize = 65_536;
const BATCH_ROWS: usize = 8_192;

fn batches() -> (SchemaRef, Vec<RecordBatch>) {
    let mut seed = 42_u64;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("user", DataType::Int64, false),
        Field::new("amount", DataType::Float64, false),
        Field::new("color", DataType::Utf8, true),
        Field::new("created_at", DataType::Timestamp(TimeUnit::Microsecond, None), false),
        Field::new("active", DataType::Boolean, false),
        Field::new("note", DataType::Utf8, true),
    ]));
    let colors = ["red", "green", "blue", "ultraviolet", "yellow"];
    let notes = ["ok", "needs a second look, then ship", "said \"no\" twice", "délivré à Genève", ""];
    let batch = |start: usize, next: &mut dyn FnMut(u64) -> u64| {
        let rows = start..start + BATCH_ROWS;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(rows.clone().map(|i| i as i64))),
            Arc::new(Int64Array::from_iter_values(rows.clone().map(|_| next(100_000) as i64))),
            Arc::new(Float64Array::from_iter_values(rows.clone().map(|_| next(10_000_000) as f64 / 100.0))),
            Arc::new(StringArray::from_iter(rows.clone().map(|_| Some(colors[next(5) as usize])))),
            Arc::new(TimestampMicrosecondArray::from_iter_values(
                rows.clone().map(|_| 1_600_000_000_000_000 + next(1 << 31) as i64 * 1_000_000),
            )),
            Arc::new(BooleanArray::from_iter(rows.clone().map(|_| Some(next(2) == 1)))),
            Arc::new(StringArray::from_iter(rows.map(|_| (next(10) > 0).then(|| notes[next(5) as usize])))),
        ];
        RecordBatch::try_new(SchemaRef::clone(&schema), columns).expect("columns fit the schema")
    };
    let all = (0..ROWS / BATCH_ROWS).map(|i| batch(i * BATCH_ROWS, &mut next)).collect();
    (schema, all)
}

fn best(mut work: impl FnMut() -> usize) -> (Duration, usize) {
    let mut best = (Duration::MAX, 0);
    for _ in 0..40 {
        let start = Instant::now();
        let bytes = work();
        best = best.min((start.elapsed(), bytes));
    }
    best
}

fn report(name: &str, (time, bytes): (Duration, usize)) {
    let seconds = time.as_secs_f64();
    let (rate, row) = (bytes as f64 / seconds / 1e6, seconds * 1e9 / ROWS as f64);
    println!("{name:<22} {rate:>8.0} MB/s {row:>8.1} ns/row {:>6} bytes/row", bytes / ROWS);
}

fn main() {
    let (schema, batches) = batches();
    for (name, format, nulls) in [
        ("json", Format::Json, Nulls::Write),
        ("json, nulls omitted", Format::Json, Nulls::Omit),
        ("ndjson", Format::NdJson, Nulls::Write),
        ("csv", Format::Csv, Nulls::Write),
        ("html", Format::Html, Nulls::Write),
    ] {
        let text = TextEncoder::new(format, &schema, &Style { nulls, ..Style::default() });
        let mut out = Vec::new();
        report(
            name,
            best(|| {
                out.clear();
                text.begin(&mut out);
                for (i, batch) in batches.iter().enumerate() {
                    text.rows(batch, i == 0, &mut out).expect("encodes");
                }
                text.end(&mut out);
                out.len()
            }),
        );
    }
    for column in 0..schema.fields().len() {
        let name = schema.field(column).name().clone();
        let one: Vec<_> = batches.iter().map(|batch| batch.project(&[column]).expect("projects")).collect();
        let text = TextEncoder::new(Format::Json, &one[0].schema(), &Style::default());
        let mut out = Vec::new();
        report(
            &format!("json, only {name}"),
            best(|| {
                out.clear();
                for batch in &one {
                    text.rows(batch, false, &mut out).expect("encodes");
                }
                out.len()
            }),
        );
    }
    report(
        "arrow's json writer",
        best(|| {
            let mut writer = arrow::json::ArrayWriter::new(Vec::new());
            for batch in &batches {
                writer.write(batch).expect("encodes");
            }
            writer.finish().expect("encodes");
            writer.into_inner().len()
        }),
    );
    for format in [Format::ArrowStream, Format::ArrowFile, Format::Parquet] {
        let encoded = || encode(format, &schema, &batches, &Style::default()).expect("encodes").len();
        report(format.suffix(), best(encoded));
    }
    let json = encode(Format::Json, &schema, &batches, &Style::default()).expect("encodes");
    for coding in [Coding::Gzip, Coding::Brotli, Coding::Zstd] {
        let start = Instant::now();
        let compressed = coding.compress(&json).expect("compresses").len();
        let rate = json.len() as f64 / start.elapsed().as_secs_f64() / 1e6;
        println!("{:<22} {rate:>8.0} MB/s of json, to {} %", coding.token(), 100 * compressed / json.len());
    }
}
