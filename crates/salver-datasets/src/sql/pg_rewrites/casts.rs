//! Casts to text with a length, to `numeric` without a precision, to times and to bytes; and times in zones.

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, CastKind, CharacterLength, DataType, ExactNumberInfo, Expr, ObjectName, ObjectNamePart,
    TimezoneInfo, TypedString, Value, ValueWithSpan,
};
use salver_model::Error;

use super::function_names::is_quoted;
use super::{expression, interval_literals, literals, refused, take, uuids};
use crate::engine::{timestamp, written_out};

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    match expr {
        Expr::Cast { data_type, kind, .. } => {
            let tries = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
            if matches!(data_type, DataType::Array(_)) {
                return array(expr);
            }
            let length = match &data_type {
                DataType::Varchar(length)
                | DataType::CharacterVarying(length)
                | DataType::CharVarying(length)
                | DataType::Nvarchar(length) => length.map(|length| (length, false)),
                DataType::Char(length) | DataType::Character(length) => {
                    let one = CharacterLength::IntegerLength { length: 1, unit: None };
                    Some((length.unwrap_or(one), true))
                }
                DataType::JSON | DataType::JSONB => return json(expr, tries),
                DataType::Numeric(ExactNumberInfo::None) | DataType::Decimal(ExactNumberInfo::None) if !tries => {
                    return numeric(expr);
                }
                DataType::Timestamp(digits, zone) => {
                    let (digits, zoned) = (*digits, matches!(zone, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone));
                    return moment(expr, digits, zoned, tries);
                }
                DataType::Time(Some(digits), zone) => {
                    let digits = *digits;
                    *data_type = DataType::Time(None, *zone);
                    return time_of_day(expr, digits);
                }
                // Texts are decoded as byte literals are.
                DataType::Bytea => {
                    let Expr::Cast { expr: inner, .. } = expr else { return Ok(()) };
                    *expr = expression(if tries { "try_bytea(__1)" } else { "bytea(__1)" }, vec![take(inner)])?;
                    return Ok(());
                }
                // Numbers of the system catalog have no sign.
                DataType::Custom(name, _) if is_oid(name) => {
                    *data_type = DataType::BigInt(None);
                    return Ok(());
                }
                DataType::Uuid => {
                    *data_type = DataType::Varchar(None);
                    return uuids::cast(expr, tries);
                }
                _ => None,
            };
            let Some((CharacterLength::IntegerLength { length, .. }, blank)) = length else { return Ok(()) };
            let Ok(length) = i32::try_from(length) else {
                return Err(refused(format!("a text of {length} characters is too long"), "cast to `text`"));
            };
            *data_type = DataType::Varchar(None);
            // Padding blanks matter only where the text is shown.
            let words = if blank { format!("rtrim(left(__1, {length}))") } else { format!("left(__1, {length})") };
            literals::as_text(expr, &words)?;
        }
        Expr::TypedString(typed) => {
            if let Some(value) = value_of(typed)? {
                *expr = value;
            }
        }
        Expr::AtTimeZone { timestamp, time_zone } => {
            let parts = vec![take(time_zone), take(timestamp)];
            *expr = expression("timezone(__1, __2)", parts)?;
        }
        _ => {}
    }
    Ok(())
}

/// Rewrites a cast to JSON, which is text: `jsonb` has its normal form, and of `json` what is written out is checked.
fn json(expr: &mut Expr, tries: bool) -> Result<(), Box<Error>> {
    let Expr::Cast { expr: inner, data_type, .. } = expr else { return Ok(()) };
    let words = match data_type {
        DataType::JSONB if tries => "try_jsonb(__1)",
        DataType::JSONB => "jsonb(__1)",
        _ if !tries && is_quoted(inner) => "json_checked(__1)",
        _ => "__1",
    };
    *data_type = DataType::Varchar(None);
    let text = take(expr);
    *expr = expression(words, vec![text])?;
    Ok(())
}

/// Returns the value of a literal such as `uuid '...'`, of a type that the engine lacks.
fn value_of(typed: &TypedString) -> Result<Option<Expr>, Box<Error>> {
    let mut text = Expr::Value(typed.value.clone());
    match typed.data_type {
        DataType::Numeric(ExactNumberInfo::None) | DataType::Decimal(ExactNumberInfo::None) => {
            Ok(number(&typed.value.value, WHOLE_DIGITS))
        }
        DataType::Uuid => {
            uuids::read(&mut text, false)?;
            expression("cast(__1 as varchar)", vec![text]).map(Some)
        }
        DataType::Bytea => expression("bytea(__1)", vec![text]).map(Some),
        DataType::JSON => expression("json_checked(__1)", vec![text]).map(Some),
        DataType::JSONB => expression("jsonb(__1)", vec![text]).map(Some),
        _ => Ok(None),
    }
}

/// Casts to an array: of what is text here, of numbers and bytes, and of timestamps, whose zones count.
fn array(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Cast { data_type, kind, expr: inner, .. } = expr else { return Ok(()) };
    let is_null = matches!(&**inner, Expr::Value(value) if value.value == Value::Null);
    let DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) = data_type else { return Ok(()) };
    let tries = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
    match **element {
        DataType::Uuid => {
            **element = DataType::Varchar(None);
            return uuids::cast(expr, tries);
        }
        DataType::JSON | DataType::JSONB => **element = DataType::Varchar(None),
        DataType::Interval { .. } => {
            if let Expr::Array(array) = &mut **inner {
                array.elem.iter_mut().try_for_each(interval_literals::read_element)?;
            }
        }
        DataType::Custom(ref name, _) if is_oid(name) => **element = DataType::BigInt(None),
        // The functions for these do not know that a null is an array.
        DataType::Numeric(ExactNumberInfo::None) | DataType::Decimal(ExactNumberInfo::None) if !tries && !is_null => {
            return numerics(expr);
        }
        DataType::Bytea if !is_null => {
            let Expr::Cast { expr: inner, .. } = expr else { return Ok(()) };
            *expr = expression(if tries { "try_bytea(__1)" } else { "bytea(__1)" }, vec![take(inner)])?;
        }
        DataType::Timestamp(None, zone) if !tries => {
            return moments(expr, matches!(zone, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone));
        }
        _ => {}
    }
    Ok(())
}

/// Returns whether a type is that of numbers of the system catalog.
pub(crate) fn is_oid(name: &ObjectName) -> bool {
    let last = name.0.last().and_then(ObjectNamePart::as_ident);
    last.is_some_and(|last| last.value.eq_ignore_ascii_case("oid"))
}

/// Returns a text that contains a number as a numeric literal; a whole one has at least `least` digits.
fn number(value: &Value, least: usize) -> Option<Expr> {
    let Value::SingleQuotedString(text) = value else { return None };
    let written = written_out(text.trim());
    let digits = written.as_deref().unwrap_or(text.trim());
    let plain = digits.strip_prefix('-').unwrap_or(digits);
    let is_plain = plain.starts_with(|c: char| c.is_ascii_digit()) && plain.len() <= LITERAL_DIGITS;
    let has_point = plain.chars().filter(|c| *c == '.').count() <= 1;
    if !is_plain || !has_point || !plain.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    // A number with a point is a decimal.
    let point = if plain.contains('.') { String::new() } else { format!("::decimal({}, 0)", plain.len().max(least)) };
    expression(&format!("({digits}{point})"), Vec::new()).ok()
}

/// Digits of a whole number that is a `numeric`: it may be combined with longer ones.
const WHOLE_DIGITS: usize = 38;
/// Maximum digits of a numeric literal.
pub(super) const LITERAL_DIGITS: usize = 76;

fn numeric(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Cast { expr: inner, .. } = expr else { return Ok(()) };
    let written = match &**inner {
        Expr::Value(value) => number(&value.value, WHOLE_DIGITS),
        _ => None,
    };
    *expr = match written {
        Some(number) => number,
        None => expression("numeric(__1)", vec![take(inner)])?,
    };
    Ok(())
}

/// Rewrites a cast to an array of `numeric`: its elements keep their digits.
fn numerics(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Cast { expr: inner, .. } = expr else { return Ok(()) };
    if let Expr::Array(array) = &mut **inner {
        array.elem.iter_mut().for_each(read_number);
    }
    *expr = expression("numeric(__1)", vec![take(inner)])?;
    Ok(())
}

/// Rewrites a text that contains a number as a numeric literal; leaves everything else.
pub(super) fn read_number(expr: &mut Expr) {
    // Only as many digits as there are: the array has those of all.
    if let Expr::Value(value) = expr
        && let Some(number) = number(&value.value, 1)
    {
        *expr = number;
    }
}

/// Rewrites a cast to an array of timestamps, as one to a single one.
fn moments(expr: &mut Expr, zoned: bool) -> Result<(), Box<Error>> {
    let Expr::Cast { expr: inner, .. } = expr else { return Ok(()) };
    if let Expr::Array(array) = &mut **inner {
        for element in &mut array.elem {
            if let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = element {
                *text = timestamp(text, zoned);
            }
        }
    }
    let zone = if zoned { "Some(\"UTC\")" } else { "None" };
    *expr = expression(&format!("arrow_cast(__1, 'List(Timestamp(Microsecond, {zone}))')"), vec![take(inner)])?;
    Ok(())
}

/// Rewrites a cast to a timestamp: it has microseconds, which cover all years, and with a zone it is kept in UTC.
fn moment(expr: &mut Expr, digits: Option<u64>, zoned: bool, tries: bool) -> Result<(), Box<Error>> {
    let Expr::Cast { expr: inner, .. } = expr else { return Ok(()) };
    if let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = &mut **inner {
        *text = timestamp(text, zoned);
    }
    let zone = if zoned { "Some(\"UTC\")" } else { "None" };
    let cast = if tries { "arrow_try_cast" } else { "arrow_cast" };
    let whole = expression(&format!("{cast}(__1, 'Timestamp(Microsecond, {zone})')"), vec![take(inner)])?;
    *expr = to_digits(whole, digits)?;
    Ok(())
}

/// Rewrites a cast to a time of day with fewer fractional digits.
fn time_of_day(expr: &mut Expr, digits: u64) -> Result<(), Box<Error>> {
    let whole = take(expr);
    *expr = to_digits(whole, Some(digits))?;
    Ok(())
}

/// Rounds a time to its fractional digits of a second; there are six.
fn to_digits(whole: Expr, digits: Option<u64>) -> Result<Expr, Box<Error>> {
    match digits {
        Some(digits @ 0..=5) => {
            let step = 10_u64.pow(6 - digits as u32);
            expression(&format!("time_rounded(__1, {step})"), vec![whole])
        }
        _ => Ok(whole),
    }
}
