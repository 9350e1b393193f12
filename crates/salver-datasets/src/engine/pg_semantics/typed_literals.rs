//! Text literals beside values of other types: `y = '\xff'` compares with one byte, and `coalesce(born, '1970-01-01')`
//! is a date. A literal has no type of its own in PostgreSQL, and takes that of what it stands beside; the engine would
//! take it for the text that it is written as, or refuse it. Beside a decimal it would round it, while `'0.001'` has
//! all of its digits, however many the decimal has.
//!
//! Values that are results of one expression, such as those of a `case`, get the type that they have in common.

use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, IntervalMonthDayNano, IntervalUnit, i256,
};
use datafusion::common::tree_node::Transformed;
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::functions_nested::make_array::make_array;
use datafusion::logical_expr::expr::{Between, Case, InList, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, cast, lit};
use salver_model::{Code, Error, SqlFault};
use salver_text::interval;

use super::super::common_type;
use super::super::literal_text::{self, Element};
use super::super::pg_functions::{bytes_of_literal, item, list_and_elements};
use super::{TypeOf, intervals, is_comparison};

const SPAN: DataType = DataType::Interval(IntervalUnit::MonthDayNano);
/// Functions whose arguments are of one type.
const ALIKE: [&str; 5] = ["coalesce", "greatest", "least", "make_array", "nullif"];

/// Gives the parts of an expression the type that they have in common, and its literals that of what they stand beside.
pub(super) fn typed(mut expr: Expr, type_of: TypeOf<'_>) -> Result<Transformed<Expr>> {
    let changed = match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => compared(vec![left, right], type_of)?,
        Expr::Between(Between { expr, low, high, .. }) => compared(vec![expr, low, high], type_of)?,
        Expr::InList(InList { expr, list, .. }) => {
            let is_single = singles(expr, list, type_of);
            compared(std::iter::once(&mut **expr).chain(list.iter_mut()).collect(), type_of)? | is_single
        }
        Expr::Case(Case { expr: operand, when_then_expr, else_expr }) => {
            let (whens, thens): (Vec<_>, Vec<_>) = when_then_expr.iter_mut().map(|(when, then)| (when, then)).unzip();
            let results = thens.into_iter().chain(else_expr).map(|part| &mut **part).collect();
            let is_changed = alike(results, type_of)?;
            match operand {
                // Without an operand, each `when` is a condition of its own.
                None => is_changed,
                Some(operand) => {
                    let parts = std::iter::once(&mut **operand).chain(whens.into_iter().map(|part| &mut **part));
                    compared(parts.collect(), type_of)? | is_changed
                }
            }
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) if ALIKE.contains(&func.name()) => {
            alike(args.iter_mut().collect(), type_of)?
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) => elements(func.name(), args, type_of)?,
        _ => false,
    };
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

/// Gives literals beside a list the type of its elements.
fn elements(name: &str, args: &mut [Expr], type_of: TypeOf<'_>) -> Result<bool> {
    let Some((list, elements)) = list_and_elements(name) else { return Ok(false) };
    let Some(own) = args.get(list).and_then(type_of).as_ref().and_then(item).cloned() else { return Ok(false) };
    let mut changed = false;
    for element in args.get_mut(elements).unwrap_or_default() {
        let read = match written(element) {
            Some(text) if is_read(&own) => read_as(text, &own)?,
            _ => None,
        };
        if let Some(read) = read {
            *element = read;
            changed = true;
        }
    }
    Ok(changed)
}

/// Returns the type of what a quoted literal stands beside: of numbers the one that holds all.
fn one_of(types: &[DataType]) -> Option<DataType> {
    let first = || types.iter().find(|own| !own.is_null());
    let are_numbers = types.iter().all(|own| own.is_numeric() || own.is_null());
    let resolved = if are_numbers { common_type::resolved(types) } else { None };
    resolved.or_else(|| first().cloned())
}

/// Gives several parts the type that they have in common, and the literals among them that of the others.
pub(super) fn alike(parts: Vec<&mut Expr>, type_of: TypeOf<'_>) -> Result<bool> {
    let others = parts.iter().filter(|part| written(part).is_none());
    let Some(types) = others.map(|part| type_of(part)).collect::<Option<Vec<_>>>() else { return Ok(false) };
    // The engine finds the type of numbers with decimals only after the plan around them has another one.
    let has_decimals = types.iter().any(DataType::is_decimal);
    let common = if has_decimals { common_type::resolved(&types) } else { common_type::of(&types) };
    let Some(to) = common.clone().or_else(|| one_of(&types)) else { return Ok(false) };
    // The difference of two times beside a quoted interval is one.
    let is_span = matches!(to, DataType::Duration(_)) && parts.iter().any(|part| written(part).is_some());
    let (common, to) = if is_span { (Some(SPAN), SPAN) } else { (common, to) };
    let mut changed = false;
    for part in parts {
        let read = match written(part) {
            Some(text) if is_read(&to) => read_as(text, &to)?,
            Some(_) => None,
            None => type_of(part)
                .filter(|own| *own != to && (common.is_some() || own.is_null() && to.is_binary()))
                .map(|own| intervals::converted(std::mem::take(part), &own, &to)),
        };
        if let Some(read) = read {
            *part = read;
            changed = true;
        }
    }
    Ok(changed)
}

/// Gives the literals among parts that are compared the type of the others, as far as the engine does not read them.
fn compared(parts: Vec<&mut Expr>, type_of: TypeOf<'_>) -> Result<bool> {
    let others = parts.iter().filter(|part| written(part).is_none()).filter_map(|part| type_of(part));
    let others: Vec<DataType> = others.filter(|own| !own.is_null()).collect();
    // Beside floats and other numbers, a text is a float.
    let is_float = |to: &DataType| to.is_floating() && others.iter().any(|own| own != to);
    let Some(to) = one_of(&others).filter(|to| is_read(to) || is_float(to)) else { return Ok(false) };
    let mut changed = false;
    for part in parts {
        let Some(text) = written(part) else { continue };
        let read = match &to {
            // A finer time is compared as such.
            DataType::Timestamp(_, zone) => Some(lit(literal_text::timestamp(text, zone.is_some()))),
            DataType::Date32 => Some(lit(literal_text::date(text))),
            DataType::Time32(_) | DataType::Time64(_) => Some(lit(literal_text::time(text))),
            to => read_as(text, to)?,
        };
        if let Some(read) = read {
            *part = read;
            changed = true;
        }
    }
    Ok(changed)
}

/// Returns a text as a value of a type; `None` if that is to be left to the engine.
///
/// # Errors
/// A text that is no such value.
pub(super) fn read_as(text: &str, to: &DataType) -> Result<Option<Expr>> {
    Ok(Some(match to {
        decimal if decimal.is_decimal() => return Ok(decimal_of(text).map(lit)),
        bytes if bytes.is_binary() => cast(lit(ScalarValue::Binary(Some(bytes_of_literal(text)?))), to.clone()),
        DataType::Timestamp(_, zone) => cast(lit(literal_text::timestamp(text, zone.is_some())), to.clone()),
        DataType::Date32 => cast(lit(literal_text::date(text)), to.clone()),
        DataType::Time32(_) | DataType::Time64(_) => cast(lit(literal_text::time(text)), to.clone()),
        DataType::Interval(_) => cast(lit(span(text)?), to.clone()),
        // Beside a difference of two times.
        DataType::Duration(_) => lit(span(text)?),
        list if item(list).is_some() => {
            array(literal_text::elements(text).map_err(|error| DataFusionError::External(Box::new(error)))?, list)?
        }
        _ => cast(lit(text), to.clone()),
    }))
}

fn span(text: &str) -> Result<ScalarValue> {
    let read = interval::read(text).and_then(|span| {
        let nanoseconds = span.micros.checked_mul(1_000)?;
        Some(IntervalMonthDayNano::new(i32::try_from(span.months).ok()?, i32::try_from(span.days).ok()?, nanoseconds))
    });
    match read {
        Some(span) => Ok(ScalarValue::IntervalMonthDayNano(Some(span))),
        None => Err(invalid(format!("`{text}` is not an interval"), "an interval is written as `1 day 02:00`")),
    }
}

fn invalid(message: impl Into<String>, hint: &'static str) -> DataFusionError {
    let error = Error::new(Code::InvalidSql, message).with_hint(hint).with_sql_fault(SqlFault::InvalidText);
    DataFusionError::External(Box::new(error))
}

/// Returns an array that was a text.
fn array(elements: Vec<Element>, list: &DataType) -> Result<Expr> {
    let Some(own) = item(list) else {
        return Err(invalid(
            "a quoted array has more dimensions than the one beside it",
            "cast it, as in `x::int[][]`",
        ));
    };
    if elements.is_empty() {
        let empty = SingleRowListArrayBuilder::new(arrow::array::new_empty_array(own)).build_list_scalar();
        return Ok(cast(lit(empty), list.clone()));
    }
    let each = elements.into_iter().map(|element| match element {
        Element::Null => Ok(lit(ScalarValue::try_from(own)?)),
        Element::Text(text) => Ok(read_as(&text, own)?.unwrap_or_else(|| cast(lit(text), own.clone()))),
        Element::Array(elements) => array(elements, own),
    });
    let made = make_array(each.collect::<Result<_>>()?);
    // The digits of decimals count.
    Ok(if own.is_decimal() { made } else { cast(made, list.clone()) })
}

/// Compares a `real` with a list of constants as such: the list has the type of all together, and only a single number
/// is compared in double precision.
fn singles(of: &Expr, list: &mut [Expr], type_of: TypeOf<'_>) -> bool {
    let is_exact = |own: DataType| own.is_integer() || own.is_decimal() || own.is_null() || own.is_string();
    let is_literal = |part: &Expr| match part {
        Expr::Negative(inner) => matches!(**inner, Expr::Literal(..)),
        part => matches!(part, Expr::Literal(..)),
    };
    let is_constant = |part: &Expr| is_literal(part) && type_of(part).is_some_and(is_exact);
    if list.len() < 2 || type_of(of) != Some(DataType::Float32) || !list.iter().all(is_constant) {
        return false;
    }
    for part in list {
        *part = cast(std::mem::take(part), DataType::Float32);
    }
    true
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

/// Returns whether a text beside a value of this type is read here, and not by the engine.
pub(super) fn is_read(own: &DataType) -> bool {
    use DataType::{Date32, Duration, Interval, Time32, Time64, Timestamp};
    own.is_binary()
        || own.is_decimal()
        || item(own).is_some()
        || matches!(own, DataType::Boolean | Date32 | Time32(_) | Time64(_) | Timestamp(..) | Interval(_) | Duration(_))
}

/// Returns the text of a text literal.
pub(super) fn written(expr: &Expr) -> Option<&str> {
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
