//! Parameters of named queries: their types, and what a client's text means in them.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

use crate::value::Value;

/// Type of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ParameterType {
    /// Any text; compared with a column of another type it converts to that.
    #[default]
    Text,
    /// A whole number of 64 bits.
    Integer,
    /// A decimal number, also with an exponent.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A date, as `2024-01-31`.
    Date,
    /// A time, as `2024-01-31T12:30:00Z`; without a zone it is in UTC.
    Timestamp,
}

impl ParameterType {
    /// Every type with its word in settings.
    pub const ALL: [(&'static str, Self); 6] = [
        ("text", Self::Text),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
        ("date", Self::Date),
        ("timestamp", Self::Timestamp),
    ];

    /// Returns the type called `word`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == word).map(|(_, kind)| *kind)
    }

    /// Returns its word in settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, own)| *own == self).map_or("", |(word, _)| word)
    }

    /// Returns what a value of the type looks like, for hints.
    #[must_use]
    pub fn example(self) -> &'static str {
        match self {
            Self::Text => "any text",
            Self::Integer => "a whole number like 42",
            Self::Number => "a number like 1.5",
            Self::Boolean => "true or false",
            Self::Date => "a date like 2024-01-31",
            Self::Timestamp => "a time like 2024-01-31T12:30:00Z",
        }
    }

    /// Reads a text as a value of the type; `None` if it is none. Dates and times are text of one form: `2024-01-31`,
    /// and `2024-01-31 12:30:00` in UTC, with a fraction where it is not zero.
    #[must_use]
    pub fn parse(self, text: &str) -> Option<Value> {
        match self {
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::Integer => text.parse().ok().map(Value::Int),
            Self::Number => Value::exact_number(text).map(as_number),
            Self::Boolean => text.parse().ok().map(Value::Bool),
            Self::Date => NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(|date| Value::Text(date.to_string())),
            Self::Timestamp => timestamp(text).map(|time| Value::Text(time.to_string())),
        }
    }
}

/// Returns a number that is written with a point, so that it is divided as one.
fn as_number(number: Value) -> Value {
    match number {
        Value::Int(i) => Value::Bare(format!("{i}.0")),
        Value::UInt(u) => Value::Bare(format!("{u}.0")),
        other => other,
    }
}

fn timestamp(text: &str) -> Option<NaiveDateTime> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.naive_utc());
    }
    let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
    let timed = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    timed.or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0))
}

/// Value of a parameter, with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedValue {
    /// Name of the parameter, without `$`.
    pub name: String,
    /// Type of the parameter.
    pub kind: ParameterType,
    /// Value; `None` for null.
    pub value: Option<Value>,
}

#[cfg(test)]
mod tests {
    use super::ParameterType;
    use crate::value::Value;

    #[test]
    fn texts_of_every_type() {
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        let bare = |text: &str| Some(Value::Bare(text.to_owned()));
        let right = [
            (ParameterType::Text, "", text("")),
            (ParameterType::Text, "' or 1=1", text("' or 1=1")),
            (ParameterType::Integer, "-7", Some(Value::Int(-7))),
            (ParameterType::Number, "3", bare("3.0")),
            (ParameterType::Number, "1.5", Some(Value::Float(1.5))),
            (ParameterType::Boolean, "true", Some(Value::Bool(true))),
            (ParameterType::Date, "2024-02-29", text("2024-02-29")),
            (ParameterType::Timestamp, "2024-02-29", text("2024-02-29 00:00:00")),
            (ParameterType::Timestamp, "2024-02-29T12:30:00+02:00", text("2024-02-29 10:30:00")),
            (ParameterType::Timestamp, "2024-02-29 12:30:00.25", text("2024-02-29 12:30:00.250")),
        ];
        for (kind, written, value) in right {
            assert_eq!(kind.parse(written), value, "{written}");
        }
        let wrong = [
            (ParameterType::Integer, "1.5"),
            (ParameterType::Integer, "9223372036854775808"),
            (ParameterType::Integer, ""),
            (ParameterType::Number, "1 or 1=1"),
            (ParameterType::Number, "nan"),
            (ParameterType::Boolean, "yes"),
            (ParameterType::Date, "2023-02-29"),
            (ParameterType::Date, "2024-02-29T00:00:00Z"),
            (ParameterType::Timestamp, "noon"),
        ];
        for (kind, written) in wrong {
            assert_eq!(kind.parse(written), None, "{written}");
        }
    }
}
