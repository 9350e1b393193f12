//! Intervals compare by their length, with 24 hours to a day and 30 days to a month, as in PostgreSQL; the kernels
//! compare months first.

pub(super) mod greatest_least;
mod grouping;

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Decimal128Array, ListArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Decimal128Type, DurationMicrosecondType, Field, IntervalMonthDayNanoType, IntervalUnit, TimeUnit,
};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DataFusionError, Result};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::functions_aggregate::min_max::{Max, Min};
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams, Case, ScalarFunction};
use datafusion::logical_expr::{self, BinaryExpr, Expr};
use salver_model::{Code, Error};

use super::super::pg_functions::{self, item};
use super::super::row_function::RowFunction;
use super::{TypeOf, call, is_comparison, operands};
pub(super) use grouping::node;

const DAY_NANOS: i128 = 86_400_000_000_000;
const MICRO_NANOS: i128 = 1_000;
const MONTH_DAYS: i128 = 30;
const LENGTH: DataType = DataType::Decimal128(38, 0);

/// Functions that look for an element, or compare elements, and return none of them.
const COMPARE_ELEMENTS: [&str; 5] =
    ["array_has", "array_has_all", "array_has_any", "array_position", "array_positions"];
/// Functions that return elements by a comparison.
const CHOOSE_ELEMENTS: [&str; 12] = [
    "array_distinct",
    "array_except",
    "array_intersect",
    "array_max",
    "array_min",
    "array_remove",
    "array_remove_all",
    "array_remove_n",
    "array_replace",
    "array_replace_all",
    "array_sort",
    "array_union",
];

fn is_interval(expr: &Expr, type_of: TypeOf<'_>) -> bool {
    matches!(type_of(expr), Some(DataType::Interval(_)))
}

/// Returns whether an expression is an interval, or an array of them.
fn holds(expr: &Expr, type_of: TypeOf<'_>) -> bool {
    type_of(expr).is_some_and(|own| are_held(&own))
}

/// Returns whether values of a type are intervals, or arrays of them.
pub(super) fn are_held(own: &DataType) -> bool {
    matches!(own, DataType::Interval(_)) || item(own).is_some_and(are_held)
}

/// Returns whether an operator compares intervals, or arrays of them.
pub(super) fn are_compared(expr: &BinaryExpr, type_of: TypeOf<'_>) -> bool {
    is_comparison(expr.op) && holds(&expr.left, type_of) && holds(&expr.right, type_of)
}

/// Casts a value of type `own` to another type. A difference of two times becomes an interval with days.
pub(super) fn converted(expr: Expr, own: &DataType, to: &DataType) -> Expr {
    match (own, to) {
        (DataType::Duration(_), DataType::Interval(_)) => spanned(&expr),
        _ => logical_expr::cast(expr, to.clone()),
    }
}

/// Converts a duration to an interval.
pub(super) fn spanned(duration: &Expr) -> Expr {
    call(pg_functions::time_span(), vec![duration.clone()])
}

/// Sums differences of two times as intervals, whose days and hours are added apart.
pub(super) fn summed(expr: Expr, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let is_duration =
        |args: &[Expr]| args.iter().any(|arg| type_of(arg).is_some_and(|own| matches!(own, DataType::Duration(_))));
    let all = |args: Vec<Expr>| args.iter().map(spanned).collect();
    match expr {
        Expr::AggregateFunction(mut own) if own.func.name() == "sum" && is_duration(&own.params.args) => {
            own.params.args = all(own.params.args);
            Transformed::yes(Expr::AggregateFunction(own))
        }
        Expr::WindowFunction(mut own) if own.fun.name() == "sum" && is_duration(&own.params.args) => {
            own.params.args = all(own.params.args);
            Transformed::yes(Expr::WindowFunction(own))
        }
        other => Transformed::no(other),
    }
}

/// Compares a difference of two times with intervals by their lengths.
pub(super) fn beside_durations(expr: Expr, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let is_span = |own: &DataType| matches!(own, DataType::Duration(_) | DataType::Interval(_));
    let is_mixed = |parts: &[&Expr]| {
        // The types of a long list take time.
        let Some(first) = parts.first().and_then(|part| type_of(part)).filter(is_span) else { return false };
        parts.iter().filter_map(|part| type_of(part)).any(|own| is_span(&own) && own != first)
    };
    match is_mixed(&operands::of(&expr)) {
        true => Transformed::yes(operands::each(expr, &length)),
        false => Transformed::no(expr),
    }
}

/// Refuses functions that would choose among the elements of an array by the parts of the intervals.
///
/// # Errors
/// `InvalidSql`, which names the function.
pub(super) fn check(called: &ScalarFunction, type_of: TypeOf<'_>) -> Result<()> {
    let name = called.func.name();
    let is_list = || called.args.first().and_then(type_of).as_ref().and_then(item).is_some_and(are_held);
    if CHOOSE_ELEMENTS.contains(&name) && is_list() {
        let error = Error::new(Code::InvalidSql, format!("`{name}` is not for arrays of intervals"))
            .with_hint("take the array apart, as in `select x from unnest(a) as u(x) order by x`");
        return Err(DataFusionError::External(Box::new(error)));
    }
    Ok(())
}

/// Rewrites an expression that compares intervals by other means than an operator.
pub(super) fn expression(expr: Expr, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let boxed = |part: Box<Expr>| Box::new(length(*part));
    match expr {
        expr @ (Expr::InList(_) | Expr::Between(_)) => match operands::of(&expr).first() {
            Some(first) if holds(first, type_of) => Transformed::yes(operands::each(expr, &length)),
            _ => Transformed::no(expr),
        },
        Expr::Case(Case { expr: Some(base), when_then_expr, else_expr }) if holds(&base, type_of) => {
            let when_then_expr = when_then_expr.into_iter().map(|(when, then)| (boxed(when), then)).collect();
            Transformed::yes(Expr::Case(Case { expr: Some(boxed(base)), when_then_expr, else_expr }))
        }
        Expr::AggregateFunction(AggregateFunction { func, params })
            if (func.inner().is::<Min>() || func.inner().is::<Max>())
                && params.args.iter().all(|arg| is_interval(arg, type_of)) =>
        {
            extreme(params, func.inner().is::<Min>())
        }
        // Only one of several intervals of the same length counts.
        Expr::AggregateFunction(AggregateFunction { func, mut params })
            if func.name() == "count" && params.distinct && params.args.iter().any(|arg| is_interval(arg, type_of)) =>
        {
            let args = params.args.into_iter().map(|arg| if is_interval(&arg, type_of) { length(arg) } else { arg });
            params.args = args.collect();
            Transformed::yes(Expr::AggregateFunction(AggregateFunction { func, params }))
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if matches!(func.name(), "greatest" | "least")
                && !func.inner().is::<greatest_least::Extreme>()
                && args.iter().all(|arg| is_interval(arg, type_of)) =>
        {
            Transformed::yes(call(greatest_least::function(func.name() == "least"), args))
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if COMPARE_ELEMENTS.contains(&func.name()) && args.iter().any(|arg| holds(arg, type_of)) =>
        {
            let args = args.into_iter().map(|arg| if holds(&arg, type_of) { length(arg) } else { arg });
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args: args.collect() }))
        }
        other => Transformed::no(other),
    }
}

/// Rewrites `min` or `max` of intervals to `first_value` ordered by their length.
fn extreme(params: AggregateFunctionParams, is_least: bool) -> Transformed<Expr> {
    let AggregateFunctionParams { args, filter, .. } = params;
    let known = args.iter().map(|arg| arg.clone().is_not_null());
    let filter = filter.map(|filter| *filter).into_iter().chain(known).reduce(Expr::and).map(Box::new);
    let order_by = args.iter().map(|arg| length(arg.clone()).sort(is_least, false)).collect();
    let params = AggregateFunctionParams { args, distinct: false, filter, order_by, null_treatment: None };
    Transformed::yes(Expr::AggregateFunction(AggregateFunction { func: first_value_udaf(), params }))
}

/// Returns the length of an interval, or of a difference of two times, in nanoseconds; of an array those of its
/// elements.
pub(super) fn length(expr: Expr) -> Expr {
    let returns = |types: &[DataType]| Ok(types.first().map_or(LENGTH, lengths_of));
    call(RowFunction::of_one("length", returns, |arrays, _| lengths(&arrays[0])), vec![expr])
}

fn lengths_of(own: &DataType) -> DataType {
    item(own).map_or(LENGTH, |item| DataType::new_list(lengths_of(item), true))
}

fn lengths(array: &ArrayRef) -> Result<ArrayRef> {
    if let Some(own) = item(array.data_type()) {
        let list = cast(array, &DataType::new_list(own.clone(), true))?;
        let (_, offsets, items, nulls) = list.as_list::<i32>().clone().into_parts();
        let items = lengths(&items)?;
        let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        return Ok(Arc::new(ListArray::try_new(field, offsets, items, nulls)?));
    }
    if let DataType::Duration(_) = array.data_type() {
        let micros = cast(array, &DataType::Duration(TimeUnit::Microsecond))?;
        let lengths: Decimal128Array = micros
            .as_primitive::<DurationMicrosecondType>()
            .unary::<_, Decimal128Type>(|micros| i128::from(micros) * MICRO_NANOS);
        return Ok(Arc::new(lengths.with_data_type(LENGTH)));
    }
    let intervals = cast(array, &DataType::Interval(IntervalUnit::MonthDayNano))?;
    let lengths: Decimal128Array =
        intervals.as_primitive::<IntervalMonthDayNanoType>().unary::<_, Decimal128Type>(|interval| {
            let days = i128::from(interval.months) * MONTH_DAYS + i128::from(interval.days);
            days * DAY_NANOS + i128::from(interval.nanoseconds)
        });
    Ok(Arc::new(lengths.with_data_type(LENGTH)))
}
