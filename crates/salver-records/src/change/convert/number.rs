//! Numbers: the column gets the digits that came, or none.

use std::ops::RangeInclusive;

use salver_model::records::{ColumnInfo, ColumnKind, Field};

use super::super::decimal::Decimal;
use super::{Target, Unfit};
use crate::dialect::{Dialect, is_untyped};
use crate::statement::Bind;

/// Digits of an amount of money, and how many of them stand behind its point.
const MONEY: (u32, u32) = (19, 2);

/// The years that MySQL's type for them has, beside the year nought.
const YEARS: RangeInclusive<i128> = 1901..=2155;

impl Target<'_> {
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
        // Two digits are completed there to a year that was not written.
        let is_year = self.dialect == Dialect::Mysql && column.native.to_ascii_lowercase().starts_with("year");
        if number < least || number > most || is_year && number != 0 && !YEARS.contains(&number) {
            return Err("invalid integer");
        }
        // Only MySQL has whole numbers beyond i64, and reads them from text.
        Ok(i64::try_from(number).map_or_else(|_| Bind::Text(number.to_string()), Bind::Int))
    }

    /// The least and the most that the column holds, or that may be added to it.
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
                // What is taken away from an unsigned number is less than nothing.
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
        // As CSV has them. MySQL has none of them, and SQLite takes NaN for null.
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
        // What is too small would be nought.
        let lost = (value == 0.0 || (single && narrow == 0.0)) && !significant(text).is_empty();
        if lost || (single && narrow.is_infinite()) { Err("invalid float") } else { Ok(Bind::Float(value)) }
    }

    pub(super) fn decimal(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        let (Field::Text(text) | Field::Number(text)) = field else { return Err("invalid decimal") };
        let text = text.trim();
        let native = column.own_type();
        match (self.dialect, text) {
            // As a column of floats has them.
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
        // SQLite would keep the nearest float.
        if self.dialect == Dialect::Sqlite && !decimal.fits_float() {
            return Err("decimal too precise");
        }
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        Ok(Bind::Text(if plain { text.to_owned() } else { decimal.plain() }))
    }
}

/// How many noughts a type of PostgreSQL rounds the whole part of its numbers to, as `numeric(5,-2)` does to two.
fn noughts(native: &str) -> usize {
    native.split_once(",-").and_then(|(_, rest)| rest.strip_suffix(')')).and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// A number for a column of SQLite that keeps it as what it is; `None` where no number there has all its digits.
pub(super) fn held_number(text: &str) -> Option<Bind> {
    if let Ok(whole) = text.parse() {
        return Some(Bind::Int(whole));
    }
    let float = text.parse::<f64>().ok().filter(|float| float.is_finite())?;
    let shortest = zmij::Buffer::new().format_finite(float).to_owned();
    (significant(text) == significant(&shortest)).then_some(Bind::Float(float))
}

/// The digits of a number without its sign, point, exponent, and the noughts around them.
fn significant(text: &str) -> String {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// Whether a column of SQLite with this declared type makes of the text a number that is written otherwise
/// (<https://www.sqlite.org/datatype3.html>). `any` does so or not, as its table is.
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
