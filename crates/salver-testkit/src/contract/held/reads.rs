//! What one `Held` promises: its parts, its columns, limits, and what may be left out.

use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use salver_model::ports::Held;
use salver_model::{ColumnPath, Comparison, Filter, Value};

use super::{all, collected, lines, part_of, text};

/// What a `Held` promises for itself, whatever its rows are.
///
/// # Panics
/// When the contract is broken.
pub async fn reads(held: &dyn Held) {
    let about = held.describe();
    assert!(held.parts() >= 1);
    let rows = all(held).await;
    assert!(about.rows.is_none_or(|known| known == rows.len() as u64), "`rows` is not true");
    let count = about.schema.fields().len();
    for part in 0..held.parts() {
        one(held, part).await;
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

/// One part: its rows without columns, with a limit, and behind some of them.
async fn one(held: &dyn Held, part: usize) {
    let columns: Vec<usize> = (0..held.describe().schema.fields().len()).collect();
    let batches = part_of(held, part, &[], None, None).await;
    let counted: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert!(batches.iter().all(|batch| batch.num_columns() == 0), "columns where none were asked for");
    if let Some(known) = held.part_rows(part) {
        assert_eq!(known, counted as u64, "`part_rows` is not true of part {part}");
    }
    let whole = lines(&part_of(held, part, &columns, None, None).await);
    assert_eq!(counted, whole.len(), "part {part} has other rows without columns");
    for skip in [0, 1, whole.len() / 3, whole.len() / 2, whole.len().saturating_sub(1), whole.len(), whole.len() + 3] {
        let tail = &whole[skip.min(whole.len())..];
        for limit in [None, Some(0), Some(1), Some(5), Some(tail.len()), Some(tail.len() + 1)] {
            let asked = limit.map(|limit| limit as u64);
            let Some(rest) = held.read_behind(part, skip as u64, &columns, asked) else { continue };
            let got = lines(&collected(rest, held, &columns, part).await);
            assert!(got.len() >= limit.map_or(tail.len(), |limit| limit.min(tail.len())), "too few of part {part}");
            assert!(got.len() <= tail.len(), "too many rows behind {skip} of part {part}");
            assert_eq!(got[..], tail[..got.len()], "other rows behind {skip} of part {part}");
            let Some(rest) = held.read_behind(part, skip as u64, &[], asked) else { continue };
            let rows: usize = collected(rest, held, &[], part).await.iter().map(RecordBatch::num_rows).sum();
            let least = limit.map_or(tail.len(), |limit| limit.min(tail.len()));
            assert!((least..=tail.len()).contains(&rows), "{rows} rows behind {skip} of part {part} without columns");
        }
    }
    for limit in [1, whole.len() / 2, whole.len() + 1] {
        let some = lines(&part_of(held, part, &columns, None, Some(limit as u64)).await);
        assert!(some.len() >= limit.min(whole.len()), "part {part} has fewer rows than the limit lets through");
        assert_eq!(some[..], whole[..some.len()], "a limit changes the rows of part {part}");
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
