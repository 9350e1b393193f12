//! The functions that rules here put into plans and that no session knows by a name: other processes that run such a
//! plan must make them.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::logical_expr::{AggregateUDF, Expr, ScalarUDF, lit};

use super::intervals::{greatest_least, length};
use super::{
    checked_integers, decimal_division, decimal_to_float, float_min_max, float_normalization, float_order,
    list_functions, list_order, rounding_casts,
};

/// Returns the functions over rows, always in the same order.
pub(in crate::engine) fn unnamed() -> Vec<ScalarUDF> {
    let number = || lit(0_i64);
    let called = [
        float_order::ordered(number()),
        length(number()),
        rounding_casts::function(vec![number()]),
        list_order::compare(number(), number()),
        list_order::greatest(vec![number()]),
        decimal_to_float::float(number(), &DataType::Float32),
        decimal_to_float::float(number(), &DataType::Float64),
    ];
    let called = called.into_iter().filter_map(|call| match call {
        Expr::ScalarFunction(call) => Some(call.func.as_ref().clone()),
        _ => None,
    });
    let made = [
        checked_integers::negative(),
        decimal_division::function(),
        float_normalization::function(),
        greatest_least::function(false),
        greatest_least::function(true),
    ];
    called.chain(made).chain(list_functions::unnamed()).collect()
}

/// Returns the aggregates, always in the same order.
pub(in crate::engine) fn unnamed_aggregates() -> Vec<Arc<AggregateUDF>> {
    vec![float_min_max::min(), float_min_max::max()]
}
