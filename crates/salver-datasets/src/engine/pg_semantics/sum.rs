//! `sum` that fails if a sum of integers is out of range, and gives decimals the precision they need.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, AsArray, Int64Array, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Decimal256Type, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err, plan_err};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

use super::checked_integers::out_of_range;
use super::exact_totals::{Finish, Total, Totals, WideTotals};

/// Returns the aggregate.
pub(crate) fn sum() -> Arc<AggregateUDF> {
    static SUM: LazyLock<Arc<AggregateUDF>> = LazyLock::new(|| Arc::new(AggregateUDF::new_from_impl(Sum::new())));
    Arc::clone(&SUM)
}

/// Wrapper of the engine's `sum`, which still handles floats, durations and short decimals.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Sum {
    signature: Signature,
}

impl Sum {
    fn new() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// Returns the type in which decimals are summed: with ten more digits.
pub(super) fn roomy(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Decimal128(precision @ 29.., scale) => DataType::Decimal256(*precision, *scale),
        other => other.clone(),
    }
}

const SUMS: DataType = DataType::Decimal128(38, 0);

fn is_whole(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Int64 | DataType::UInt64)
}

/// Casts the sums to the result type.
fn narrow(sums: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let sums = sums.as_primitive::<Decimal128Type>();
    let beyond = || out_of_range("a sum", to);
    Ok(match to {
        DataType::UInt64 => {
            let sums = sums.iter().map(|sum| sum.map(|sum| u64::try_from(sum).map_err(|_| beyond())).transpose());
            Arc::new(sums.collect::<Result<UInt64Array>>()?)
        }
        _ => {
            let sums = sums.iter().map(|sum| sum.map(|sum| i64::try_from(sum).map_err(|_| beyond())).transpose());
            Arc::new(sums.collect::<Result<Int64Array>>()?)
        }
    })
}

fn finish(args: &AccumulatorArgs<'_>) -> Finish {
    let to = args.return_type().clone();
    Arc::new(move |sums, _| narrow(sums, &to))
}

/// Returns whether sums of decimals of this type need more than 128 bits.
fn is_wide(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Decimal128(29.., _) | DataType::Decimal256(..))
}

/// Returns the type in which such decimals are summed; `None` for other values.
fn wide_sum(values: &[FieldRef], result: &DataType) -> Option<DataType> {
    match (values.first(), result) {
        (Some(values), DataType::Decimal256(_, scale)) if is_wide(values.data_type()) => {
            Some(DataType::Decimal256(76, *scale))
        }
        _ => None,
    }
}

fn finish_wide(args: &AccumulatorArgs<'_>) -> Finish {
    let to = args.return_type().clone();
    Arc::new(move |sums, _| {
        let sums = sums.as_primitive::<Decimal256Type>().clone().with_data_type(to.clone());
        match to {
            DataType::Decimal256(precision, _) if sums.validate_decimal_precision(precision).is_err() => {
                Err(out_of_range("a sum", &to))
            }
            _ => Ok(Arc::new(sums)),
        }
    })
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let [one] = arg_types else { return plan_err!("`sum` takes one argument") };
        let one = match one {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        Ok(vec![match one {
            DataType::Null => DataType::Int64,
            data_type if data_type.is_signed_integer() => DataType::Int64,
            data_type if data_type.is_unsigned_integer() => DataType::UInt64,
            data_type if data_type.is_floating() => DataType::Float64,
            data_type if is_wide(data_type) => data_type.clone(),
            data_type if data_type.is_decimal() => roomy(data_type),
            DataType::Duration(_) | DataType::Interval(_) => one.clone(),
            other => return plan_err!("there is no sum of {other}; cast it to a number, as in `x::bigint`"),
        }])
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        let roomy: Vec<DataType> = arg_types.iter().map(roomy).collect();
        sum_udaf().inner().return_type(&roomy)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if let Some(wide) = wide_sum(args.expr_fields, args.return_type()) {
            if !args.is_distinct {
                return Ok(Box::new(Total::<Decimal256Type>::new(wide, finish_wide(&args))));
            }
            let (from, finish) = (args.return_type().clone(), finish_wide(&args));
            return Ok(Box::new(Distinct { inner: sum_udaf().inner().accumulator(args)?, from, finish }));
        }
        if !is_whole(args.return_type()) {
            return sum_udaf().inner().accumulator(args);
        }
        let finish = finish(&args);
        if !args.is_distinct {
            return Ok(Box::new(Total::<Decimal128Type>::new(SUMS, finish)));
        }
        let wide = AccumulatorArgs { return_field: Arc::new(Field::new(args.name, SUMS, true)), ..args };
        Ok(Box::new(Distinct { inner: sum_udaf().inner().accumulator(wide)?, from: SUMS, finish }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let wide = wide_sum(args.input_fields, args.return_type());
        let kept_in = match wide {
            Some(wide) if !args.is_distinct => wide,
            None if is_whole(args.return_type()) => SUMS,
            _ => return sum_udaf().inner().state_fields(args),
        };
        if args.is_distinct {
            let wide = Arc::new(Field::new(args.name, SUMS, true));
            return sum_udaf().inner().state_fields(StateFieldsArgs { return_field: wide, ..args });
        }
        Ok(vec![
            Arc::new(Field::new(format_state_name(args.name, "sum"), kept_in, true)),
            Arc::new(Field::new(format_state_name(args.name, "count"), DataType::UInt64, true)),
        ])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        if is_whole(args.return_type()) || wide_sum(args.expr_fields, args.return_type()).is_some() {
            return !args.is_distinct;
        }
        sum_udaf().inner().groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        if let Some(wide) = wide_sum(args.expr_fields, args.return_type()) {
            let finish = finish_wide(&args);
            return Ok(match args.expr_fields.first().map(|field| field.data_type()) {
                // Most sums of 128-bit decimals have no more bits; none is converted for the others' sake.
                Some(DataType::Decimal128(..)) => Box::new(WideTotals::new(wide, finish)),
                _ => Box::new(Totals::<Decimal256Type>::new(wide, finish)),
            });
        }
        if is_whole(args.return_type()) {
            return Ok(Box::new(Totals::<Decimal128Type>::new(SUMS, finish(&args))));
        }
        sum_udaf().inner().create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let is_own = is_whole(args.return_type()) || wide_sum(args.expr_fields, args.return_type()).is_some();
        if is_own && !args.is_distinct {
            return self.accumulator(args);
        }
        sum_udaf().inner().create_sliding_accumulator(args)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

/// Sum of distinct values, which the engine's sum of decimals collects.
struct Distinct {
    inner: Box<dyn Accumulator>,
    /// The type of these decimals.
    from: DataType,
    finish: Finish,
}

impl std::fmt::Debug for Distinct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Distinct").field("from", &self.from).finish_non_exhaustive()
    }
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let wide = values.iter().map(|values| cast(values, &self.from)).collect::<Result<Vec<_>, _>>()?;
        self.inner.update_batch(&wide)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        // The engine's own sum of them might wrap around.
        let [ScalarValue::List(values)] = &self.inner.state()?[..] else {
            return internal_err!("distinct values are a list");
        };
        let values = [cast(values.values(), &self.from)?];
        let finish = Arc::clone(&self.finish);
        match &self.from {
            DataType::Decimal256(..) => {
                let mut total = Total::<Decimal256Type>::new(self.from.clone(), finish);
                total.update_batch(&values)?;
                total.evaluate()
            }
            from => {
                let mut total = Total::<Decimal128Type>::new(from.clone(), finish);
                total.update_batch(&values)?;
                total.evaluate()
            }
        }
    }

    fn size(&self) -> usize {
        self.inner.size()
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::DataType;

    use super::roomy;

    #[test]
    fn long_decimals_are_summed_as_longer_ones() {
        assert_eq!(roomy(&DataType::Decimal128(28, 2)), DataType::Decimal128(28, 2));
        assert_eq!(roomy(&DataType::Decimal128(38, 2)), DataType::Decimal256(38, 2));
    }
}
