//! Literals that the engine reads differently: numbers with an exponent, dates and times, and patterns of `like` with
//! an escape of their own.

use datafusion::sql::sqlparser::ast::{CastKind, DataType, Expr, TimezoneInfo, TypedString, Value, ValueWithSpan};
use salver_model::Error;

use super::{expression, take};
use crate::engine::{date, time, timestamp, written_out};

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    match expr {
        Expr::Value(ValueWithSpan { value: own @ Value::UnicodeStringLiteral(_), .. }) => {
            if let Value::UnicodeStringLiteral(text) = own {
                *own = Value::SingleQuotedString(std::mem::take(text));
            }
        }
        Expr::Value(ValueWithSpan { value: Value::Number(digits, false), .. }) if digits.contains(['e', 'E']) => {
            match written_out(digits) {
                // Even without a point it is not an integer.
                Some(plain) if !plain.contains('.') => {
                    *expr = expression(&format!("({plain}::decimal({}, 0))", plain.len()), Vec::new())?;
                }
                Some(plain) => *digits = plain,
                // The number is too large or too small for a decimal.
                None => *expr = expression(&format!("'{digits}'::double precision"), Vec::new())?,
            }
        }
        // The engine knows digits in casts only.
        Expr::TypedString(TypedString {
            data_type: own @ (DataType::Timestamp(Some(_), _) | DataType::Time(Some(_), _)),
            value,
            ..
        }) => {
            let (data_type, text) = (own.clone(), Box::new(Expr::Value(value.clone())));
            *expr = Expr::Cast { kind: CastKind::Cast, expr: text, data_type, array: false, format: None };
            return rewrite(expr);
        }
        Expr::TypedString(TypedString { data_type: DataType::Date, value, .. }) => write_by(date, value),
        Expr::TypedString(TypedString { data_type: DataType::Time(..), value, .. }) => write_by(time, value),
        Expr::Cast { expr: inner, data_type: own @ (DataType::Date | DataType::Time(..)), .. }
            if matches!(**inner, Expr::Value(_)) =>
        {
            if let Expr::Value(value) = &mut **inner {
                write_by(if *own == DataType::Date { date } else { time }, value);
            }
        }
        Expr::TypedString(TypedString { data_type, value, .. }) => {
            if let (Some(type_name), Some(text)) = (moment(data_type), text_of(value)) {
                *expr = far(type_name, &text, false)?;
            }
        }
        Expr::Cast { kind, expr: inner, data_type, .. } => {
            if let (Some(type_name), Expr::Value(value)) = (moment(data_type), &**inner)
                && let Some(text) = text_of(value)
            {
                *expr = far(type_name, &text, matches!(kind, CastKind::TryCast | CastKind::SafeCast))?;
            }
        }
        Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. } => {
            let Some(escape) = escape_char.as_ref().and_then(text_of) else { return Ok(()) };
            if escape == "\\" {
                return Ok(());
            }
            // A computed pattern is matched by a function of its own.
            let Expr::Value(value) = &**pattern else { return Ok(()) };
            let Some(text) = text_of(value) else { return Ok(()) };
            **pattern = Expr::value(Value::SingleQuotedString(escaped(&text, &escape)));
            *escape_char = None;
        }
        _ => {}
    }
    Ok(())
}

/// Writes a text as the engine reads it.
fn write_by(write: fn(&str) -> String, value: &mut ValueWithSpan) {
    if let Value::SingleQuotedString(text) = &mut value.value {
        *text = write(text);
    }
}

fn text_of(value: &ValueWithSpan) -> Option<String> {
    match &value.value {
        Value::SingleQuotedString(text) => Some(text.clone()),
        _ => None,
    }
}

/// Returns the engine's type of timestamps in microseconds, which cover all years; its default is nanoseconds.
fn moment(data_type: &DataType) -> Option<&'static str> {
    match data_type {
        DataType::Timestamp(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Some("None"),
        DataType::Timestamp(None, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone) => Some("Some(\"UTC\")"),
        _ => None,
    }
}

fn far(zone: &str, text: &str, tries: bool) -> Result<Expr, Box<Error>> {
    // Explicit nanoseconds are kept.
    let fraction = text.rsplit_once('.').map_or(0, |(_, rest)| rest.bytes().take_while(u8::is_ascii_digit).count());
    let unit = if fraction > 6 { "Nanosecond" } else { "Microsecond" };
    let cast = if tries { "arrow_try_cast" } else { "arrow_cast" };
    let text = Expr::value(Value::SingleQuotedString(timestamp(text, zone != "None")));
    expression(&format!("{cast}(__1, 'Timestamp({unit}, {zone})')"), vec![text])
}

/// Rewrites a pattern to use a backslash as its escape.
fn escaped(pattern: &str, escape: &str) -> String {
    let mut written = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            c if escape.starts_with(c) => {
                written.push('\\');
                written.extend(rest.next());
            }
            '\\' => written.push_str("\\\\"),
            c => written.push(c),
        }
    }
    written
}

/// Wraps an expression in the SQL of `words`.
pub(super) fn as_text(expr: &mut Expr, words: &str) -> Result<(), Box<Error>> {
    let inner = take(expr);
    *expr = expression(words, vec![inner])?;
    Ok(())
}
