//! Datasets held for exports: the contract, in every way that rows are kept; and the same bytes as any other read.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use futures::TryStreamExt;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use salver_datasets::{DatasetLoader, Engine, growing};
use salver_model::ports::{FileKind, Held, Loader, Table, Tables};
use salver_model::reply::BatchStream;
use salver_model::spec::{DatasetSpec, Residency};
use salver_model::{Name, Query};
use salver_testkit::contract::{held, table};
use salver_testkit::{MemoryScan, MemoryTable};

use super::generated::{self, Catalog, Dice, collect};

/// How Parquet files are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Rows of a row group.
    pub(crate) group_rows: usize,
    /// Rows of a page.
    pub(crate) page_rows: usize,
    /// Whether there is an index of pages.
    pub(crate) indexed: bool,
}

pub(crate) fn write(rows: &RecordBatch, path: &Path, shape: Shape) {
    let statistics = if shape.indexed { EnabledStatistics::Page } else { EnabledStatistics::Chunk };
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(shape.group_rows))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_data_page_row_count_limit(shape.page_rows)
        .set_write_batch_size(shape.page_rows.min(1024))
        .set_statistics_enabled(statistics)
        .set_offset_index_disabled(!shape.indexed)
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
}

/// Whatever Parquet files there are at `source`, read where they lie.
pub(crate) async fn in_place(source: &Path, engine: &Arc<Engine>) -> Arc<dyn Table> {
    load(source, engine, Residency::Never).await
}

/// The same files as a table `t` in memory, and as one that is read where they lie.
pub(crate) async fn both_ways(source: &Path, engine: &Arc<Engine>) -> [Arc<dyn Tables>; 2] {
    let resident = load(source, engine, Residency::Always).await;
    [resident, in_place(source, engine).await].map(|table| Arc::new(Catalog(vec![table])) as _)
}

/// The same files in memory, where they lie, and where they lie with all columns cached.
pub(crate) async fn every_way(source: &Path, engine: &Arc<Engine>) -> [Arc<dyn Tables>; 3] {
    let [resident, scanned] = both_ways(source, engine).await;
    // With little memory, files stay where they lie.
    let full = engine.budget().reserve(engine.budget().remaining() - 1024).unwrap();
    let cached: Arc<dyn Tables> = Arc::new(Catalog(vec![load(source, engine, Residency::Auto).await]));
    drop(full);
    generated::warm(engine, &cached, "t").await;
    [resident, scanned, cached]
}

async fn load(source: &Path, engine: &Arc<Engine>, residency: Residency) -> Arc<dyn Table> {
    let name = Name::new("t").unwrap();
    let spec = DatasetSpec { residency, ..DatasetSpec::new(name, vec![source.display().to_string()]) };
    DatasetLoader::new(spec, Arc::clone(engine)).load().await.unwrap()
}

/// Runs the contract's suite on rows in `files` files.
async fn parquet_keeps_the_contract(shape: Shape, files: usize) {
    let (engine, dir) = generated::engine();
    let made = AtomicUsize::new(0);
    held::run(async |rows: RecordBatch, _| {
        let number = made.fetch_add(1, Ordering::Relaxed);
        let dir = dir.path().join(format!("rows_{number}"));
        std::fs::create_dir(&dir).unwrap();
        let share = rows.num_rows().div_ceil(files);
        for file in 0..files {
            let start = (share * file).min(rows.num_rows());
            let own = rows.slice(start, share.min(rows.num_rows() - start));
            write(&own, &dir.join(format!("{file}.parquet")), shape);
        }
        in_place(&dir, &engine).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parquet_with_an_index_of_pages() {
    parquet_keeps_the_contract(Shape { group_rows: 7_000, page_rows: 16, indexed: true }, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parquet_without_an_index_of_pages() {
    parquet_keeps_the_contract(Shape { group_rows: 7_000, page_rows: 16, indexed: false }, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parquet_of_many_row_groups() {
    parquet_keeps_the_contract(Shape { group_rows: 33, page_rows: 10, indexed: true }, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_parquet_files() {
    parquet_keeps_the_contract(Shape { group_rows: 1_500, page_rows: 64, indexed: true }, 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resident_rows() {
    let (engine, _dir) = generated::engine();
    held::run(async |rows: RecordBatch, key: Vec<String>| {
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        Arc::new(generated::resident(&generated::spec("t", &key), &rows, &engine)) as Arc<dyn Table>
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_grow() {
    let (engine, _dir) = generated::engine();
    for (tells_rows, as_held) in [(true, true), (true, false), (false, true)] {
        held::run(async |rows: RecordBatch, _| {
            let cuts = [0, 1, 40, 40, 41, 130, rows.num_rows()].map(|cut| cut.min(rows.num_rows()));
            let parts = cuts.windows(2).map(|pair| rows.slice(pair[0], pair[1] - pair[0])).collect();
            let scan = MemoryScan::new("t", rows.schema(), parts, tells_rows).ascending_in(0);
            let table = growing(Arc::new(scan), &engine);
            if as_held { table.current().unwrap() } else { table }
        })
        .await;
    }
}

#[tokio::test]
async fn the_table_of_the_testkit() {
    held::run(async |rows: RecordBatch, _| Arc::new(MemoryTable::new("t", rows)) as Arc<dyn Table>).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_come_do_not_show() {
    let (engine, _dir) = generated::engine();
    let rows = table::sample(300);
    let scan = Arc::new(MemoryScan::new("t", rows.schema(), vec![rows.slice(0, 100)], true));
    let table = growing(Arc::<MemoryScan>::clone(&scan), &engine);
    let early = table.hold(4).await.unwrap();
    let version = early.describe().version;
    held::unchanged(&*table, 3, async |number: usize| scan.push(rows.slice(100 + 50 * number, 50))).await;
    // A position in a part means the same row however the rows are cut since.
    let again = table.hold_at(version, 4).await.unwrap().unwrap();
    let later = table.hold(4).await.unwrap();
    assert_eq!((again.part_rows(2), later.part_rows(2)), (Some(25), Some(62)));
    let line = async |held: &dyn Held| all_of(held.read_behind(2, 7, &[0, 1], Some(5)).unwrap()).await;
    assert_eq!(line(&*again).await, line(&*early).await);
}

pub(crate) async fn all_of(rows: BatchStream) -> Vec<RecordBatch> {
    rows.try_collect().await.unwrap()
}

/// All rows of all parts.
pub(crate) async fn whole(held: &dyn Held) -> RecordBatch {
    let columns: Vec<usize> = (0..held.describe().schema.fields().len()).collect();
    let mut batches = Vec::new();
    for part in 0..held.parts() {
        batches.extend(all_of(held.read(part, &columns, None, None)).await);
    }
    concat_batches(&held.schema_of(&columns), &batches).unwrap()
}

/// Rows of every type, and of every way to keep them, are those that a query gives.
#[tokio::test(flavor = "multi_thread")]
async fn held_rows_are_the_rows_that_a_query_gives() {
    let (engine, dir) = generated::engine();
    let rows = generated::rows(30_000, 11);
    let plain = dir.path().join("plain.parquet");
    write(&rows, &plain, Shape { group_rows: 9_000, page_rows: 500, indexed: true });
    let tables: Vec<Arc<dyn Table>> = vec![
        Arc::new(generated::resident(&generated::spec("t", &[]), &rows, &engine)),
        Arc::new(generated::parquet(&generated::spec("t", &[]), &rows, 4, &engine)),
        in_place(&plain, &engine).await,
    ];
    for table in tables {
        let queried = collect(table.read(&Query::default()).await.unwrap()).await.unwrap();
        for parts in [1, 5] {
            let held = table.hold(parts).await.unwrap();
            assert_eq!(held.parts(), parts);
            let got = whole(&*held).await;
            // As bytes: nothing that is not a number equals itself.
            assert_eq!(got.num_rows(), queried.num_rows());
            for (own, other) in got.columns().iter().zip(queried.columns()) {
                assert_eq!(format!("{own:?}"), format!("{other:?}"));
                assert!(same(own, other), "{}", own.data_type());
            }
        }
    }
}

/// What is in memory now may be on disk after a restart, and a position must mean the same row then.
#[tokio::test(flavor = "multi_thread")]
async fn parts_do_not_depend_on_where_the_rows_are() {
    let (engine, dir) = generated::engine();
    let rows = generated::rows(70_001, 14).project(&[0, 5]).unwrap();
    let path = dir.path().join("t.parquet");
    write(&rows, &path, Shape { group_rows: 11_000, page_rows: 500, indexed: true });
    for parts in [1, 2, 7, 64] {
        let tables: [Arc<dyn Table>; 3] = [
            Arc::new(generated::resident(&generated::spec("t", &[]), &rows, &engine)),
            Arc::new(generated::parquet(&generated::spec("t", &[]), &rows, 3, &engine)),
            in_place(&path, &engine).await,
        ];
        for table in tables {
            let held = table.hold(parts).await.unwrap();
            let mut next = 0;
            for part in 0..held.parts() {
                let end = rows.num_rows() * (part + 1) / parts;
                assert_eq!(held.part_rows(part), Some((end - next) as u64));
                let first = all_of(held.read(part, &[0], None, Some(1))).await;
                assert_eq!(first[0].column(0).as_primitive::<Int64Type>().value(0), next as i64);
                next = end;
            }
            assert_eq!((held.parts(), next), (parts, rows.num_rows()));
        }
    }
}

/// Decoders for which there is no room begin their pages anew, and give the same rows.
#[tokio::test(flavor = "multi_thread")]
async fn any_number_of_readers_can_be_open() {
    let (engine, dir) = generated::engine();
    let rows = generated::rows(40_000, 15);
    let path = dir.path().join("t.parquet");
    write(&rows, &path, Shape { group_rows: 30_000, page_rows: 2_000, indexed: true });
    let held = in_place(&path, &engine).await.hold(1).await.unwrap();
    let columns: Vec<usize> = (0..rows.num_columns()).collect();
    let mut open: Vec<_> =
        (0..120).map(|number| (number * 11, held.read_behind(0, number * 11, &columns, None))).collect();
    loop {
        let mut is_over = true;
        for (next, stream) in &mut open {
            let Some(batch) = stream.as_mut().unwrap().try_next().await.unwrap() else { continue };
            let wanted = rows.slice(*next as usize, batch.num_rows());
            for column in [0, 5, 13] {
                assert!(same(batch.column(column), wanted.column(column)), "behind {next}");
            }
            *next += batch.num_rows() as u64;
            is_over = false;
        }
        if is_over {
            break;
        }
    }
    assert!(open.iter().all(|(next, _)| *next == 40_000));
}

fn same(one: &dyn arrow::array::Array, other: &dyn arrow::array::Array) -> bool {
    let text = |array: &dyn arrow::array::Array| -> Vec<String> {
        let shown = arrow::util::display::ArrayFormatter::try_new(array, &Default::default()).unwrap();
        (0..array.len()).map(|row| shown.value(row).to_string()).collect()
    };
    one.data_type() == other.data_type() && text(one) == text(other)
}

/// From any row, with any columns, any number of rows: what stands there in the whole.
#[tokio::test(flavor = "multi_thread")]
async fn reading_begins_anywhere() {
    let (engine, dir) = generated::engine();
    let rows = generated::rows(60_000, 12);
    for (number, shape) in [
        Shape { group_rows: 20_000, page_rows: 700, indexed: true },
        Shape { group_rows: 20_000, page_rows: 700, indexed: false },
        Shape { group_rows: 1_000, page_rows: 100, indexed: true },
    ]
    .into_iter()
    .enumerate()
    {
        let dir = dir.path().join(number.to_string());
        std::fs::create_dir(&dir).unwrap();
        write(&rows.slice(0, 25_000), &dir.join("a.parquet"), shape);
        write(&rows.slice(25_000, 0), &dir.join("b.parquet"), shape);
        write(&rows.slice(25_000, 35_000), &dir.join("c.parquet"), shape);
        let table = in_place(&dir, &engine).await;
        let held = table.hold(3).await.unwrap();
        let all = whole(&*held).await;
        assert_eq!(all.num_rows(), 60_000);
        let mut dice = Dice(number as u64 + 1);
        let mut first = 0;
        for part in 0..held.parts() {
            let length = held.part_rows(part).unwrap();
            for _ in 0..60 {
                let skip = dice.below(length + 2);
                let limit = [None, Some(dice.below(20)), Some(dice.below(length))][dice.below(3) as usize];
                let mut columns: Vec<usize> = (0..all.num_columns()).filter(|_| dice.one_in(3)).collect();
                columns.reverse();
                let got = all_of(held.read_behind(part, skip, &columns, limit).unwrap()).await;
                let got_rows: usize = got.iter().map(RecordBatch::num_rows).sum();
                let left = length.saturating_sub(skip);
                let count = limit.unwrap_or(left).min(left) as usize;
                assert_eq!(got_rows, count, "{shape:?}: {count} rows behind {skip} of part {part}");
                let start = (first + skip.min(length)) as usize;
                let wanted = all.project(&columns).unwrap().slice(start, count);
                let got = concat_batches(&held.schema_of(&columns), &got).unwrap();
                for (own, other) in got.columns().iter().zip(wanted.columns()) {
                    assert!(same(own, other), "{shape:?}: rows behind {skip} of part {part}: {columns:?}");
                }
            }
            first += length;
        }
    }
}

/// Directory names are columns, files lack some and have others in another order and of narrower types.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_differ_are_one_table() {
    let (engine, dir) = generated::engine();
    let rows = generated::rows(5_000, 13);
    let shape = Shape { group_rows: 700, page_rows: 50, indexed: true };
    for (day, columns) in
        [("2026-01-01", vec![0, 1, 5, 13]), ("2026-01-02", vec![5, 0]), ("2026-01-03", vec![13, 5, 1, 0])]
    {
        let dir = dir.path().join(format!("days/day={day}"));
        std::fs::create_dir_all(&dir).unwrap();
        write(&rows.project(&columns).unwrap(), &dir.join("rows.parquet"), shape);
    }
    let table = in_place(&dir.path().join("days"), &engine).await;
    let schema = &table.describe().schema;
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["id", "small", "text", "place", "day"]);
    let queried = collect(table.read(&Query::default()).await.unwrap()).await.unwrap();
    for parts in [1, 2, 8] {
        let held = table.hold(parts).await.unwrap();
        assert!(held.file(FileKind::Parquet).is_none(), "no one file has all rows");
        let got = whole(&*held).await;
        assert_eq!(got.num_rows(), 15_000);
        assert!(got.columns().iter().zip(queried.columns()).all(|(own, other)| same(own, other)));
        // Only what stands in the name of the directory: the files are not read for it.
        let mut days = Vec::new();
        for part in 0..held.parts() {
            days.extend(all_of(held.read(part, &[4, 4], None, None)).await);
        }
        let days = concat_batches(&held.schema_of(&[4, 4]), &days).unwrap();
        assert!(same(days.column(1), queried.column(4)));
        held::reads(&*held).await;
    }
}
