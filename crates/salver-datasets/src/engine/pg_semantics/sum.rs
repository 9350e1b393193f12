//! `sum` that fails if a sum of integers is out of range, and gives decimals the precision they need.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, AsArray, Int64Array, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

use super::checked_integers::out_of_range;
use super::exact_totals::{Finish, Total, Totals};

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
fn narrow(sums: &ArrayRef, to: &DataType, name: &str) -> Result<ArrayRef> {
    let sums = sums.as_primitive::<Decimal128Type>();
    let beyond = || out_of_range(&format!("`{name}`"), to);
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
    let (to, name) = (args.return_type().clone(), args.name.to_owned());
    Arc::new(move |sums, _| narrow(sums, &to, &name))
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
            data_type if data_type.is_decimal() => roomy(data_type),
            DataType::Duration(_) | DataType::Interval(_) => one.clone(),
            other => return plan_err!("there is no sum of {other}; cast it to a number, as in `x::bigint`"),
        }])
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        sum_udaf().inner().return_type(arg_types)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if !is_whole(args.return_type()) {
            return sum_udaf().inner().accumulator(args);
        }
        if !args.is_distinct {
            return Ok(Box::new(Total::<Decimal128Type>::new(SUMS, finish(&args))));
        }
        let (to, name) = (args.return_type().clone(), args.name.to_owned());
        let wide = AccumulatorArgs { return_field: Arc::new(Field::new(args.name, SUMS, true)), ..args };
        Ok(Box::new(Distinct { inner: sum_udaf().inner().accumulator(wide)?, to, name }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if !is_whole(args.return_type()) {
            return sum_udaf().inner().state_fields(args);
        }
        if args.is_distinct {
            let wide = Arc::new(Field::new(args.name, SUMS, true));
            return sum_udaf().inner().state_fields(StateFieldsArgs { return_field: wide, ..args });
        }
        Ok(vec![
            Arc::new(Field::new(format_state_name(args.name, "sum"), SUMS, true)),
            Arc::new(Field::new(format_state_name(args.name, "count"), DataType::UInt64, true)),
        ])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        if is_whole(args.return_type()) {
            return !args.is_distinct;
        }
        sum_udaf().inner().groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        if is_whole(args.return_type()) {
            return Ok(Box::new(Totals::<Decimal128Type>::new(SUMS, finish(&args))));
        }
        sum_udaf().inner().create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if is_whole(args.return_type()) && !args.is_distinct {
            return self.accumulator(args);
        }
        sum_udaf().inner().create_sliding_accumulator(args)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

/// Sum of distinct integers, computed by the engine's sum of decimals.
#[derive(Debug)]
struct Distinct {
    inner: Box<dyn Accumulator>,
    to: DataType,
    name: String,
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let wide = values.iter().map(|values| cast(values, &SUMS)).collect::<Result<Vec<_>, _>>()?;
        self.inner.update_batch(&wide)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = self.inner.evaluate()?.to_array()?;
        let sum = cast(&sum, &SUMS)?;
        ScalarValue::try_from_array(&narrow(&sum, &self.to, &self.name)?, 0)
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
