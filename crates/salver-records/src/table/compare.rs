//! Columns and literals as SQL that compares them as Arrow does: text by its bytes, numbers as numbers.

use arrow::datatypes::DataType;
use salver_model::limits::PATTERN_BYTES_MAX;
use salver_model::{Code, Comparison, Error, Result, Value, hexadecimal};

use super::decimal::Parts;
use crate::calendar;
use crate::condition::{Comparand, Literal, Manner, Side, TextOrder, push_ordered};
use crate::dialect::{Dialect, Sql, null_tests, push_decimal};
use crate::statement::Bind;

/// Most digits before the point of a decimal that is written into a statement; a longer one is beyond all numbers.
const DECIMAL_DIGITS: usize = 1_000;

/// An operand of comparisons, a column or an aggregate: its SQL, its type, and its name for messages.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) sql: String,
    pub(super) data_type: DataType,
    pub(super) name: String,
    /// Whether the database stores it as plain text, so that an index on it can be used.
    pub(super) plain_text: bool,
    /// Whether only a prefix is compared: MySQL sorts by the first 1,024 bytes of a text.
    pub(super) beginning: bool,
    /// Whether it is a SQLite column with values of any type, which compare as their texts: one without a type, or one
    /// that makes numbers.
    pub(super) untyped: bool,
    /// Whether SQLite makes a number of a text that is one, so that a column of texts has numbers, too.
    pub(super) numbers: bool,
    /// What is peculiar to values that are compared with it.
    pub(super) peculiar: Option<Peculiar>,
}

/// A type that takes a value for something else than it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peculiar {
    /// Dates of SQLite, which makes numbers of texts that are compared with them.
    Date,
    /// PostgreSQL's `oid`, which compares with no other number than its own.
    ObjectIdentifier,
    /// MySQL's `year`, for which numbers below a hundred are years of two digits.
    Year,
}

impl Operand {
    /// Creates the operand of an aggregate.
    pub(super) fn computed(sql: String, data_type: DataType, name: String) -> Self {
        Self {
            sql,
            data_type,
            name,
            plain_text: false,
            beginning: false,
            untyped: false,
            numbers: false,
            peculiar: None,
        }
    }

    /// Returns whether a cursor keeps its stored value, which may not be text.
    pub(super) fn is_stored(&self, dialect: Dialect) -> bool {
        dialect == Dialect::Sqlite && self.data_type == DataType::Utf8
    }

    /// Returns the tests for null and for not null.
    pub(super) fn null_tests(&self, dialect: Dialect) -> [&'static str; 2] {
        null_tests(dialect == Dialect::Postgres && self.data_type == DataType::Utf8 && !self.plain_text)
    }

    /// Appends the operand in a form with the order and equality of its Arrow type, for booleans and bytes.
    pub(super) fn push_ordered(&self, sql: &mut Sql) {
        push_ordered(&self.sql, self.manner(sql.dialect), sql);
    }

    fn manner(&self, dialect: Dialect) -> Manner {
        match &self.data_type {
            DataType::Boolean if dialect != Dialect::Postgres => Manner::Truth { numbers_only: false },
            _ if self.peculiar == Some(Peculiar::Year) => Manner::Year,
            DataType::Binary => Manner::Blob,
            DataType::Utf8 => Manner::Text {
                indexed: (self.plain_text || self.numbers) && !self.beginning,
                shown: self.is_stored(dialect) && !self.untyped,
                beginning: self.beginning,
                numbers: self.numbers,
                dates: self.peculiar == Some(Peculiar::Date),
            },
            _ => Manner::Native,
        }
    }

    /// Returns the operand as it is fetched, before any cast: as text if it compares as text.
    pub(super) fn fetched(&self) -> String {
        let Self { sql, .. } = self;
        if !self.untyped {
            return sql.clone();
        }
        format!("CASE WHEN typeof({sql}) = 'blob' THEN {sql} ELSE CAST({sql} AS TEXT) END")
    }
}

impl Comparand for Operand {
    fn side(&self, dialect: Dialect) -> Side<'_> {
        Side {
            bare: &self.sql,
            sql: &self.sql,
            null_tests: self.null_tests(dialect),
            manner: self.manner(dialect),
            order: TextOrder::Bytes,
        }
    }

    fn literal(&self, dialect: Dialect, _: Comparison, value: &Value) -> Result<Literal> {
        literal(dialect, self, value)
    }

    fn searched(&self, _: Dialect, pattern: &str) -> Result<Option<String>> {
        if self.data_type != DataType::Utf8 {
            let message = format!("`{}` is {}, and `like` compares text", self.name, self.data_type);
            return Err(Error::new(Code::InvalidFilter, message).with_hint("compare it with `=`, `<` or `>`"));
        }
        if pattern.len() > PATTERN_BYTES_MAX {
            let message = format!("a pattern of `like` has at most {PATTERN_BYTES_MAX} bytes");
            return Err(Error::new(Code::InvalidFilter, message));
        }
        Ok(Some(self.sql.clone()))
    }

    fn place(&self, bind: &Bind, sql: &mut Sql) {
        let cast = match (sql.dialect, &self.data_type, bind) {
            (Dialect::Postgres, DataType::Boolean, _) => "::boolean",
            (Dialect::Postgres, _, Bind::Float(_)) => "::float8",
            (Dialect::Postgres, DataType::Int32 | DataType::Int64 | DataType::UInt64, _) => "::bigint",
            (Dialect::Postgres, DataType::Decimal128(..) | DataType::Decimal256(..), _) => "::numeric",
            (Dialect::Postgres, DataType::Date32, _) => "::date",
            (Dialect::Postgres, DataType::Timestamp(..), _) => "::timestamp",
            (Dialect::Postgres, DataType::Binary, _) => "::bytea",
            (Dialect::Mysql, DataType::Decimal128(..) | DataType::Decimal256(..), Bind::Text(_)) => {
                return push_decimal(bind.clone(), sql);
            }
            (Dialect::Mysql, DataType::UInt64, Bind::Text(_)) => {
                sql.push("CAST(").bind(bind.clone()).push(" AS UNSIGNED)");
                return;
            }
            // A text is compared with a column of its own type; what is compared by its bytes gets no placeholder here.
            _ => "",
        };
        sql.bind(bind.clone()).push(cast);
    }
}

/// Coerces `value` to the literal for a comparison with `operand`.
///
/// # Errors
/// `InvalidValue` when it can't be coerced.
pub(super) fn literal(dialect: Dialect, operand: &Operand, value: &Value) -> Result<Literal> {
    if *value == Value::Null {
        return Ok(Literal::Null);
    }
    let found = match &operand.data_type {
        DataType::Boolean => truth(value).map(|truth| Literal::Is(Bind::Bool(truth))),
        DataType::Int32 | DataType::Int64 | DataType::UInt64 => {
            let unsigned = operand.data_type == DataType::UInt64 && dialect == Dialect::Mysql;
            let found = digits(value).and_then(|text| integer(unsigned, &text));
            if operand.peculiar == Some(Peculiar::ObjectIdentifier) { found.map(object_identifier) } else { found }
        }
        // No value there is NaN, which is above all numbers.
        DataType::Float32 | DataType::Float64
            if dialect != Dialect::Postgres && float(value).is_some_and(f64::is_nan) =>
        {
            Some(Literal::Above)
        }
        DataType::Float32 => float(value).map(|own| {
            // The nearest value of the column's precision: clients filter by the values that they were shown.
            let short = f64::from(own as f32);
            Literal::Is(Bind::Float(if short.is_infinite() { own } else { short }))
        }),
        DataType::Float64 => float(value).map(|own| Literal::Is(Bind::Float(own))),
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            let whole_max = match dialect {
                // It may have more digits than Arrow's decimals.
                Dialect::Postgres => DECIMAL_DIGITS,
                _ => usize::from(precision.saturating_sub(scale.unsigned_abs())),
            };
            digits(value).and_then(|text| decimal(whole_max, *scale, &text))
        }
        DataType::Date32 => text(value).and_then(|text| day(dialect, &text)),
        DataType::Timestamp(..) => text(value).and_then(|text| moment(dialect, &text)),
        DataType::Binary => text(value).and_then(|text| bytes(&text)).map(|bytes| Literal::Is(Bind::Bytes(bytes))),
        DataType::Utf8 => {
            let own = text(value).unwrap_or_else(|| value.to_string());
            Some(match own.split_once('\0') {
                // No text of PostgreSQL contains NUL: such a text lies behind what is before it.
                Some((before, _)) if dialect == Dialect::Postgres => Literal::Past(Bind::Text(before.to_owned())),
                _ => Literal::Is(Bind::Text(own)),
            })
        }
        _ => None,
    };
    found.ok_or_else(|| {
        let (name, data_type) = (&operand.name, &operand.data_type);
        Error::new(Code::InvalidValue, format!("`{name}` is {data_type} and can't be compared with {value}"))
    })
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(own) => Some(*own),
        Value::Text(text) | Value::Bare(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "1" => Some(true),
            "false" | "f" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Parses bytes from hexadecimal digits, as the engine does.
fn bytes(text: &str) -> Option<Vec<u8>> {
    hexadecimal::decode(text.strip_prefix("0x").or_else(|| text.strip_prefix("\\x")).unwrap_or(text))
}

/// Returns a number with all the digits it was written with, without an exponent; one beyond all numbers as `inf`.
fn digits(value: &Value) -> Option<String> {
    let text = match value {
        Value::Text(text) | Value::Bare(text) => text.trim().to_owned(),
        other => return number(other).map(|number| number.to_string()).and_then(|text| plain(&text)),
    };
    match Parts::of(&text) {
        Some(_) => Some(text),
        None => Value::number(&text).map(|number| number.to_string()).and_then(|text| plain(&text)),
    }
}

/// Expands `1e20` to its zeros; `NaN` is above all numbers, as in the engine.
fn plain(text: &str) -> Option<String> {
    if Parts::of(text).is_some() {
        return Some(text.to_owned());
    }
    let number: f64 = text.parse().ok()?;
    Some(if number.is_nan() { "inf".to_owned() } else { number.to_string() })
}

/// Returns the literal of a text that is beyond every number of a database.
fn beyond(text: &str) -> Option<Literal> {
    match text {
        "inf" => Some(Literal::Above),
        "-inf" => Some(Literal::Below),
        _ => None,
    }
}

fn integer(unsigned: bool, text: &str) -> Option<Literal> {
    if let Some(literal) = beyond(text) {
        return Some(literal);
    }
    let Parts { negative, whole, fraction } = Parts::of(text)?;
    let far = || if negative { Literal::Below } else { Literal::Above };
    // Past the integer below it.
    let past = !fraction.is_empty();
    let sign = if negative { -1 } else { 1 };
    let Ok(number) = (if whole.is_empty() { "0" } else { whole }).parse::<i128>() else { return Some(far()) };
    let number = sign * number - i128::from(past && negative);
    let bind = match i64::try_from(number) {
        Ok(number) => Bind::Int(number),
        // Sent as text, it is taken as the number without loss.
        Err(_) if unsigned && u64::try_from(number).is_ok() => Bind::Text(number.to_string()),
        Err(_) => return Some(far()),
    };
    Some(if past { Literal::Past(bind) } else { Literal::Is(bind) })
}

/// Returns what an integer is beside `oid`.
fn object_identifier(literal: Literal) -> Literal {
    match literal {
        Literal::Is(Bind::Int(..0)) | Literal::Past(Bind::Int(..0)) => Literal::Below,
        Literal::Is(Bind::Int(number)) | Literal::Past(Bind::Int(number)) if u32::try_from(number).is_err() => {
            Literal::Above
        }
        other => other,
    }
}

fn decimal(whole_max: usize, scale: i8, text: &str) -> Option<Literal> {
    if let Some(literal) = beyond(text) {
        return Some(literal);
    }
    let Parts { negative, whole, fraction } = Parts::of(text)?;
    if whole.len() > whole_max {
        return Some(if negative { Literal::Below } else { Literal::Above });
    }
    let places = usize::try_from(scale).unwrap_or(0);
    let sign = if negative { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    let Some((kept, cut)) = fraction.split_at_checked(places).filter(|(_, cut)| !cut.is_empty()) else {
        let point = if fraction.is_empty() { "" } else { "." };
        return Some(Literal::Is(Bind::Text(format!("{sign}{whole}{point}{fraction}"))));
    };
    // Between two neighbours: the lower one.
    let lower = if negative { up(whole, kept) } else { (whole.to_owned(), kept.to_owned()) };
    debug_assert!(!cut.is_empty(), "what fits is no neighbour");
    let point = if lower.1.is_empty() { "" } else { "." };
    Some(Literal::Past(Bind::Text(format!("{sign}{}{point}{}", lower.0, lower.1))))
}

/// Increments the digits at their last place.
fn up(whole: &str, fraction: &str) -> (String, String) {
    let mut digits: Vec<u8> = std::iter::once(b'0').chain(whole.bytes()).chain(fraction.bytes()).collect();
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            break;
        }
        *digit = b'0';
    }
    let point = digits.len() - fraction.len();
    let text = |digits: &[u8]| digits.iter().map(|digit| char::from(*digit)).collect::<String>();
    let whole = text(&digits[..point]);
    let trimmed = whole.trim_start_matches('0');
    (if trimmed.is_empty() { "0".to_owned() } else { trimmed.to_owned() }, text(&digits[point..]))
}

fn day(dialect: Dialect, text: &str) -> Option<Literal> {
    let (year, rest) = calendar::written_day(i64::from(calendar::day(text)?));
    Some(dated(dialect, year, &rest).map_or_else(|far| far, |text| Literal::Is(Bind::Text(text))))
}

fn moment(dialect: Dialect, text: &str) -> Option<Literal> {
    let moment = calendar::moment(text)?;
    let (year, rest) = calendar::written(moment.micros);
    let is = |text| if moment.beyond { Literal::Past(Bind::Text(text)) } else { Literal::Is(Bind::Text(text)) };
    Some(dated(dialect, year, &rest).map_or_else(|far| far, is))
}

/// Formats a year and the rest of a date for the database; returns on which side it lies if it is out of the database's
/// range.
fn dated(dialect: Dialect, year: i64, rest: &str) -> Result<String, Literal> {
    match (dialect, year) {
        (Dialect::Postgres, ..-4_712) => Err(Literal::Below),
        (Dialect::Postgres, ..1) => Ok(format!("{:04}{rest} BC", 1 - year)),
        (Dialect::Mysql | Dialect::Sqlite, ..0) => Err(Literal::Below),
        (Dialect::Mysql | Dialect::Sqlite, 10_000..) => Err(Literal::Above),
        _ => Ok(format!("{year:04}{rest}")),
    }
}

fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Int(_) | Value::UInt(_) | Value::Float(_) => Some(value.clone()),
        // `NaN` and `inf` are floats too.
        Value::Text(text) | Value::Bare(text) => {
            let text = text.trim();
            Value::number(text).or_else(|| text.parse().ok().map(Value::Float))
        }
        Value::Bool(_) | Value::Null => None,
    }
}

fn float(value: &Value) -> Option<f64> {
    match number(value)? {
        Value::Int(own) => Some(own as f64),
        Value::UInt(own) => Some(own as f64),
        Value::Float(own) => Some(own),
        _ => None,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Bare(text) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, TimeUnit};
    use salver_model::Value;

    use super::{Operand, literal};
    use crate::condition::Literal;
    use crate::dialect::Dialect;
    use crate::statement::Bind;

    fn of(dialect: Dialect, data_type: DataType, value: &str) -> Option<Literal> {
        let operand = Operand::computed("n".to_owned(), data_type, "n".to_owned());
        literal(dialect, &operand, &Value::Bare(value.to_owned())).ok()
    }

    fn is(text: &str) -> Option<Literal> {
        Some(Literal::Is(Bind::Text(text.to_owned())))
    }

    fn past(text: &str) -> Option<Literal> {
        Some(Literal::Past(Bind::Text(text.to_owned())))
    }

    #[test]
    fn decimals_keep_their_digits() {
        let money = |text| of(Dialect::Mysql, DataType::Decimal128(12, 2), text);
        assert_eq!(money("1234567.89"), is("1234567.89"));
        assert_eq!(money("1234567.8900"), is("1234567.89"));
        assert_eq!(money("-0.5"), is("-0.5"));
        assert_eq!(money("1e3"), is("1000"));
        assert_eq!(money("1.239"), past("1.23"));
        assert_eq!(money("-1.239"), past("-1.24"));
        assert_eq!(money("-0.999"), past("-1.00"));
        assert_eq!(money("12345678901"), Some(Literal::Above));
        assert_eq!(money("-1e30"), Some(Literal::Below));
        assert_eq!(money("much"), None);
        let long = "12345678901234567890123456789012345678901.5";
        assert_eq!(of(Dialect::Postgres, DataType::Decimal256(76, 30), long), is(long));
    }

    #[test]
    fn whole_numbers_and_what_lies_between() {
        let int = |text| of(Dialect::Postgres, DataType::Int64, text);
        assert_eq!(int("9007199254740993"), Some(Literal::Is(Bind::Int(9_007_199_254_740_993))));
        assert_eq!(int("9007199254740992.5"), Some(Literal::Past(Bind::Int(9_007_199_254_740_992))));
        assert_eq!(int("-1.5"), Some(Literal::Past(Bind::Int(-2))));
        assert_eq!(int("9223372036854775808"), Some(Literal::Above));
        assert_eq!(of(Dialect::Mysql, DataType::UInt64, "18446744073709551615"), is("18446744073709551615"));
        assert_eq!(of(Dialect::Mysql, DataType::UInt64, "18446744073709551616"), Some(Literal::Above));
    }

    #[test]
    fn moments_of_every_year() {
        let at = DataType::Timestamp(TimeUnit::Microsecond, None);
        let moment = |dialect, text| of(dialect, at.clone(), text);
        assert_eq!(moment(Dialect::Postgres, "9999-12-31"), is("9999-12-31 00:00:00.000000"));
        assert_eq!(moment(Dialect::Postgres, "2024-01-01T02:00:00+02:00"), is("2024-01-01 00:00:00.000000"));
        assert_eq!(moment(Dialect::Postgres, "-0043-03-15"), is("0044-03-15 00:00:00.000000 BC"));
        assert_eq!(moment(Dialect::Mysql, "10000-01-01"), Some(Literal::Above));
        assert_eq!(moment(Dialect::Mysql, "2024-01-01 00:00:00.1234567"), past("2024-01-01 00:00:00.123456"));
        assert_eq!(of(Dialect::Postgres, DataType::Date32, "0044-03-15 BC"), is("0044-03-15 BC"));
        assert_eq!(moment(Dialect::Postgres, "soon"), None);
    }

    #[test]
    fn bytes_and_texts() {
        for text in ["1f8b", "0x1F8B", "\\x1f8b"] {
            let bytes = Some(Literal::Is(Bind::Bytes(vec![0x1f, 0x8b])));
            assert_eq!(of(Dialect::Postgres, DataType::Binary, text), bytes, "{text}");
        }
        assert_eq!(of(Dialect::Postgres, DataType::Binary, "1f8"), None);
        assert_eq!(of(Dialect::Postgres, DataType::Utf8, "a\0b"), past("a"));
        assert_eq!(of(Dialect::Sqlite, DataType::Utf8, "a\0b"), is("a\0b"));
    }
}
