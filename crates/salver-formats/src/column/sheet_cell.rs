//! What a cell of a column becomes in a workbook: an empty cell, a boolean, a number with the format that shows it, or
//! text. A value that a number can't hold exactly becomes text.

use arrow::datatypes::TimeUnit;
use salver_text::calendar::DAY_SECONDS;

use super::{Cells, Column};
use crate::calendar::{self, Zone};
use crate::number;

/// Digits that spreadsheets keep and show of a number.
const DIGITS: usize = 15;
/// The greatest integer of as many digits.
const WHOLE_GREATEST: u64 = 999_999_999_999_999;
/// Decimal places that a number format can have.
const PLACES: i8 = 30;
/// Days from 1970 of 1900-01-01, 1900-03-01 and 9999-12-31, the bounds of the dates of a workbook and of those that
/// are one day off, since workbooks count a 29th of February in 1900.
const FIRST_DAY: i64 = -25_567;
const FIRST_DAY_OF_MARCH: i64 = -25_508;
const LAST_DAY: i64 = 2_932_896;
/// Number of the day 1970-01-01 in a workbook.
const EPOCH: i64 = 25_569;
const DAY_MS: i64 = DAY_SECONDS * 1_000;

/// What a cell becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SheetCell {
    Empty,
    Bool(bool),
    /// The text that was written is a number.
    Number(Look),
    /// The text that was written is text.
    Text(Look),
}

/// How a cell is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Look {
    General,
    /// Text that stays text when somebody edits the cell.
    Literal,
    /// A whole number, with all of its digits.
    Whole,
    /// A number with so many decimal places.
    Places(u8),
    Date,
    /// A time of day, with or without milliseconds.
    Time {
        has_ms: bool,
    },
    /// A date and a time of day; in a zone with its offset from UTC, in minutes.
    Moment {
        has_ms: bool,
        offset: Option<i32>,
    },
}

impl Column<'_> {
    /// Returns what the cell becomes, and appends its number or text to `out`.
    pub(crate) fn sheet_cell(&self, row: usize, out: &mut Vec<u8>) -> SheetCell {
        if self.is_null(row) {
            return SheetCell::Empty;
        }
        if let Some((column, at)) = self.target(row) {
            return column.sheet_cell(at, out);
        }
        let start = out.len();
        if let Some(look) = self.moment(row, out) {
            return SheetCell::Number(look);
        }
        self.plain(row, out);
        let whole = |magnitude: u64| match magnitude <= WHOLE_GREATEST {
            true => SheetCell::Number(Look::Whole),
            false => SheetCell::Text(Look::Literal),
        };
        let float = |is_finite: bool| match is_finite {
            true => SheetCell::Number(Look::General),
            false => SheetCell::Text(Look::General),
        };
        match &self.cells {
            Cells::Bool(values) => SheetCell::Bool(values.value(row)),
            Cells::Int8(_) | Cells::Int16(_) | Cells::Int32(_) => SheetCell::Number(Look::Whole),
            Cells::UInt8(_) | Cells::UInt16(_) | Cells::UInt32(_) => SheetCell::Number(Look::Whole),
            Cells::Int64(values) => whole(values[row].unsigned_abs()),
            Cells::UInt64(values) => whole(values[row]),
            Cells::Float16(values) => float(values[row].is_finite()),
            Cells::Float32(values) => float(values[row].is_finite()),
            Cells::Float64(values) => float(values[row].is_finite()),
            Cells::Decimal32(_, scale) | Cells::Decimal64(_, scale) => decimal(&out[start..], *scale),
            Cells::Decimal128(_, scale) | Cells::Decimal256(_, scale) => decimal(&out[start..], *scale),
            // Beyond the places of any format: as many are shown as there are.
            Cells::FreeDecimal(..) => decimal(&out[start..], i8::MAX),
            // A spreadsheet would take the text for a formula when the cell is edited.
            _ if matches!(out.get(start), Some(b'=' | b'+' | b'-' | b'@')) => SheetCell::Text(Look::Literal),
            _ => SheetCell::Text(Look::General),
        }
    }

    /// Appends a date or time as a number of days, if it is one that a workbook can hold.
    fn moment(&self, row: usize, out: &mut Vec<u8>) -> Option<Look> {
        match &self.cells {
            Cells::Date32(values) => {
                days(values[row].into(), 0, out)?;
                Some(Look::Date)
            }
            Cells::Date64(values) => match moment(values[row], TimeUnit::Millisecond, Zone::None, out)? {
                (_, 0) => Some(Look::Date),
                (look, _) => Some(look),
            },
            Cells::Time32(values, unit) => time(values[row].into(), *unit, out),
            Cells::Time64(values, unit) => time(values[row], *unit, out),
            Cells::Timestamp(values, unit, zone) => moment(values[row], *unit, *zone, out).map(|(look, _)| look),
            _ => None,
        }
    }
}

/// Returns what a decimal becomes that was written as `text`.
fn decimal(text: &[u8], scale: i8) -> SheetCell {
    if significant_digits(text) > DIGITS {
        return SheetCell::Text(Look::Literal);
    }
    SheetCell::Number(match u8::try_from(scale) {
        Ok(places @ 1..) if scale <= PLACES => Look::Places(places),
        Ok(1..) => Look::General,
        _ => Look::Whole,
    })
}

/// Counts the digits of a number, without zeros before it and behind its point.
fn significant_digits(text: &[u8]) -> usize {
    let behind_point = match text.contains(&b'.') {
        true => text.iter().rev().take_while(|byte| **byte == b'0').count(),
        false => 0,
    };
    let digits = text[..text.len() - behind_point].iter().filter(|byte| byte.is_ascii_digit());
    digits.skip_while(|digit| **digit == b'0').count()
}

/// Returns the look of a moment and its milliseconds since midnight.
fn moment(value: i64, unit: TimeUnit, zone: Zone, out: &mut Vec<u8>) -> Option<(Look, i64)> {
    let (local, nanos, offset) = calendar::wall_clock(value, unit, zone);
    let (day, ms) = (local.div_euclid(DAY_SECONDS), in_ms(local.rem_euclid(DAY_SECONDS), nanos)?);
    days(day, ms, out)?;
    let offset = match zone {
        Zone::None => None,
        Zone::Fixed(_) | Zone::Named(_) => Some(calendar::whole_minutes(offset)),
    };
    Some((Look::Moment { has_ms: ms % 1_000 != 0, offset }, ms))
}

fn time(value: i64, unit: TimeUnit, out: &mut Vec<u8>) -> Option<Look> {
    let (per_second, nanos) = calendar::per_second(unit);
    let fraction = u32::try_from(value.rem_euclid(per_second)).ok()? * nanos;
    let ms = in_ms(value.div_euclid(per_second), fraction)?;
    if !(0..DAY_MS).contains(&ms) {
        return None;
    }
    fraction_of_day(0, ms, out);
    Some(Look::Time { has_ms: ms % 1_000 != 0 })
}

/// Returns milliseconds, unless that loses something.
fn in_ms(seconds: i64, nanos: u32) -> Option<i64> {
    match nanos.is_multiple_of(1_000_000) {
        true => seconds.checked_mul(1_000)?.checked_add(i64::from(nanos / 1_000_000)),
        false => None,
    }
}

/// Appends a day and a time of day, if a workbook has that day.
fn days(day: i64, ms: i64, out: &mut Vec<u8>) -> Option<()> {
    if !(FIRST_DAY..=LAST_DAY).contains(&day) {
        return None;
    }
    fraction_of_day(day + EPOCH - i64::from(day < FIRST_DAY_OF_MARCH), ms, out);
    Some(())
}

/// Appends days with a fraction: the nearest float, which readers round to milliseconds.
fn fraction_of_day(day: i64, ms: i64, out: &mut Vec<u8>) {
    if ms == 0 {
        return number::integer(day, out);
    }
    #[allow(clippy::cast_precision_loss, reason = "both are far below 2^53")]
    number::float(day as f64 + ms as f64 / DAY_MS as f64, out);
}

#[cfg(test)]
mod tests {
    use super::significant_digits;

    #[test]
    fn zeros_around_a_number_are_not_counted() {
        for (text, count) in [("0", 0), ("0.00", 0), ("-1.50", 2), ("0.001", 1), ("100", 3), ("-100.10", 4)] {
            assert_eq!(significant_digits(text.as_bytes()), count, "{text}");
        }
    }
}
