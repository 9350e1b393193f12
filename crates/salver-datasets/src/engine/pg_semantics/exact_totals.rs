//! Sums that don't wrap around, and the number of values in them, for integers and decimals, per group.

use std::mem::size_of;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray, UInt64Array};
use arrow::datatypes::{
    ArrowNativeTypeOp, DataType, Decimal128Type, Decimal256Type, DecimalType, Int64Type, UInt64Type, i256,
};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

use super::checked_integers::out_of_range;

/// Function that computes the final values from the array of sums and the counts.
pub(super) type Finish = Arc<dyn Fn(&ArrayRef, &UInt64Array) -> Result<ArrayRef> + Send + Sync>;

/// Returns the type in which values of a type are summed.
pub(super) fn kept_in(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Int64 | DataType::UInt64 => Some(DataType::Decimal128(38, 0)),
        // The sum of ten thousand million rows fits.
        DataType::Decimal128(precision, scale) if *precision <= 28 => Some(DataType::Decimal128(38, *scale)),
        DataType::Decimal256(_, scale) => Some(DataType::Decimal256(76, *scale)),
        _ => None,
    }
}

/// Number type of a sum.
pub(super) trait SummedType: DecimalType + ArrowPrimitiveType {
    /// Calls `each` with the row and the value of every non-null value.
    fn each(values: &ArrayRef, each: impl FnMut(usize, Self::Native)) -> Result<()>;

    /// Adds a value to a sum; returns `None` if the result has more bits.
    fn sum(sum: Self::Native, value: Self::Native) -> Option<Self::Native>;

    /// Takes a value out of a sum.
    fn difference(sum: Self::Native, value: Self::Native) -> Option<Self::Native>;
}

/// The first error of a batch.
fn beyond(is_beyond: bool, kept_in: &DataType) -> Result<()> {
    if is_beyond { Err(out_of_range("a sum", kept_in)) } else { Ok(()) }
}

fn walk<T: ArrowPrimitiveType>(values: &ArrayRef, mut each: impl FnMut(usize, T::Native)) {
    let values = values.as_primitive::<T>();
    match values.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => values.values().iter().enumerate().for_each(|(row, value)| each(row, *value)),
        Some(nulls) => nulls.valid_indices().for_each(|row| each(row, values.values()[row])),
    }
}

impl SummedType for Decimal128Type {
    fn each(values: &ArrayRef, mut each: impl FnMut(usize, i128)) -> Result<()> {
        match values.data_type() {
            DataType::Int64 => walk::<Int64Type>(values, |row, value| each(row, i128::from(value))),
            DataType::UInt64 => walk::<UInt64Type>(values, |row, value| each(row, i128::from(value))),
            DataType::Decimal128(..) => walk::<Self>(values, each),
            other => return internal_err!("no sums of {other}"),
        }
        Ok(())
    }

    /// As many values as a table may have are in range: see [`kept_in`].
    fn sum(sum: i128, value: i128) -> Option<i128> {
        Some(sum.wrapping_add(value))
    }

    fn difference(sum: i128, value: i128) -> Option<i128> {
        Some(sum.wrapping_sub(value))
    }
}

impl SummedType for Decimal256Type {
    fn each(values: &ArrayRef, mut each: impl FnMut(usize, i256)) -> Result<()> {
        match values.data_type() {
            DataType::Decimal128(..) => walk::<Decimal128Type>(values, |row, value| each(row, i256::from_i128(value))),
            DataType::Decimal256(..) => walk::<Self>(values, each),
            other => return internal_err!("no sums of {other}"),
        }
        Ok(())
    }

    fn sum(sum: i256, value: i256) -> Option<i256> {
        sum.checked_add(value)
    }

    fn difference(sum: i256, value: i256) -> Option<i256> {
        sum.checked_sub(value)
    }
}

/// A single sum.
pub(super) struct Total<T: SummedType> {
    sum: T::Native,
    count: u64,
    kept_in: DataType,
    finish: Finish,
}

impl<T: SummedType> Total<T> {
    pub(super) fn new(kept_in: DataType, finish: Finish) -> Self {
        Self { sum: T::Native::ZERO, count: 0, kept_in, finish }
    }

    fn keep(&mut self, sum: Option<T::Native>, count: u64) -> Result<()> {
        beyond(sum.is_none(), &self.kept_in)?;
        (self.sum, self.count) = (sum.unwrap_or(T::Native::ZERO), count);
        Ok(())
    }

    fn parts(&self) -> (ArrayRef, UInt64Array) {
        let sum = PrimitiveArray::<T>::from_iter([(self.count > 0).then_some(self.sum)]);
        (Arc::new(sum.with_data_type(self.kept_in.clone())), UInt64Array::from(vec![self.count]))
    }
}

impl<T: SummedType> std::fmt::Debug for Total<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Total").field("sum", &self.sum).field("count", &self.count).finish_non_exhaustive()
    }
}

impl<T: SummedType> Accumulator for Total<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (mut sum, mut count) = (Some(self.sum), 0);
        T::each(&values[0], |_, value| {
            sum = sum.and_then(|sum| T::sum(sum, value));
            count += 1;
        })?;
        self.keep(sum, self.count + count)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (mut sum, mut count) = (Some(self.sum), 0);
        T::each(&values[0], |_, value| {
            sum = sum.and_then(|sum| T::difference(sum, value));
            count += 1;
        })?;
        self.keep(sum, self.count - count)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let mut sum = Some(self.sum);
        T::each(&states[0], |_, value| sum = sum.and_then(|sum| T::sum(sum, value)))?;
        self.keep(sum, self.count + states[1].as_primitive::<UInt64Type>().values().iter().sum::<u64>())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let (sums, counts) = self.parts();
        Ok(vec![ScalarValue::try_from_array(&sums, 0)?, ScalarValue::try_from_array(&counts, 0)?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let (sums, counts) = self.parts();
        ScalarValue::try_from_array(&(self.finish)(&sums, &counts)?, 0)
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}

/// The sums of many groups.
pub(super) struct Totals<T: SummedType> {
    sums: Vec<T::Native>,
    counts: Vec<u64>,
    kept_in: DataType,
    finish: Finish,
}

impl<T: SummedType> Totals<T> {
    pub(super) fn new(kept_in: DataType, finish: Finish) -> Self {
        Self { sums: Vec::new(), counts: Vec::new(), kept_in, finish }
    }

    fn grow(&mut self, groups: usize) {
        self.sums.resize(groups, T::Native::ZERO);
        self.counts.resize(groups, 0);
    }

    fn take(&mut self, emit_to: EmitTo) -> (ArrayRef, UInt64Array) {
        let (sums, counts) = (emit_to.take_needed(&mut self.sums), emit_to.take_needed(&mut self.counts));
        let sums = sums.into_iter().zip(&counts).map(|(sum, count)| (*count > 0).then_some(sum));
        let sums = PrimitiveArray::<T>::from_iter(sums).with_data_type(self.kept_in.clone());
        (Arc::new(sums), UInt64Array::from(counts))
    }
}

/// Returns whether a row passes the aggregate's filter.
pub(in crate::engine) fn passes(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

impl<T: SummedType> GroupsAccumulator for Totals<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow(total_num_groups);
        let (sums, counts, mut is_beyond) = (&mut self.sums, &mut self.counts, false);
        T::each(&values[0], |row, value| {
            if passes(filter, row) {
                let group = group_indices[row];
                match T::sum(sums[group], value) {
                    Some(sum) => sums[group] = sum,
                    None => is_beyond = true,
                }
                counts[group] += 1;
            }
        })?;
        beyond(is_beyond, &self.kept_in)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.grow(total_num_groups);
        let (sums, counts, mut is_beyond) = (&mut self.sums, &mut self.counts, false);
        let added = states[1].as_primitive::<UInt64Type>();
        T::each(&states[0], |row, value| {
            let group = group_indices[row];
            match T::sum(sums[group], value) {
                Some(sum) => sums[group] = sum,
                None => is_beyond = true,
            }
            counts[group] += added.value(row);
        })?;
        beyond(is_beyond, &self.kept_in)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (sums, counts) = self.take(emit_to);
        (self.finish)(&sums, &counts)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (sums, counts) = self.take(emit_to);
        Ok(vec![sums, Arc::new(counts)])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values[0].len();
        let (mut sums, mut counts) = (vec![None; rows], vec![0_u64; rows]);
        T::each(&values[0], |row, value| {
            if passes(filter, row) {
                (sums[row], counts[row]) = (Some(value), 1);
            }
        })?;
        let sums = PrimitiveArray::<T>::from_iter(sums).with_data_type(self.kept_in.clone());
        Ok(vec![Arc::new(sums), Arc::new(UInt64Array::from(counts))])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<T::Native>() + self.counts.capacity() * size_of::<u64>()
    }
}

/// The sums of many groups of long decimals: in 128 bits, and in 256 where those do not do.
pub(super) struct WideTotals {
    /// What is not in the totals yet.
    low: Vec<i128>,
    totals: Totals<Decimal256Type>,
}

impl WideTotals {
    pub(super) fn new(kept_in: DataType, finish: Finish) -> Self {
        Self { low: Vec::new(), totals: Totals::new(kept_in, finish) }
    }

    fn complete(&mut self) -> &mut Totals<Decimal256Type> {
        for (sum, low) in self.totals.sums.iter_mut().zip(self.low.drain(..)) {
            *sum = sum.wrapping_add(i256::from_i128(low));
        }
        &mut self.totals
    }
}

impl GroupsAccumulator for WideTotals {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.totals.grow(total_num_groups);
        self.low.resize(total_num_groups, 0);
        let (low, sums, counts) = (&mut self.low, &mut self.totals.sums, &mut self.totals.counts);
        Decimal128Type::each(&values[0], |row, value| {
            if passes(filter, row) {
                let group = group_indices[row];
                if let Some(sum) = low[group].checked_add(value) {
                    low[group] = sum;
                } else {
                    sums[group] = sums[group].wrapping_add(i256::from_i128(low[group]));
                    low[group] = value;
                }
                counts[group] += 1;
            }
        })
    }

    fn merge_batch(&mut self, states: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.totals.merge_batch(states, group_indices, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.complete().evaluate(emit_to)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.complete().state(emit_to)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.totals.convert_to_state(values, filter)
    }

    fn size(&self) -> usize {
        self.low.capacity() * size_of::<i128>() + self.totals.size()
    }
}
