//! Writes one cell in one dialect.

use arrow::datatypes::TimeUnit;

use super::{Cells, Class, Column, Dialect};
use crate::{calendar, escape, number, short_copy, span};

impl Column<'_> {
    /// Writes a cell in the given dialect.
    #[inline]
    pub(crate) fn write(&self, row: usize, dialect: Dialect, out: &mut Vec<u8>) {
        match dialect {
            Dialect::Json(_) => self.json(row, out),
            Dialect::Delimited(delimiter) => self.delimited(row, delimiter, out),
            Dialect::Html => self.html(row, out),
        }
    }

    /// Writes a JSON value, `null` if the cell is null.
    #[inline(always)]
    pub(crate) fn json(&self, row: usize, out: &mut Vec<u8>) {
        if self.is_null(row) {
            return short_copy::block(b"null", 4, out);
        }
        match &self.cells {
            Cells::Bool(values) if values.value(row) => short_copy::block(b"true", 4, out),
            Cells::Bool(_) => short_copy::block(b"false___", 5, out),
            Cells::Int32(values) => number::integer(values[row], out),
            Cells::Int64(values) => number::integer(values[row], out),
            Cells::Float64(values) => json_float(values[row], out),
            Cells::Text(array) => escape::json_string(array.value(row), out),
            Cells::TextView(array) => escape::json_string(array.value(row), out),
            Cells::Timestamp(values, unit, zone) => {
                out.push(b'"');
                calendar::timestamp(values[row], *unit, *zone, out);
                out.push(b'"');
            }
            _ => self.json_rare(row, out),
        }
    }

    /// Writes the types that are rare in rows, kept out of the hot loop.
    #[inline(never)]
    fn json_rare(&self, row: usize, out: &mut Vec<u8>) {
        if let Some(written) = self.written(row) {
            return short_copy::short(written, out);
        }
        if let Some((column, at)) = self.target(row) {
            return column.json(at, out);
        }
        match (&self.cells, self.class()) {
            (Cells::Float16(values), _) => json_float(values[row].to_f32(), out),
            (Cells::Float32(values), _) => json_float(values[row], out),
            (Cells::LargeText(array), _) => escape::json_string(array.value(row), out),
            (_, Class::Plain) => {
                out.push(b'"');
                self.plain(row, out);
                out.push(b'"');
            }
            _ => self.plain(row, out),
        }
    }

    /// Writes a field of delimited text, nothing if the cell is null.
    #[inline(always)]
    pub(crate) fn delimited(&self, row: usize, delimiter: u8, out: &mut Vec<u8>) {
        if self.is_null(row) {
            return;
        }
        match &self.cells {
            Cells::Int64(values) => number::integer(values[row], out),
            Cells::Float64(values) => number::float(values[row], out),
            Cells::Text(array) => escape::delimited(array.value(row).as_bytes(), delimiter, out),
            Cells::TextView(array) => escape::delimited(array.value(row).as_bytes(), delimiter, out),
            Cells::Timestamp(values, unit, zone) => calendar::timestamp(values[row], *unit, *zone, out),
            _ => self.delimited_rare(row, delimiter, out),
        }
    }

    #[inline(never)]
    fn delimited_rare(&self, row: usize, delimiter: u8, out: &mut Vec<u8>) {
        if let Some(written) = self.written(row) {
            return short_copy::short(written, out);
        }
        if let Some((column, at)) = self.target(row) {
            return column.delimited(at, delimiter, out);
        }
        match (&self.cells, self.class()) {
            (Cells::LargeText(array), _) => escape::delimited(array.value(row).as_bytes(), delimiter, out),
            (Cells::Binary(_) | Cells::LargeBinary(_) | Cells::BinaryView(_) | Cells::FixedBinary(_), _)
            | (_, Class::Nested) => {
                let mut text = Vec::new();
                self.plain(row, &mut text);
                escape::delimited(&text, delimiter, out);
            }
            _ => self.plain(row, out),
        }
    }

    /// Writes the content of an HTML element, nothing if the cell is null.
    pub(crate) fn html(&self, row: usize, out: &mut Vec<u8>) {
        if self.is_null(row) {
            return;
        }
        if let Some(written) = self.written(row) {
            return short_copy::short(written, out);
        }
        if let Some((column, at)) = self.target(row) {
            return column.html(at, out);
        }
        match self.class() {
            Class::Bare | Class::Plain => self.plain(row, out),
            Class::Text | Class::Nested => {
                let mut text = Vec::new();
                self.plain(row, &mut text);
                escape::html(&text, out);
            }
        }
    }

    /// Writes the text of a cell that is not null, without quotes or escapes.
    pub(crate) fn plain(&self, row: usize, out: &mut Vec<u8>) {
        match &self.cells {
            Cells::Null => {}
            Cells::Bool(values) => short_copy::short(if values.value(row) { b"true" } else { b"false" }, out),
            Cells::Int8(values) => number::integer(values[row], out),
            Cells::Int16(values) => number::integer(values[row], out),
            Cells::Int32(values) => number::integer(values[row], out),
            Cells::Int64(values) => number::integer(values[row], out),
            Cells::UInt8(values) => number::integer(values[row], out),
            Cells::UInt16(values) => number::integer(values[row], out),
            Cells::UInt32(values) => number::integer(values[row], out),
            Cells::UInt64(values) => number::integer(values[row], out),
            Cells::Float16(values) => number::float(values[row].to_f32(), out),
            Cells::Float32(values) => number::float(values[row], out),
            Cells::Float64(values) => number::float(values[row], out),
            Cells::Decimal32(values, scale) => number::decimal(values[row].into(), *scale, out),
            Cells::Decimal64(values, scale) => number::decimal(values[row].into(), *scale, out),
            Cells::Decimal128(values, scale) => number::decimal(values[row], *scale, out),
            Cells::Decimal256(values, scale) => number::wide_decimal(values[row], *scale, out),
            Cells::FreeDecimal(values, scale) => number::free_decimal(values[row], *scale, out),
            Cells::Text(array) => short_copy::short(array.value(row).as_bytes(), out),
            Cells::LargeText(array) => short_copy::short(array.value(row).as_bytes(), out),
            Cells::TextView(array) => short_copy::short(array.value(row).as_bytes(), out),
            Cells::Binary(array) => escape::hex(array.value(row), out),
            Cells::LargeBinary(array) => escape::hex(array.value(row), out),
            Cells::BinaryView(array) => escape::hex(array.value(row), out),
            Cells::FixedBinary(array) => escape::hex(array.value(row), out),
            Cells::Date32(values) => calendar::date(values[row].into(), out),
            Cells::Date64(values) => {
                calendar::timestamp(values[row], TimeUnit::Millisecond, calendar::Zone::None, out);
            }
            Cells::Time32(values, unit) => calendar::time(values[row].into(), *unit, out),
            Cells::Time64(values, unit) => calendar::time(values[row], *unit, out),
            Cells::Timestamp(values, unit, zone) => calendar::timestamp(values[row], *unit, *zone, out),
            Cells::Duration(values, unit) => span::duration(values[row], *unit, out),
            Cells::YearMonth(values) => span::year_month(values[row], out),
            Cells::DayTime(values) => span::day_time(values[row], out),
            Cells::MonthDayNano(values) => span::month_day_nano(values[row], out),
            Cells::List(list) => list.json(row, out),
            Cells::Struct(fields) => fields.json(row, out),
            Cells::Map(map) => map.json(row, out),
            Cells::Dictionary(_) | Cells::Runs(_) | Cells::Union(_) => {
                if let Some((column, at)) = self.target(row) {
                    column.plain(at, out);
                }
            }
        }
    }

    /// Returns the column and row that the cell refers to, if it is in another column.
    #[inline]
    pub(super) fn target(&self, row: usize) -> Option<(&Self, usize)> {
        match &self.cells {
            Cells::Dictionary(dictionary) => Some(dictionary.target(row)),
            Cells::Runs(runs) => Some(runs.target(row)),
            Cells::Union(union) => Some(union.target(row)),
            _ => None,
        }
    }

    /// Returns the cell's text if it was written in advance.
    #[inline]
    fn written(&self, row: usize) -> Option<&[u8]> {
        match &self.cells {
            Cells::Dictionary(dictionary) => dictionary.written(row),
            _ => None,
        }
    }

    fn class(&self) -> Class {
        match &self.cells {
            Cells::Text(_) | Cells::LargeText(_) | Cells::TextView(_) => Class::Text,
            Cells::List(_) | Cells::Struct(_) | Cells::Map(_) => Class::Nested,
            Cells::Binary(_) | Cells::LargeBinary(_) | Cells::BinaryView(_) | Cells::FixedBinary(_) => Class::Plain,
            Cells::Date32(_) | Cells::Date64(_) | Cells::Time32(..) | Cells::Time64(..) => Class::Plain,
            Cells::Timestamp(..) | Cells::Duration(..) => Class::Plain,
            Cells::YearMonth(_) | Cells::DayTime(_) | Cells::MonthDayNano(_) => Class::Plain,
            _ => Class::Bare,
        }
    }
}

/// JSON can represent neither NaN nor infinities.
#[inline(always)]
fn json_float<F: zmij::Float + Into<f64> + Copy>(value: F, out: &mut Vec<u8>) {
    if value.into().is_finite() {
        number::float(value, out);
    } else {
        short_copy::block(b"null", 4, out);
    }
}
