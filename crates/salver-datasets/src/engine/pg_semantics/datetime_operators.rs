//! Operators with operands of different types, where PostgreSQL's result type differs from the engine's, or where the
//! engine has none: a date plus an interval is a timestamp, an interval times a number is an interval, a text literal
//! takes the type of the other operand, and a `real` with an integer is computed in double precision.

use arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator, binary_expr, cast, lit};

use super::super::pg_functions;
use super::intervals::spanned;
use super::{TypeOf, call, decimal_comparison, is_comparison, typed_literals};

const TIME: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

fn is_date(own: &DataType) -> bool {
    matches!(own, DataType::Date32 | DataType::Date64)
}

fn is_time(own: &DataType) -> bool {
    matches!(own, DataType::Timestamp(..))
}

fn is_clock(own: &DataType) -> bool {
    matches!(own, DataType::Time32(_) | DataType::Time64(_))
}

fn is_span(own: &DataType) -> bool {
    matches!(own, DataType::Interval(_))
}

fn is_number(own: &DataType) -> bool {
    own.is_integer() || own.is_floating() || own.is_decimal()
}

/// Returns an operation with PostgreSQL's semantics; `None` if the engine's are the same.
pub(super) fn operation(left: &Expr, op: Operator, right: &Expr, type_of: TypeOf<'_>) -> Option<Expr> {
    use Operator::{BitwiseShiftLeft, BitwiseShiftRight, Divide, Minus, Modulo, Multiply, Plus};
    if matches!(op, BitwiseShiftLeft | BitwiseShiftRight) {
        return shifted(left, op, right, type_of);
    }
    let arithmetic = matches!(op, Plus | Minus | Multiply | Divide | Modulo);
    if !arithmetic && !is_comparison(op) {
        return None;
    }
    if let Some(compared) = decimal_comparison::sides(left, op, right, type_of) {
        return Some(compared);
    }
    let (one, other) = (type_of(left)?, type_of(right)?);
    let both = |a: Expr, b: Expr| Some(binary_expr(a, op, b));
    let time = |date: &Expr| cast(date.clone(), TIME);
    // Beside intervals, numbers and dates, the difference of two times is an interval with days.
    let meets = |own: &DataType| is_span(own) || is_date(own) || arithmetic && (is_number(own) || is_clock(own));
    match (&one, &other) {
        // Days and hours are added apart: 24 hours make no day.
        (DataType::Duration(_), DataType::Duration(_)) if matches!(op, Plus | Minus) => {
            return both(spanned(left), spanned(right));
        }
        (DataType::Duration(_), own) if meets(own) && !is_comparison(op) => {
            let left = spanned(left);
            return operation(&left, op, right, type_of).or_else(|| both(left, right.clone()));
        }
        (own, DataType::Duration(_)) if meets(own) && !is_comparison(op) => {
            let right = spanned(right);
            return operation(left, op, &right, type_of).or_else(|| both(left.clone(), right));
        }
        _ => {}
    }
    match op {
        Multiply if is_span(&one) && is_number(&other) => {
            return Some(call(pg_functions::interval_times(), vec![left.clone(), right.clone()]));
        }
        Multiply if is_number(&one) && is_span(&other) => {
            return Some(call(pg_functions::interval_times(), vec![right.clone(), left.clone()]));
        }
        Divide if is_span(&one) && is_number(&other) => {
            return Some(call(pg_functions::interval_divided(), vec![left.clone(), right.clone()]));
        }
        Plus | Minus if is_date(&one) && is_span(&other) => return both(time(left), right.clone()),
        Plus if is_span(&one) && is_date(&other) => return both(left.clone(), time(right)),
        Plus if is_date(&one) && is_clock(&other) => return both(time(left), since_midnight(right)),
        Plus if is_clock(&one) && is_date(&other) => return both(since_midnight(left), time(right)),
        // The engine would use nanoseconds, which end in 2262.
        _ if (op == Minus || is_comparison(op)) && is_date(&one) && is_time(&other) => {
            return both(cast(left.clone(), other), right.clone());
        }
        _ if (op == Minus || is_comparison(op)) && is_time(&one) && is_date(&other) => {
            return both(left.clone(), cast(right.clone(), one));
        }
        // Of two units, the finer one counts.
        _ if is_comparison(op) && is_clock(&one) && is_clock(&other) && one != other => {
            let fine = |clock: &Expr| cast(clock.clone(), DataType::Time64(TimeUnit::Nanosecond));
            return both(fine(left), fine(right));
        }
        _ => {}
    }
    if let Some(read) = with_text((left, op, right), (&one, &other), type_of) {
        return Some(read);
    }
    let double = |part: &Expr| cast(part.clone(), DataType::Float64);
    match (&one, &other) {
        (DataType::Float32, whole) if arithmetic && whole.is_integer() => both(double(left), double(right)),
        (whole, DataType::Float32) if arithmetic && whole.is_integer() => both(double(left), double(right)),
        _ => None,
    }
}

/// Returns an operation in which a text literal is a value of the type of the other operand, or one that belongs to it;
/// `None` if there is none.
fn with_text(
    (left, op, right): (&Expr, Operator, &Expr),
    (one, other): (&DataType, &DataType),
    type_of: TypeOf<'_>,
) -> Option<Expr> {
    let span = || DataType::Interval(IntervalUnit::MonthDayNano);
    let is_difference = |own: &DataType| matches!(own, DataType::Duration(_));
    let adds = matches!(op, Operator::Plus | Operator::Minus);
    let beside = |own: &DataType| match own {
        own if (is_comparison(op) || adds) && (is_span(own) || is_difference(own)) => Some(span()),
        // What is added to a time is a span, and what is subtracted from one is a time.
        own if op == Operator::Plus && (is_time(own) || is_clock(own)) => Some(span()),
        own if op == Operator::Minus && (is_time(own) || is_clock(own) || is_date(own)) => Some(own.clone()),
        own if !is_comparison(op) && is_number(own) || *own == DataType::Boolean => Some(own.clone()),
        _ => None,
    };
    // Beside a decimal, a number has all of its own digits.
    let read = |text: &Expr, to: DataType| {
        let known = typed_literals::written(text).and_then(|text| typed_literals::read_as(text, &to).ok()?);
        known.unwrap_or_else(|| cast(text.clone(), to))
    };
    let (left, right) = if is_text(left) {
        (read(left, beside(other)?), right.clone())
    } else if is_text(right) {
        (left.clone(), read(right, beside(one)?))
    } else {
        return None;
    };
    Some(operation(&left, op, &right, type_of).unwrap_or_else(|| binary_expr(left, op, right)))
}

/// Functions that take intervals but no durations.
const OF_INTERVALS: [&str; 5] = ["date_trunc", "justify_days", "justify_hours", "justify_interval", "to_char"];
/// Functions that return one of their arguments.
const CHOOSE: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];

/// Converts the durations among a function's arguments to intervals; returns `None` if it needs no conversion.
pub(super) fn intervals(name: &str, args: &[Expr], type_of: TypeOf<'_>) -> Option<Vec<Expr>> {
    let (takes, chooses) = (OF_INTERVALS.contains(&name), CHOOSE.contains(&name));
    if !takes && !chooses {
        return None;
    }
    let types: Vec<DataType> = args.iter().map(type_of).collect::<Option<_>>()?;
    let is_duration = |own: &DataType| matches!(own, DataType::Duration(_));
    if !types.iter().any(is_duration) || chooses && !types.iter().any(is_span) {
        return None;
    }
    let one = |(arg, own): (&Expr, &DataType)| if is_duration(own) { spanned(arg) } else { arg.clone() };
    Some(args.iter().zip(&types).map(one).collect())
}

/// Gives a shift the type of its left operand, whatever the type of its right one.
fn shifted(left: &Expr, op: Operator, right: &Expr, type_of: TypeOf<'_>) -> Option<Expr> {
    let (one, other) = (type_of(left)?, type_of(right)?);
    let short = match one {
        DataType::Int32 => false,
        DataType::Int16 => true,
        _ => return None,
    };
    if !other.is_integer() {
        return None;
    }
    let whole = |part: &Expr| cast(part.clone(), DataType::Int32);
    let moved = binary_expr(whole(left), op, whole(right));
    if !short {
        return Some(moved);
    }
    // The low sixteen bits, sign-extended.
    let half = || lit(16_i32);
    let kept = binary_expr(moved, Operator::BitwiseShiftLeft, half());
    Some(cast(binary_expr(kept, Operator::BitwiseShiftRight, half()), DataType::Int16))
}

fn since_midnight(clock: &Expr) -> Expr {
    let micros = cast(clock.clone(), DataType::Time64(TimeUnit::Microsecond));
    cast(cast(micros, DataType::Int64), DataType::Duration(TimeUnit::Microsecond))
}

/// Converts the operand of a cast between times of day and intervals; returns whether that changed it.
pub(super) fn before_cast(expr: Expr, to: &DataType, type_of: TypeOf<'_>) -> (Expr, bool) {
    match (type_of(&expr), to) {
        (Some(DataType::Interval(_)), to) if is_clock(to) => (call(pg_functions::clock_of_span(), vec![expr]), true),
        (Some(DataType::Duration(_)), to) if is_clock(to) => {
            (call(pg_functions::clock_of_span(), vec![spanned(&expr)]), true)
        }
        (Some(own), DataType::Interval(_)) if is_clock(&own) => (spanned(&since_midnight(&expr)), true),
        _ => (expr, false),
    }
}

/// Returns whether an expression is a text literal, which has no type of its own in PostgreSQL.
fn is_text(expr: &Expr) -> bool {
    typed_literals::written(expr).is_some()
}

/// Functions that return an integral number for a decimal.
const WHOLE: [&str; 4] = ["ceil", "floor", "round", "trunc"];
/// Functions that compute a `real` in double precision.
const DOUBLE: [&str; 27] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "cos", "cosh", "cot", "degrees", "exp",
    "floor", "ln", "log", "log10", "power", "radians", "round", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
];

/// Returns a call with PostgreSQL's semantics; `None` if the engine's are the same.
pub(super) fn called(name: &str, args: &[Expr], type_of: TypeOf<'_>) -> Option<(Vec<Expr>, Option<DataType>)> {
    let types: Vec<DataType> = args.iter().map(type_of).collect::<Option<_>>()?;
    if DOUBLE.contains(&name) && types.contains(&DataType::Float32) {
        let double = |(arg, own): (&Expr, &DataType)| match own {
            DataType::Float32 => cast(arg.clone(), DataType::Float64),
            _ => arg.clone(),
        };
        return Some((args.iter().zip(&types).map(double).collect(), None));
    }
    match (args, types.as_slice()) {
        // Rounding may add one integral digit, and the result has no fractional digits.
        ([number], [DataType::Decimal128(precision, scale)]) if WHOLE.contains(&name) && *scale > 0 => {
            let wide = precision.saturating_add(1).min(38);
            let whole = wide.saturating_sub(scale.unsigned_abs()).max(1);
            let number = cast(number.clone(), DataType::Decimal128(wide, *scale));
            Some((vec![number], Some(DataType::Decimal128(whole, 0))))
        }
        ([_, Expr::Literal(ScalarValue::Int64(Some(digits)), _)], [DataType::Decimal128(precision, scale), _])
            if name == "trunc" && (0..i64::from(*scale)).contains(digits) =>
        {
            let kept = i8::try_from(*digits).ok()?;
            let precision = precision.saturating_sub(scale.abs_diff(kept)).max(1);
            Some((args.to_vec(), Some(DataType::Decimal128(precision, kept))))
        }
        _ => None,
    }
}
