//! The value of a subquery that may have no more than one row: an aggregate that notes whether there was a second row,
//! and a function that fails where there was. The function is computed for the outer rows: rows of a subquery to which
//! none belongs may be many.

mod groups;

use std::mem::size_of;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr, GroupsAccumulator, LogicalPlan, LogicalPlanBuilder, ScalarUDF,
    Signature, Volatility,
};
use salver_model::{Code, Error, SqlFault};

use self::groups::Groups;
use super::row_function::RowFunction;

/// Returns a query whose only row has what `checked` takes for the value of a query's only column.
pub(super) fn aggregated(query: LogicalPlan) -> Result<LogicalPlan> {
    static ONLY: LazyLock<AggregateUDF> = LazyLock::new(|| AggregateUDF::new_from_impl(Only::new()));
    let column = Expr::from(query.schema().qualified_field(0));
    LogicalPlanBuilder::from(query).aggregate(Vec::<Expr>::new(), vec![ONLY.call(vec![column])])?.build()
}

/// Returns the value of such a row, which is null if the query had none. It fails if there were more.
pub(super) fn checked(row: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(the_only_value()), vec![row]))
}

/// Returns the function that does so.
pub(super) fn the_only_value() -> ScalarUDF {
    RowFunction::of_one("the_only_value", value_type, |arrays, _| value(&arrays[0]))
}

/// Returns the aggregate of such a row.
#[cfg(feature = "ballista")]
pub(super) fn only_value() -> AggregateUDF {
    AggregateUDF::new_from_impl(Only::new())
}

fn value_type(types: &[DataType]) -> Result<DataType> {
    match types {
        [DataType::Struct(fields)] if fields.len() == 2 => Ok(fields[0].data_type().clone()),
        other => internal_err!("the value of a subquery is held as {other:?}"),
    }
}

fn value(held: &ArrayRef) -> Result<ArrayRef> {
    let Some(held) = held.as_struct_opt() else {
        return internal_err!("the value of a subquery is held as {}", held.data_type());
    };
    let are_many = held.column(1).as_boolean();
    if (0..held.len()).any(|row| held.is_valid(row) && are_many.is_valid(row) && are_many.value(row)) {
        let error = Error::new(Code::Execution, "more than one row returned by a subquery used as an expression")
            .with_hint("take one of them, as in `order by ... limit 1`, or an aggregate such as `max`")
            .with_sql_fault(SqlFault::ManyRows);
        return Err(DataFusionError::External(Box::new(error)));
    }
    // Where there is no row, the value below may be anything.
    let value = held.column(0);
    match held.nulls() {
        Some(nulls) if nulls.null_count() > 0 => {
            let is_missing = BooleanArray::new(!nulls.inner(), None);
            Ok(arrow::compute::nullif(value, &is_missing)?)
        }
        _ => Ok(Arc::clone(value)),
    }
}

fn fields(value: &DataType) -> Fields {
    Fields::from(vec![Field::new("value", value.clone(), true), Field::new("many", DataType::Boolean, true)])
}

/// Returns the results of the aggregate.
fn results(values: ArrayRef, found: BooleanArray, many: BooleanArray) -> Result<ArrayRef> {
    let nulls = NullBuffer::new(found.values().clone());
    let columns: Vec<ArrayRef> = vec![values, Arc::new(many)];
    let fields = fields(columns[0].data_type());
    Ok(Arc::new(StructArray::try_new(fields, columns, Some(nulls))?))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Only {
    signature: Signature,
}

impl Only {
    fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

/// Returns the type of the value of an aggregate with such results.
fn of_results(results: &DataType) -> Result<DataType> {
    value_type(std::slice::from_ref(results))
}

impl AggregateUDFImpl for Only {
    fn name(&self) -> &'static str {
        "only_value"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [only] => Ok(DataType::Struct(fields(only))),
            _ => internal_err!("a subquery that is a value has one column"),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let null = ScalarValue::try_from(&of_results(args.return_type())?)?;
        Ok(Box::new(One { value: null, is_found: false, are_many: false }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let field =
            |part: &str, data_type: DataType| Arc::new(Field::new(format_state_name(args.name, part), data_type, true));
        let value = of_results(args.return_type())?;
        Ok(vec![field("value", value), field("found", DataType::Boolean), field("many", DataType::Boolean)])
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Groups::new(&of_results(args.return_type())?)))
    }
}

/// The rows without groups.
#[derive(Debug)]
struct One {
    value: ScalarValue,
    is_found: bool,
    are_many: bool,
}

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [values] = values else { return internal_err!("a subquery that is a value has one column") };
        if !self.is_found && !values.is_empty() {
            self.value = ScalarValue::try_from_array(values, 0)?;
            // The value must not keep the whole batch.
            self.value.compact();
            self.are_many |= values.len() > 1;
        } else {
            self.are_many |= !values.is_empty();
        }
        self.is_found |= !values.is_empty();
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [values, found, many] = states else { return internal_err!("the state of a value has three columns") };
        let (found, many) = (found.as_boolean(), many.as_boolean());
        for row in (0..values.len()).filter(|row| found.value(*row)) {
            self.update_batch(&[values.slice(row, 1)])?;
            self.are_many |= many.value(row);
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.value.clone(), self.is_found.into(), self.are_many.into()])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let one = |flag: bool| BooleanArray::from(vec![flag]);
        let results = results(self.value.to_array()?, one(self.is_found), one(self.are_many))?;
        ScalarValue::try_from_array(&results, 0)
    }

    fn size(&self) -> usize {
        size_of::<Self>() - size_of::<ScalarValue>() + self.value.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use arrow::array::Int64Array;
    use arrow::datatypes::Int64Type;
    use datafusion::logical_expr::EmitTo;

    fn numbers(values: &[Option<i64>]) -> ArrayRef {
        Arc::new(Int64Array::from(values.to_vec()))
    }

    #[test]
    fn each_group_has_the_value_of_its_only_row() {
        let mut groups = Groups::new(&DataType::Int64);
        groups.update_batch(&[numbers(&[Some(1), None])], &[0, 2], None, 4).unwrap();
        let filter = BooleanArray::from(vec![Some(true), Some(false), None]);
        groups.update_batch(&[numbers(&[Some(3), Some(4), Some(5)])], &[3, 0, 1], Some(&filter), 4).unwrap();
        let mut merged = Groups::new(&DataType::Int64);
        let first = groups.state(EmitTo::First(2)).unwrap();
        merged.merge_batch(&first, &[1, 0], 2).unwrap();
        let rest = groups.state(EmitTo::All).unwrap();
        merged.merge_batch(&rest, &[2, 3], 4).unwrap();
        let held = merged.evaluate(EmitTo::All).unwrap();
        assert_eq!(held.null_count(), 1, "only the group without a row is missing");
        let values = value(&held).unwrap();
        assert_eq!(values.as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), [None, Some(1), None, Some(3)]);
    }

    #[test]
    fn a_second_row_is_noted_wherever_it_comes_from() {
        let mut groups = Groups::new(&DataType::Int64);
        groups.update_batch(&[numbers(&[None, Some(2)])], &[0, 1], None, 2).unwrap();
        groups.update_batch(&[numbers(&[None])], &[0], None, 2).unwrap();
        let held = groups.evaluate(EmitTo::All).unwrap();
        assert!(value(&held).is_err());
        assert!(value(&held.slice(1, 1)).is_ok());
        let one = || One { value: ScalarValue::Int64(None), is_found: false, are_many: false };
        let (mut all, mut other) = (one(), one());
        let state = |one: &mut One| -> Vec<ArrayRef> {
            one.state().unwrap().iter().map(|part| part.to_array().unwrap()).collect()
        };
        other.update_batch(&[numbers(&[Some(7)])]).unwrap();
        let part = state(&mut other);
        all.merge_batch(&part).unwrap();
        all.merge_batch(&state(&mut one())).unwrap();
        let single = all.evaluate().unwrap().to_array().unwrap();
        assert_eq!(value(&single).unwrap().as_primitive::<Int64Type>().value(0), 7);
        all.merge_batch(&part).unwrap();
        assert!(value(&all.evaluate().unwrap().to_array().unwrap()).is_err());
    }
}
