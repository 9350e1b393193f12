//! Formats durations and intervals as text. They are rare, so these functions are simple rather than fast.

use std::io::Write;

use arrow::datatypes::{IntervalDayTime, IntervalMonthDayNano, TimeUnit};

use crate::calendar::per_second;
use crate::number;

/// Writes a duration in ISO 8601, in seconds, because it has no calendar units: `PT90S`, `-PT0.5S`, `P0D`.
pub(crate) fn duration(value: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    if value == 0 {
        return out.extend_from_slice(b"P0D");
    }
    let per_second = per_second(unit).0.unsigned_abs();
    out.extend_from_slice(if value < 0 { b"-PT" } else { b"PT" });
    number::integer(value.unsigned_abs() / per_second, out);
    let fraction = value.unsigned_abs() % per_second;
    if fraction != 0 {
        // The number of zeros in `per_second` is the number of fractional digits; trailing zeros are dropped.
        let places = per_second.ilog10() as usize;
        write_infallible(out, format_args!(".{fraction:0places$}"));
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
    out.push(b'S');
}

/// Writes `1 years 2 mons`.
pub(crate) fn year_month(months: i32, out: &mut Vec<u8>) {
    write_infallible(out, format_args!("{} years {} mons", months.div_euclid(12), months.rem_euclid(12)));
}

/// Writes `2 days 1 hours 0.500 secs`, without parts that are zero.
pub(crate) fn day_time(value: IntervalDayTime, out: &mut Vec<u8>) {
    let mut parts = Parts { out, any: false };
    parts.part(i64::from(value.days), "days");
    parts.clock(i64::from(value.milliseconds), 3);
    parts.end();
}

/// Writes `1 mons 2 days 3 hours 4 mins 5.000000006 secs`, without parts that are zero.
pub(crate) fn month_day_nano(value: IntervalMonthDayNano, out: &mut Vec<u8>) {
    let mut parts = Parts { out, any: false };
    parts.part(i64::from(value.months), "mons");
    parts.part(i64::from(value.days), "days");
    parts.clock(value.nanoseconds, 9);
    parts.end();
}

struct Parts<'a> {
    out: &'a mut Vec<u8>,
    any: bool,
}

impl Parts<'_> {
    fn separate(&mut self) {
        if self.any {
            self.out.push(b' ');
        }
        self.any = true;
    }

    fn part(&mut self, value: i64, unit: &str) {
        if value != 0 {
            self.separate();
            write_infallible(self.out, format_args!("{value} {unit}"));
        }
    }

    /// Writes hours, minutes and seconds of a number of units, of which `10^places` make a second.
    fn clock(&mut self, value: i64, places: u32) {
        let per_second = 10_i64.pow(places);
        let (seconds, fraction) = (value / per_second, (value % per_second).unsigned_abs());
        self.part(seconds / 3600, "hours");
        self.part(seconds / 60 % 60, "mins");
        let rest = (seconds % 60).unsigned_abs();
        if rest != 0 || fraction != 0 {
            self.separate();
            let (sign, places) = (if value < 0 { "-" } else { "" }, places as usize);
            write_infallible(self.out, format_args!("{sign}{rest}.{fraction:0places$} secs"));
        }
    }

    fn end(self) {
        if !self.any {
            self.out.extend_from_slice(b"0 secs");
        }
    }
}

/// Writing to a vector can't fail, so there is no error to return.
fn write_infallible(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "writing to memory failed");
}
