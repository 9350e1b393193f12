//! `histogram(x, low, high, bars)`: how many values lie in each of so many bars of equal width between two bounds, as
//! an array. Computed together, the distributions of several columns need one scan; by `width_bucket` and `group by`
//! each would need its own.

use std::mem::size_of_val;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, PrimitiveArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type, Int64Type};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use salver_model::limits::SQL_HISTOGRAM_BARS_MAX;
use salver_model::{Code, Error, SqlFault};

/// Registers the aggregate.
///
/// # Errors
/// A session that takes no functions.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    use DataType::{Float64, Int64};
    let signature = Signature::exact(vec![Float64, Float64, Float64, Int64], Volatility::Immutable);
    state.register_udaf(AggregateUDF::new_from_impl(Histogram { signature }).into())?;
    Ok(())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Histogram {
    signature: Signature,
}

fn counts() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true)))
}

impl AggregateUDFImpl for Histogram {
    fn name(&self) -> &'static str {
        "histogram"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(counts())
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Bars::default()))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "bars"), counts(), true))])
    }
}

/// The number of values in each bar. There are no bars before the first row.
#[derive(Debug, Default)]
struct Bars {
    counts: Vec<i64>,
}

impl Bars {
    /// Makes the bars, of which there are as many for every row.
    fn make(&mut self, bars: i64) -> Result<()> {
        let Some(bars) = usize::try_from(bars).ok().filter(|bars| (1..=SQL_HISTOGRAM_BARS_MAX).contains(bars)) else {
            return Err(invalid(format!(
                "a histogram has between 1 and {SQL_HISTOGRAM_BARS_MAX} bars, and not {bars}"
            )));
        };
        if self.counts.is_empty() {
            self.counts = vec![0; bars];
        }
        match self.counts.len() == bars {
            true => Ok(()),
            false => Err(invalid("a histogram has as many bars for every row")),
        }
    }

    /// Counts values between bounds; what lies outside is in the bar at that end.
    fn count_between(&mut self, values: &PrimitiveArray<Float64Type>, low: f64, high: f64) -> Result<()> {
        if !low.is_finite() || !high.is_finite() {
            return Err(invalid("the bounds of a histogram are finite"));
        }
        let Some(last) = self.counts.len().checked_sub(1) else { return Ok(()) };
        let width = high - low;
        let bars_per_unit = if width > 0.0 { self.counts.len() as f64 / width } else { 0.0 };
        let mut add = |value: f64| {
            if value.is_finite() {
                // A negative number becomes 0.
                let bar = ((value - low) * bars_per_unit) as usize;
                self.counts[bar.min(last)] += 1;
            }
        };
        if values.null_count() == 0 {
            values.values().iter().copied().for_each(&mut add);
        } else {
            values.iter().flatten().for_each(&mut add);
        }
        Ok(())
    }
}

impl Accumulator for Bars {
    fn update_batch(&mut self, given: &[ArrayRef]) -> Result<()> {
        let [values, lows, highs, bars] = given else { return internal_err!("a histogram has four arguments") };
        let (values, bars) = (values.as_primitive::<Float64Type>(), bars.as_primitive::<Int64Type>());
        let [lows, highs] = [lows, highs].map(|bounds| bounds.as_primitive::<Float64Type>());
        for bars in distinct(bars) {
            self.make(bars)?;
        }
        if let (Some(low), Some(high)) = (only(lows), only(highs)) {
            return self.count_between(values, low, high);
        }
        let bounds =
            |row: usize| (!lows.is_null(row) && !highs.is_null(row)).then(|| (lows.value(row), highs.value(row)));
        let mut start = 0;
        while start < values.len() {
            let own = bounds(start);
            let end = (start + 1..values.len()).find(|row| bounds(*row) != own).unwrap_or(values.len());
            if let Some((low, high)) = own {
                self.count_between(&values.slice(start, end - start), low, high)?;
            }
            start = end;
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [states] = states else { return internal_err!("a histogram has one state") };
        for counts in states.as_list::<i32>().iter().flatten().filter(|counts| !counts.is_empty()) {
            self.make(i64::try_from(counts.len()).unwrap_or(i64::MAX))?;
            for (own, more) in self.counts.iter_mut().zip(counts.as_primitive::<Int64Type>().values()) {
                *own += more;
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.counts.is_empty() {
            return ScalarValue::try_from(&counts());
        }
        let item = Arc::new(Field::new_list_field(DataType::Int64, true));
        let counts: PrimitiveArray<Int64Type> = self.counts.iter().copied().collect();
        let list = ListArray::try_new(item, OffsetBuffer::from_lengths([counts.len()]), Arc::new(counts), None)?;
        Ok(ScalarValue::List(Arc::new(list)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + size_of_val(self.counts.as_slice())
    }
}

fn invalid(message: impl Into<String>) -> DataFusionError {
    let error = Error::new(Code::InvalidSql, message)
        .with_hint("write `histogram(x, low, high, bars)`, as in `histogram(price, 0, 100, 20)`")
        .with_sql_fault(SqlFault::InvalidArgument);
    DataFusionError::External(Box::new(error))
}

/// Returns the number that is the same for all rows, as bounds usually are.
fn only(numbers: &PrimitiveArray<Float64Type>) -> Option<f64> {
    let (first, others) = numbers.values().split_first()?;
    (numbers.null_count() == 0 && others.iter().all(|other| other == first)).then_some(*first)
}

/// Returns the numbers that are different from the one before.
fn distinct(numbers: &PrimitiveArray<Int64Type>) -> impl Iterator<Item = i64> {
    let mut before = None;
    numbers.iter().flatten().filter(move |number| before.replace(*number) != Some(*number))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Float64Array, Int64Array};
    use datafusion::common::ScalarValue;
    use datafusion::logical_expr::Accumulator;

    use super::Bars;

    fn given(values: Vec<Option<f64>>, low: f64, high: f64, bars: i64) -> [ArrayRef; 4] {
        let rows = values.len();
        let bound = |bound: f64| Arc::new(Float64Array::from(vec![bound; rows])) as ArrayRef;
        [Arc::new(Float64Array::from(values)), bound(low), bound(high), Arc::new(Int64Array::from(vec![bars; rows]))]
    }

    #[test]
    fn values_outside_are_at_the_ends() {
        let mut bars = Bars::default();
        assert!(bars.evaluate().unwrap().is_null());
        let values = [-9.0, 0.0, 0.99, 1.0, 3.999, 4.0, 1e300, f64::NAN, f64::INFINITY].map(Some);
        bars.update_batch(&given([&values[..], &[None]].concat(), 0.0, 4.0, 4)).unwrap();
        assert_eq!(bars.counts, [3, 1, 0, 3]);
        let ScalarValue::List(state) = bars.state().unwrap().remove(0) else { panic!("a list") };
        bars.merge_batch(&[state]).unwrap();
        assert_eq!(bars.counts, [6, 2, 0, 6]);
    }

    #[test]
    fn one_value_is_one_bar() {
        let mut bars = Bars::default();
        bars.update_batch(&given(vec![Some(7.0); 3], 7.0, 7.0, 2)).unwrap();
        assert_eq!(bars.counts, [3, 0]);
    }

    #[test]
    fn the_number_of_bars_is_bounded_and_one() {
        for bars in [0, -1, i64::MAX] {
            assert!(Bars::default().update_batch(&given(vec![Some(1.0)], 0.0, 1.0, bars)).is_err(), "{bars}");
        }
        let mut bars = Bars::default();
        bars.update_batch(&given(vec![Some(1.0)], 0.0, 1.0, 2)).unwrap();
        assert!(bars.update_batch(&given(vec![Some(1.0)], 0.0, 1.0, 3)).is_err());
        assert!(bars.update_batch(&given(vec![Some(1.0)], f64::NAN, 1.0, 2)).is_err());
    }
}
