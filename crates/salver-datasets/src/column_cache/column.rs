//! One column in memory, and the range of its values in each chunk.

use arrow::array::{Array, ArrayRef, UInt64Array};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::min_max::{MaxAccumulator, MinAccumulator};
use datafusion::logical_expr::Accumulator;

use crate::residency::Reservation;

/// Bytes of the longest text that is kept as the end of a range.
const RANGE_TEXT_BYTES: usize = 256;

/// A column in chunks of [`crate::chunk_size::CHUNK_ROWS`] rows; the last may be shorter.
#[derive(Debug)]
pub(crate) struct CachedColumn {
    chunks: Vec<ArrayRef>,
    /// The least and the greatest value of each chunk; `None` if the type has no ranges.
    ranges: Option<(ArrayRef, ArrayRef)>,
    nulls: ArrayRef,
    reservation: Reservation,
}

impl CachedColumn {
    /// Makes a column of chunks for which `reservation` accounts.
    ///
    /// # Errors
    /// When the engine can't tell the ranges.
    pub(crate) fn new(chunks: Vec<ArrayRef>, reservation: Reservation) -> Result<Self> {
        let ranges = match chunks.first() {
            Some(first) if has_ranges(first.data_type()) => ranges(&chunks)?,
            _ => None,
        };
        let nulls: UInt64Array = chunks.iter().map(|chunk| Some(chunk.null_count() as u64)).collect();
        Ok(Self { chunks, ranges, nulls: std::sync::Arc::new(nulls), reservation })
    }

    /// Returns its size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.reservation.bytes()
    }

    /// Returns the chunks.
    pub(crate) fn chunks(&self) -> &[ArrayRef] {
        &self.chunks
    }

    /// Returns the least and the greatest value of each chunk, if the type has ranges; null where they are unknown.
    pub(crate) fn ranges(&self) -> Option<&(ArrayRef, ArrayRef)> {
        self.ranges.as_ref()
    }

    /// Returns the number of nulls of each chunk.
    pub(crate) fn nulls(&self) -> &ArrayRef {
        &self.nulls
    }
}

/// Returns whether the values of a type have one order in all operators. Floating-point numbers have not: NaN.
fn has_ranges(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
            | DataType::Date32
            | DataType::Date64
            | DataType::Timestamp(..)
            | DataType::Decimal128(..)
            | DataType::Utf8
    )
}

fn ranges(chunks: &[ArrayRef]) -> Result<Option<(ArrayRef, ArrayRef)>> {
    let (mut least, mut greatest) = (Vec::with_capacity(chunks.len()), Vec::with_capacity(chunks.len()));
    for chunk in chunks {
        let (mut low, mut high) =
            (MinAccumulator::try_new(chunk.data_type())?, MaxAccumulator::try_new(chunk.data_type())?);
        low.update_batch(std::slice::from_ref(chunk))?;
        high.update_batch(std::slice::from_ref(chunk))?;
        least.push(short(low.evaluate()?)?);
        greatest.push(short(high.evaluate()?)?);
    }
    Ok(Some((ScalarValue::iter_to_array(least)?, ScalarValue::iter_to_array(greatest)?)))
}

/// Returns the bound, or null in place of a long text.
fn short(bound: ScalarValue) -> Result<ScalarValue> {
    match &bound {
        ScalarValue::Utf8(Some(text)) if text.len() > RANGE_TEXT_BYTES => Ok(ScalarValue::Utf8(None)),
        _ => Ok(bound),
    }
}
