//! `trim_array(x, n)`: an array without its last elements.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{cast, filter};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DataFusionError, Result, internal_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};
use salver_model::{Code, Error, SqlFault};

use super::super::row_function::RowFunction;
use super::text_cast::{item, lists};

pub(super) fn trim_array() -> ScalarUDF {
    let returns = |types: &[DataType]| match types {
        [list, count] if count.is_integer() && item(list).is_some() => {
            Ok(DataType::new_list(item(list).cloned().unwrap_or(DataType::Null), true))
        }
        _ => plan_err!("`trim_array` takes an array and a number of elements"),
    };
    let signature = Signature::any(2, Volatility::Immutable);
    RowFunction { name: "trim_array", signature, returns, values: |arrays, _| trimmed(arrays) }.function()
}

fn trimmed(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [given, counts] = arrays else { return internal_err!("an array is trimmed by a number") };
    let (given, counts) = (lists(given)?, cast(counts, &DataType::Int64)?);
    let counts = counts.as_primitive::<Int64Type>();
    let (field, offsets, items, _) = given.clone().into_parts();
    let (mut lengths, mut is_kept) = (Vec::with_capacity(given.len()), BooleanBufferBuilder::new(items.len()));
    let mut is_known = BooleanBufferBuilder::new(given.len());
    let begin = offsets.first().map_or(0, |first| usize::try_from(*first).unwrap_or_default());
    for (row, length) in offsets.lengths().enumerate() {
        let known = given.is_valid(row) && counts.is_valid(row);
        let kept = match known.then(|| counts.value(row)) {
            None => 0,
            Some(count) => match usize::try_from(count).ok().and_then(|count| length.checked_sub(count)) {
                Some(kept) => kept,
                None => {
                    let message = format!("{count} elements can't be trimmed from an array of {length}");
                    let error = Error::new(Code::Execution, message)
                        .with_hint("`x[1:n]` takes as many elements as there are")
                        .with_sql_fault(SqlFault::InvalidArgument);
                    return Err(DataFusionError::External(Box::new(error)));
                }
            },
        };
        is_known.append(known);
        is_kept.append_n(kept, true);
        is_kept.append_n(length - kept, false);
        lengths.push(kept);
    }
    let is_kept = BooleanArray::new(is_kept.finish(), None);
    let items = filter(&items.slice(begin, is_kept.len()), &is_kept)?;
    let known = NullBuffer::new(is_known.finish());
    Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), items, Some(known))?))
}
