//! Text literals beside bytes, booleans, dates and times: `y = '\xff'` compares with one byte, and `coalesce(born, x)`
//! of a date and a text is a date. A literal has no type of its own in PostgreSQL, and takes that of what it stands
//! beside; the engine would take it for the text that it is written as, or refuse it.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{Between, Case, InList, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, cast, lit};

use super::super::pg_functions::bytes_of_literal;
use super::{TypeOf, is_comparison};

/// Functions whose arguments are of one type.
const ALIKE: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];

/// Gives the literals of an expression the type that they stand beside.
pub(super) fn typed(mut expr: Expr, type_of: TypeOf<'_>) -> Result<Transformed<Expr>> {
    let changed = match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => {
            alike(vec![left, right], is_compared, type_of)?
        }
        Expr::Between(Between { expr, low, high, .. }) => alike(vec![expr, low, high], is_compared, type_of)?,
        Expr::InList(InList { expr, list, .. }) => {
            alike(std::iter::once(&mut **expr).chain(list.iter_mut()).collect(), is_compared, type_of)?
        }
        Expr::Case(Case { expr: operand, when_then_expr, else_expr }) => {
            let (whens, thens): (Vec<_>, Vec<_>) = when_then_expr.iter_mut().map(|(when, then)| (when, then)).unzip();
            let results = thens.into_iter().chain(else_expr).map(|part| &mut **part).collect();
            let is_changed = alike(results, is_read, type_of)?;
            let compared = operand.iter_mut().map(|part| &mut **part).chain(whens.into_iter().map(|part| &mut **part));
            alike(compared.collect(), is_compared, type_of)? | is_changed
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) if ALIKE.contains(&func.name()) => {
            alike(args.iter_mut().collect(), is_read, type_of)?
        }
        _ => false,
    };
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

/// Gives the literals among parts of one type the type of the others, if texts are to be read as it.
fn alike(parts: Vec<&mut Expr>, is_to_be_read: fn(&DataType) -> bool, type_of: TypeOf<'_>) -> Result<bool> {
    let mut others = parts.iter().filter(|part| written(part).is_none()).filter_map(|part| type_of(part));
    let Some(to) = others.find(|own| !own.is_null()).filter(is_to_be_read) else { return Ok(false) };
    let mut changed = false;
    for part in parts {
        let Some(text) = written(part) else { continue };
        *part = match &to {
            bytes if bytes.is_binary() => cast(lit(ScalarValue::Binary(Some(bytes_of_literal(text)?))), to.clone()),
            _ => cast(std::mem::take(part), to.clone()),
        };
        changed = true;
    }
    Ok(changed)
}

/// The engine reads texts that are compared with dates and times itself.
fn is_compared(own: &DataType) -> bool {
    own.is_binary() || *own == DataType::Boolean
}

fn is_read(own: &DataType) -> bool {
    use DataType::{Date32, Time32, Time64, Timestamp};
    is_compared(own) || matches!(own, Date32 | Time32(_) | Time64(_) | Timestamp(..))
}

/// Returns the text of a text literal.
fn written(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal(
            ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)),
            _,
        ) => Some(text),
        _ => None,
    }
}
