//! Where rows are held.

use std::fmt::Write as _;

use salver_datasets::{CHUNK_ROWS, Content};
use salver_model::Code;
use salver_model::spec::Residency;

use crate::generated::{Made, load, load_within, parquet_of, show};

fn csv(rows: usize) -> String {
    (0..rows).fold(String::from("id,text\n"), |mut text, row| {
        let _ = writeln!(text, "{row},some text for row {row}");
        text
    })
}

#[test]
fn chunks_are_full_and_counted() {
    let made = Made::new();
    made.file("1.csv", csv(100_000));
    made.file("2.csv", csv(50_000));
    let (loaded, budget) = load_within(&made.spec(&["*.csv"]), 1 << 30).unwrap();
    let Content::Resident { chunks, .. } = &loaded.content else { panic!() };
    let rows: Vec<usize> = chunks.iter().map(|chunk| chunk.num_rows()).collect();
    assert_eq!(rows, [CHUNK_ROWS, CHUNK_ROWS, 150_000 - 2 * CHUNK_ROWS]);
    assert_eq!(budget.used(), loaded.memory_bytes);
    assert!(loaded.memory_bytes < 7_000_000, "{}", loaded.memory_bytes);
    assert!(loaded.source.contains("2 files") && loaded.source.ends_with("in memory"));
    drop(loaded);
    assert_eq!(budget.used(), 0);
}

#[test]
fn what_does_not_fit_goes_to_disk() {
    let made = Made::new();
    made.file("1.csv", csv(100_000));
    let mut spec = made.spec(&["1.csv"]);
    let (small, budget) = load_within(&spec, 2_000_000).unwrap();
    assert_eq!(budget.used(), 0);
    assert!(small.source.ends_with("converted to Parquet on disk"));
    let Content::Parquet { files, kept, .. } = &small.content else { panic!() };
    assert_eq!(files.iter().map(|file| file.rows).sum::<u64>(), 100_000);
    let dir = kept.as_ref().unwrap().path().to_owned();
    assert!(dir.is_dir());
    assert_eq!(show(&small), show(&load(&spec).unwrap()));
    drop(small);
    assert!(!dir.exists());
    spec.residency = Residency::Always;
    let wrong = load_within(&spec, 2_000_000).unwrap_err();
    assert_eq!(wrong.code, Code::OutOfMemory);
    assert!(wrong.hint.unwrap().contains("memory"));
    assert!(load_within(&spec, 1 << 30).is_ok());
    spec.residency = Residency::Never;
    assert!(matches!(load(&spec).unwrap().content, Content::Parquet { .. }));
}

#[test]
fn large_parquet_is_scanned_in_place() {
    let made = Made::new();
    made.file("1.csv", csv(100_000));
    let loaded = load(&made.spec(&["1.csv"])).unwrap();
    let Content::Resident { chunks, schema } = &loaded.content else { panic!() };
    let all = arrow::compute::concat_batches(schema, chunks).unwrap();
    let path = made.file("a.parquet", parquet_of(&all));
    let mut spec = made.spec(&["a.parquet"]);
    assert!(load(&spec).unwrap().source.ends_with("in memory"));
    let (scanned, budget) = load_within(&spec, 3_000_000).unwrap();
    let Content::Parquet { files, kept, .. } = &scanned.content else { panic!() };
    assert_eq!((files[0].path.as_path(), files[0].rows), (path.as_path(), 100_000));
    assert_eq!(files[0].bytes, std::fs::metadata(&path).unwrap().len());
    assert!(kept.is_none() && budget.used() == 0);
    assert_eq!(scanned.version, load(&spec).unwrap().version);
    spec.residency = Residency::Always;
    assert_eq!(load_within(&spec, 3_000_000).unwrap_err().code, Code::OutOfMemory);
}

#[test]
fn a_failed_load_leaves_nothing() {
    let made = Made::new();
    made.file("1.csv", csv(100_000) + "1,2,3\n");
    let data_dir = made.dir.path().join("data");
    let budget = salver_datasets::Budget::new(1_000_000);
    let spec = made.spec(&["1.csv"]);
    assert!(crate::generated::wait(salver_datasets::load(&spec, &budget, &data_dir)).is_err());
    assert_eq!(budget.used(), 0);
    assert_eq!(std::fs::read_dir(&data_dir).map_or(0, Iterator::count), 0);
}
