//! Readers of held rows: any batch size, any beginning, parked at any time, whatever the rows can do.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use salver_model::ports::{Held, Scan};
use salver_service::exports::{ExportReader, Range, count};
use salver_testkit::MemoryScan;

/// Parts of so many rows with the numbers from 0; with `tells_rows` they can be read from any row on.
fn held(parts: &[usize], tells_rows: bool) -> Arc<dyn Held> {
    let mut next = 0;
    let batches: Vec<RecordBatch> = parts
        .iter()
        .map(|rows| {
            let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(next..next + *rows as i64));
            let negative: ArrayRef = Arc::new(Int64Array::from_iter_values((next..next + *rows as i64).map(|n| -n)));
            next += *rows as i64;
            RecordBatch::try_from_iter([("n", numbers), ("m", negative)]).unwrap()
        })
        .collect();
    let schema = batches[0].schema();
    MemoryScan::new("t", schema, batches, tells_rows).hold()
}

fn numbers(batch: &RecordBatch) -> Vec<i64> {
    batch.column(0).as_primitive::<Int64Type>().values().to_vec()
}

/// Reads everything in batches of `rows_max`, parked after each when `parks`.
async fn read(reader: &mut ExportReader, rows_max: usize, parks: bool) -> Vec<i64> {
    let mut all = Vec::new();
    loop {
        let has_more = reader.has_more().await.unwrap();
        let Some(batch) = reader.next(rows_max).await.unwrap() else {
            assert!(!has_more);
            return all;
        };
        assert!(has_more);
        let before = all.len();
        all.extend(numbers(&batch));
        // Only the last batch is smaller.
        assert!(
            batch.num_rows() == rows_max || !reader.has_more().await.unwrap(),
            "{} behind {before}",
            batch.num_rows()
        );
        if parks {
            reader.park();
        }
    }
}

#[tokio::test]
async fn every_row_once_in_order_however_it_is_read() {
    let parts = [7, 0, 1, 100, 0, 33];
    let total: usize = parts.iter().sum();
    for tells_rows in [true, false] {
        let held = held(&parts, tells_rows);
        assert_eq!(count(&*held).await.unwrap(), total as u64);
        for rows_max in [1, 3, 8, 50, 141, 1_000] {
            for skip in [0, 1, 7, 8, 60, 140, 141, 500] {
                for rows in [None, Some(0), Some(5), Some(100)] {
                    for parks in [false, true] {
                        let range = Range { skip, rows, ..Range::all(&*held) };
                        let mut reader = ExportReader::new(Arc::clone(&held), vec![0], range);
                        let got = read(&mut reader, rows_max, parks).await;
                        let left = total.saturating_sub(skip as usize);
                        let expected = rows.map_or(left, |rows: u64| left.min(rows as usize)) as i64;
                        let expected: Vec<i64> = (skip as i64..skip as i64 + expected).collect();
                        assert_eq!(got, expected, "{tells_rows} by {rows_max} from {skip}, {rows:?}, {parks}");
                        assert_eq!(reader.position(), skip + expected.len() as u64);
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn some_parts_and_some_columns() {
    for tells_rows in [true, false] {
        let held = held(&[5, 5, 5], tells_rows);
        let mut reader = ExportReader::new(Arc::clone(&held), vec![1, 0], Range { skip: 2, ..Range::parts(1..2) });
        let batch = reader.next(10).await.unwrap().unwrap();
        assert_eq!((batch.num_columns(), numbers(&batch)), (2, vec![-7, -8, -9]));
        assert!(reader.next(10).await.unwrap().is_none());
        let mut reader = ExportReader::new(Arc::clone(&held), vec![], Range::parts(0..2));
        assert_eq!(reader.next(100).await.unwrap().unwrap().num_rows(), 10);
    }
}

#[tokio::test]
async fn back_to_where_it_stood() {
    for tells_rows in [true, false] {
        let held = held(&[10, 10, 10], tells_rows);
        let mut reader = ExportReader::new(held, vec![0], Range { skip: 3, rows: Some(20), parts: 0..3 });
        let first = numbers(&reader.next(4).await.unwrap().unwrap());
        let mark = reader.bookmark();
        let second = numbers(&reader.next(9).await.unwrap().unwrap());
        for _ in 0..2 {
            reader.go_back(mark);
            assert_eq!(reader.position(), 7);
            assert_eq!(numbers(&reader.next(9).await.unwrap().unwrap()), second);
        }
        let third = numbers(&reader.next(9).await.unwrap().unwrap());
        assert_eq!([first, second, third].concat(), (3..23).collect::<Vec<_>>());
        assert!(!reader.has_more().await.unwrap());
    }
}
