//! Formats dates, times of day and timestamps in ISO 8601.
//! Dates have no bounds, so every value of every type has a text, including those that a date library refuses.

use arrow::array::timezone::Tz;
use arrow::datatypes::TimeUnit;
use chrono::{DateTime, Offset, TimeZone};
use salver_text::calendar::{DAY_SECONDS, date_of};

use crate::{number, short_copy};

/// `00` to `99`.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut i = 0;
    while i < 100 {
        pairs[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    pairs
};

/// Returns the number of units per second, and the nanoseconds of one unit.
pub(crate) fn per_second(unit: TimeUnit) -> (i64, u32) {
    match unit {
        TimeUnit::Second => (1, 1_000_000_000),
        TimeUnit::Millisecond => (1_000, 1_000_000),
        TimeUnit::Microsecond => (1_000_000, 1_000),
        TimeUnit::Nanosecond => (1_000_000_000, 1),
    }
}

/// The offset from UTC of a column's timestamps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Zone {
    /// Local time without a zone: no offset is written.
    None,
    /// A fixed offset, in seconds east.
    Fixed(i32),
    /// The rules of a named time zone.
    Named(Tz),
}

impl Zone {
    /// Parses a zone in Arrow's notation: `+01:00`, `UTC`, `Europe/Berlin`.
    pub(crate) fn parse(name: Option<&str>) -> Result<Self, arrow::error::ArrowError> {
        let Some(name) = name else { return Ok(Self::None) };
        if matches!(name, "UTC" | "Z" | "Etc/UTC" | "GMT") {
            return Ok(Self::Fixed(0));
        }
        let zone: Tz = name.parse()?;
        let fixed = name.starts_with(['+', '-']);
        Ok(if fixed { Self::Fixed(offset_at(zone, 0)) } else { Self::Named(zone) })
    }
}

/// Returns the offset of a zone at an instant, in seconds east of UTC. Instants out of chrono's range have the offset
/// of the epoch.
fn offset_at(zone: Tz, seconds: i64) -> i32 {
    let instant = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    zone.offset_from_utc_datetime(&instant.naive_utc()).fix().local_minus_utc()
}

/// Writes `1970-01-02`; years of more or fewer than four digits have a sign, as ISO 8601 requires: `+12345-06-07`.
#[inline(always)]
pub(crate) fn date(days: i64, out: &mut Vec<u8>) {
    let (year, month, day) = date_of(days);
    match usize::try_from(year) {
        Ok(year) if year <= 9_999 => {
            let mut text = *b"0000-00-00______";
            place(&mut text, 0, year / 100);
            place(&mut text, 2, year % 100);
            place(&mut text, 5, usize::from(month));
            place(&mut text, 8, usize::from(day));
            short_copy::block(&text, 10, out);
        }
        _ => far_date(year, month, day, out),
    }
}

#[cold]
fn far_date(year: i64, month: u8, day: u8, out: &mut Vec<u8>) {
    let text = format!("{year:+05}-{month:02}-{day:02}");
    out.extend_from_slice(text.as_bytes());
}

#[inline(always)]
fn place<const N: usize>(text: &mut [u8; N], at: usize, value: usize) {
    [text[at], text[at + 1]] = PAIRS[value % 100];
}

/// Writes a time of day, `04:04:28`, with as many fractional digits as needed, in groups of three. Values out of range
/// (negative, or a day or more) are written in the same notation, to tell them from null.
pub(crate) fn time(value: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    let (per_second, nanos) = per_second(unit);
    if value < 0 {
        out.push(b'-');
    }
    let value = value.unsigned_abs();
    let seconds = value / per_second.unsigned_abs();
    let fraction = (value % per_second.unsigned_abs()) as u32 * nanos;
    if seconds < DAY_SECONDS as u64 {
        clock(seconds as u32, fraction, out);
    } else {
        number::integer(seconds / 3600, out);
        out.extend_from_slice(format!(":{:02}:{:02}", seconds / 60 % 60, seconds % 60).as_bytes());
        fraction_of_second(fraction, out);
    }
}

#[inline(always)]
fn clock(seconds: u32, nanos: u32, out: &mut Vec<u8>) {
    let mut text = *b"00:00:00";
    place(&mut text, 0, (seconds / 3600) as usize);
    place(&mut text, 3, (seconds / 60 % 60) as usize);
    place(&mut text, 6, (seconds % 60) as usize);
    short_copy::block(&text, 8, out);
    if nanos != 0 {
        fraction_of_second(nanos, out);
    }
}

/// Writes `.123`, `.123456` or `.123456789`, the shortest that is exact; nothing for a whole second.
fn fraction_of_second(nanos: u32, out: &mut Vec<u8>) {
    if nanos == 0 {
        return;
    }
    let mut text = *b".000000000______";
    let mut rest = nanos as usize;
    for at in [8, 6, 4, 2] {
        place(&mut text, at, rest % 100);
        rest /= 100;
    }
    text[1] = b'0' + rest as u8;
    let len = match nanos {
        _ if nanos.is_multiple_of(1_000_000) => 4,
        _ if nanos.is_multiple_of(1_000) => 7,
        _ => 10,
    };
    short_copy::block(&text, len, out);
}

/// Returns the seconds of local time since 1970, the nanoseconds of the last one, and the offset from UTC in seconds.
#[inline(always)]
pub(crate) fn wall_clock(value: i64, unit: TimeUnit, zone: Zone) -> (i64, u32, i32) {
    let (per_second, nanos) = per_second(unit);
    let utc = value.div_euclid(per_second);
    let fraction = value.rem_euclid(per_second) as u32 * nanos;
    let offset = match zone {
        Zone::None => 0,
        Zone::Fixed(offset) => offset,
        Zone::Named(zone) => offset_at(zone, utc),
    };
    let local = utc.saturating_add(i64::from(offset));
    (local, fraction, offset)
}

/// Returns an offset in minutes. Those with seconds, which zones had before standard time, are rounded.
pub(crate) fn whole_minutes(offset: i32) -> i32 {
    offset.signum() * ((offset.abs() + 30) / 60)
}

/// Writes `2021-04-12T04:04:28`, with a fraction as in [`time`] and, if there is a zone, the offset: `Z` or `+05:30`.
#[inline(always)]
pub(crate) fn timestamp(value: i64, unit: TimeUnit, zone: Zone, out: &mut Vec<u8>) {
    let (local, fraction, offset) = wall_clock(value, unit, zone);
    date(local.div_euclid(DAY_SECONDS), out);
    out.push(b'T');
    clock(local.rem_euclid(DAY_SECONDS) as u32, fraction, out);
    match (zone, offset) {
        (Zone::None, _) => {}
        (_, 0) => out.push(b'Z'),
        _ => zone_offset(offset, out),
    }
}

/// Writes `+05:30`. Offsets with seconds, which zones had before standard time, are rounded to minutes, as in RFC 3339.
fn zone_offset(offset: i32, out: &mut Vec<u8>) {
    let minutes = (offset.unsigned_abs() + 30) / 60;
    let mut text = *b"+00:00__";
    if offset < 0 {
        text[0] = b'-';
    }
    place(&mut text, 1, (minutes / 60) as usize);
    place(&mut text, 4, (minutes % 60) as usize);
    short_copy::block(&text, 6, out);
}
