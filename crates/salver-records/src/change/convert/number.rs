//! Numbers: the column stores exactly the digits that were sent, or the value is rejected.

use std::ops::RangeInclusive;

use salver_model::records::{ColumnInfo, ColumnKind, Field};

use super::super::decimal::Decimal;
use super::{ConversionTarget, Unfit};
use crate::dialect::{Dialect, is_untyped};
use crate::statement::Bind;

/// Digits of an amount of money, and how many of them are decimal places.
const MONEY: (u32, u32) = (19, 2);

/// The range of MySQL's `YEAR` type, besides the year 0000.
const YEARS: RangeInclusive<i128> = 1901..=2155;

impl ConversionTarget<'_> {
    pub(super) fn integer(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        let text = match field {
            Field::Bool(value) => return Ok(Bind::Int(i64::from(*value))),
            Field::Number(text) | Field::Text(text) => text.trim(),
            _ => return Err("invalid integer"),
        };
        let number = match text.parse::<i128>() {
            Ok(number) => number,
            Err(_) => Decimal::parse(text).and_then(|decimal| decimal.whole()).ok_or("invalid integer")?,
        };
        let (least, most) = self.bounds(column);
        // MySQL expands two digits to a year that was not written.
        let is_year = self.dialect == Dialect::Mysql && column.native.to_ascii_lowercase().starts_with("year");
        if number < least || number > most || is_year && number != 0 && !YEARS.contains(&number) {
            return Err("invalid integer");
        }
        // Only MySQL has integers beyond i64, and it parses them from text.
        Ok(i64::try_from(number).map_or_else(|_| Bind::Text(number.to_string()), Bind::Int))
    }

    /// Returns the minimum and the maximum that the column holds, or that may be added to it.
    fn bounds(&self, column: &ColumnInfo) -> (i128, i128) {
        const LONG: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);
        let native = column.own_type().to_ascii_lowercase();
        let base = native.split(['(', ' ']).next().unwrap_or_default();
        let signed = |bits: u32| (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
        match self.dialect {
            Dialect::Sqlite => LONG,
            Dialect::Postgres => match base {
                "smallint" | "int2" => signed(16),
                "integer" | "int4" => signed(32),
                "oid" if !self.adds => (0, i128::from(u32::MAX)),
                _ => LONG,
            },
            Dialect::Mysql => {
                let bits = match base {
                    "tinyint" => 8,
                    "smallint" => 16,
                    "mediumint" => 24,
                    "int" | "integer" => 32,
                    "bit" => {
                        let told = native.strip_prefix("bit(").and_then(|rest| rest.strip_suffix(')'));
                        told.and_then(|bits| bits.parse().ok()).unwrap_or(64)
                    }
                    _ => 64,
                };
                let unsigned = base == "bit" || native.contains("unsigned");
                // An unsigned column may be decremented by a negative number.
                match (unsigned, self.adds) {
                    (true, false) => (0, (1_i128 << bits) - 1),
                    (true, true) if bits == 64 => (LONG.0, i128::from(u64::MAX)),
                    (false, false) => signed(bits),
                    (_, true) => LONG,
                }
            }
        }
    }

    pub(super) fn float(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        let text = match field {
            Field::Bool(value) => return Ok(Bind::Float(f64::from(u8::from(*value)))),
            Field::Number(text) | Field::Text(text) => text.trim(),
            _ => return Err("invalid float"),
        };
        // As written in CSV. MySQL supports none of them, and SQLite stores NaN as null.
        if let Field::Text(_) = field {
            match (text, self.dialect) {
                ("NaN", Dialect::Postgres) => return Ok(Bind::Float(f64::NAN)),
                ("inf" | "Infinity", Dialect::Postgres | Dialect::Sqlite) => return Ok(Bind::Float(f64::INFINITY)),
                ("-inf" | "-Infinity", Dialect::Postgres | Dialect::Sqlite) => {
                    return Ok(Bind::Float(f64::NEG_INFINITY));
                }
                _ => {}
            }
        }
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or("invalid float")?;
        #[allow(clippy::cast_possible_truncation, reason = "whether it can be is what is asked")]
        let narrow = value as f32;
        let single = self.dialect != Dialect::Sqlite && column.kind == ColumnKind::Float;
        // A number too small for the type would become zero.
        let lost = (value == 0.0 || (single && narrow == 0.0)) && !significant(text).is_empty();
        if lost || (single && narrow.is_infinite()) {
            return Err("invalid float");
        }
        // As it will be stored: by another value the row that was just written is not found. What is added is no value
        // of the column.
        let stored = if self.adds { value } else { self.rounded(column, value) };
        #[allow(clippy::cast_possible_truncation, reason = "that is the point")]
        let narrowed = f64::from(stored as f32);
        Ok(Bind::Float(if single && !self.adds { narrowed } else { stored }))
    }

    /// Returns the value with the decimal places that MySQL keeps in a `float(7,4)` or `double(7,4)`.
    fn rounded(&self, column: &ColumnInfo, value: f64) -> f64 {
        let places = || -> Option<usize> {
            let (_, rest) = column.native.split_once(',').filter(|_| self.dialect == Dialect::Mysql)?;
            rest.split_once(')')?.0.trim().parse().ok()
        };
        places().and_then(|places| format!("{value:.places$}").parse().ok()).unwrap_or(value)
    }

    pub(super) fn decimal(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        let (Field::Text(text) | Field::Number(text)) = field else { return Err("invalid decimal") };
        let text = text.trim();
        let native = column.own_type();
        match (self.dialect, text) {
            // Like a float column.
            (Dialect::Sqlite, "inf" | "-inf" | "Infinity" | "-Infinity") if column.precision.is_none() => {
                return self.float(column, field);
            }
            (Dialect::Postgres, "NaN") if native != "money" => return Ok(Bind::Text(text.to_owned())),
            (Dialect::Postgres, "Infinity" | "-Infinity") if native != "money" && column.precision.is_none() => {
                return Ok(Bind::Text(text.to_owned()));
            }
            _ => {}
        }
        let decimal = Decimal::parse(text).ok_or("invalid decimal")?;
        let (precision, scale) = match (self.dialect, native) {
            (Dialect::Postgres, "money") => (Some(MONEY.0), Some(MONEY.1)),
            _ => (column.precision, column.scale),
        };
        if let Some(why) = decimal.unfit(precision, scale) {
            return Err(why);
        }
        if self.dialect == Dialect::Postgres && !decimal.ends_in_noughts(noughts(native)) {
            return Err("decimal too precise");
        }
        // SQLite would store the nearest float.
        if self.dialect == Dialect::Sqlite && !decimal.fits_float() {
            return Err("decimal too precise");
        }
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        Ok(Bind::Text(if plain { text.to_owned() } else { decimal.plain() }))
    }
}

/// Returns the number of trailing zeros to which a PostgreSQL type rounds the whole part: two for `numeric(5,-2)`.
fn noughts(native: &str) -> usize {
    native.split_once(",-").and_then(|(_, rest)| rest.strip_suffix(')')).and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Converts a number for a SQLite column that stores it unchanged; returns `None` where no number there has all its
/// digits.
pub(super) fn held_number(text: &str) -> Option<Bind> {
    if let Ok(whole) = text.parse() {
        return Some(Bind::Int(whole));
    }
    let float = text.parse::<f64>().ok().filter(|float| float.is_finite())?;
    let shortest = zmij::Buffer::new().format_finite(float).to_owned();
    (significant(text) == significant(&shortest)).then_some(Bind::Float(float))
}

/// Returns the digits of a number without its sign, point, exponent, and leading and trailing zeros.
fn significant(text: &str) -> String {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// Returns whether a SQLite column with this declared type converts the text to a number with another notation
/// (<https://www.sqlite.org/datatype3.html>). With `any` this depends on the table.
pub(super) fn changes_as_number(native: &str, text: &str) -> bool {
    let upper = native.to_ascii_uppercase();
    let has = |word: &str| upper.contains(word);
    let keeps = !has("INT") && (has("CHAR") || has("CLOB") || has("TEXT") || has("BLOB"));
    let trimmed = text.trim_ascii();
    if keeps || is_untyped(native) || !Decimal::is_written(trimmed) {
        return false;
    }
    match text.parse::<i64>() {
        Ok(whole) => whole.to_string() != text,
        Err(_) => {
            let float = trimmed.parse().unwrap_or(f64::INFINITY);
            let mut shown = Vec::new();
            crate::json::double(float, &mut shown);
            shown != text.as_bytes()
        }
    }
}
