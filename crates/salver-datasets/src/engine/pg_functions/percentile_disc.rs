//! `percentile_disc` and `mode`, which return one of the values: from the sorted values of a group.

use std::mem::size_of_val;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, new_empty_array};
use arrow::compute::{SortOptions, concat, filter, is_not_null, sort};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

/// `percentile_disc(p) within group (order by x)`, called as `percentile_disc(x, p)`.
pub(super) fn percentile_disc() -> AggregateUDF {
    AggregateUDF::new_from_impl(OfSorted { is_mode: false, signature: Signature::any(2, Volatility::Immutable) })
}

/// `mode() within group (order by x)`, called as `mode(x)`.
pub(super) fn mode() -> AggregateUDF {
    AggregateUDF::new_from_impl(OfSorted { is_mode: true, signature: Signature::any(1, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OfSorted {
    is_mode: bool,
    signature: Signature,
}

impl AggregateUDFImpl for OfSorted {
    fn name(&self) -> &'static str {
        if self.is_mode { "mode" } else { "percentile_disc" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        if arg_types.get(1).is_some_and(DataType::is_nested) {
            return plan_err!("`{}` takes no array of shares that is computed", self.name());
        }
        match arg_types.first() {
            Some(DataType::Dictionary(..)) | None => plan_err!("`{}` has no such values", self.name()),
            Some(own) if own.is_nested() => plan_err!("`{}` is not for {own}", self.name()),
            Some(own) => Ok(own.clone()),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let data_type = args.return_type().clone();
        Ok(Box::new(Sorted { is_mode: self.is_mode, percentile: None, data_type, values: Vec::new() }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let item = Field::new_list_field(args.return_type().clone(), true);
        let values = Field::new_list(format_state_name(args.name, "values"), item, true);
        let percentile = Field::new(format_state_name(args.name, "percentile"), DataType::Float64, true);
        Ok(vec![Arc::new(values), Arc::new(percentile)])
    }
}

/// Accumulator of the values of a group.
#[derive(Debug)]
struct Sorted {
    is_mode: bool,
    percentile: Option<f64>,
    data_type: DataType,
    values: Vec<ArrayRef>,
}

impl Sorted {
    fn all(&self) -> Result<ArrayRef> {
        if self.values.is_empty() {
            return Ok(new_empty_array(&self.data_type));
        }
        let parts: Vec<&dyn Array> = self.values.iter().map(|values| &**values).collect();
        Ok(concat(&parts)?)
    }
}

impl Accumulator for Sorted {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if let Some(percentiles) = values.get(1)
            && self.percentile.is_none()
            && !percentiles.is_empty()
            && let ScalarValue::Float64(Some(p)) =
                ScalarValue::try_from_array(percentiles, 0)?.cast_to(&DataType::Float64)?
        {
            if !(0.0..=1.0).contains(&p) {
                return exec_err!("the percentile {p} is not between 0 and 1");
            }
            self.percentile = Some(p);
        }
        let known = filter(&values[0], &is_not_null(&values[0])?)?;
        if !known.is_empty() {
            self.values.push(known);
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        use arrow::array::AsArray;
        for list in states[0].as_list::<i32>().iter().flatten() {
            if !list.is_empty() {
                self.values.push(list);
            }
        }
        let percentiles = states[1].as_primitive::<arrow::datatypes::Float64Type>();
        self.percentile = self.percentile.or_else(|| percentiles.iter().flatten().next());
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        use arrow::array::ListArray;
        use arrow::buffer::OffsetBuffer;
        let all = self.all()?;
        let item = Arc::new(Field::new_list_field(self.data_type.clone(), true));
        let list = ListArray::try_new(item, OffsetBuffer::from_lengths([all.len()]), all, None)?;
        Ok(vec![ScalarValue::List(Arc::new(list)), ScalarValue::Float64(self.percentile)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sorted = sort(&self.all()?, Some(SortOptions::default()))?;
        if sorted.is_empty() {
            return ScalarValue::try_from(&self.data_type);
        }
        let at = if self.is_mode {
            most_frequent(&sorted)?
        } else {
            let Some(p) = self.percentile else { return ScalarValue::try_from(&self.data_type) };
            // The first value at which this fraction of the group is reached.
            ((p * sorted.len() as f64).ceil() as usize).saturating_sub(1).min(sorted.len() - 1)
        };
        ScalarValue::try_from_array(&sorted, at)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.iter().map(|values| values.get_array_memory_size()).sum::<usize>()
    }
}

/// Returns the index of the first of the most frequent values.
fn most_frequent(sorted: &ArrayRef) -> Result<usize> {
    let ranges = arrow::compute::partition(&[Arc::clone(sorted)])?.ranges();
    let mut best = 0..0;
    for range in ranges {
        if range.len() > best.len() {
            best = range;
        }
    }
    Ok(best.start)
}
