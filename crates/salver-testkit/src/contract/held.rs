//! The contract of the `Held` port, and of `Table::hold` which makes it, clause by clause.

mod reads;

use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use futures::future::join_all;
use futures::{StreamExt, TryStreamExt};
use salver_model::ports::{FileKind, Held, Table};
use salver_model::reply::BatchStream;
use salver_model::{Filter, Version};

use super::table::sample;
pub use reads::reads;

/// Rows of the table the suite works on.
const ROWS: usize = 200;
/// Rows of the table that is read in several batches by whoever reads in batches.
const MANY: usize = 20_011;

/// Runs the suite on tables that `make` makes of the given rows with the given key; the first column only grows. What
/// they hold must be these rows in this order. No more than two `Held` of a table are open at a time.
///
/// # Panics
/// When the contract is broken.
pub async fn run(make: impl AsyncFn(RecordBatch, Vec<String>) -> Arc<dyn Table>) {
    let all = (0..sample(0).num_columns()).collect::<Vec<_>>();
    run_on(&all, make).await;
}

/// As [`run`], for backends whose rows have no structs in them.
///
/// # Panics
/// When the contract is broken.
pub async fn run_flat(make: impl AsyncFn(RecordBatch, Vec<String>) -> Arc<dyn Table>) {
    let flat = (0..sample(0).num_columns() - 1).collect::<Vec<_>>();
    run_on(&flat, make).await;
}

/// Holds the rows of `table` and reads them again after each of some changes: `change` writes, truncates or replaces
/// what is behind them. It is given its number.
///
/// # Panics
/// When a change shows in what is held.
pub async fn unchanged(table: &dyn Table, changes: usize, mut change: impl AsyncFnMut(usize)) {
    let held = hold(table, 3).await;
    let before = all(&*held).await;
    let columns: Vec<usize> = (0..held.describe().schema.fields().len()).collect();
    for number in 0..changes {
        // In the middle of a part, too.
        let mut begun = held.read(0, &columns, None, None);
        let first = begun.try_next().await.unwrap_or_else(|error| panic!("before change {number}: {error:?}"));
        change(number).await;
        let rest = begun.try_collect::<Vec<_>>().await.unwrap_or_else(|error| panic!("change {number}: {error:?}"));
        let part: Vec<_> = first.into_iter().chain(rest).collect();
        let part = lines(&part);
        assert_eq!(part[..], before[..part.len()], "change {number} shows in a part that was being read");
        assert_eq!(all(&*held).await, before, "change {number} shows in what was held before it");
    }
}

async fn run_on(columns: &[usize], make: impl AsyncFn(RecordBatch, Vec<String>) -> Arc<dyn Table>) {
    let of = |rows: usize| sample(rows).project(columns).unwrap_or_else(|error| panic!("{error}"));
    let key = || vec!["id".to_owned()];
    let rows = of(ROWS);
    let wanted = lines(std::slice::from_ref(&rows));
    let table = make(rows.clone(), key()).await;
    for parts in [1, 2, 3, 7] {
        let held = hold(&*table, parts).await;
        assert_eq!(held.describe().name, table.describe().name);
        assert_eq!(held.describe().schema, table.describe().schema);
        assert_eq!(all(&*held).await, wanted, "held in {parts} parts, the rows are others");
        reads(&*held).await;
        left_midway(&*held).await;
        at_once(&*held).await;
        file(&*held);
    }
    versions(&*table, &wanted).await;
    outlives(make(rows.clone(), key()).await, &wanted).await;
    many(make(of(MANY), key()).await, &of(MANY)).await;
    let nothing = make(rows.slice(0, 0), key()).await;
    for parts in [1, 3] {
        empty(&*hold(&*nothing, parts).await).await;
    }
}

pub(super) async fn hold(table: &dyn Table, parts: usize) -> Arc<dyn Held> {
    table.hold(parts).await.unwrap_or_else(|error| panic!("holding in {parts} parts: {error:?}"))
}

/// Whoever stops to read in the middle is forgotten, and the part can be read again.
async fn left_midway(held: &dyn Held) {
    let columns: Vec<usize> = (0..held.describe().schema.fields().len()).collect();
    for part in 0..held.parts() {
        let whole = lines(&part_of(held, part, &columns, None, None).await);
        for polls in [0, 1, 2] {
            let mut begun = held.read(part, &columns, None, None);
            for _ in 0..polls {
                let _ = begun.next().await;
            }
            drop(begun);
            let again = lines(&part_of(held, part, &columns, None, None).await);
            assert_eq!(again, whole, "part {part} is another one after it was left");
        }
    }
}

/// "Parts may be read at the same time, and again: the same rows come in the same order."
async fn at_once(held: &dyn Held) {
    let columns: Vec<usize> = (0..held.describe().schema.fields().len()).collect();
    let parts: Vec<usize> = (0..held.parts()).chain(0..held.parts()).collect();
    let read = join_all(parts.iter().map(|part| part_of(held, *part, &columns, None, None))).await;
    let (one, other) = read.split_at(held.parts());
    let text = |read: &[Vec<RecordBatch>]| read.iter().flat_map(|batches| lines(batches)).collect::<Vec<_>>();
    assert_eq!(text(one), text(other), "a part gives other rows when it is read twice at the same time");
    assert_eq!(text(one), all(held).await, "parts give other rows when they are read at the same time");
}

/// The one file of a format, where there is one, is whole and of that format.
fn file(held: &dyn Held) {
    for (kind, magic) in [(FileKind::Parquet, &b"PAR1"[..]), (FileKind::ArrowFile, b"ARROW1")] {
        let Some(file) = held.file(kind) else { continue };
        let mut ends = [vec![0; magic.len()], vec![0; magic.len()]];
        for (end, at) in ends.iter_mut().zip([0, file.bytes() - magic.len() as u64]) {
            file.read(end, at).unwrap_or_else(|error| panic!("{error:?}"));
        }
        assert_eq!(ends, [magic, magic], "the file is not {kind:?}, or its length is not true");
        assert!(file.read(&mut [0], file.bytes()).is_err(), "the file is longer than it says");
    }
}

/// Rows of the version that is there can be held by it, where that can be promised at all; no others can.
async fn versions(table: &dyn Table, wanted: &[Vec<String>]) {
    let held_at = async |version| table.hold_at(version, 2).await.unwrap_or_else(|error| panic!("{error:?}"));
    let version = table.describe().version;
    if let Some(held) = held_at(version).await {
        assert_eq!(held.describe().version, version);
        assert_eq!(all(&*held).await, wanted, "the rows held at the version are others");
        // A position that was told before is one in the same parts.
        let rows = |held: &dyn Held| (0..held.parts()).map(|part| held.part_rows(part)).collect::<Vec<_>>();
        assert_eq!(rows(&*held), rows(&*hold(table, 2).await), "the parts held at a version are others");
    }
    let unknown = Version(version.0 ^ 0x5a17_e25a_17e2_5a17);
    assert!(held_at(unknown).await.is_none(), "rows of a version that never was");
}

/// What is held is held whatever becomes of its table.
async fn outlives(table: Arc<dyn Table>, wanted: &[Vec<String>]) {
    let held = hold(&*table, 2).await;
    drop(table);
    assert_eq!(all(&*held).await, wanted, "rows went with their table");
}

/// Rows that do not fit into one batch, from every place where something might be cut.
async fn many(table: Arc<dyn Table>, rows: &RecordBatch) {
    let columns = [1, 0];
    let wanted = lines(&[rows.project(&columns).unwrap_or_else(|error| panic!("{error}"))]);
    for parts in [1, 3] {
        let held = hold(&*table, parts).await;
        assert_eq!(text(&*held, &columns).await, wanted, "of many rows in {parts} parts");
        let mut first = 0;
        for part in 0..held.parts() {
            let batches = part_of(&*held, part, &columns, None, None).await;
            let own = lines(&batches);
            let mut cuts = vec![0, 1, own.len() / 2, own.len().saturating_sub(1), own.len(), own.len() + 1];
            let mut end = 0;
            for batch in &batches {
                end += batch.num_rows();
                cuts.extend([end - 1, end, end + 1]);
            }
            for skip in cuts {
                let Some(rest) = held.read_behind(part, skip as u64, &columns, None) else { continue };
                let rest = lines(&collected(rest, &*held, &columns, part).await);
                let tail = &own[skip.min(own.len())..];
                assert!(rest == tail, "other rows behind {skip} of part {part} of {parts}, from row {first}");
            }
            first += own.len();
        }
    }
}

/// A table without rows has parts without rows.
async fn empty(held: &dyn Held) {
    assert!(held.parts() >= 1);
    assert!(held.describe().rows.is_none_or(|rows| rows == 0));
    assert!(all(held).await.is_empty(), "rows of an empty table");
    for part in 0..held.parts() {
        assert!(held.part_rows(part).is_none_or(|rows| rows == 0));
        for columns in [vec![], vec![0], vec![2, 0]] {
            let counted = part_of(held, part, &columns, None, Some(10)).await;
            assert_eq!(counted.iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
            for skip in [0, 1] {
                let Some(rest) = held.read_behind(part, skip, &columns, None) else { continue };
                assert!(lines(&collected(rest, held, &columns, part).await).is_empty());
            }
        }
    }
}

/// Every row as text.
pub(super) async fn all(held: &dyn Held) -> Vec<Vec<String>> {
    text(held, &(0..held.describe().schema.fields().len()).collect::<Vec<_>>()).await
}

/// Some columns of every row as text.
pub(super) async fn text(held: &dyn Held, columns: &[usize]) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    for part in 0..held.parts() {
        out.extend(lines(&part_of(held, part, columns, None, None).await));
    }
    out
}

async fn part_of(
    held: &dyn Held,
    part: usize,
    columns: &[usize],
    filter: Option<&Filter>,
    limit: Option<u64>,
) -> Vec<RecordBatch> {
    collected(held.read(part, columns, filter, limit), held, columns, part).await
}

async fn collected(read: BatchStream, held: &dyn Held, columns: &[usize], part: usize) -> Vec<RecordBatch> {
    let read = read.try_collect::<Vec<_>>().await;
    let batches = read.unwrap_or_else(|error| panic!("part {part}: {error:?}"));
    let schema = held.schema_of(columns);
    for batch in &batches {
        assert_eq!(batch.schema().fields(), schema.fields(), "a batch is not what `schema_of` says");
    }
    batches
}

fn lines(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let value = |column: &dyn Array, row: usize| match column.data_type() {
        _ if column.is_null(row) => "NULL".to_owned(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        _ => array_value_to_string(column, row).unwrap_or_else(|error| panic!("{error}")),
    };
    let rows = batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)));
    rows.map(|(batch, row)| batch.columns().iter().map(|column| value(&**column, row)).collect()).collect()
}
