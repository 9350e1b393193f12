//! A field of a record to a value for its column: the same for the three databases, so that all of them store the same
//! or none does. What would be rounded, cut or guessed by one of them is refused here, in the words of validation.

use salver_model::records::{ColumnInfo, ColumnKind, Field, TableInfo};
use salver_model::spec::DatabaseSpec;

use super::decimal::Decimal;
use super::{moment, wkt};
use crate::condition::{Far, far_of_postgres, only_noughts_behind};
use crate::dialect::{Dialect, is_untyped};
use crate::json::{Form, base64};
use crate::statement::Bind;

/// What a value is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) spec: &'a DatabaseSpec,
    pub(crate) dialect: Dialect,
    pub(crate) table: &'a TableInfo,
    /// Whether what PHP-CRUD-API reads as false without being told so is an error.
    pub(crate) strict: bool,
}

/// Why a value does not fit, as clients of PHP-CRUD-API know it.
pub(crate) type Unfit = &'static str;

impl Target<'_> {
    /// The value for this column.
    pub(crate) fn bind(&self, column: usize, field: &Field) -> Result<Bind, Unfit> {
        let column = &self.table.columns[column];
        if matches!(field, Field::Null | Field::Back { .. }) {
            return Ok(Bind::Null);
        }
        match column.kind {
            ColumnKind::Integer | ColumnKind::BigInt => integer(column, field),
            ColumnKind::Float | ColumnKind::Double => self.float(field),
            ColumnKind::Decimal => self.decimal(column, field),
            ColumnKind::Boolean => boolean(field, self.strict),
            ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Uuid => self.text(column, field),
            ColumnKind::Date | ColumnKind::Time | ColumnKind::Timestamp => self.moment(column, field),
            ColumnKind::Varbinary | ColumnKind::Blob => self.bytes(column, field),
            ColumnKind::Geometry => match field {
                Field::Text(text) if wkt::is_geometry(text) => Ok(Bind::Text(text.trim().to_owned())),
                _ => Err("invalid geometry"),
            },
            ColumnKind::Json => json(field),
        }
    }

    fn float(&self, field: &Field) -> Result<Bind, Unfit> {
        let word = match field {
            Field::Text(text) => text.trim(),
            _ => "",
        };
        // As CSV has them. MySQL has none of them, and SQLite takes NaN for null.
        match (word, self.dialect) {
            ("NaN", Dialect::Postgres) => Ok(Bind::Float(f64::NAN)),
            ("inf" | "Infinity", Dialect::Postgres | Dialect::Sqlite) => Ok(Bind::Float(f64::INFINITY)),
            ("-inf" | "-Infinity", Dialect::Postgres | Dialect::Sqlite) => Ok(Bind::Float(f64::NEG_INFINITY)),
            _ => float(field),
        }
    }

    fn decimal(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        let (Field::Text(text) | Field::Number(text)) = field else { return Err("invalid decimal") };
        let text = text.trim();
        // As a column of floats has them; the server of PostgreSQL reads its own.
        if let (Dialect::Sqlite, None, "inf" | "-inf" | "Infinity" | "-Infinity") =
            (self.dialect, column.precision, text)
        {
            return self.float(field);
        }
        let decimal = Decimal::parse(text).ok_or("invalid decimal")?;
        if let Some(why) = decimal.unfit(column.precision, column.scale) {
            return Err(why);
        }
        if self.dialect == Dialect::Postgres && !decimal.ends_in_noughts(noughts(column.own_type())) {
            return Err("decimal too precise");
        }
        // SQLite would keep the nearest float.
        if self.dialect == Dialect::Sqlite && !decimal.fits_float() {
            return Err("decimal too precise");
        }
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        Ok(Bind::Text(if plain { text.to_owned() } else { decimal.plain() }))
    }

    fn text(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        // A number that was read from there is one when it comes back.
        if self.dialect == Dialect::Sqlite && is_untyped(&column.native) {
            match field {
                Field::Number(digits) => return Ok(untyped_number(digits)),
                Field::Bool(truth) => return Ok(Bind::Int(i64::from(*truth))),
                _ => {}
            }
        }
        let text = match field {
            Field::Text(text) | Field::Number(text) => text.as_str(),
            Field::Bool(true) => "true",
            Field::Bool(false) => "false",
            Field::Json(text) if Form::of(self.spec, self.table, column) == Form::Json => text,
            _ if column.kind == ColumnKind::Varchar => return Err("invalid varchar"),
            _ => return Err("invalid clob"),
        };
        if is_too_long(column, text) { Err("string too long") } else { Ok(Bind::Text(text.to_owned())) }
    }

    fn moment(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        let unfit = match column.kind {
            ColumnKind::Date => "invalid date",
            ColumnKind::Time => "invalid time",
            _ => "invalid timestamp",
        };
        let Field::Text(text) = field else { return Err(unfit) };
        let text = text.trim();
        if let Some(far) = self.far(column, text) {
            return Ok(Bind::Text(far));
        }
        let laid_out = match column.kind {
            ColumnKind::Date => moment::date(text).ok_or(unfit)?,
            ColumnKind::Time => {
                let clock = moment::time(text, self.dialect == Dialect::Mysql).ok_or(unfit)?;
                self.clock(column, &clock).ok_or(unfit)?
            }
            _ => {
                let (date, clock) = moment::timestamp(text).ok_or(unfit)?;
                if moment::is_laid_out(text) {
                    return Ok(Bind::Text(text.to_owned()));
                }
                format!("{date} {}", self.clock(column, &clock).ok_or(unfit)?)
            }
        };
        // A text there, which stays as it is read.
        let keeps = self.dialect == Dialect::Sqlite && only_noughts_behind(&laid_out, text);
        Ok(Bind::Text(if keeps { text.to_owned() } else { laid_out }))
    }

    /// A day or time that PostgreSQL alone has, as it writes it itself.
    fn far(&self, column: &ColumnInfo, text: &str) -> Option<String> {
        if self.dialect != Dialect::Postgres {
            return None;
        }
        match column.kind {
            ColumnKind::Date if moment::date(text).is_none() => far_of_postgres(Far::Date, text),
            ColumnKind::Time if moment::time(text, false).is_none() => {
                let clock = moment::time(&far_of_postgres(Far::Time, text)?.replacen("24:", "00:", 1), false)?;
                Some(self.clock(column, &clock)?.replacen("00:", "24:", 1))
            }
            ColumnKind::Timestamp if moment::timestamp(text).is_none() => {
                let far = far_of_postgres(Far::Timestamp, text)?;
                let Some((day, rest)) = far.split_once(' ') else { return Some(far) };
                let (rest, era) = rest.strip_suffix(" BC").map_or((rest, ""), |rest| (rest, " BC"));
                Some(format!("{day} {}{era}", self.clock(column, &moment::time(rest, false)?)?))
            }
            _ => None,
        }
    }

    /// The time as the column takes it; `None` when the column would round it or shift it to another zone.
    fn clock(&self, column: &ColumnInfo, clock: &moment::Clock) -> Option<String> {
        if clock.fraction.len() > self.fraction_digits(column.own_type()) {
            return None;
        }
        // With its zone it is the same moment everywhere; without a place for it only UTC is.
        if self.dialect == Dialect::Postgres
            && (column.own_type().contains("with time zone") || column.own_type().ends_with("tz"))
        {
            return Some(format!("{}{}", clock.digits(), clock.zone));
        }
        clock.is_utc().then(|| clock.digits())
    }

    /// How many digits of a second a column of this type keeps.
    fn fraction_digits(&self, native: &str) -> usize {
        let told = native.split_once('(').and_then(|(_, rest)| rest.split_once(')')).and_then(|(n, _)| n.parse().ok());
        match self.dialect {
            Dialect::Sqlite => 9,
            Dialect::Postgres => told.unwrap_or(6),
            Dialect::Mysql => told.unwrap_or(0),
        }
    }

    fn bytes(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        // The digits of a number would be base64 too, and mean something else.
        let Field::Text(text) = field else { return Err("invalid base64") };
        let bytes = base64::decode(text).ok_or("invalid base64")?;
        if column.kind == ColumnKind::Varbinary && column.length.is_some_and(|max| bytes.len() > max as usize) {
            return Err("string too long");
        }
        Ok(Bind::Bytes(bytes))
    }
}

/// How many noughts a type of PostgreSQL rounds the whole part of its numbers to, as `numeric(5,-2)` does to two.
fn noughts(native: &str) -> usize {
    native.split_once(",-").and_then(|(_, rest)| rest.strip_suffix(')')).and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// A number for a column that keeps it as what it is; digits that no number of SQLite holds stay a text.
fn untyped_number(digits: &str) -> Bind {
    if let Ok(whole) = digits.parse() {
        return Bind::Int(whole);
    }
    match digits.parse::<f64>() {
        Ok(float) if float.is_finite() && (is_short(digits) || format!("{float}") == digits) => Bind::Float(float),
        _ => Bind::Text(digits.to_owned()),
    }
}

/// Whether a float has room for all the digits.
fn is_short(digits: &str) -> bool {
    Decimal::parse(digits).is_some_and(|decimal| decimal.fits_float())
}

/// Whether text has more characters than the column takes.
pub(crate) fn is_too_long(column: &ColumnInfo, text: &str) -> bool {
    let max = column.length.filter(|_| column.kind == ColumnKind::Varchar);
    max.is_some_and(|max| text.len() > max as usize && text.chars().count() > max as usize)
}

fn integer(column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
    let text = match field {
        Field::Bool(value) => return Ok(Bind::Int(i64::from(*value))),
        Field::Number(text) | Field::Text(text) => text.trim(),
        _ => return Err("invalid integer"),
    };
    if let Ok(value) = text.parse() {
        return Ok(Bind::Int(value));
    }
    // Only MySQL has whole numbers beyond i64, and reads them from text.
    if (column.native.contains("unsigned") || column.native == "bit(64)") && text.parse::<u64>().is_ok() {
        return Ok(Bind::Text(text.to_owned()));
    }
    Decimal::parse(text).and_then(|decimal| decimal.integer()).map(Bind::Int).ok_or("invalid integer")
}

fn float(field: &Field) -> Result<Bind, Unfit> {
    let value = match field {
        Field::Bool(value) => Some(f64::from(u8::from(*value))),
        Field::Number(text) | Field::Text(text) => text.trim().parse().ok(),
        _ => None,
    };
    value.filter(|value| value.is_finite()).map(Bind::Float).ok_or("invalid float")
}

/// As PHP's `FILTER_VALIDATE_BOOLEAN` reads it.
fn boolean(field: &Field, strict: bool) -> Result<Bind, Unfit> {
    let text = match field {
        Field::Bool(value) => return Ok(Bind::Bool(*value)),
        Field::Number(text) | Field::Text(text) => text.trim(),
        _ => return Err("invalid boolean"),
    };
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is(&["1", "true", "on", "yes"]) {
        Ok(Bind::Bool(true))
    } else if strict && !is(&["0", "false", "off", "no", ""]) {
        Err("invalid boolean")
    } else {
        Ok(Bind::Bool(false))
    }
}

fn json(field: &Field) -> Result<Bind, Unfit> {
    match field {
        Field::Json(text) | Field::Number(text) => Ok(Bind::Text(text.clone())),
        Field::Bool(value) => Ok(Bind::Text(value.to_string())),
        // Numbers of any size are: the database knows which it takes.
        Field::Text(text) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => {
            Ok(Bind::Text(text.clone()))
        }
        _ => Err("invalid json"),
    }
}
