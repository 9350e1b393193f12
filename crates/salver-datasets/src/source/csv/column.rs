//! Builds an array of a given type from one column of a block.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
    TimestampNanosecondBuilder,
};
use arrow::datatypes::{DataType, TimeUnit};

use super::super::declared_type::{self, has_digits};
use super::split::View;
use super::value_form::ValueForm;
use crate::infer::{TextKind, UTC, is_code, parse_bool, parse_date, parse_timestamp};

/// The column to build.
#[derive(Clone, Copy, Debug)]
pub(super) struct CsvColumn<'a> {
    pub(super) view: View<'a>,
    pub(super) rows: usize,
    pub(super) index: usize,
    pub(super) null_tokens: &'a [String],
    /// Whether the type is declared. A declared type parses anything valid for it (`007` is 7); an inferred type only
    /// what would have been inferred, so that a column's type does not depend on which rows were sampled.
    pub(super) is_declared: bool,
    /// How its numbers and dates are written.
    pub(super) form: ValueForm,
}

impl<'a> CsvColumn<'a> {
    /// Returns a field; `None` for null.
    pub(super) fn value(&self, row: usize) -> Option<&'a str> {
        let (text, is_quoted) = self.view.field(row, self.index)?;
        let is_null = !is_quoted && (text.is_empty() || self.null_tokens.iter().any(|token| token == text));
        (!is_null).then_some(text)
    }

    /// Returns the array, or the row of the first value that is not of this type.
    pub(super) fn build(&self, data_type: &DataType) -> Result<ArrayRef, usize> {
        match data_type {
            DataType::Utf8 => Ok(self.text()),
            DataType::Boolean => {
                let mut builder = BooleanBuilder::with_capacity(self.rows);
                self.each(parse_bool, |value| builder.append_option(value))?;
                Ok(Arc::new(builder.finish()))
            }
            DataType::Int64 => {
                let mut builder = Int64Builder::with_capacity(self.rows);
                let strict = !self.is_declared;
                self.each(
                    |text| text.parse().ok().filter(|_| !strict || !is_code(text)),
                    |value| builder.append_option(value),
                )?;
                Ok(Arc::new(builder.finish()))
            }
            DataType::Float64 => {
                let mut builder = Float64Builder::with_capacity(self.rows);
                let strict = !self.is_declared;
                self.each(
                    |text| float(text).filter(|_| !strict || is_number(text)),
                    |value| builder.append_option(value),
                )?;
                Ok(Arc::new(builder.finish()))
            }
            DataType::Date32 if !self.is_declared => {
                let mut builder = Date32Builder::with_capacity(self.rows);
                self.each(parse_date, |value| builder.append_option(value))?;
                Ok(Arc::new(builder.finish()))
            }
            DataType::Timestamp(unit, zone) if !self.is_declared => self.timestamps(*unit, zone.is_some()),
            other => self.cast(other),
        }
    }

    fn text(&self) -> ArrayRef {
        let mut builder = StringBuilder::with_capacity(self.rows, self.rows * 8);
        for row in 0..self.rows {
            builder.append_option(self.value(row));
        }
        Arc::new(builder.finish())
    }

    fn each<T>(&self, parse: impl Fn(&str) -> Option<T>, mut append: impl FnMut(Option<T>)) -> Result<(), usize> {
        for row in 0..self.rows {
            match self.value(row).map(str::trim_ascii) {
                None | Some("") => append(None),
                Some(text) => {
                    let plain = self.form.plain(text).map_err(|_| row)?;
                    append(Some(parse(&plain).ok_or(row)?));
                }
            }
        }
        Ok(())
    }

    fn timestamps(&self, unit: TimeUnit, zoned: bool) -> Result<ArrayRef, usize> {
        let zone = zoned.then(|| Arc::from(UTC));
        let parse = |text: &str| match parse_timestamp(text) {
            Some(instant) if instant.zoned == zoned => Some(instant),
            Some(_) => None,
            // Dates in a column of timestamps are timestamps.
            None if !zoned && text.len() == 10 => parse_timestamp(&format!("{text}T00:00")),
            None => None,
        };
        if unit == TimeUnit::Nanosecond {
            let mut builder = TimestampNanosecondBuilder::with_capacity(self.rows);
            self.each(|text| parse(text)?.nanos(), |value| builder.append_option(value))?;
            return Ok(Arc::new(builder.finish().with_timezone_opt(zone)));
        }
        let mut builder = TimestampMicrosecondBuilder::with_capacity(self.rows);
        let fine = |text: &str| parse(text).filter(|instant| instant.fraction_digits <= 6)?.micros();
        self.each(fine, |value| builder.append_option(value))?;
        Ok(Arc::new(builder.finish().with_timezone_opt(zone)))
    }

    fn cast(&self, data_type: &DataType) -> Result<ArrayRef, usize> {
        let has_form = data_type.is_numeric() || data_type.is_temporal();
        let mut builder = StringBuilder::with_capacity(self.rows, self.rows * 8);
        for row in 0..self.rows {
            match self.value(row).map(str::trim_ascii).filter(|text| !text.is_empty()) {
                Some(text) if has_form => builder.append_value(self.form.plain(text).map_err(|_| row)?),
                text => builder.append_option(text),
            }
        }
        declared_type::from_text(&builder.finish(), data_type)
    }
}

/// Parses a float; `None` if the number is out of range.
fn float(text: &str) -> Option<f64> {
    text.parse().ok().filter(|float: &f64| float.is_finite() || !has_digits(text))
}

fn is_number(text: &str) -> bool {
    matches!(TextKind::of(text), TextKind::Int | TextKind::Float | TextKind::NotFinite)
}
