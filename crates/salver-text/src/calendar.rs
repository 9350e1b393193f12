//! Days since 1970 and dates, in the proleptic Gregorian calendar. Unlike a date library it has no bounds that matter,
//! so every value of a column has a date.
//!
//! Days are converted to dates by the algorithm of C. Neri and L. Schneider, "Euclidean affine functions and their
//! application to calendar algorithms" (Software: Practice and Experience, 2022), which takes a few multiplications.
//! Years begin in March here, so that the leap day is their last.

/// Number of seconds of a day.
pub const DAY_SECONDS: i64 = 86_400;
/// Days from 0000-03-01, the origin of the arithmetic, to 1970-01-01.
pub const EPOCH_DAY: i64 = 719_468;
/// Days of 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;
/// Bound of the days that [`date_since_march`] converts.
const NEAR_DAYS: u32 = 1 << 28;

/// Returns year, month and day of a number of days since 1970-01-01.
#[inline(always)]
#[must_use]
pub fn date_of(days: i64) -> (i64, u8, u8) {
    match u32::try_from(days.saturating_add(EPOCH_DAY)) {
        Ok(since_march) if since_march < NEAR_DAYS => date_since_march(since_march),
        _ => far_date(days.saturating_add(EPOCH_DAY)),
    }
}

/// Returns year, month and day of a number of days since 0000-03-01, which must be below 2^28.
#[inline(always)]
#[must_use]
pub fn date_since_march(days: u32) -> (i64, u8, u8) {
    let quarters = 4 * days + 3;
    let century = quarters / 146_097;
    let in_century = quarters % 146_097 / 4;
    let product = 2_939_745 * u64::from(4 * in_century + 3);
    let in_year = product as u32 / 2_939_745 / 4;
    let month_and_day = 2_141 * in_year + 197_913;
    let (month, day) = ((month_and_day >> 16) as u8, ((month_and_day & 0xffff) / 2_141) as u8 + 1);
    let next = in_year >= 306;
    let year = i64::from(100 * century) + (product >> 32) as i64 + i64::from(next);
    (year, if next { month - 12 } else { month }, day)
}

#[cold]
fn far_date(since_march: i64) -> (i64, u8, u8) {
    let (year, month, day) = date_since_march(since_march.rem_euclid(ERA_DAYS) as u32);
    (year + 400 * since_march.div_euclid(ERA_DAYS), month, day)
}

/// Returns the days since 1970-01-01 of a date, the inverse of [`date_of`] for years within ten trillion.
#[inline]
#[must_use]
pub fn days_of(year: i64, month: u32, day: u32) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 12) } else { (year, month) };
    let century = year.div_euclid(100);
    let of_year = i64::from((979 * month - 2_919) / 32 + day) - 1;
    ((1_461 * year) >> 2) - century + (century >> 2) + of_year - EPOCH_DAY
}

/// Returns the number of days of a month; 0 when there is no such month.
#[inline]
#[must_use]
pub fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{date_of, days_in_month, days_of};

    #[test]
    fn every_day_follows_the_one_before() {
        let (mut year, mut month, mut day) = (-401, 1, 1);
        for days in days_of(-401, 1, 1)..days_of(2_801, 1, 1) {
            assert_eq!(date_of(days), (year, month as u8, day as u8));
            assert_eq!(days_of(year, month, day), days);
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!(date_of(0), (1970, 1, 1));
        assert_eq!(days_in_month(2024, 13), 0);
    }

    #[test]
    fn far_days() {
        for days in (-4_000_000_000_000_000..4_000_000_000_000_000).step_by(9_973_000_000_007) {
            let (year, month, day) = date_of(days);
            assert_eq!(days_of(year, month.into(), day.into()), days, "{year}-{month}-{day}");
        }
        // Both sides of the bound of the fast way, and the ends of the type.
        for days in [(1 << 28) - 719_469, (1 << 28) - 719_468, -719_469, -719_468, 400 * 146_097] {
            let (year, month, day) = date_of(days);
            assert_eq!(days_of(year, month.into(), day.into()), days, "{year}-{month}-{day}");
        }
        assert_eq!(date_of(i64::MIN), (-25_252_734_927_764_585, 6, 7));
        assert_eq!(date_of(i64::MAX), (25_252_734_927_766_554, 9, 25));
    }
}
