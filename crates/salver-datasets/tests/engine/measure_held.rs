//! Prints what exports of a large file cost below the doors. Run it with `--ignored measure_held --nocapture`, and with
//! `HELD_ROWS` for another size; it asserts nothing about time.

#![allow(clippy::print_stderr, reason = "the times are for whoever asked for them")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use futures::StreamExt;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use salver_model::ports::Held;

use super::generated;
use super::held::in_place;

fn piece(first: i64, count: usize) -> RecordBatch {
    let ids = || first..first + count as i64;
    let word = |id: i64| generated::WORDS[(id.unsigned_abs().wrapping_mul(2_654_435_761) >> 7) as usize % 10];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter_values(ids()))),
        (
            "amount",
            Arc::new(Float64Array::from_iter_values(ids().map(|id| (id.wrapping_mul(7_919) % 100_003) as f64 / 4.0))),
        ),
        ("word", Arc::new(StringArray::from_iter_values(ids().map(word)))),
        ("note", Arc::new(StringArray::from_iter_values(ids().map(|id| format!("note {} of {id}", id % 977))))),
        ("day", Arc::new(Date32Array::from_iter_values(ids().map(|id| (id % 20_000) as i32)))),
        ("n", Arc::new(Int64Array::from_iter_values(ids().map(|id| id.wrapping_mul(31) % 1_000)))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn large(path: &Path, rows: usize) {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_max_row_group_row_count(Some(1_000_000))
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, piece(0, 1).schema(), Some(properties)).unwrap();
    for first in (0..rows).step_by(100_000) {
        writer.write(&piece(first as i64, 100_000.min(rows - first))).unwrap();
    }
    writer.close().unwrap();
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

async fn count(held: &dyn Held, part: usize, skip: u64, limit: Option<u64>) -> usize {
    let mut rows = held.read_behind(part, skip, &[0, 1, 2, 3, 4, 5], limit).unwrap();
    let mut count = 0;
    while let Some(batch) = rows.next().await {
        count += batch.unwrap().num_rows();
    }
    count
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "prints times"]
async fn measure_held() {
    let rows: usize = std::env::var("HELD_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(10_000_000);
    let (engine, dir) = generated::engine();
    for rows in [rows / 10, rows] {
        let path = dir.path().join(format!("{rows}.parquet"));
        large(&path, rows);
        let table = in_place(&path, &engine).await;
        let time = Instant::now();
        let held = table.hold(1).await.unwrap();
        eprintln!("{rows} rows: first hold {:?}", time.elapsed());
        let time = Instant::now();
        let again = table.hold(2).await.unwrap();
        eprintln!("  hold again, in 2 parts: {:?}", time.elapsed());
        for skip in [0, 0, rows / 2 + 7, rows / 2 + 7, rows - 1_000] {
            let time = Instant::now();
            let count = count(&*held, 0, skip as u64, Some(1_000)).await;
            eprintln!("  {count} rows behind {skip}: {:?}", time.elapsed());
        }
        let time = Instant::now();
        let mut rows_in = held.read(0, &[0, 1, 2, 3, 4, 5], None, None);
        let first = rows_in.next().await.unwrap().unwrap().num_rows();
        eprintln!("  first {first} rows of all: {:?}", time.elapsed());
        drop(rows_in);
        let (before, time) = (resident_kib(), Instant::now());
        let all = count(&*held, 0, 0, None).await;
        let grown = resident_kib().saturating_sub(before);
        let seconds = time.elapsed().as_secs_f64();
        eprintln!(
            "  all {all} in one part: {seconds:.2} s, {:.1} M rows/s, {grown} KiB more",
            all as f64 / seconds / 1e6
        );
        let time = Instant::now();
        let both = futures::join!(count(&*again, 0, 0, None), count(&*again, 1, 0, None));
        eprintln!("  all {} in two parts at once: {:?}", both.0 + both.1, time.elapsed());
        let before = resident_kib();
        let mut open = Vec::new();
        for reader in 0..200 {
            let skip = (rows / 200 * reader) as u64;
            let mut stream = held.read_behind(0, skip, &[0, 1, 2, 3, 4, 5], None).unwrap();
            stream.next().await.unwrap().unwrap();
            open.push(stream);
        }
        eprintln!("  200 readers that keep their decoders: {} KiB more", resident_kib().saturating_sub(before));
        drop(open);
    }
}
