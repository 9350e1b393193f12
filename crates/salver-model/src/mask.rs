//! Expressions that a column is masked by: `left(email, 1) || '***'`.
//!
//! A mask is a constant (`null`, a number, a text in single quotes, `true`), texts put together with `||` of literals,
//! `left(c, n)` and `right(c, n)`, `floor(c, step)` of numbers, or `trunc(c, 'year')` of dates and times. The only
//! column it may name is the one that it masks. Null stays null, unless the mask is a constant.
//!
//! What a mask means is said here once; Arrow arrays and the databases' SQL compute it alike:
//!
//! - Lengths count characters (code points), and a text that is shorter is taken whole.
//! - `floor` goes down to a multiple of the step, also below zero. A number that its column can't have becomes null, as
//!   do floats that are not finite, or whose size is [`FLOAT_BOUND`] or more ([`SINGLE_BOUND`] for 32 bits).
//! - `trunc` cuts times off in UTC, and a date stays a date. A text is taken as a date in ISO 8601, without offset, and
//!   becomes null if it is none.

mod parse;

use crate::error::Result;
use crate::spec::matches_pattern;
use crate::value::Value;

/// Size of a float from which on `floor` gives null: beyond it a division could overflow.
pub const FLOAT_BOUND: f64 = 1e300;
/// The same for floats of 32 bits.
pub const SINGLE_BOUND: f64 = 1e38;

/// Part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaskPart {
    /// Literal.
    Text(String),
    /// That many characters from the beginning of the column's text.
    Left(u32),
    /// That many characters from its end.
    Right(u32),
}

/// Step of `floor`: a positive decimal number, with at most six digits behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    unscaled: i64,
    scale: u8,
}

impl Step {
    /// Returns its digits without the point.
    #[must_use]
    pub fn unscaled(self) -> i64 {
        self.unscaled
    }

    /// Returns the number of its digits behind the point.
    #[must_use]
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// Returns the nearest float.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "it is below 10^15")]
    pub fn float(self) -> f64 {
        self.unscaled as f64 / 10_f64.powi(i32::from(self.scale))
    }
}

/// What `trunc` keeps of a date or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruncUnit {
    /// The year.
    Year,
    /// Year and month.
    Month,
    /// The day.
    Day,
    /// Day and hour.
    Hour,
}

impl TruncUnit {
    /// Every unit with its word.
    pub const ALL: [(&'static str, Self); 4] =
        [("year", Self::Year), ("month", Self::Month), ("day", Self::Day), ("hour", Self::Hour)];

    /// Returns its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, own)| *own == self).map_or("", |(word, _)| word)
    }
}

/// What is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum MaskExpression {
    /// The same value in every row.
    Constant(Value),
    /// Texts, one behind the other; at least one is of the column.
    Text(Vec<MaskPart>),
    /// The multiple of the step that is next below, or equal.
    Floor(Step),
    /// The beginning of the year, month, day or hour.
    Trunc(TruncUnit),
}

/// Kinds of columns, as masks tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskedKind {
    /// Text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A float.
    Float,
    /// An exact decimal, with that many digits behind the point if that is known.
    Decimal(Option<u32>),
    /// A day.
    Date,
    /// A day and time.
    Timestamp,
    /// Anything else, which can only be null.
    Other,
}

/// An expression that masks a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    text: String,
    expression: MaskExpression,
}

impl Mask {
    /// Parses the mask of `column`: a name, or a pattern with `*`, for which it must be a constant.
    ///
    /// # Errors
    /// Returns `Config`, with the position in the text.
    pub fn parse(column: &str, text: &str) -> Result<Self> {
        Ok(Self { text: text.to_owned(), expression: parse::parse(column, text)? })
    }

    /// Returns the source text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what is computed.
    #[must_use]
    pub fn expression(&self) -> &MaskExpression {
        &self.expression
    }

    /// Returns why it can't mask a column of this kind; `None` if it can.
    #[must_use]
    pub fn misfit(&self, kind: MaskedKind) -> Option<String> {
        let needs = |what: &str| Some(format!("`{}` is for {what}", self.text));
        match (&self.expression, kind) {
            (MaskExpression::Constant(Value::Null), _)
            | (MaskExpression::Text(_), MaskedKind::Text)
            | (MaskExpression::Floor(_), MaskedKind::Float)
            | (MaskExpression::Trunc(_), MaskedKind::Timestamp | MaskedKind::Text) => None,
            (MaskExpression::Constant(value), _) => {
                if is_of(value, kind) {
                    None
                } else {
                    Some(format!("the column can't have the value {value}"))
                }
            }
            (MaskExpression::Text(_), _) => needs("columns of text"),
            (MaskExpression::Floor(step), MaskedKind::Integer) => {
                if step.scale == 0 {
                    None
                } else {
                    needs("numbers with a fraction; whole ones need a whole step")
                }
            }
            (MaskExpression::Floor(step), MaskedKind::Decimal(scale)) => {
                let fits = scale.is_none_or(|scale| u32::from(step.scale) <= scale);
                if fits { None } else { needs("decimals with as many digits behind the point as the step") }
            }
            (MaskExpression::Floor(_), _) => needs("columns of numbers"),
            (MaskExpression::Trunc(TruncUnit::Hour), MaskedKind::Date) => needs("columns with a time of day"),
            (MaskExpression::Trunc(_), MaskedKind::Date) => None,
            (MaskExpression::Trunc(_), _) => needs("columns of dates and times"),
        }
    }
}

/// Returns whether a column of this kind can have the value.
fn is_of(value: &Value, kind: MaskedKind) -> bool {
    match (value, kind) {
        (Value::Null, _)
        | (Value::Text(_), MaskedKind::Text)
        | (Value::Bool(_), MaskedKind::Boolean)
        | (Value::Int(_), MaskedKind::Integer | MaskedKind::Float | MaskedKind::Decimal(_))
        | (Value::Float(_), MaskedKind::Float) => true,
        (Value::Float(number), MaskedKind::Decimal(scale)) => {
            let digits = number.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
            scale.is_none_or(|scale| digits <= scale as usize)
        }
        (Value::Text(text), MaskedKind::Date) => is_date(text),
        (Value::Text(text), MaskedKind::Timestamp) => is_moment(text),
        _ => false,
    }
}

/// Returns whether the text is a date like `1970-01-31`.
fn is_date(text: &str) -> bool {
    text.len() == 10 && chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

/// Returns whether the text is a date and time like `1970-01-31 23:59:59`.
fn is_moment(text: &str) -> bool {
    text.len() == 19 && chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").is_ok()
}

/// A mask with the columns that it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMask {
    /// Name of the column, or a pattern with `*`.
    pub columns: String,
    /// The mask.
    pub mask: Mask,
}

impl ColumnMask {
    /// Returns the mask of the column, the first of those that are for it.
    #[must_use]
    pub fn of<'m>(masks: &'m [Self], column: &str) -> Option<&'m Mask> {
        masks.iter().find(|own| matches_pattern(&own.columns, column)).map(|own| &own.mask)
    }

    /// Sorts masks so that a name goes before a pattern, and patterns stand in the order of their texts.
    pub fn sort(masks: &mut [Self]) {
        masks.sort_by(|a, b| (a.columns.contains('*'), &a.columns).cmp(&(b.columns.contains('*'), &b.columns)));
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnMask, Mask, MaskExpression, MaskPart, MaskedKind, TruncUnit};
    use crate::value::Value;

    fn parsed(text: &str) -> MaskExpression {
        Mask::parse("c", text).unwrap().expression().clone()
    }

    #[test]
    fn what_can_be_written() {
        let text = |text: &str| MaskPart::Text(text.to_owned());
        for (written, meant) in [
            ("null", MaskExpression::Constant(Value::Null)),
            ("NULL", MaskExpression::Constant(Value::Null)),
            ("-3", MaskExpression::Constant(Value::Int(-3))),
            ("1.5", MaskExpression::Constant(Value::Float(1.5))),
            ("true", MaskExpression::Constant(Value::Bool(true))),
            ("'it''s' || '!'", MaskExpression::Constant(Value::Text("it's!".to_owned()))),
            ("left(c, 1)", MaskExpression::Text(vec![MaskPart::Left(1)])),
            ("left(\"c\",1)||'***'", MaskExpression::Text(vec![MaskPart::Left(1), text("***")])),
            ("'é' || Right ( c , 4 )", MaskExpression::Text(vec![text("é"), MaskPart::Right(4)])),
            ("trunc(c, 'month')", MaskExpression::Trunc(TruncUnit::Month)),
        ] {
            assert_eq!(parsed(written), meant, "{written}");
        }
        let MaskExpression::Floor(step) = parsed("floor(c, 2.50)") else { panic!("a step") };
        assert_eq!((step.unscaled(), step.scale()), (25, 1));
        assert!((step.float() - 2.5).abs() < f64::EPSILON);
    }

    #[test]
    fn what_cannot_be_written() {
        let (long, many) = (format!("'{}'", "x".repeat(2000)), "'x' || ".repeat(500) + "'x'");
        for bad in [
            "",
            "c",
            "left(c)",
            "left(c, -1)",
            "left(c, 1.5)",
            "left(c, 99999999999)",
            "left(d, 1)",
            "left('c', 1)",
            "upper(c)",
            "null || 'x'",
            "1 || 'x'",
            "floor(c, 0)",
            "floor(c, -1)",
            "floor(c, 1e3)",
            "floor(c, 0.0000001)",
            "floor(c, 10000000000000000)",
            "floor(c, 10) || 'x'",
            "trunc(c, 'week')",
            "trunc(c, year)",
            "'x' ||",
            "'x' 'y'",
            "'x",
            "left(c, 1",
            "left(c, 1))",
            "(null)",
            "1; drop",
            "'a' | 'b'",
            "\u{e9}",
            &long,
            &many,
        ] {
            let error = Mask::parse("c", bad).unwrap_err();
            assert!(error.message.contains("mask"), "{bad}: {}", error.message);
        }
        assert!(Mask::parse("c*", "left(c, 1)").is_err(), "a pattern needs a constant");
        assert!(Mask::parse("c*", "'x'").is_ok());
    }

    #[test]
    fn fits() {
        let fits = |text: &str, kind: MaskedKind| Mask::parse("c", text).unwrap().misfit(kind).is_none();
        assert!(fits("null", MaskedKind::Other) && !fits("0", MaskedKind::Other));
        assert!(fits("left(c, 1)", MaskedKind::Text) && !fits("left(c, 1)", MaskedKind::Integer));
        assert!(fits("floor(c, 10)", MaskedKind::Integer) && !fits("floor(c, 0.5)", MaskedKind::Integer));
        assert!(fits("floor(c, 0.5)", MaskedKind::Decimal(Some(1))));
        assert!(!fits("floor(c, 0.25)", MaskedKind::Decimal(Some(1))) && !fits("floor(c, 1)", MaskedKind::Text));
        assert!(fits("trunc(c, 'hour')", MaskedKind::Timestamp) && !fits("trunc(c, 'hour')", MaskedKind::Date));
        assert!(fits("trunc(c, 'year')", MaskedKind::Date) && !fits("trunc(c, 'year')", MaskedKind::Integer));
        assert!(fits("'1900-01-01'", MaskedKind::Date) && !fits("'1900-02-30'", MaskedKind::Date));
        assert!(fits("'1900-01-01 00:00:00'", MaskedKind::Timestamp) && !fits("'1900'", MaskedKind::Timestamp));
        assert!(!fits("'x'", MaskedKind::Integer) && !fits("1", MaskedKind::Text) && !fits("true", MaskedKind::Text));
    }

    #[test]
    fn names_go_before_patterns() {
        let mask = |columns: &str, text: &str| ColumnMask {
            columns: columns.to_owned(),
            mask: Mask::parse(columns, text).unwrap(),
        };
        let mut masks = vec![mask("*", "null"), mask("em*", "'y'"), mask("email", "'x'")];
        ColumnMask::sort(&mut masks);
        let of = |column: &str| ColumnMask::of(&masks, column).map(Mask::text);
        assert_eq!((of("email"), of("emit"), of("id")), (Some("'x'"), Some("null"), Some("null")));
    }
}
