//! `avg` of decimals with at least sixteen fractional digits, as in PostgreSQL.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, AsArray, Decimal128Array, Decimal256Array, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::{ArrowNativeTypeOp, DataType, Decimal128Type, Decimal256Type, Field, FieldRef, i256};
use datafusion::common::{Result, internal_err, plan_err};
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, Expr, GroupsAccumulator, ReversedUDAF,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::row_function::computed;
use super::call;
use super::decimal_division::{FRACTION_DIGITS, decimal, digits, nearest};
use super::exact_totals::{Finish, Total, Totals, kept_in};
use super::sum::roomy;

/// Returns the aggregate.
pub(crate) fn avg() -> Arc<AggregateUDF> {
    static AVG: LazyLock<Arc<AggregateUDF>> = LazyLock::new(|| Arc::new(AggregateUDF::new_from_impl(Avg::new())));
    Arc::clone(&AVG)
}

/// Wrapper of the engine's `avg`, which still handles all types but decimals.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Avg {
    signature: Signature,
    aliases: Vec<String>,
}

impl Avg {
    fn new() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable), aliases: vec!["mean".to_owned()] }
    }
}

/// Returns the average, of this type, of values of which the sum and the number are known.
pub(in crate::engine) fn of_sum(sum: Expr, count: Expr, to: DataType) -> Expr {
    call(of_sum_to(to), vec![sum, count])
}

/// Returns the function that does so.
pub(in crate::engine) fn of_sum_to(to: DataType) -> ScalarUDF {
    ScalarUDF::new_from_impl(OfSum { to, signature: Signature::any(2, Volatility::Immutable) })
}

/// Returns the type that such a function gives.
#[cfg(feature = "ballista")]
pub(in crate::engine) fn averaged(function: &ScalarUDF) -> Option<&DataType> {
    function.inner().downcast_ref::<OfSum>().map(|average| &average.to)
}

/// Function of a sum of decimals and the number of its values.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OfSum {
    to: DataType,
    signature: Signature,
}

impl ScalarUDFImpl for OfSum {
    fn name(&self) -> &'static str {
        "avg_of_sum"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.to.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        computed(&args, |arrays| match arrays {
            [sums, counts] => divided(sums, cast(counts, &DataType::UInt64)?.as_primitive(), &self.to),
            _ => internal_err!("an average is made of a sum and a count"),
        })
    }
}

/// Returns the type of the sums if the average of these arguments is computed here.
fn kept(args: &[FieldRef], is_distinct: bool) -> Option<DataType> {
    let own = args.first()?.data_type();
    if is_distinct || !own.is_decimal() { None } else { kept_in(own) }
}

fn finish(to: DataType) -> Finish {
    Arc::new(move |sums, counts| divided(sums, counts, &to))
}

fn divided(sums: &ArrayRef, counts: &UInt64Array, to: &DataType) -> Result<ArrayRef> {
    let (Some((_, from)), Some((_, scale))) = (digits(sums.data_type()), digits(to)) else {
        return internal_err!("an average of decimals is a decimal");
    };
    let power = i256::from_i128(10).pow_checked(u32::from(scale.saturating_sub(from).unsigned_abs()))?;
    let sums = cast(sums, &DataType::Decimal256(76, from))?;
    let sums = sums.as_primitive::<Decimal256Type>();
    let averages = sums.iter().zip(counts.values()).map(|(sum, count)| {
        let average = sum.map(|sum| nearest(sum.mul_checked(power)?, i256::from_i128(i128::from(*count))));
        Ok(average.transpose()?)
    });
    let averages: Decimal256Array = averages.collect::<Result<_>>()?;
    Ok(match to {
        DataType::Decimal128(precision, scale) => {
            let short: Decimal128Array = averages.iter().map(|value| value.and_then(i256::to_i128)).collect();
            Arc::new(short.with_precision_and_scale(*precision, *scale)?)
        }
        DataType::Decimal256(precision, scale) => Arc::new(averages.with_precision_and_scale(*precision, *scale)?),
        other => return internal_err!("{other} is not a decimal"),
    })
}

impl AggregateUDFImpl for Avg {
    fn name(&self) -> &'static str {
        "avg"
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let [one] = arg_types else { return plan_err!("`avg` takes one argument") };
        let one = match one {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        Ok(vec![match one {
            DataType::Null => DataType::Float64,
            data_type if data_type.is_integer() || data_type.is_floating() => DataType::Float64,
            data_type if data_type.is_decimal() => roomy(data_type),
            DataType::Duration(_) => one.clone(),
            other => return plan_err!("there is no average of {other}; cast it to a number, as in `x::double`"),
        }])
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types.first() {
            Some(own) if own.is_decimal() => {
                let (precision, scale) = digits(own).unwrap_or_default();
                Ok(decimal(i16::from(precision) - i16::from(scale), scale.max(FRACTION_DIGITS)))
            }
            _ => avg_udaf().inner().return_type(arg_types),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match kept(args.expr_fields, args.is_distinct) {
            Some(kept @ DataType::Decimal128(..)) => {
                Ok(Box::new(Total::<Decimal128Type>::new(kept, finish(args.return_type().clone()))))
            }
            Some(kept) => Ok(Box::new(Total::<Decimal256Type>::new(kept, finish(args.return_type().clone())))),
            None => avg_udaf().inner().accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        match kept(args.input_fields, args.is_distinct) {
            Some(kept) => Ok(vec![
                Arc::new(Field::new(format_state_name(args.name, "sum"), kept, true)),
                Arc::new(Field::new(format_state_name(args.name, "count"), DataType::UInt64, true)),
            ]),
            None => avg_udaf().inner().state_fields(args),
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        kept(args.expr_fields, args.is_distinct).is_some() || avg_udaf().inner().groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match kept(args.expr_fields, args.is_distinct) {
            Some(kept @ DataType::Decimal128(..)) => {
                Ok(Box::new(Totals::<Decimal128Type>::new(kept, finish(args.return_type().clone()))))
            }
            Some(kept) => Ok(Box::new(Totals::<Decimal256Type>::new(kept, finish(args.return_type().clone())))),
            None => avg_udaf().inner().create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if kept(args.expr_fields, args.is_distinct).is_some() {
            return self.accumulator(args);
        }
        avg_udaf().inner().create_sliding_accumulator(args)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}
