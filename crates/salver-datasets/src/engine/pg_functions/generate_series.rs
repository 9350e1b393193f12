//! `generate_series` and `range` of dates and times: to the microsecond, over all years, and with steps that must
//! advance. Those of integers are the engine's.

use std::sync::Arc;

use arrow::array::timezone::Tz;
use arrow::array::{ArrayRef, AsArray, ListBuilder, PrimitiveBuilder};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Field, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit,
    TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::row_function::{answered, rows_of};

/// Replaces the engine's two functions, as values and as tables.
///
/// # Errors
/// A session without them.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for name in ["generate_series", "range"] {
        let inner = state.udf(name)?;
        let signature = Signature::user_defined(Volatility::Immutable);
        let ends_before = name == "range";
        state.register_udf(Arc::new(ScalarUDF::new_from_impl(Series { inner, signature, ends_before })))?;
        if let Some(table) = state.deregister_udtf(name)? {
            state.register_udtf(name, Arc::new(OfNumbers(table)));
        }
    }
    Ok(())
}

/// Table of integers that is generated while it is read. A series of dates and times is a list, as for `unnest`.
#[derive(Debug)]
struct OfNumbers(Arc<dyn TableFunctionImpl>);

impl TableFunctionImpl for OfNumbers {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let is_number = |expr: &Expr| match expr {
            Expr::Literal(value, _) => value.is_null() || value.data_type().is_integer(),
            _ => false,
        };
        if !args.exprs().iter().all(is_number) {
            return plan_err!("a series in place of a table is one of whole numbers here; unnest one of other values");
        }
        self.0.call_with_args(args)
    }
}

const MICROS: TimeUnit = TimeUnit::Microsecond;

/// Function that returns a series as a list.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Series {
    inner: Arc<ScalarUDF>,
    signature: Signature,
    ends_before: bool,
}

impl ScalarUDFImpl for Series {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let name = self.name();
        let is_text = |own: &DataType| own.is_string() || own.is_null();
        let ends = &arg_types[..arg_types.len().min(2)];
        let of = match ends.iter().find(|own| !is_text(own)) {
            Some(DataType::Timestamp(..) | DataType::Date32 | DataType::Date64) => moment(ends),
            None | Some(_) if ends.iter().all(|own| own.is_integer() || own.is_null()) => {
                return match arg_types {
                    [_] | [_, _] => Ok(vec![DataType::Int64; arg_types.len()]),
                    [_, _, step] if step.is_integer() || step.is_null() => Ok(vec![DataType::Int64; 3]),
                    _ => plan_err!("`{name}` of whole numbers takes a step that is one"),
                };
            }
            _ => None,
        };
        match (of, arg_types) {
            (Some(of), [_, _, step])
                if is_text(step) || matches!(step, DataType::Interval(_) | DataType::Duration(_)) =>
            {
                Ok(vec![of.clone(), of, DataType::Interval(IntervalUnit::MonthDayNano)])
            }
            (Some(_), _) => {
                plan_err!("`{name}` of dates or times takes an interval as its step, as in `interval '1 day'`")
            }
            (None, _) => plan_err!("`{name}` goes from one whole number, date or timestamp to another, by a step"),
        }
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        let own = arg_types.first().cloned().unwrap_or(DataType::Int64);
        Ok(DataType::List(Arc::new(Field::new_list_field(own, true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (all_scalar, rows) = rows_of(&args);
        let arrays = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<_>>>()?;
        let [from, to, steps] = arrays.as_slice() else { return self.inner.invoke_with_args(args) };
        let next = |zone: &Option<Arc<str>>| zone.as_deref().unwrap_or("+00").parse::<Tz>();
        let lists = match from.data_type() {
            DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
                let zone = next(zone)?;
                let next = |from, step| TimestampNanosecondType::add_month_day_nano(from, step, zone);
                self.lists::<TimestampNanosecondType>(from, to, steps, next)?
            }
            DataType::Timestamp(_, zone) => {
                let zone = next(zone)?;
                let next = |from, step| TimestampMicrosecondType::add_month_day_nano(from, step, zone);
                self.lists::<TimestampMicrosecondType>(from, to, steps, next)?
            }
            DataType::Date32 => {
                if steps.as_primitive::<IntervalMonthDayNanoType>().iter().flatten().any(|step| step.nanoseconds != 0) {
                    return exec_err!("dates go on by days: cast them to timestamps for a step with hours");
                }
                self.lists::<Date32Type>(from, to, steps, Date32Type::add_month_day_nano_opt)?
            }
            _ => return self.inner.invoke_with_args(args),
        };
        answered(lists, all_scalar)
    }
}

/// Returns the type of a series between two bounds: a timestamp if one of them is one, with the finer unit and the zone
/// of either.
fn moment(ends: &[DataType]) -> Option<DataType> {
    let has_type = |own: &&DataType| !own.is_string() && !own.is_null();
    ends.iter().filter(has_type).try_fold(DataType::Date32, |of, own| match (own, of) {
        (DataType::Timestamp(unit, zone), DataType::Timestamp(other, theirs)) => {
            Some(DataType::Timestamp((*unit).max(other), theirs.or_else(|| zone.clone())))
        }
        (DataType::Timestamp(unit, zone), _) => Some(DataType::Timestamp((*unit).max(MICROS), zone.clone())),
        (DataType::Date32 | DataType::Date64, of) => Some(of),
        _ => None,
    })
}

impl Series {
    fn lists<T: ArrowPrimitiveType>(
        &self,
        from: &ArrayRef,
        to: &ArrayRef,
        steps: &ArrayRef,
        next: impl Fn(T::Native, IntervalMonthDayNano) -> Option<T::Native>,
    ) -> Result<ArrayRef> {
        let builder = PrimitiveBuilder::<T>::new().with_data_type(from.data_type().clone());
        let mut lists = ListBuilder::new(builder);
        let (from, to) = (from.as_primitive::<T>(), to.as_primitive::<T>());
        let steps = steps.as_primitive::<IntervalMonthDayNanoType>();
        for ((from, to), step) in from.iter().zip(to).zip(steps) {
            let (Some(from), Some(to), Some(step)) = (from, to, step) else {
                lists.append_null();
                continue;
            };
            let length = shortest(step);
            if length == 0 {
                return exec_err!(
                    "`{}` needs a step that goes on from every day: at least a microsecond, and with months and days \
                     in one direction",
                    self.name()
                );
            }
            let mut at = Some(from);
            while let Some(now) = at {
                if (length > 0 && now > to) || (length < 0 && now < to) || (self.ends_before && now == to) {
                    break;
                }
                lists.values().append_value(now);
                // A value out of range is after the end.
                at = next(now, step);
            }
            lists.append(true);
        }
        Ok(Arc::new(lists.finish()))
    }
}

/// Returns the minimum length of a step, in microseconds, with its direction; 0 if the step may stand still or turn,
/// because months have 28 to 31 days.
pub(in crate::engine) fn shortest(step: IntervalMonthDayNano) -> i64 {
    let of = |month: i128| {
        let days = i128::from(step.months) * month + i128::from(step.days);
        (days * 86_400_000_000_000 + i128::from(step.nanoseconds)) / 1_000
    };
    let (one, other) = (of(28), of(31));
    let (least, most) = (one.min(other), one.max(other));
    let shortest = if least > 0 {
        least
    } else if most < 0 {
        most
    } else {
        0
    };
    i64::try_from(shortest).unwrap_or(if shortest > 0 { i64::MAX } else { i64::MIN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_goes_on_or_has_no_length() {
        let day = 86_400_000_000_i64;
        let of = |months, days, nanoseconds| shortest(IntervalMonthDayNano { months, days, nanoseconds });
        assert_eq!([of(0, 1, 0), of(1, 0, 0), of(-1, 0, 0)], [day, 28 * day, -28 * day]);
        assert_eq!([of(1, -30, 0), of(-1, 29, 0), of(0, 0, 999), of(0, 0, 0)], [0; 4]);
        assert_eq!([of(1, -27, 0), of(1, -32, 0), of(-1, 32, 0)], [day, -day, day]);
        assert_eq!(of(i32::MAX, i32::MAX, i64::MAX), i64::MAX);
        assert_eq!(of(i32::MIN, i32::MIN, i64::MIN), i64::MIN);
    }
}
