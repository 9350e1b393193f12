//! Writes dates and timestamps as a few words of text, each computed from its digits in one register.

use salver_text::calendar::{DAY_SECONDS, EPOCH_DAY, date_since_march};

use super::number::eight_digits;
use crate::calendar::Zone;
use crate::slot::{block, byte};

/// Days from 0000-03-01, the origin of the calendar's arithmetic, to 10000-01-01, from which years have a sign. Other
/// days take the general path.
const UNSIGNED_DAYS: u32 = 3_652_365;

/// Formats three numbers below 100 as two digits each, in every third byte; `between` has the bytes between them.
#[inline(always)]
const fn three_pairs(first: u32, second: u32, third: u32, between: u64) -> u64 {
    let lanes = first as u64 | (second as u64) << 24 | (third as u64) << 48;
    let tens = ((lanes * 103) >> 10) & 0x000f_0000_0f00_000f;
    between | tens | (lanes - 10 * tens) << 8
}

/// A day and its text, cached because adjacent rows often have the same day.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Day {
    /// Days since 0000-03-01; that day itself means that there is no day.
    days: u32,
    /// `1970-01-02T`
    text: [u8; 16],
}

impl Day {
    #[inline(always)]
    fn text(&mut self, days: u32) -> &[u8; 16] {
        if days != self.days || days == 0 {
            *self = Self::new(days);
        }
        &self.text
    }

    #[inline]
    fn new(days: u32) -> Self {
        let (year, month, day) = date_since_march(days);
        let (century, year) = (year as u32 / 100, year as u32 % 100);
        let rest = three_pairs(year, u32::from(month), u32::from(day), u64::from_le_bytes(*b"00-00-00"));
        let century = three_pairs(century, 0, 0, 0x3030) & 0xffff;
        let text = u128::from(century) | u128::from(rest) << 16 | u128::from(b'T') << 80;
        Self { days, text: text.to_le_bytes() }
    }
}

/// Writes a date, `1970-01-02`.
#[inline(always)]
pub(crate) fn date(bytes: &mut [u8], at: usize, days: i32, last: &mut Day) -> Option<usize> {
    let days = u32::try_from(i64::from(days) + EPOCH_DAY).ok().filter(|days| *days < UNSIGNED_DAYS)?;
    block(bytes, at, last.text(days), 10)
}

/// Writes a timestamp with `PER_SECOND` units per second, `2021-04-12T04:04:28.123456`; in UTC with a `Z`. Other zones
/// take the general path.
#[inline(always)]
pub(crate) fn timestamp<const PER_SECOND: i64>(
    bytes: &mut [u8],
    at: usize,
    value: i64,
    zone: Zone,
    last: &mut Day,
) -> Option<usize> {
    let seconds = value.div_euclid(PER_SECOND).wrapping_add(EPOCH_DAY * DAY_SECONDS) as u64;
    if seconds >= u64::from(UNSIGNED_DAYS) * DAY_SECONDS as u64 {
        return None;
    }
    let of_day = (seconds % DAY_SECONDS as u64) as u32;
    block(bytes, at, last.text((seconds / DAY_SECONDS as u64) as u32), 11)?;
    let between = u64::from_le_bytes(*b"00:00:00");
    let clock = three_pairs(of_day / 3600, of_day / 60 % 60, of_day % 60, between);
    block(bytes, at + 11, &clock.to_le_bytes(), 8)?;
    let nanos = value.rem_euclid(PER_SECOND) as u64 * (1_000_000_000 / PER_SECOND) as u64;
    let end = at + fraction(bytes, at + 19, nanos)?;
    match zone {
        Zone::None => Some(end),
        Zone::Fixed(0) => byte(bytes, end, b'Z'),
        Zone::Fixed(_) | Zone::Named(_) => None,
    }
}

/// Writes the fraction of a second; returns the length of the timestamp with as many digits as needed, in groups of
/// three.
#[inline(always)]
fn fraction(bytes: &mut [u8], at: usize, nanos: u64) -> Option<usize> {
    let digits = eight_digits(nanos / 10) | u64::from_le_bytes(*b"00000000");
    let slot = bytes.get_mut(at..)?.first_chunk_mut::<10>()?;
    let (point, rest) = slot.split_first_mut()?;
    let (eight, last) = rest.split_first_chunk_mut::<8>()?;
    *point = b'.';
    *eight = digits.to_le_bytes();
    *last.first_mut()? = b'0' + (nanos % 10) as u8;
    let micros = if nanos.is_multiple_of(1_000_000) { 23 } else { 26 };
    let len = if nanos.is_multiple_of(1_000) { micros } else { 29 };
    Some(if nanos == 0 { 19 } else { len })
}
