//! Scalar literals as parsed by a door, not yet converted to the type of a column.

use std::fmt;

/// Literal in a request. A backend coerces it to the type of the column it is compared with: text converts to dates,
/// timestamps, decimals and numbers, and numbers convert to each other where that is lossless.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// SQL null.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer in the range of `i64`.
    Int(i64),
    /// An integer above `i64::MAX`.
    UInt(u64),
    /// Any other number.
    Float(f64),
    /// Text, also the text form of dates, timestamps, decimals and hexadecimal binary.
    Text(String),
    /// Unquoted text, which may also be a number or boolean, depending on the column's type.
    Bare(String),
}

impl Value {
    /// Parses a number in the syntax of Salver's doors: `-12` is [`Value::Int`], `1.5e3` is [`Value::Float`]. Returns
    /// `None` for anything that is not a finite decimal number.
    #[must_use]
    pub fn number(text: &str) -> Option<Self> {
        let first = text.bytes().find(|b| *b != b'-' && *b != b'+')?;
        if !first.is_ascii_digit() && first != b'.' {
            return None;
        }
        if let Ok(i) = text.parse::<i64>() {
            return Some(Self::Int(i));
        }
        if let Ok(u) = text.parse::<u64>() {
            return Some(Self::UInt(u));
        }
        text.parse::<f64>().ok().filter(|f| f.is_finite()).map(Self::Float)
    }

    /// Parses like [`Value::number`], but a number with more digits than a float holds becomes [`Value::Bare`] with all
    /// of them.
    #[must_use]
    pub fn exact_number(text: &str) -> Option<Self> {
        let number = Self::number(text)?;
        let digits = text.split(['e', 'E']).next().unwrap_or(text).chars().filter(char::is_ascii_digit).count();
        Some(if matches!(number, Self::Float(_)) && digits > FLOAT_DIGITS {
            Self::Bare(text.to_owned())
        } else {
            number
        })
    }
}

/// Number of decimal digits that a 64-bit float preserves.
const FLOAT_DIGITS: usize = 15;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(i) => write!(f, "{i}"),
            Self::UInt(u) => write!(f, "{u}"),
            Self::Float(x) => write!(f, "{x}"),
            Self::Text(s) => write!(f, "'{}'", s.replace('\'', "''")),
            Self::Bare(s) => f.write_str(s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn numbers() {
        assert_eq!(Value::number("-4"), Some(Value::Int(-4)));
        assert_eq!(Value::number("18446744073709551615"), Some(Value::UInt(u64::MAX)));
        assert_eq!(Value::number("1.5e3"), Some(Value::Float(1500.0)));
        for not in ["", "-", "nan", "inf", "1x", "0x10", "1 2", "1e999"] {
            assert_eq!(Value::number(not), None, "{not}");
        }
    }
}
