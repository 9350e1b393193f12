//! The third argument of `lag` and `lead`: what they return where there is no such row. It has one type with the
//! values, and a quoted literal is one of them. The engine would round it to the type of the values.

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Cast, Expr, cast, lit};

use super::super::common_type;
use super::{TypeOf, intervals, typed_literals};

/// Gives the values and the default of such a call one type.
///
/// # Errors
/// A quoted literal that is no value of the type of the values.
pub(super) fn typed(expr: Expr, type_of: TypeOf<'_>) -> Result<Transformed<Expr>> {
    let Expr::WindowFunction(mut call) = expr else { return Ok(Transformed::no(expr)) };
    let is_shift = matches!(call.fun.name(), "lag" | "lead");
    let [value, _, default] = call.params.args.as_mut_slice() else {
        return Ok(Transformed::no(Expr::WindowFunction(call)));
    };
    let types = type_of(value).zip(type_of(default));
    let Some((own, other)) = types.filter(|(own, _)| is_shift && !own.is_null()) else {
        return Ok(Transformed::no(Expr::WindowFunction(call)));
    };
    if let Some(read) = read(default, &own)? {
        *default = folded(read)?;
    } else if let Some(read) = read(value, &other)? {
        *value = read;
        return Ok(Transformed::yes(Expr::WindowFunction(call)));
    }
    if let Some(other) = type_of(default)
        && let Some(to) = common_type::resolved(&[own.clone(), other.clone()])
    {
        *default = folded(converted(std::mem::take(default), &other, &to))?;
        *value = converted(std::mem::take(value), &own, &to);
    }
    Ok(Transformed::yes(Expr::WindowFunction(call)))
}

/// Returns a quoted literal as a value of a type; `None` for what is none, or for a type that the engine reads.
fn read(expr: &Expr, to: &DataType) -> Result<Option<Expr>> {
    match typed_literals::written(expr).filter(|_| typed_literals::is_read(to)) {
        Some(text) => typed_literals::read_as(text, to),
        None => Ok(None),
    }
}

fn converted(expr: Expr, own: &DataType, to: &DataType) -> Expr {
    if own == to { expr } else { intervals::converted(expr, own, to) }
}

/// Returns a cast literal as a literal, because the engine takes nothing else for a default.
fn folded(expr: Expr) -> Result<Expr> {
    match expr {
        Expr::Cast(Cast { expr, field }) => match folded(*expr)? {
            Expr::Literal(value, _) => Ok(lit(value.cast_to(field.data_type())?)),
            other => Ok(cast(other, field.data_type().clone())),
        },
        other => Ok(other),
    }
}
