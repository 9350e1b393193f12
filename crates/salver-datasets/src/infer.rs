//! Infers the type of text values, and merges types. It works on text, not on files.

mod merge;
mod time;

use arrow::datatypes::{DataType, TimeUnit};

pub(crate) use merge::{is_plain_form, merge_schemas, plain};
pub(crate) use time::{parse_date, parse_timestamp, to_nanos};

/// Time zone of timestamps whose text has an offset: they are stored in UTC.
pub(crate) const UTC: &str = "UTC";

/// Kind of the values of a text column, as far as they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// Only nulls.
    Null,
    /// `true` and `false`.
    Bool,
    /// Whole numbers in the range of `i64`, without leading zeros.
    Int,
    /// Decimal numbers.
    Float,
    /// `NaN`, `inf` and `-inf`, the floats that are not finite.
    NotFinite,
    /// `2026-01-31`.
    Date,
    /// `2026-01-31T10:20:30.5`, with a zone or without.
    Timestamp {
        /// Whether a fraction has more than six digits.
        nanos: bool,
        /// Whether the text has an offset or `Z`.
        zoned: bool,
    },
    /// Anything else.
    Text,
}

impl TextKind {
    /// Returns the kind of one value; `text` is not empty.
    pub(crate) fn of(text: &str) -> Self {
        let text = text.trim_ascii();
        let bytes = text.as_bytes();
        match bytes.first() {
            Some(b't' | b'T' | b'f' | b'F') if parse_bool(text).is_some() => Self::Bool,
            Some(b'-' | b'i' | b'N') if matches!(text, "NaN" | "inf" | "-inf") => Self::NotFinite,
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') => of_digits(text),
            _ => Self::Text,
        }
    }

    /// Returns the kind that includes both this one and that of `text`.
    pub(crate) fn with(self, text: &str) -> Self {
        match self {
            Self::Text => Self::Text,
            _ => self.widened(Self::of(text)),
        }
    }

    /// Returns the kind that includes both.
    pub(crate) fn widened(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Null, other) | (other, Self::Null) => other,
            (Self::Int | Self::Float | Self::NotFinite, Self::Int | Self::Float | Self::NotFinite) => Self::Float,
            (Self::Timestamp { nanos: a, zoned: x }, Self::Timestamp { nanos: b, zoned: y }) if x == y => {
                Self::Timestamp { nanos: a || b, zoned: x }
            }
            (Self::Date, Self::Timestamp { nanos, zoned: false })
            | (Self::Timestamp { nanos, zoned: false }, Self::Date) => Self::Timestamp { nanos, zoned: false },
            _ => Self::Text,
        }
    }

    /// Returns the type of a column of this kind. Nulls alone stay [`DataType::Null`], so that another file may
    /// determine it.
    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::Null => DataType::Null,
            Self::Bool => DataType::Boolean,
            Self::Int => DataType::Int64,
            Self::Float | Self::NotFinite => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::Timestamp { nanos, zoned } => {
                let unit = if nanos { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
                DataType::Timestamp(unit, zoned.then(|| UTC.into()))
            }
            Self::Text => DataType::Utf8,
        }
    }
}

fn of_digits(text: &str) -> TextKind {
    let bytes = text.as_bytes();
    if let Some(kind) = of_number(bytes) {
        let fits = match kind {
            TextKind::Int => text.parse::<i64>().is_ok(),
            _ => text.parse::<f64>().is_ok_and(f64::is_finite),
        };
        // More than 64 bits are more likely an identifier than a quantity; text keeps all digits.
        return if fits { kind } else { TextKind::Text };
    }
    if bytes.len() >= 10 && bytes.get(4) == Some(&b'-') {
        if bytes.len() == 10 {
            return if parse_date(text).is_some() { TextKind::Date } else { TextKind::Text };
        }
        if let Some(instant) = parse_timestamp(text) {
            let nanos = instant.fraction_digits > 6;
            if !nanos || instant.nanos().is_some() {
                return TextKind::Timestamp { nanos, zoned: instant.zoned };
            }
        }
    }
    TextKind::Text
}

/// Number of digits after a `+` from which an integer is taken for a telephone number.
const PHONE_DIGITS: usize = 7;

/// Returns whether an integer is written like a code, all of whose digits matter: `007`, `+442079460000`.
pub(crate) fn is_code(text: &str) -> bool {
    match text.as_bytes() {
        [b'-' | b'+', b'0', _, ..] | [b'0', _, ..] => true,
        [b'+', digits @ ..] => digits.len() >= PHONE_DIGITS,
        _ => false,
    }
}

/// Returns the kind of text that is written like a number: `-12`, `+1`, `1.5`, `.5`, `1e9`. A leading zero makes it a
/// code ("007"), not a number.
fn of_number(bytes: &[u8]) -> Option<TextKind> {
    let digits = bytes.strip_prefix(b"-").or_else(|| bytes.strip_prefix(b"+")).unwrap_or(bytes);
    let whole = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    if whole > 1 && digits[0] == b'0' {
        return None;
    }
    let mut rest = &digits[whole..];
    if rest.is_empty() {
        let is_phone = bytes.starts_with(b"+") && whole >= PHONE_DIGITS;
        return (whole > 0 && !is_phone).then_some(TextKind::Int);
    }
    let mut fraction = 0;
    if let Some(tail) = rest.strip_prefix(b".") {
        fraction = tail.iter().take_while(|b| b.is_ascii_digit()).count();
        rest = &tail[fraction..];
    }
    if whole + fraction == 0 {
        return None;
    }
    if let Some(tail) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let tail = tail.strip_prefix(b"-").or_else(|| tail.strip_prefix(b"+")).unwrap_or(tail);
        return (!tail.is_empty() && tail.iter().all(u8::is_ascii_digit)).then_some(TextKind::Float);
    }
    rest.is_empty().then_some(TextKind::Float)
}

/// Parses `true` or `false`, in any case.
pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}
