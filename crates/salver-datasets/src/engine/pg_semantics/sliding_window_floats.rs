//! Sums, averages, deviations and regressions of floats over windows with a moving start. A value that leaves a window
//! can't be subtracted from a sum of floats: NaN and infinities remain, and after `1e17` small numbers are lost. So the
//! values are summed anew, as in PostgreSQL; for long windows with two stacks of partial sums, in which each value is
//! pushed and popped once.

use std::collections::VecDeque;
use std::mem::size_of;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature,
};

use super::pairs::{Pairs, Regression};

/// Length of the longest window that is summed value by value.
const SHORT: usize = 1_024;

/// What is computed from the rows in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Statistic {
    Values(Made),
    Pairs(Regression),
}

/// Statistic of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Made {
    Sum,
    Average,
    Variance { sample: bool, root: bool },
}

impl Made {
    fn by(name: &str) -> Option<Self> {
        Some(match name {
            "sum" => Self::Sum,
            "avg" => Self::Average,
            "var" | "var_samp" => Self::Variance { sample: true, root: false },
            "var_pop" => Self::Variance { sample: false, root: false },
            "stddev" | "stddev_samp" => Self::Variance { sample: true, root: true },
            "stddev_pop" => Self::Variance { sample: false, root: true },
            _ => return None,
        })
    }
}

/// Returns the aggregate of floats for windows, if there is one for this function.
pub(in crate::engine) fn over_windows(function: &Arc<AggregateUDF>) -> Option<Arc<AggregateUDF>> {
    if function.inner().is::<Sliding>() {
        return None;
    }
    let name = function.name();
    let statistic = Made::by(name).map(Statistic::Values).or_else(|| Regression::by(name).map(Statistic::Pairs))?;
    Some(Arc::new(AggregateUDF::new_from_impl(Sliding { inner: Arc::clone(function), statistic })))
}

/// Returns the aggregate of which this is one for windows.
#[cfg(feature = "ballista")]
pub(in crate::engine) fn slid(function: &AggregateUDF) -> Option<&Arc<AggregateUDF>> {
    function.inner().downcast_ref::<Sliding>().map(|sliding| &sliding.inner)
}

/// Aggregate with a sliding accumulator of its own.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Sliding {
    inner: Arc<AggregateUDF>,
    statistic: Statistic,
}

impl AggregateUDFImpl for Sliding {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.inner().coerce_types(arg_types)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.inner.accumulator(args)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        self.inner.create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let is_float = *args.return_type() == DataType::Float64
            && args.expr_fields.iter().all(|field| *field.data_type() == DataType::Float64);
        if args.is_distinct || !is_float {
            return self.inner.create_sliding_accumulator(args);
        }
        Ok(match self.statistic {
            Statistic::Values(made) => Box::new(Window { made, values: VecDeque::new(), sums: Sums::default() }),
            Statistic::Pairs(regression) => Box::new(Pairs::new(regression)),
        })
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

/// The values of a window that are not null.
#[derive(Debug)]
struct Window {
    made: Made,
    values: VecDeque<f64>,
    sums: Sums,
}

impl Window {
    fn sum(&self) -> f64 {
        if self.values.len() <= SHORT { self.values.iter().sum() } else { self.sums.all() }
    }

    fn value(&self) -> Option<f64> {
        let count = self.values.len() as f64;
        if self.values.is_empty() {
            return None;
        }
        match self.made {
            Made::Sum => Some(self.sum()),
            Made::Average => Some(self.sum() / count),
            Made::Variance { sample, root } => {
                let of = if sample { count - 1.0 } else { count };
                if of <= 0.0 {
                    return None;
                }
                let mean = self.values.iter().sum::<f64>() / count;
                let squares = self.values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
                Some(if root { (squares / of).sqrt() } else { squares / of })
            }
        }
    }
}

fn known(values: &[ArrayRef]) -> Result<impl Iterator<Item = f64> + '_> {
    match values {
        [only] => Ok(only.as_primitive::<Float64Type>().iter().flatten()),
        _ => internal_err!("floats are aggregated one by one"),
    }
}

impl Accumulator for Window {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for x in known(values)? {
            self.values.push_back(x);
            self.sums.push(x);
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for _ in known(values)? {
            self.values.pop_front();
            self.sums.pop();
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("windows are not merged")
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("windows are not merged")
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.value()))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + (self.values.capacity() + self.sums.old.capacity() + self.sums.new.capacity()) * 8
    }
}

/// Sum of a queue of floats that never subtracts.
#[derive(Debug, Default)]
struct Sums {
    /// Sums from each of the older values to the last of them, the oldest on top.
    old: Vec<f64>,
    /// The newer values and their sum.
    new: Vec<f64>,
    new_sum: f64,
}

impl Sums {
    fn push(&mut self, x: f64) {
        self.new.push(x);
        self.new_sum += x;
    }

    /// Removes the oldest value.
    fn pop(&mut self) {
        if self.old.is_empty() {
            let mut sum = 0.0;
            for x in self.new.drain(..).rev() {
                sum += x;
                self.old.push(sum);
            }
            self.new_sum = 0.0;
        }
        self.old.pop();
    }

    fn all(&self) -> f64 {
        self.old.last().unwrap_or(&0.0) + self.new_sum
    }
}

#[cfg(test)]
mod tests {
    use super::Sums;

    #[test]
    fn nothing_stays_of_what_left() {
        let mut sums = Sums::default();
        let values = [1.0, f64::NAN, 2.0, 4.0, 3.0, f64::INFINITY, 4.0, 5.0, 6.0, 7.0];
        for (at, x) in values.into_iter().enumerate() {
            sums.push(x);
            if at >= 3 {
                sums.pop();
            }
            let expected: f64 = values[at.saturating_sub(2)..=at].iter().sum();
            assert_eq!(sums.all().to_string(), expected.to_string(), "{at}");
        }
    }
}
