//! `min` and `max` of nested values. The engine compares only lists and structs of plain values, and fails only when
//! the query runs. This check refuses other types at planning time, with a reason.

use arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result};
use datafusion::functions_aggregate::min_max::{Max, Min};
use datafusion::logical_expr::expr::{AggregateFunction, WindowFunction};
use datafusion::logical_expr::{AggregateUDF, Expr, WindowFunctionDefinition};
use salver_model::{Code, Error};

/// Refuses `min` and `max` of a type without an order.
///
/// # Errors
/// `InvalidSql`, which says what to write instead.
pub(super) fn check(expr: &Expr, type_of: &dyn Fn(&Expr) -> Option<DataType>) -> Result<()> {
    let (function, args): (&AggregateUDF, _) = match expr {
        Expr::AggregateFunction(AggregateFunction { func, params }) => (func, &params.args),
        Expr::WindowFunction(window) => {
            let WindowFunction { fun: WindowFunctionDefinition::AggregateUDF(func), params } = &**window else {
                return Ok(());
            };
            (func, &params.args)
        }
        _ => return Ok(()),
    };
    if !(function.inner().is::<Min>() || function.inner().is::<Max>()) {
        return Ok(());
    }
    match args.iter().find_map(|arg| Some((arg, type_of(arg).filter(|own| !has_order(own))?))) {
        None => Ok(()),
        Some((arg, data_type)) => {
            let (name, of) = (function.name(), arg.to_string());
            let of = of.rsplit('.').next().unwrap_or(&of);
            let (what, part) = match data_type {
                DataType::Map(..) => ("maps", format!("`{name}({of}['key'])`")),
                DataType::Struct(_) => ("structs with nested values", format!("`{name}({of}.member)`")),
                _ => ("lists of nested values", format!("`{name}({of}[1])` or `{name}({of}::text)`")),
            };
            let error = Error::new(Code::InvalidSql, format!("`{name}` of `{of}`: {what} have no order"))
                .with_hint(format!("ask for a part of them, as in {part}"));
            Err(DataFusionError::External(Box::new(error)))
        }
    }
}

/// Returns whether the engine's aggregates can compare values of this type.
fn has_order(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) => false,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            !item.data_type().is_nested()
        }
        DataType::Struct(fields) => !fields.iter().any(|field| field.data_type().is_nested()),
        _ => true,
    }
}
