//! Files below held rows: replaced, written over, damaged, too many; and given back.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use futures::TryStreamExt;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use salver_datasets::{DatasetLoader, Engine};
use salver_model::ports::{FileKind, Held, HeldFile, Loader};
use salver_model::spec::{DatasetSpec, Residency};
use salver_model::{Code, Name};
use salver_testkit::contract::held;

use super::generated;
use super::held::{Shape, in_place, whole, write};

const SHAPE: Shape = Shape { group_rows: 6_000, page_rows: 500, indexed: true };

/// Other rows of the same schema under the file's name, moved to its place.
fn replace(path: &Path, rows: &RecordBatch) {
    let new = path.with_extension("new");
    write(rows, &new, SHAPE);
    fs::rename(&new, path).unwrap();
}

/// Other bytes in the file, which stays the same one for the system; its time is another one for sure.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) {
    let before = fs::metadata(path).unwrap().modified().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let mut file = OpenOptions::new().write(true).truncate(true).open(path).unwrap();
        file.write_all(bytes).unwrap();
        if fs::metadata(path).unwrap().modified().unwrap() != before {
            return;
        }
        assert!(Instant::now() < deadline, "the clock of the file system stands still");
    }
}

/// How many files below a directory this process has open.
fn open_files(dir: &Path) -> usize {
    let open = fs::read_dir("/proc/self/fd").unwrap();
    open.flatten().filter_map(|link| fs::read_link(link.path()).ok()).filter(|file| file.starts_with(dir)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_outlives_replaced_files_and_reloads() {
    for residency in [Residency::Never, Residency::Always] {
        let (engine, dir) = generated::engine();
        let path = dir.path().join("t.parquet");
        write(&generated::rows(20_000, 1), &path, SHAPE);
        let spec =
            DatasetSpec { residency, ..DatasetSpec::new(Name::new("t").unwrap(), vec![path.display().to_string()]) };
        let loader = DatasetLoader::new(spec, Arc::clone(&engine));
        let table = loader.load().await.unwrap();
        let held = table.hold(3).await.unwrap();
        let before = whole(&*held).await;
        held::unchanged(&*table, 12, async |number: usize| {
            replace(&path, &generated::rows(1_000 * (number + 1), number as u64 + 2));
            let reloaded = loader.load().await.unwrap();
            assert_ne!(reloaded.describe().version, table.describe().version);
            assert_eq!(reloaded.describe().rows, Some(1_000 * (number as u64 + 1)));
            let other = reloaded.hold(1).await.unwrap();
            assert_eq!(whole(&*other).await.num_rows(), 1_000 * (number + 1));
        })
        .await;
        // Its table is gone from the catalog by now.
        drop(table);
        assert_eq!(format!("{:?}", whole(&*held).await), format!("{before:?}"), "{residency:?}");
        fs::remove_file(&path).unwrap();
        assert_eq!(whole(&*held).await.num_rows(), 20_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_replaced_before_is_not_held() {
    let (engine, dir) = generated::engine();
    let path = dir.path().join("t.parquet");
    write(&generated::rows(2_000, 1), &path, SHAPE);
    let table = in_place(&path, &engine).await;
    replace(&path, &generated::rows(2_000, 2));
    let error = table.hold(1).await.err().unwrap();
    assert_eq!(error.code, Code::EntryUnavailable, "{error:?}");
    assert!(error.message.contains("`t.parquet`"), "{error:?}");
}

/// The ids of rows, which are their positions.
fn ids(batch: &RecordBatch) -> &[i64] {
    batch.column(0).as_primitive::<Int64Type>().values()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_written_over_is_an_error_and_never_other_rows() {
    let (engine, dir) = generated::engine();
    let (good, other) = (generated::rows(40_000, 1), generated::rows(40_000, 2));
    for case in ["other rows", "nothing", "half", "the same length"] {
        let path = dir.path().join("t.parquet");
        write(&good, &path, SHAPE);
        let table = in_place(&path, &engine).await;
        let held = table.hold(2).await.unwrap();
        let columns: Vec<usize> = (0..good.num_columns()).collect();
        let mut begun = held.read(0, &columns, None, None);
        let first = begun.try_next().await.unwrap().unwrap();
        let file = held.file(FileKind::Parquet).unwrap();
        file.read(&mut [0; 8], 0).unwrap();
        let original = fs::read(&path).unwrap();
        let bytes = match case {
            "other rows" => {
                let new = dir.path().join("other");
                write(&other, &new, SHAPE);
                fs::read(&new).unwrap()
            }
            "nothing" => Vec::new(),
            "half" => original[..original.len() / 2].to_vec(),
            _ => original.iter().map(|byte| byte ^ 0x55).collect(),
        };
        overwrite(&path, &bytes);
        let mut next = first.num_rows();
        let error = loop {
            match begun.try_next().await {
                // Decoded before.
                Ok(Some(batch)) => {
                    let wanted = good.slice(next, batch.num_rows());
                    assert_eq!(ids(&batch), ids(&wanted), "{case}");
                    assert_eq!(format!("{:?}", batch.columns()), format!("{:?}", wanted.columns()), "{case}");
                    next += batch.num_rows();
                }
                Ok(None) => panic!("{case}: it ends as if nothing had happened, after {next} rows"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.code, Code::EntryUnavailable, "{case}: {error:?}");
        assert!(error.message.contains("overwritten"), "{case}: {error:?}");
        assert!(begun.try_next().await.unwrap().is_none(), "{case}: rows after the failure");
        let error = file.read(&mut [0; 8], 0).unwrap_err();
        assert_eq!(error.code, Code::EntryUnavailable, "{case}: a copy would be taken for whole");
        for part in 0..held.parts() {
            for columns in [vec![0], columns.clone()] {
                let read = held.read(part, &columns, None, Some(10)).try_collect::<Vec<_>>().await;
                assert_eq!(read.err().map(|error| error.code), Some(Code::EntryUnavailable), "{case}");
            }
        }
        drop((held, begun, file));
        let error = table.hold(1).await.err().unwrap();
        assert_eq!(error.code, Code::EntryUnavailable, "{case}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_open_only_while_somebody_holds_them() {
    let (engine, dir) = generated::engine();
    let rows = generated::rows(3_000, 1);
    let own = dir.path().join("files");
    fs::create_dir(&own).unwrap();
    for number in 0..5 {
        write(&rows, &own.join(format!("{number}.parquet")), SHAPE);
    }
    let table = in_place(&own, &engine).await;
    assert_eq!(open_files(&own), 0);
    let mut all = Vec::new();
    for parts in 1..40 {
        all.push(table.hold(parts).await.unwrap());
    }
    assert_eq!(open_files(&own), 5, "each file is opened once for all");
    // All rows in one part: more than the batch that is taken.
    let mut begun = all[0].read(0, &[0], None, None);
    begun.try_next().await.unwrap();
    drop(all);
    assert_eq!(open_files(&own), 5, "somebody still reads");
    drop(begun);
    let deadline = Instant::now() + Duration::from_secs(10);
    // What is being decoded is decoded to its end.
    while open_files(&own) > 0 {
        assert!(Instant::now() < deadline, "files are left open");
        tokio::task::yield_now().await;
    }
    assert_eq!(whole(&*table.hold(2).await.unwrap()).await.num_rows(), 15_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_files_than_may_be_open_are_read_all_the_same() {
    let (engine, dir) = generated::engine();
    let own = dir.path().join("files");
    fs::create_dir(&own).unwrap();
    let most = salver_model::limits::HELD_FILES_MAX;
    let count = most + 40;
    let rows = generated::rows(count * 3, 1).project(&[0, 5]).unwrap();
    for number in 0..count {
        write(&rows.slice(number * 3, 3), &own.join(format!("{number:05}.parquet")), SHAPE);
    }
    let table = in_place(&own, &engine).await;
    let held = table.hold(4).await.unwrap();
    assert_eq!(open_files(&own), most);
    let got = whole(&*held).await;
    assert_eq!(ids(&got), ids(&rows));
    assert!(open_files(&own) <= most);
    // What could not be kept open and is replaced, fails.
    replace(&own.join(format!("{:05}.parquet", count - 1)), &rows.slice(0, 3));
    let last = held.parts() - 1;
    let read = held.read(last, &[0], None, None).try_collect::<Vec<_>>().await;
    assert_eq!(read.err().map(|error| error.code), Some(Code::EntryUnavailable));
}

/// All bytes of a file, in pieces.
pub(crate) fn copied(file: &dyn HeldFile) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(file.bytes()).unwrap()];
    for (number, piece) in bytes.chunks_mut(10_000).enumerate() {
        file.read(piece, number as u64 * 10_000).unwrap();
    }
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn the_one_file_is_handed_out_when_it_says_it_all() {
    let (engine, dir) = generated::engine();
    let rows = generated::rows(9_000, 1);
    let path = dir.path().join("t.parquet");
    write(&rows, &path, SHAPE);
    let held = in_place(&path, &engine).await.hold(2).await.unwrap();
    assert!(held.file(FileKind::ArrowFile).is_none());
    let copy = dir.path().join("copy.parquet");
    fs::write(&copy, copied(&*held.file(FileKind::Parquet).unwrap())).unwrap();
    let read = ParquetRecordBatchReaderBuilder::try_new(File::open(&copy).unwrap()).unwrap().build().unwrap();
    let read: Vec<RecordBatch> = read.map(Result::unwrap).collect();
    let got = arrow::compute::concat_batches(&rows.schema(), &read).unwrap();
    assert_eq!(format!("{:?}", got.columns()), format!("{:?}", rows.columns()));
}

/// A file of which bytes were lost before it was loaded: rows or an error, and never a panic, a hang, or an end that
/// comes too early.
#[tokio::test(flavor = "multi_thread")]
async fn damaged_pages_are_an_error() {
    let (engine, dir) = generated::engine();
    let good = dir.path().join("good.parquet");
    write(&generated::rows(4_000, 1), &good, Shape { group_rows: 2_500, page_rows: 300, indexed: true });
    let bytes = fs::read(&good).unwrap();
    let mut dice = generated::Dice(3);
    let mut failed = 0;
    for number in 0..150 {
        let mut bad = bytes.clone();
        // In the pages, which stand before everything else.
        let at = 4 + dice.below(bytes.len() as u64 / 3) as usize;
        let end = (at + 1 + dice.below(40) as usize).min(bad.len());
        bad[at..end].iter_mut().for_each(|byte| *byte ^= 0xff);
        let path = dir.path().join(format!("bad_{number}.parquet"));
        fs::write(&path, &bad).unwrap();
        failed += usize::from(!reads_or_fails(&path, &engine, dice.below(4_000)).await);
    }
    assert!(failed > 20, "only {failed} of 150 damaged files were noticed");
}

/// Whether the file's rows behind some could be read.
async fn reads_or_fails(path: &Path, engine: &Arc<Engine>, skip: u64) -> bool {
    let table = in_place(path, engine).await;
    let held: Arc<dyn Held> = match table.hold(1).await {
        Ok(held) => held,
        Err(error) => {
            assert_eq!(error.code, Code::EntryUnavailable, "{error:?}");
            return false;
        }
    };
    let columns: Vec<usize> = (0..held.describe().schema.fields().len()).collect();
    let mut rows = held.read_behind(0, skip, &columns, None).unwrap();
    let mut count = 0;
    loop {
        match rows.try_next().await {
            Ok(Some(batch)) => count += batch.num_rows() as u64,
            Ok(None) => {
                assert_eq!(count, 4_000 - skip, "rows are missing without a word");
                return true;
            }
            Err(error) => {
                assert_eq!(error.code, Code::EntryUnavailable, "{error:?}");
                assert!(rows.try_next().await.unwrap().is_none(), "rows after a failure");
                return false;
            }
        }
    }
}
