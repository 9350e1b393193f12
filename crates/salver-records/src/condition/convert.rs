//! Converts values as clients write them to values for a column's kind.

use salver_model::Value;
use salver_model::limits::{NUMBER_CHARS_MAX, NUMBER_EXPONENT_MAX};
use salver_model::records::ColumnKind;
use salver_model::rule::{exact_number, exact_truth};

use super::bounded;
use super::instant;
use super::operand::{ComparedColumn, Operand};
use super::predicate::{Literal, is_short_year};
use super::uncommon_dates::{self, Far};
use crate::dialect::{self, Dialect, Sql, push_decimal};
use crate::json::base64;
use crate::moment;
use crate::statement::Bind;

/// Returns the value of `text` for a column of this kind, which stores a zone or takes all times as UTC; `None` when no
/// row can have it there.
pub(crate) fn bind_of(kind: ColumnKind, has_zone: bool, text: &str) -> Option<Bind> {
    match kind {
        ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Json | ColumnKind::Geometry => {
            Some(Bind::Text(text.to_owned()))
        }
        ColumnKind::Boolean => truth(text).map(Bind::Bool),
        ColumnKind::Integer | ColumnKind::BigInt => number(text.trim()),
        ColumnKind::Float | ColumnKind::Double => float(text.trim()).map(Bind::Float),
        ColumnKind::Decimal => digits(text.trim()).map(|digits| Bind::Text(digits.to_owned())),
        ColumnKind::Date => instant::date(text.trim()).map(Bind::Text),
        ColumnKind::Time if has_zone => instant::time(text.trim()).map(Bind::Text),
        ColumnKind::Time => instant::time_in_utc(text.trim()).map(Bind::Text),
        ColumnKind::Timestamp if has_zone => instant::timestamp(text.trim()).map(Bind::Text),
        ColumnKind::Timestamp => instant::timestamp_in_utc(text.trim()).map(Bind::Text),
        ColumnKind::Varbinary | ColumnKind::Blob => base64::decode(text).map(Bind::Bytes),
        ColumnKind::Uuid => uuid(text.trim()).map(Bind::Text),
    }
}

/// Returns the value of `text` for a comparison with this column or expression.
pub(crate) fn bind_for(dialect: Dialect, compared: ComparedColumn<'_>, text: &str) -> Option<Bind> {
    let column = compared.column;
    let has_zone = dialect.has_zone(column);
    if dialect == Dialect::Postgres && text.contains('\0') {
        return None;
    }
    match (dialect, column.kind) {
        (Dialect::Sqlite, _) if compared.is_untyped(dialect) => {
            let whole = text.parse::<i64>().ok().map(Bind::Int);
            Some(whole.or_else(|| float(text).map(Bind::Float)).unwrap_or_else(|| Bind::Text(text.to_owned())))
        }
        // An enumeration has no other labels.
        (Dialect::Postgres, ColumnKind::Varchar) if !column.words.is_empty() => {
            column.words.iter().any(|word| word == text).then(|| Bind::Text(text.to_owned()))
        }
        (Dialect::Postgres, ColumnKind::Json) if !compared.as_text => {
            serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok().then(|| Bind::Text(text.to_owned()))
        }
        // A MySQL time is a span.
        (Dialect::Mysql, ColumnKind::Time) => span(text.trim()).map(Bind::Text),
        (Dialect::Postgres, ColumnKind::Float | ColumnKind::Double) if no_number(text) => {
            text.parse().ok().map(Bind::Float)
        }
        (Dialect::Postgres, ColumnKind::Decimal) if no_number(text) => Some(Bind::Text(text.to_owned())),
        (Dialect::Postgres, ColumnKind::Date | ColumnKind::Time | ColumnKind::Timestamp) => {
            bind_of(column.kind, has_zone, text)
                .or_else(|| uncommon_dates::of_postgres(far(column.kind)?, text.trim()).map(Bind::Text))
        }
        (Dialect::Mysql, ColumnKind::Date | ColumnKind::Timestamp) => bind_of(column.kind, has_zone, text)
            .or_else(|| uncommon_dates::of_mysql(far(column.kind)?, text.trim()).map(Bind::Text)),
        (Dialect::Sqlite, ColumnKind::Date | ColumnKind::Time | ColumnKind::Timestamp) => {
            let text = text.trim();
            match bind_of(column.kind, has_zone, text) {
                // The texts are compared, in which trailing zeros count.
                Some(Bind::Text(own)) if only_noughts_behind(&own, text) => Some(Bind::Text(text.to_owned())),
                Some(bind) => Some(bind),
                // A span, or a time whose hour has one digit.
                None if column.kind == ColumnKind::Time && moment::is_long_span(text) => {
                    Some(Bind::Text(text.to_owned()))
                }
                // Seconds and Julian days are numbers there.
                None => number(text),
            }
        }
        // As a float, it would convert the column to float too, which has fewer digits than large integers.
        (Dialect::Postgres | Dialect::Mysql, ColumnKind::Integer | ColumnKind::BigInt) => {
            let text = text.trim();
            let decimal = || digits(text).map(|digits| Bind::Text(digits.to_owned()));
            text.parse().ok().map(Bind::Int).or_else(decimal)
        }
        // With trailing zeros after its point it would be a float, which has fewer digits.
        (Dialect::Sqlite, ColumnKind::Decimal) => digits(text.trim()).map(|digits| {
            let whole = digits.split_once('.').filter(|(_, fraction)| fraction.bytes().all(|digit| digit == b'0'));
            Bind::Text(whole.map_or(digits, |(whole, _)| whole).to_owned())
        }),
        // SQLite stores values as they were written: identifiers unchanged, and text among bytes.
        (Dialect::Sqlite, ColumnKind::Varbinary | ColumnKind::Blob | ColumnKind::Uuid) => {
            Some(Bind::Text(text.to_owned()))
        }
        // The database's 32-bit value is not the nearest 64-bit one.
        (Dialect::Postgres | Dialect::Mysql, ColumnKind::Float) => {
            #[allow(clippy::cast_possible_truncation, reason = "that is the point")]
            let narrowed = |value: f64| f64::from(value as f32);
            float(text.trim())
                .map(|value| Bind::Float(Some(narrowed(value)).filter(|n| n.is_finite()).unwrap_or(value)))
        }
        _ => bind_of(column.kind, has_zone, text),
    }
}

/// Returns the value of `text` as a part of a key; `None` when no row can have it. SQLite stores any text in any
/// column, and shows it as it is: a key is what is shown, and no other notation of the same time or number.
pub(crate) fn key_bind(dialect: Dialect, compared: ComparedColumn<'_>, text: &str) -> Option<Bind> {
    let as_it_is = || Some(Bind::Text(text.to_owned()));
    let is_converted = || dialect::makes_numbers(&compared.column.native) && !compared.column.kind.is_numeric();
    match dialect {
        // A text that is a whole number is stored as one there, and is shown so.
        Dialect::Sqlite if text.parse().is_ok_and(|own: i64| own.to_string() != text) && is_converted() => None,
        // A number in such a column equals its text.
        _ if dialect.keeps_notation(compared.column) => as_it_is(),
        Dialect::Sqlite => bind_for(dialect, compared, text).or_else(as_it_is),
        Dialect::Postgres | Dialect::Mysql => {
            let bind = bind_for(dialect, compared, text)?;
            if dialect.is_year(compared.column) && is_short_year(&bind) {
                return None;
            }
            match bounded::beside(dialect, compared.column, &bind) {
                None => Some(bind),
                Some(Literal::Is(whole)) => Some(whole),
                Some(_) => None,
            }
        }
    }
}

/// Returns whether `text` is `own` followed only by zeros of a fraction.
pub(crate) fn only_noughts_behind(own: &str, text: &str) -> bool {
    let rest = text.strip_prefix(own).unwrap_or_default();
    !rest.is_empty() && rest.len() <= 10 && rest.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

/// Returns whether `text` is one of PostgreSQL's non-finite numbers.
fn no_number(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}

fn far(kind: ColumnKind) -> Option<Far> {
    match kind {
        ColumnKind::Date => Some(Far::Date),
        ColumnKind::Time => Some(Far::Time),
        ColumnKind::Timestamp => Some(Far::Timestamp),
        _ => None,
    }
}

/// Returns the value of `text`, which comes from the caller's identity, for a comparison with this expression; `None`
/// where it is not the canonical form of that value, so that no two callers share one.
pub(crate) fn exact_bind(dialect: Dialect, compared: ComparedColumn<'_>, text: &str) -> Option<Bind> {
    let is_exact = match compared.column.kind {
        ColumnKind::Integer | ColumnKind::BigInt => {
            matches!(exact_number(text), Some(Value::Int(_) | Value::UInt(_)))
        }
        ColumnKind::Float | ColumnKind::Double | ColumnKind::Decimal => exact_number(text).is_some(),
        ColumnKind::Boolean => exact_truth(text).is_some(),
        ColumnKind::Date | ColumnKind::Time | ColumnKind::Timestamp => text.trim() == text,
        // SQLite may store text there, which compares unchanged.
        ColumnKind::Varbinary | ColumnKind::Blob => {
            base64::is_exact(text) || (dialect == Dialect::Sqlite && base64::decode(text).is_none())
        }
        ColumnKind::Uuid => dialect == Dialect::Sqlite || uuid(text).is_some_and(|own| own == text),
        ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Json | ColumnKind::Geometry => true,
    };
    if is_exact { bind_for(dialect, compared, text) } else { None }
}

/// Appends the placeholder of a value for this expression, with a cast where the system would infer another type.
pub(crate) fn place(operand: &Operand<'_>, bind: Bind, sql: &mut Sql) {
    let kind = operand.column.kind;
    match sql.dialect {
        Dialect::Sqlite => {
            sql.bind(bind);
        }
        Dialect::Mysql => {
            // MySQL would compare text with numbers as floats, with few digits.
            if kind.is_numeric() && matches!(bind, Bind::Text(_)) {
                push_decimal(bind, sql);
            } else {
                sql.bind(bind);
            }
        }
        Dialect::Postgres => {
            let cast = postgres_cast(operand, kind, &bind);
            sql.bind(bind).push(cast);
            if let Some(compared) = operand.column.compared.as_deref().filter(|_| !operand.as_text) {
                sql.push("::").push(compared);
            }
        }
    }
}

fn postgres_cast(operand: &Operand<'_>, kind: ColumnKind, bind: &Bind) -> &'static str {
    match (kind, bind) {
        (_, Bind::Int(_)) => "::bigint",
        (_, Bind::Float(_)) => "::double precision",
        (_, Bind::Bool(_)) => "::boolean",
        (_, Bind::Text(_)) if operand.column.own_type() == "money" => "::numeric::money",
        (_, Bind::Text(_)) if kind.is_numeric() => "::numeric",
        _ if operand.as_text => "::text",
        // The server infers its own type: also a time with a zone.
        _ => "",
    }
}

/// Parses a MySQL time: a span of up to 838 hours in both directions.
fn span(text: &str) -> Option<String> {
    if let Some(time) = instant::time_in_utc(text) {
        return Some(time);
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (clock, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let parts: Vec<u32> = clock.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let good = matches!(parts.as_slice(), [..=838, ..=59] | [..=838, ..=59, ..=59])
        && fraction.len() <= 6
        && fraction.bytes().all(|byte| byte.is_ascii_digit());
    good.then(|| text.to_owned())
}

/// Parses a boolean like PHP.
fn truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" => Some(true),
        "0" | "false" | "off" | "no" | "" => Some(false),
        _ => None,
    }
}

/// Parses a number for a comparison with integers.
fn number(text: &str) -> Option<Bind> {
    // A whole number with a point is one, too: as a float it would have fewer digits.
    let noughts = text.split_once('.').filter(|(_, fraction)| fraction.bytes().all(|digit| digit == b'0'));
    if let Ok(whole) = noughts.map_or(text, |(whole, _)| whole).parse() {
        return Some(Bind::Int(whole));
    }
    if text.parse::<u64>().is_ok() {
        return Some(Bind::Text(text.trim_start_matches('+').to_owned()));
    }
    float(text).map(Bind::Float)
}

fn float(text: &str) -> Option<f64> {
    digits(text)?.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Returns `text` itself when it is a decimal number that every system parses.
fn digits(text: &str) -> Option<&str> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let good = digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && text.len() <= NUMBER_CHARS_MAX
        && digits(exponent)
        && exponent.parse::<u32>().is_ok_and(|exponent| exponent <= NUMBER_EXPONENT_MAX);
    good.then_some(text)
}

/// Returns a UUID in its canonical form.
fn uuid(text: &str) -> Option<String> {
    let text = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
    let hex: String = text.chars().filter(|c| *c != '-').collect::<String>().to_ascii_lowercase();
    let good = hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    good.then(|| format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

#[cfg(test)]
mod tests {
    use salver_model::records::ColumnKind;

    use super::bind_of;
    use crate::statement::Bind;

    #[test]
    fn by_kind() {
        let text = |text: &str| Some(Bind::Text(text.to_owned()));
        for (kind, written, expected) in [
            (ColumnKind::Integer, "12", Some(Bind::Int(12))),
            (ColumnKind::Integer, " -1 ", Some(Bind::Int(-1))),
            (ColumnKind::Integer, "1.5", Some(Bind::Float(1.5))),
            (ColumnKind::BigInt, "18446744073709551615", text("18446744073709551615")),
            (ColumnKind::Integer, "abc", None),
            (ColumnKind::Integer, "", None),
            (ColumnKind::Integer, "1 or 1=1", None),
            (ColumnKind::Double, "nan", None),
            (ColumnKind::Double, "1e999", None),
            (ColumnKind::Double, ".5", Some(Bind::Float(0.5))),
            (ColumnKind::Decimal, "23.010", text("23.010")),
            (ColumnKind::Decimal, "0x10", None),
            (ColumnKind::Boolean, "Yes", Some(Bind::Bool(true))),
            (ColumnKind::Boolean, "2", None),
            (ColumnKind::Date, "2016-02-30", None),
            (ColumnKind::Blob, "AP8B", Some(Bind::Bytes(vec![0, 255, 1]))),
            (ColumnKind::Blob, "?", None),
            (ColumnKind::Uuid, "{E42C77C6-06A4-4502-816C-D112C7142E6D}", text("e42c77c6-06a4-4502-816c-d112c7142e6d")),
            (ColumnKind::Uuid, "e42c", None),
            (ColumnKind::Varchar, "", text("")),
        ] {
            assert_eq!(bind_of(kind, false, written), expected, "{kind:?} {written}");
        }
    }
}
