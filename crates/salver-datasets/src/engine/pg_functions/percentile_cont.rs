//! `percentile_cont`, interpolated between two values of a group in full float precision. The engine's own uses steps
//! of a millionth.

use std::mem::size_of_val;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

/// `percentile_cont(p) within group (order by x)`, called as `percentile_cont(x, p)`.
pub(super) fn percentile_cont() -> AggregateUDF {
    AggregateUDF::new_from_impl(Continuous { signature: Signature::user_defined(Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Continuous {
    signature: Signature,
}

impl AggregateUDFImpl for Continuous {
    fn name(&self) -> &'static str {
        "percentile_cont"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let is_number = |own: &DataType| own.is_numeric() || own.is_null();
        match arg_types {
            [value, part] if is_number(value) && is_number(part) => Ok(vec![DataType::Float64; 2]),
            _ => plan_err!(
                "`percentile_cont` takes one part, as in `percentile_cont(0.5) within group (order by x)`, and orders \
                 numbers"
            ),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Values { part: None, values: Vec::new() }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let item = Field::new_list_field(DataType::Float64, true);
        let values = Field::new_list(format_state_name(args.name, "values"), item, true);
        let part = Field::new(format_state_name(args.name, "part"), DataType::Float64, true);
        Ok(vec![Arc::new(values), Arc::new(part)])
    }
}

/// Accumulator of the values of a group and the requested fraction.
#[derive(Debug)]
struct Values {
    part: Option<f64>,
    values: Vec<f64>,
}

impl Accumulator for Values {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let [values, parts] = columns else { return plan_err!("`percentile_cont` takes a value and a part") };
        if self.part.is_none() {
            self.part = cast(parts, &DataType::Float64)?.as_primitive::<Float64Type>().iter().flatten().next();
            if let Some(part) = self.part.filter(|part| !(0.0..=1.0).contains(part)) {
                return exec_err!("the percentile {part} is not between 0 and 1");
            }
        }
        // All NaNs become the one that is greater than everything.
        let known = values.as_primitive::<Float64Type>().iter().flatten();
        self.values.extend(known.map(|x| if x.is_nan() { f64::NAN } else { x }));
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for list in states[0].as_list::<i32>().iter().flatten() {
            self.values.extend(list.as_primitive::<Float64Type>().values());
        }
        self.part = self.part.or_else(|| states[1].as_primitive::<Float64Type>().iter().flatten().next());
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = Float64Array::from(std::mem::take(&mut self.values));
        let item = Arc::new(Field::new_list_field(DataType::Float64, true));
        let list = ListArray::try_new(item, OffsetBuffer::from_lengths([values.len()]), Arc::new(values), None)?;
        Ok(vec![ScalarValue::List(Arc::new(list)), ScalarValue::Float64(self.part)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let (Some(part), Some(last)) = (self.part, self.values.len().checked_sub(1)) else {
            return Ok(ScalarValue::Float64(None));
        };
        let place = part * last as f64;
        let below = (place.floor() as usize).min(last);
        let (_, low, above) = self.values.select_nth_unstable_by(below, f64::total_cmp);
        let (low, share) = (*low, place - below as f64);
        let high = above.iter().copied().min_by(f64::total_cmp).filter(|_| share > 0.0);
        Ok(ScalarValue::Float64(Some(high.map_or(low, |high| low + share * (high - low)))))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * size_of::<f64>()
    }
}
