//! Casts to text that write values as PostgreSQL does, including those that the planner inserts, such as for an operand
//! of `||` with a text.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DataFusionError, Result};
use datafusion::functions_nested::expr_fn::flatten;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Cast, Expr, TryCast, case, lit};
use salver_model::{Code, Error};

use super::super::pg_functions;
use super::{TypeOf, call};

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, FixedSizeBinary, LargeBinary};
    matches!(data_type, Binary | BinaryView | FixedSizeBinary(_) | LargeBinary)
}

/// Converts the operand of a cast to text where the cast would format it differently; returns whether that changed it.
pub(super) fn before_cast(expr: Expr, to: &DataType, type_of: TypeOf<'_>) -> (Expr, bool) {
    let texts = pg_functions::item(to).is_some_and(is_text);
    if !is_text(to) && !texts {
        return (expr, false);
    }
    match type_of(&expr) {
        Some(from) if is_text(to) && pg_functions::differs(&from) => (call(pg_functions::written(), vec![expr]), true),
        Some(from) if texts && pg_functions::item(&from).is_some_and(pg_functions::differs) => {
            (call(pg_functions::written_each(), vec![expr]), true)
        }
        _ => (expr, false),
    }
}

/// Returns whether the elements of a list are formatted differently by the kernels.
fn shows_items(list: &DataType) -> bool {
    pg_functions::item(list).is_some_and(is_shown)
}

fn is_nested(list: &DataType) -> bool {
    pg_functions::item(list).and_then(pg_functions::item).is_some()
}

/// Returns whether a value is formatted differently by the kernels, or by `concat`.
fn is_shown(own: &DataType) -> bool {
    *own == DataType::Boolean || is_bytes(own) || pg_functions::differs(own)
}

/// Rewrites expressions before the planner inserts casts: bytes are cast to text in hexadecimal digits, and `||`
/// formats a boolean as one letter and a list by its elements.
pub(super) fn written(expr: Expr, type_of: TypeOf<'_>) -> Result<Transformed<Expr>> {
    let is = |part: &Expr, test: fn(&DataType) -> bool| type_of(part).as_ref().is_some_and(test);
    Ok(match expr {
        Expr::Cast(Cast { expr, field }) if is_text(field.data_type()) && is(&expr, is_bytes) => {
            let expr = Box::new(call(pg_functions::written(), vec![*expr]));
            Transformed::yes(Expr::Cast(Cast { expr, field }))
        }
        Expr::Cast(Cast { expr, field })
            if pg_functions::item(field.data_type()).is_some_and(is_text)
                && is(&expr, |own| pg_functions::item(own).is_some_and(is_bytes)) =>
        {
            let expr = Box::new(call(pg_functions::written_each(), vec![*expr]));
            Transformed::yes(Expr::Cast(Cast { expr, field }))
        }
        // The kernels would make a list with the text as its only element.
        Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field })
            if pg_functions::item(field.data_type()).is_some() && is(&expr, is_text) =>
        {
            let error = Error::new(Code::InvalidSql, "a text that is not written out is not an array")
                .with_hint("take it apart first, as in `string_to_array(x, ',')::int[]`");
            return Err(DataFusionError::External(Box::new(error)));
        }
        Expr::ScalarFunction(ScalarFunction { func, mut args })
            if matches!(func.name(), "concat" | "concat_ws") && args.iter().any(|arg| is(arg, is_shown)) =>
        {
            for arg in &mut args {
                if is(arg, |own| *own == DataType::Boolean) {
                    let of = std::mem::take(arg);
                    *arg = case(of).when(lit(true), lit("t")).when(lit(false), lit("f")).end()?;
                } else if is(arg, is_shown) {
                    *arg = call(pg_functions::written(), vec![std::mem::take(arg)]);
                }
            }
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
        }
        // Whatever the dimensions, the elements are joined.
        Expr::ScalarFunction(ScalarFunction { func, mut args })
            if func.name() == "array_to_string" && args.first().is_some_and(|list| is(list, is_nested)) =>
        {
            if let Some(list) = args.first_mut() {
                *list = flatten(std::mem::take(list));
            }
            Transformed::yes(written(Expr::ScalarFunction(ScalarFunction { func, args }), type_of)?.data)
        }
        Expr::ScalarFunction(ScalarFunction { func, mut args })
            if func.name() == "array_to_string" && args.first().is_some_and(|list| is(list, shows_items)) =>
        {
            if let Some(list) = args.first_mut() {
                *list = call(pg_functions::written_each(), vec![std::mem::take(list)]);
            }
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
        }
        other => Transformed::no(other),
    })
}
