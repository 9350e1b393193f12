//! Text literals beside bytes, booleans, dates, times and decimals: `y = '\xff'` compares with one byte, and
//! `coalesce(born, '1970-01-01')` is a date. A literal has no type of its own in PostgreSQL, and takes that of what it
//! stands beside; the engine would take it for the text that it is written as, or refuse it. Beside a decimal it would
//! round it, while `'0.001'` has all of its digits, however many the decimal has.

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, i256};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{Between, Case, InList, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, cast, lit};

use super::super::pg_functions::bytes_of_literal;
use super::{TypeOf, is_comparison};

/// Functions whose arguments are of one type.
const ALIKE: [&str; 5] = ["coalesce", "greatest", "least", "make_array", "nullif"];

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
            decimal if decimal.is_decimal() => match decimal_of(text) {
                Some(number) => lit(number),
                None => continue,
            },
            bytes if bytes.is_binary() => cast(lit(ScalarValue::Binary(Some(bytes_of_literal(text)?))), to.clone()),
            _ => cast(std::mem::take(part), to.clone()),
        };
        changed = true;
    }
    Ok(changed)
}

/// The engine reads texts that are compared with dates and times itself.
fn is_compared(own: &DataType) -> bool {
    own.is_binary() || own.is_decimal() || *own == DataType::Boolean
}

/// Returns a text literal that is a number as one with all of its digits.
pub(super) fn exact(expr: &Expr) -> Option<Expr> {
    decimal_of(written(expr)?).map(lit)
}

/// Returns a number with all of its digits; `None` for what is none, or has too many.
fn decimal_of(text: &str) -> Option<ScalarValue> {
    let text = text.trim();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let zeros = usize::try_from(scale.min(0).unsigned_abs()).ok().filter(|zeros| *zeros <= DIGITS)?;
    let digits = format!("{whole}{fraction}{:0<zeros$}", "");
    let digits = digits.trim_start_matches('0');
    let scale = i8::try_from(scale.max(0)).ok()?;
    let precision = u8::try_from(digits.len()).ok()?.max(scale.unsigned_abs()).max(1);
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let number = format!("{sign}{}", if digits.is_empty() { "0" } else { digits });
    if precision <= DECIMAL128_MAX_PRECISION {
        return Some(ScalarValue::Decimal128(Some(number.parse().ok()?), precision, scale));
    }
    let is_held = precision <= DECIMAL256_MAX_PRECISION;
    is_held.then(|| Some(ScalarValue::Decimal256(Some(i256::from_string(&number)?), precision, scale)))?
}

/// Most digits of a decimal.
const DIGITS: usize = DECIMAL256_MAX_PRECISION as usize;

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

#[cfg(test)]
mod tests {
    use super::{ScalarValue, decimal_of};

    #[test]
    fn numbers_keep_their_digits() {
        for (text, value, precision, scale) in [
            ("1.049", 1_049, 4, 3),
            (" -0.001 ", -1, 3, 3),
            ("+7", 7, 1, 0),
            ("1e2", 100, 3, 0),
            ("1.5e-2", 15, 3, 3),
            ("000.50", 50, 2, 2),
            ("0", 0, 1, 0),
            (".5", 5, 1, 1),
        ] {
            assert_eq!(decimal_of(text), Some(ScalarValue::Decimal128(Some(value), precision, scale)), "{text}");
        }
        let long = format!("{}.5", "1".repeat(40));
        assert!(matches!(decimal_of(&long), Some(ScalarValue::Decimal256(Some(_), 41, 1))));
        for text in ["", "-", ".", "1,5", "NaN", "1e", "1e999999", &"1".repeat(77), "0x1"] {
            assert_eq!(decimal_of(text), None, "{text}");
        }
    }
}
