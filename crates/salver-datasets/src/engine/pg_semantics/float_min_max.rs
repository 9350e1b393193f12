//! `min` and `max` of floats in our order of floats. The result of the engine's own depends on the order of the rows if
//! one is NaN.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type, Int64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

/// Returns the `min` aggregate.
pub(super) fn min() -> Arc<AggregateUDF> {
    static MIN: LazyLock<Arc<AggregateUDF>> =
        LazyLock::new(|| Arc::new(AggregateUDF::new_from_impl(Extreme::new(false))));
    Arc::clone(&MIN)
}

/// Returns the `max` aggregate.
pub(super) fn max() -> Arc<AggregateUDF> {
    static MAX: LazyLock<Arc<AggregateUDF>> =
        LazyLock::new(|| Arc::new(AggregateUDF::new_from_impl(Extreme::new(true))));
    Arc::clone(&MAX)
}

/// Maps a float to an integer of the same order.
pub(super) fn place(x: f64) -> i64 {
    if x.is_nan() {
        return i64::MAX;
    }
    // Adding zero turns `-0.0` into `0.0`.
    let bits = (x + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// Returns the float that maps to an integer.
fn at(place: i64) -> f64 {
    if place == i64::MAX {
        return f64::NAN;
    }
    f64::from_bits((place ^ (((place >> 63) as u64) >> 1) as i64) as u64)
}

fn places(values: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
    let place_all = |values: &ArrayRef| -> Result<ArrayRef> {
        let floats = cast(values, &DataType::Float64)?;
        Ok(Arc::new(floats.as_primitive::<Float64Type>().unary::<_, Int64Type>(place)))
    };
    values.iter().map(place_all).collect()
}

fn floats(places: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let floats: ArrayRef = Arc::new(places.as_primitive::<Int64Type>().unary::<_, Float64Type>(at));
    Ok(cast(&floats, to)?)
}

/// Accumulator of the engine over the integers that floats map to.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Extreme {
    greatest: bool,
    signature: Signature,
}

impl Extreme {
    fn new(greatest: bool) -> Self {
        Self { greatest, signature: Signature::any(1, Volatility::Immutable) }
    }

    fn inner(&self) -> Arc<AggregateUDF> {
        if self.greatest { max_udaf() } else { min_udaf() }
    }
}

fn of_places(args: AccumulatorArgs<'_>) -> (AccumulatorArgs<'_>, DataType) {
    let to = args.return_type().clone();
    let field = Arc::new(Field::new(args.name, DataType::Int64, true));
    (AccumulatorArgs { return_field: field, ..args }, to)
}

impl AggregateUDFImpl for Extreme {
    fn name(&self) -> &'static str {
        if self.greatest { "max" } else { "min" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [only] => Ok(only.clone()),
            _ => internal_err!("`{}` takes one argument", self.name()),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let (args, to) = of_places(args);
        Ok(Box::new(One { inner: self.inner().inner().accumulator(args)?, to }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, self.name()), DataType::Int64, true))])
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        let (args, to) = of_places(args);
        Ok(Box::new(Groups { inner: self.inner().inner().create_groups_accumulator(args)?, to }))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let (args, to) = of_places(args);
        Ok(Box::new(One { inner: self.inner().inner().create_sliding_accumulator(args)?, to }))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

#[derive(Debug)]
struct One {
    inner: Box<dyn Accumulator>,
    to: DataType,
}

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(&places(values)?)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(&places(values)?)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let place = self.inner.evaluate()?.to_array()?;
        ScalarValue::try_from_array(&floats(&place, &self.to)?, 0)
    }

    fn size(&self) -> usize {
        self.inner.size()
    }
}

struct Groups {
    inner: Box<dyn GroupsAccumulator>,
    to: DataType,
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.inner.update_batch(&places(values)?, group_indices, filter, total_num_groups)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.inner.merge_batch(states, group_indices, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        floats(&self.inner.evaluate(emit_to)?, &self.to)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.inner.state(emit_to)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.inner.convert_to_state(&places(values)?, filter)
    }

    fn size(&self) -> usize {
        self.inner.size()
    }
}

#[cfg(test)]
mod tests {
    use super::{at, place};

    #[test]
    fn places_are_in_the_order_of_floats() {
        let floats = [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, 0.0, 5e-324, 2.0, f64::INFINITY];
        let places = floats.map(place);
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(floats.iter().all(|x| at(place(*x)) == *x));
        assert_eq!(place(-0.0), place(0.0));
        assert_eq!(place(-f64::NAN), place(f64::NAN));
        assert!(at(place(f64::NAN)).is_nan() && place(f64::NAN) > place(f64::INFINITY));
    }
}
