//! Arguments of window functions. The third one of `lag` and `lead` is what they return where there is no such row: it
//! has one type with the values, and a quoted literal is one of them; the engine would round it to the type of the
//! values. A distance of null gives null, and one that is computed of columns is refused; `nth_value` counts from one.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::expr::WindowFunctionParams;
use datafusion::logical_expr::{Cast, Expr, WindowFrame, WindowFrameBound, WindowFrameUnits, cast, lit};
use salver_model::{Code, Error};

use super::super::common_type;
use super::in_subquery::is_null;
use super::{TypeOf, has_columns, intervals, typed_literals};

/// Gives the values and the default of such a call one type.
///
/// # Errors
/// A quoted literal that is no value of the type of the values, a distance that is another one for each row, and a row
/// of `nth_value` that there can't be.
pub(super) fn typed(expr: Expr, type_of: TypeOf<'_>) -> Result<Transformed<Expr>> {
    let Expr::WindowFunction(mut call) = expr else { return Ok(Transformed::no(expr)) };
    let is_changed = by_groups(&mut call.params, type_of);
    match (call.fun.name(), call.params.args.as_mut_slice()) {
        ("nth_value", [_, number]) => {
            check_number(number)?;
            Ok(Transformed::yes(Expr::WindowFunction(call)))
        }
        ("lag" | "lead", [value, distance, ..]) if is_null(distance) => {
            if let Some(own) = type_of(value) {
                *value = lit(ScalarValue::try_from(&own)?);
                call.params.args.truncate(1);
            }
            Ok(Transformed::yes(Expr::WindowFunction(call)))
        }
        (name @ ("lag" | "lead"), [_, distance, ..]) if has_columns(distance) => Err(moving_distance(name)),
        ("lag" | "lead", [value, _, default]) => {
            let types = type_of(value).zip(type_of(default));
            if let Some((own, other)) = types.filter(|(own, _)| !own.is_null()) {
                in_one_type(value, default, (&own, &other), type_of)?;
            }
            Ok(Transformed::yes(Expr::WindowFunction(call)))
        }
        _ if is_changed => Ok(Transformed::yes(Expr::WindowFunction(call))),
        _ => Ok(Transformed::no(Expr::WindowFunction(call))),
    }
}

/// Writes a frame of whole groups of equal rows as such; returns whether it is one. By `range` the engine takes no
/// times of day, intervals and bytes to order by, because it could not add a distance to them.
fn by_groups(params: &mut WindowFunctionParams, type_of: TypeOf<'_>) -> bool {
    let is_whole = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::CurrentRow => true,
        WindowFrameBound::Preceding(distance) | WindowFrameBound::Following(distance) => distance.is_null(),
    };
    let is_else = |own: DataType| {
        own.is_binary()
            || matches!(own, DataType::Time32(_) | DataType::Time64(_) | DataType::Interval(_) | DataType::Duration(_))
    };
    let frame = &params.window_frame;
    let is_meant = frame.units == WindowFrameUnits::Range
        && is_whole(&frame.start_bound)
        && is_whole(&frame.end_bound)
        && params.order_by.first().and_then(|key| type_of(&key.expr)).is_some_and(is_else);
    if is_meant {
        let unbounded = |bound: &WindowFrameBound| match bound {
            WindowFrameBound::Preceding(_) => WindowFrameBound::Preceding(ScalarValue::UInt64(None)),
            WindowFrameBound::Following(_) => WindowFrameBound::Following(ScalarValue::UInt64(None)),
            WindowFrameBound::CurrentRow => WindowFrameBound::CurrentRow,
        };
        let (start, end) = (unbounded(&frame.start_bound), unbounded(&frame.end_bound));
        params.window_frame = WindowFrame::new_bounds(WindowFrameUnits::Groups, start, end);
    }
    is_meant
}

/// The error of a distance that is another one for each row.
fn moving_distance(name: &str) -> DataFusionError {
    let error = Error::new(Code::InvalidSql, format!("the distance of `{name}` must be the same for all rows"))
        .with_hint("number the rows with `row_number()` in a subquery, and join it with itself by these numbers");
    DataFusionError::External(Box::new(error))
}

/// Refuses a number of a row that is not positive: the engine would count from the end.
fn check_number(number: &Expr) -> Result<()> {
    let is_positive = match number {
        Expr::Literal(ScalarValue::Int64(Some(number)), _) => *number > 0,
        Expr::Negative(_) => false,
        _ => true,
    };
    if is_positive {
        return Ok(());
    }
    let error = Error::new(Code::InvalidSql, "the second argument of `nth_value` must be greater than 0")
        .with_hint("rows are counted from 1; order them the other way to count from the end");
    Err(DataFusionError::External(Box::new(error)))
}

fn in_one_type(
    value: &mut Expr,
    default: &mut Expr,
    (own, other): (&DataType, &DataType),
    type_of: TypeOf<'_>,
) -> Result<()> {
    if let Some(read) = read(default, own)? {
        *default = folded(read)?;
    } else if let Some(read) = read(value, other)? {
        *value = read;
        return Ok(());
    }
    if let Some(other) = type_of(default)
        && let Some(to) = common_type::resolved(&[own.clone(), other.clone()])
    {
        *default = folded(converted(std::mem::take(default), &other, &to))?;
        *value = converted(std::mem::take(value), own, &to);
    }
    Ok(())
}

/// Returns a quoted literal as a value of a type; `None` for what is none, or for a type that the engine reads.
fn read(expr: &Expr, to: &DataType) -> Result<Option<Expr>> {
    match typed_literals::written(expr) {
        Some(text) if typed_literals::is_read(to) => typed_literals::read_as(text, to),
        Some(_) if to.is_numeric() => Ok(Some(cast(expr.clone(), to.clone()))),
        _ => Ok(None),
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
