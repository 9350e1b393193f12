//! Writes columns copied out of R as an Arrow stream. Nothing here uses R, except its representations of missing
//! values.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, GenericByteArray, Int32Array,
    Int64Array, RecordBatch, RecordBatchOptions, TimestampMicrosecondArray,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{BinaryType, ByteArrayType, Field, Schema, Utf8Type};
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;

use super::arrow_export::{Cells, JoinedBytes, Leaving};
use crate::host::value::{Inside, MISSING};

/// Rows encoded at a time, which bounds the memory needed beside the output.
const BATCH_ROWS: usize = 128 * 1024;

/// Appends the stream to `out`.
///
/// # Errors
/// Returns an error for data that Arrow cannot represent.
pub(in crate::host) fn write(leaving: Leaving, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    let rows = leaving.rows;
    let mut fields = Vec::with_capacity(leaving.columns.len());
    let mut arrays = Vec::with_capacity(leaving.columns.len());
    for column in leaving.columns {
        let is_ordered = matches!(column.cells, Cells::Factor(_, _, true));
        let array = array(column.cells)?;
        let name = String::from_utf8_lossy(&column.name);
        fields.push(Field::new(name, array.data_type().clone(), true).with_dict_is_ordered(is_ordered));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let whole = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?;
    let mut writer = StreamWriter::try_new(out, &whole.schema())?;
    let mut at = 0;
    // Without rows there is still one batch, which has the levels of factors.
    while at == 0 || at < rows {
        writer.write(&whole.slice(at, BATCH_ROWS.min(rows - at)))?;
        at += BATCH_ROWS;
    }
    writer.finish()
}

fn array(cells: Cells) -> Result<ArrayRef, ArrowError> {
    Ok(match cells {
        Cells::None => return Err(ArrowError::InvalidArgumentError("a column without cells".to_owned())),
        Cells::Logicals(numbers) => {
            let present = present(&numbers, |number| *number != MISSING);
            Arc::new(BooleanArray::new(numbers.iter().map(|number| *number != 0).collect(), present))
        }
        Cells::Integers(numbers) => {
            let present = present(&numbers, |number| *number != MISSING);
            Arc::new(Int32Array::try_new(numbers.into(), present)?)
        }
        Cells::Doubles(numbers) => {
            let present = present(&numbers, |number| !Inside::is_missing_double(*number));
            Arc::new(Float64Array::try_new(numbers.into(), present)?)
        }
        Cells::Integers64(numbers) => {
            let numbers: Vec<i64> = numbers.iter().map(|number| number.to_bits().cast_signed()).collect();
            let present = present(&numbers, |number| *number != i64::MIN);
            Arc::new(Int64Array::try_new(numbers.into(), present)?)
        }
        Cells::Dates(days) => {
            let days = days.iter().map(|days| whole(days.floor()).and_then(|days| i32::try_from(days).ok()));
            Arc::new(days.collect::<Date32Array>())
        }
        Cells::Times(seconds, zone) => {
            let zone = String::from_utf8_lossy(&zone);
            let zone = if zone.is_empty() { "UTC".into() } else { zone };
            let times = seconds.iter().map(|seconds| whole((seconds * 1e6).round()));
            Arc::new(times.collect::<TimestampMicrosecondArray>().with_timezone(zone))
        }
        Cells::Factor(numbers, levels, _) => {
            let count = i32::try_from(levels.ends.len()).unwrap_or(i32::MAX);
            let present = present(&numbers, |number| (1..=count).contains(number));
            let keys: Vec<i32> = numbers.iter().map(|number| number.saturating_sub(1)).collect();
            let levels = bytes::<Utf8Type>(levels)?;
            Arc::new(DictionaryArray::try_new(Int32Array::try_new(keys.into(), present)?, Arc::new(levels))?)
        }
        Cells::Texts(texts) => Arc::new(bytes::<Utf8Type>(texts)?),
        Cells::Bytes(pieces) => Arc::new(bytes::<BinaryType>(pieces)?),
    })
}

/// Returns the validity of the values; `None` when all are present.
fn present<T>(values: &[T], is_there: impl Fn(&T) -> bool) -> Option<NullBuffer> {
    let all = values.iter().all(&is_there);
    (!all).then(|| values.iter().map(is_there).collect())
}

/// Truncates a number to an integer, if 64 bits hold it.
fn whole(number: f64) -> Option<i64> {
    const BOUND: f64 = 9.2e18;
    #[expect(clippy::cast_possible_truncation, reason = "within bounds, and there is no fraction")]
    (number.abs() < BOUND).then_some(number as i64)
}

/// Returns texts or bytes as an array.
fn bytes<T: ByteArrayType<Offset = i32>>(pieces: JoinedBytes) -> Result<GenericByteArray<T>, ArrowError> {
    let JoinedBytes { bytes, ends, present: there } = pieces;
    let offsets: Result<Vec<i32>, _> = std::iter::once(&0).chain(&ends).map(|end| i32::try_from(*end)).collect();
    let offsets =
        offsets.map_err(|_| ArrowError::InvalidArgumentError("the texts of a column have over 2 GiB".to_owned()))?;
    let present = present(&there, |is_there| *is_there);
    GenericByteArray::try_new(OffsetBuffer::new(ScalarBuffer::from(offsets)), Buffer::from_vec(bytes), present)
}
