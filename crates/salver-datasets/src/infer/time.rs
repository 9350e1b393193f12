//! Parses dates and timestamps in ISO 8601. Byte positions are fixed, so nothing is searched for.

use std::borrow::Cow;

use salver_text::calendar::{days_in_month, days_of};

/// A parsed timestamp, in UTC if its text had an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    /// Seconds since 1970.
    pub(crate) seconds: i64,
    /// The fraction, in nanoseconds.
    pub(crate) fraction_ns: u32,
    /// Number of digits of the fraction.
    pub(crate) fraction_digits: usize,
    /// Whether the text had an offset or `Z`.
    pub(crate) zoned: bool,
}

impl Instant {
    /// Returns the microseconds since 1970.
    pub(crate) fn micros(self) -> Option<i64> {
        self.seconds.checked_mul(1_000_000)?.checked_add(i64::from(self.fraction_ns / 1_000))
    }

    /// Returns the nanoseconds since 1970; `None` outside of about 1677 to 2262.
    pub(crate) fn nanos(self) -> Option<i64> {
        self.seconds.checked_mul(1_000_000_000)?.checked_add(i64::from(self.fraction_ns))
    }
}

/// Parses `2026-01-31` as days since 1970.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    let bytes: &[u8; 10] = text.as_bytes().try_into().ok()?;
    if bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (number(&bytes[..4])?, number(&bytes[5..7])?, number(&bytes[8..])?);
    let (month, day) = (u32::try_from(month).ok()?, u32::try_from(day).ok()?);
    if !(1..=days_in_month(year.into(), month)).contains(&day) {
        return None;
    }
    i32::try_from(days_of(year.into(), month, day)).ok()
}

/// Parses `2026-01-31T10:20[:30[.123456789]][Z|+01:00|+0100|+01]`; the `T` may be a space.
pub(crate) fn parse_timestamp(text: &str) -> Option<Instant> {
    let bytes = text.as_bytes();
    if bytes.len() < 16 || bytes.len() > 40 || !matches!(bytes[10], b'T' | b't' | b' ') || bytes[13] != b':' {
        return None;
    }
    let days = parse_date(text.get(..10)?)?;
    let (hour, minute) = (number(&bytes[11..13])?, number(&bytes[14..16])?);
    let mut rest = &bytes[16..];
    let mut second = 0;
    let (mut fraction_ns, mut fraction_digits) = (0_u32, 0);
    if let [b':', tens, ones, tail @ ..] = rest {
        second = number(&[*tens, *ones])?;
        rest = tail;
        if let [b'.' | b',', tail @ ..] = rest {
            fraction_digits = tail.iter().take_while(|b| b.is_ascii_digit()).count();
            if fraction_digits == 0 || fraction_digits > 9 {
                return None;
            }
            let (digits, after) = tail.split_at(fraction_digits);
            fraction_ns = digits.iter().fold(0, |sum, b| sum * 10 + u32::from(b - b'0'));
            fraction_ns *= 10_u32.pow(9 - u32::try_from(fraction_digits).ok()?);
            rest = after;
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let offset_s = offset(rest)?;
    let of_day = i64::from(hour * 3_600 + minute * 60 + second);
    let seconds = i64::from(days) * 86_400 + of_day - i64::from(offset_s.unwrap_or(0));
    Some(Instant { seconds, fraction_ns, fraction_digits, zoned: offset_s.is_some() })
}

/// Truncates the text of a time to nanoseconds, and returns whether any digit other than zero was cut off.
pub(crate) fn to_nanos(text: &str) -> (Cow<'_, str>, bool) {
    let Some(point) = text.find(['.', ',']) else { return (Cow::Borrowed(text), false) };
    let (before, fraction) = text.split_at(point + 1);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    if digits <= 9 {
        return (Cow::Borrowed(text), false);
    }
    let is_finer = fraction[9..digits].bytes().any(|digit| digit != b'0');
    (Cow::Owned([before, &fraction[..9], &fraction[digits..]].concat()), is_finer)
}

/// Parses an offset as seconds east of UTC; `Some(None)` if there is none, `None` if it is invalid.
fn offset(rest: &[u8]) -> Option<Option<i32>> {
    let rest = rest.strip_prefix(b" ").filter(|tail| !tail.is_empty()).unwrap_or(rest);
    let (sign, digits) = match rest {
        [] => return Some(None),
        [b'Z' | b'z'] | [b'U', b'T', b'C'] => return Some(Some(0)),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        [_, _] => (digits, &b"00"[..]),
        [_, _, b':', _, _] => (&digits[..2], &digits[3..]),
        [_, _, _, _] => digits.split_at(2),
        _ => return None,
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 15 && minutes <= 59).then_some(Some(sign * (hours * 3_600 + minutes * 60)))
}

fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |sum, b| b.is_ascii_digit().then(|| sum * 10 + i32::from(b - b'0')))
}
