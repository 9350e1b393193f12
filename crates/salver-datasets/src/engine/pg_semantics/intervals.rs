//! Intervals compare by their length, with 24 hours to a day and 30 days to a month, as in PostgreSQL; the kernels
//! compare months first.

mod greatest_least;
mod grouping;

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Decimal128Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, IntervalMonthDayNanoType, IntervalUnit};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::functions_aggregate::min_max::{Max, Min};
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams, Case, InList, ScalarFunction};
use datafusion::logical_expr::{Between, Expr};

use super::super::row_function::RowFunction;
use super::{TypeOf, call};
pub(super) use grouping::node;

const DAY_NANOS: i128 = 86_400_000_000_000;
const MONTH_DAYS: i128 = 30;
const LENGTH: DataType = DataType::Decimal128(38, 0);

fn is_interval(expr: &Expr, type_of: TypeOf<'_>) -> bool {
    matches!(type_of(expr), Some(DataType::Interval(_)))
}

/// Rewrites an expression that compares intervals by other means than an operator.
pub(super) fn expression(expr: Expr, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let boxed = |part: Box<Expr>| Box::new(length(*part));
    match expr {
        Expr::InList(InList { expr, list, negated }) if is_interval(&expr, type_of) => {
            let list = list.into_iter().map(length).collect();
            Transformed::yes(Expr::InList(InList { expr: boxed(expr), list, negated }))
        }
        Expr::Between(Between { expr, negated, low, high }) if is_interval(&expr, type_of) => {
            let [expr, low, high] = [expr, low, high].map(boxed);
            Transformed::yes(Expr::Between(Between { expr, negated, low, high }))
        }
        Expr::Case(Case { expr: Some(base), when_then_expr, else_expr }) if is_interval(&base, type_of) => {
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

/// Returns the length of an interval, in nanoseconds.
pub(super) fn length(expr: Expr) -> Expr {
    call(RowFunction::of_one("length", |_| Ok(LENGTH), |arrays, _| lengths(&arrays[0])), vec![expr])
}

fn lengths(array: &ArrayRef) -> Result<ArrayRef> {
    let intervals = cast(array, &DataType::Interval(IntervalUnit::MonthDayNano))?;
    let lengths: Decimal128Array =
        intervals.as_primitive::<IntervalMonthDayNanoType>().unary::<_, Decimal128Type>(|interval| {
            let days = i128::from(interval.months) * MONTH_DAYS + i128::from(interval.days);
            days * DAY_NANOS + i128::from(interval.nanoseconds)
        });
    Ok(Arc::new(lengths.with_data_type(LENGTH)))
}
