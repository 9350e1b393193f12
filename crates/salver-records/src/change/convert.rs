//! Converts a record's field to a value for its column, alike for the three databases, so that all of them store the
//! same or none does. A value that one of them would round, truncate or guess is rejected here, with the message of
//! validation.

mod instant;
mod number;

use salver_model::records::{ColumnInfo, ColumnKind, Field, TableInfo};
use salver_model::spec::DatabaseSpec;

use super::decimal::Decimal;
use super::wkt;
use crate::condition::bind_of;
use crate::dialect::{Dialect, is_untyped};
use crate::json::{JsonForm, base64};
use crate::statement::Bind;

use self::number::{changes_as_number, held_number};

/// The target of a conversion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConversionTarget<'a> {
    pub(crate) spec: &'a DatabaseSpec,
    pub(crate) dialect: Dialect,
    pub(crate) table: &'a TableInfo,
    /// Whether the value is added to the stored one.
    pub(crate) adds: bool,
}

/// Reason why a value does not fit, as clients of PHP-CRUD-API know it.
pub(crate) type Unfit = &'static str;

impl ConversionTarget<'_> {
    /// Returns the value for this column.
    pub(crate) fn bind(&self, column: usize, field: &Field) -> Result<Bind, Unfit> {
        let column = &self.table.columns[column];
        if matches!(field, Field::Null | Field::Back { .. }) {
            return Ok(Bind::Null);
        }
        match column.kind {
            ColumnKind::Integer | ColumnKind::BigInt => self.integer(column, field),
            ColumnKind::Float | ColumnKind::Double => self.float(column, field),
            ColumnKind::Decimal => self.decimal(column, field),
            ColumnKind::Boolean => boolean(field),
            ColumnKind::Uuid if self.dialect != Dialect::Sqlite => uuid(column, field),
            ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Uuid => self.text(column, field),
            ColumnKind::Date | ColumnKind::Time | ColumnKind::Timestamp => self.moment(column, field),
            ColumnKind::Varbinary | ColumnKind::Blob => self.bytes(column, field),
            ColumnKind::Geometry => match field {
                Field::Text(text) if wkt::is_geometry(text) => Ok(Bind::Text(text.trim().to_owned())),
                _ => Err("invalid geometry"),
            },
            ColumnKind::Json => self.json(field),
        }
    }

    fn text(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        // A number that was read from there must stay a number when it is written back.
        if self.dialect == Dialect::Sqlite && is_untyped(&column.native) {
            match field {
                Field::Number(digits) | Field::Text(digits) if self.adds => {
                    return held_number(digits.trim()).ok_or("must be numeric");
                }
                Field::Number(digits) => {
                    return Ok(held_number(digits).unwrap_or_else(|| Bind::Text(digits.to_owned())));
                }
                Field::Bool(truth) => return Ok(Bind::Int(i64::from(*truth))),
                _ => {}
            }
        }
        let text = match field {
            Field::Text(text) | Field::Number(text) => text.as_str(),
            Field::Bool(true) => "true",
            Field::Bool(false) => "false",
            Field::Json(text) if JsonForm::of(self.spec, self.table, column) == JsonForm::Json => text,
            _ => return Err(unfit_text(column.kind)),
        };
        let lost = match self.dialect {
            Dialect::Sqlite => changes_as_number(&column.native, text),
            // No text there may have NUL; fractions of a second would be rounded.
            Dialect::Postgres => text.contains('\0') || is_finer(column.own_type(), text),
            Dialect::Mysql => false,
        };
        if lost || !is_word(self.dialect, column, text) {
            return Err(unfit_text(column.kind));
        }
        // One byte; longer text would be truncated.
        let is_too_long = is_too_long(column, text) || column.own_type() == "\"char\"" && text.len() > 1;
        if is_too_long { Err("string too long") } else { Ok(Bind::Text(as_stored(self.dialect, column, text))) }
    }

    fn json(&self, field: &Field) -> Result<Bind, Unfit> {
        let text = match field {
            Field::Json(text) | Field::Number(text) => text,
            Field::Bool(value) => return Ok(Bind::Text(value.to_string())),
            // Numbers of any size are valid JSON: the database knows which it accepts.
            Field::Text(text) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => text,
            _ => return Err("invalid json"),
        };
        // SQLite stores it as a number of its own, which has fewer digits and may be infinite.
        if self.dialect == Dialect::Sqlite && Decimal::is_written(text.trim()) {
            return held_number(text.trim()).ok_or("invalid json");
        }
        Ok(Bind::Text(text.clone()))
    }

    fn bytes(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        // The digits of a number are valid base64 too, with another meaning.
        let Field::Text(text) = field else { return Err("invalid base64") };
        let bytes = base64::decode(text).ok_or("invalid base64")?;
        // Shorter values would be padded with zeros.
        let is_fixed = self.dialect == Dialect::Mysql && column.native.to_ascii_lowercase().starts_with("binary");
        if is_fixed && column.length.is_some_and(|own| bytes.len() < own as usize) {
            return Err("string too short");
        }
        if column.kind == ColumnKind::Varbinary && column.length.is_some_and(|max| bytes.len() > max as usize) {
            return Err("string too long");
        }
        Ok(Bind::Bytes(bytes))
    }
}

/// Returns whether an interval has more fractional digits than its type keeps, like `interval(3)`.
fn is_finer(native: &str, text: &str) -> bool {
    let kept = native.strip_prefix("interval").and_then(|rest| rest.split_once('(')?.1.split_once(')')?.0.parse().ok());
    let Some(kept) = kept else { return false };
    let digits =
        |part: &str| part.split(|c: char| !c.is_ascii_digit()).next().map_or(0, |own| own.trim_end_matches('0').len());
    text.split('.').skip(1).any(|part| digits(part) > kept)
}

/// Returns whether a column of an enumeration or a set has this text as a label. MySQL takes other texts as a label's
/// index, and digits for a set as bits.
fn is_word(dialect: Dialect, column: &ColumnInfo, text: &str) -> bool {
    let known = |text: &str| column.words.iter().any(|word| word == text);
    if dialect != Dialect::Mysql || column.words.is_empty() {
        return true;
    }
    if !column.native.to_ascii_lowercase().starts_with("set(") {
        return known(text);
    }
    let parts: Vec<&str> = text.split(',').filter(|_| !text.is_empty()).collect();
    parts.iter().enumerate().all(|(at, part)| known(part) && !parts[..at].contains(part))
}

/// Returns the text as MySQL stores it: a set in the order of its words, and `char` without blanks at its end. A row is
/// looked up by it after it was written.
fn as_stored(dialect: Dialect, column: &ColumnInfo, text: &str) -> String {
    let native = column.native.to_ascii_lowercase();
    if dialect == Dialect::Mysql && native.starts_with("set(") {
        let sent: Vec<&str> = text.split(',').collect();
        let words = column.words.iter().map(String::as_str).filter(|word| sent.contains(word) && !word.is_empty());
        return words.collect::<Vec<_>>().join(",");
    }
    if dialect == Dialect::Mysql && native.starts_with("char(") {
        return text.trim_end_matches(' ').to_owned();
    }
    text.to_owned()
}

/// Returns whether text has more characters than the column accepts.
pub(crate) fn is_too_long(column: &ColumnInfo, text: &str) -> bool {
    let max = column.length.filter(|_| column.kind == ColumnKind::Varchar);
    max.is_some_and(|max| text.len() > max as usize && text.chars().count() > max as usize)
}

/// Parses the words of PHP's `FILTER_VALIDATE_BOOLEAN`, and the numbers 1 and 0 in any notation.
pub(crate) fn truth(text: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match Decimal::parse(text).map(|decimal| decimal.whole()) {
        Some(Some(number @ (0 | 1))) => Some(number == 1),
        Some(_) => None,
        None if is(&["true", "on", "yes"]) => Some(true),
        None if is(&["false", "off", "no"]) => Some(false),
        None => None,
    }
}

fn boolean(field: &Field) -> Result<Bind, Unfit> {
    let truth = match field {
        Field::Bool(value) => Some(*value),
        Field::Number(text) | Field::Text(text) => truth(text.trim()),
        _ => None,
    };
    truth.map(Bind::Bool).ok_or("invalid boolean")
}

/// Returns the UUID in its canonical form, in which it is shown.
fn uuid(column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
    match field {
        Field::Text(text) => bind_of(column.kind, false, text).ok_or("invalid uuid"),
        _ => Err("invalid uuid"),
    }
}

fn unfit_text(kind: ColumnKind) -> Unfit {
    match kind {
        ColumnKind::Varchar => "invalid varchar",
        ColumnKind::Uuid => "invalid uuid",
        _ => "invalid clob",
    }
}
