//! The contract of the `Scan` and `Held` ports, clause by clause.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use futures::TryStreamExt;
use salver_model::ports::{Held, Scan};
use salver_model::reply::BatchStream;
use salver_model::{ColumnPath, Comparison, Filter, Value, Version};

/// Runs the suite on `scan`, which has some rows, and to which `grow` adds some more each time.
///
/// # Panics
/// When the contract is broken.
pub async fn run(scan: &dyn Scan, mut grow: impl AsyncFnMut()) {
    let first = scan.hold();
    assert!(first.describe().rows.is_some_and(|rows| rows > 0), "the suite needs some rows");
    reads(&*first).await;
    let before = all(&*first).await;
    let same = scan.hold();
    assert_eq!(same.describe().version, first.describe().version, "nothing came, and the version is another");
    for _ in 0..3 {
        let earlier = scan.hold();
        let early = all(&*earlier).await;
        grow().await;
        let later = scan.hold();
        assert_ne!(later.describe().version, earlier.describe().version, "rows came, and the version is the same");
        reads(&*later).await;
        let late = all(&*later).await;
        assert!(late.len() > early.len(), "rows that came do not show");
        assert_eq!(all(&*earlier).await, early, "held rows have changed");
        // Columns may have come too; the earlier ones have their names and values still.
        let columns = columns_named(&*later, &*earlier);
        let kept = text(&*later, &columns).await;
        assert_eq!(kept[..early.len()], early, "rows that were there have changed");
        let again = scan.hold_at(earlier.describe().version);
        let again = again.unwrap_or_else(|| panic!("the rows of an earlier version are gone"));
        assert_eq!(again.describe().version, earlier.describe().version);
        assert_eq!(again.describe().rows, earlier.describe().rows);
        assert_eq!(text(&*again, &columns_named(&*again, &*earlier)).await, early, "rows of an earlier version differ");
    }
    assert_eq!(all(&*first).await, before, "held rows have changed");
    let unknown = Version(first.describe().version.0 ^ 0x5a17_e25a_17e2_5a17);
    assert!(scan.hold_at(unknown).is_none(), "rows of a version that never was");
}

/// What a `Held` promises for itself.
async fn reads(held: &dyn Held) {
    let about = held.describe();
    assert!(held.parts() >= 1);
    let rows = all(held).await;
    assert_eq!(about.rows, Some(rows.len() as u64), "`rows` is not true");
    let count = about.schema.fields().len();
    for part in 0..held.parts() {
        let batches = part_of(held, part, &[], None, None).await;
        let counted: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert!(batches.iter().all(|batch| batch.num_columns() == 0), "columns where none were asked for");
        if let Some(known) = held.part_rows(part) {
            assert_eq!(known, counted as u64, "`part_rows` is not true of part {part}");
        }
        let whole = lines(&part_of(held, part, &(0..count).collect::<Vec<_>>(), None, None).await);
        assert_eq!(counted, whole.len(), "part {part} has other rows without columns");
        for skip in [1, whole.len() / 3, whole.len()] {
            let columns: Vec<usize> = (0..count).rev().collect();
            let (behind, limit) = (skip.min(whole.len()), 5);
            let Some(rest) = held.read_behind(part, behind as u64, &columns, Some(limit as u64)) else { continue };
            let got = lines(&collected(rest, held, &columns, part).await);
            let wanted = lines(&part_of(held, part, &columns, None, None).await);
            assert!(got.len() >= limit.min(wanted.len() - behind), "too few rows behind {behind} of part {part}");
            assert_eq!(got[..], wanted[behind..behind + got.len()], "other rows behind {behind} of part {part}");
        }
        for limit in [1, whole.len() / 2, whole.len() + 1] {
            let some = part_of(held, part, &(0..count).collect::<Vec<_>>(), None, Some(limit as u64)).await;
            let some = lines(&some);
            assert!(some.len() >= limit.min(whole.len()), "part {part} has fewer rows than the limit lets through");
            assert_eq!(some[..], whole[..some.len()], "a limit changes the rows of part {part}");
        }
    }
    // Any choice of columns, in any order.
    let backwards: Vec<usize> = (0..count).rev().collect();
    let turned = text(held, &backwards).await;
    for (row, line) in rows.iter().enumerate() {
        let mut line = line.clone();
        line.reverse();
        assert_eq!(turned[row], line, "columns in another order have other values");
    }
    for column in 0..count {
        filters(held, column, &rows).await;
    }
    if let Some(column) = held.ascending() {
        let ascends = rows.windows(2).all(|pair| match (pair[0][column].parse::<i64>(), pair[1][column].parse()) {
            (Ok(one), Ok(other)) => one < other,
            _ => false,
        });
        assert!(ascends, "the column that ascends does not");
    }
}

/// "Rows that do not satisfy `filter` may be left out": no others may.
async fn filters(held: &dyn Held, column: usize, rows: &[Vec<String>]) {
    let field = &held.describe().schema.fields()[column];
    let path = ColumnPath::column(field.name().as_str());
    let mut cases = vec![
        (Filter::IsNull { column: path.clone() }, rows.iter().filter(|row| row[column] == "NULL").collect::<Vec<_>>()),
        (Filter::IsNull { column: path.clone() }.negated(), rows.iter().filter(|row| row[column] != "NULL").collect()),
    ];
    if *field.data_type() == DataType::Int64 {
        let number = |row: &Vec<String>| row[column].parse::<i64>().ok();
        let mut numbers: Vec<i64> = rows.iter().filter_map(number).collect();
        numbers.sort_unstable();
        if let Some(middle) = numbers.get(numbers.len() / 2).copied() {
            let compare = |op| Filter::Compare { column: path.clone(), op, value: Value::Int(middle) };
            let with = |holds: fn(i64, i64) -> bool| {
                rows.iter().filter(|row| number(row).is_some_and(|n| holds(n, middle))).collect::<Vec<_>>()
            };
            cases.push((compare(Comparison::Eq), with(|n, middle| n == middle)));
            cases.push((compare(Comparison::GtEq), with(|n, middle| n >= middle)));
            cases.push((compare(Comparison::Lt), with(|n, middle| n < middle)));
            let both = Filter::And(vec![compare(Comparison::GtEq), compare(Comparison::LtEq)]);
            cases.push((both, with(|n, middle| n == middle)));
        }
    }
    for (filter, wanted) in cases {
        let got = filtered(held, &filter).await;
        let mut left = got.iter();
        let kept = wanted.iter().all(|row| left.any(|got| got == *row));
        assert!(kept, "{filter:?} loses rows that satisfy it");
        let mut left = rows.iter();
        assert!(got.iter().all(|row| left.any(|own| own == row)), "{filter:?} gives rows that are not there");
    }
}

async fn filtered(held: &dyn Held, filter: &Filter) -> Vec<Vec<String>> {
    let columns: Vec<usize> = (0..held.describe().schema.fields().len()).collect();
    let mut out = Vec::new();
    for part in 0..held.parts() {
        out.extend(lines(&part_of(held, part, &columns, Some(filter), None).await));
    }
    out
}

/// Every row as text.
async fn all(held: &dyn Held) -> Vec<Vec<String>> {
    text(held, &(0..held.describe().schema.fields().len()).collect::<Vec<_>>()).await
}

async fn text(held: &dyn Held, columns: &[usize]) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    for part in 0..held.parts() {
        out.extend(lines(&part_of(held, part, columns, None, None).await));
    }
    out
}

/// Where the columns of `wanted` are in `held`.
fn columns_named(held: &dyn Held, wanted: &dyn Held) -> Vec<usize> {
    let schema = &held.describe().schema;
    let names = wanted.describe().schema.fields().iter().map(|field| field.name());
    names.map(|name| schema.index_of(name).unwrap_or_else(|error| panic!("{error}"))).collect()
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
