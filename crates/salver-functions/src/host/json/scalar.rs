//! Serialization of scalars as JSON.

use salver_text::{base64, calendar};

/// Writes text, which user code may have declared as UTF-8 by mistake.
pub(super) fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    // Writing to memory cannot fail.
    let _ = match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::to_writer(&mut *out, text),
        Err(_) => serde_json::to_writer(&mut *out, &String::from_utf8_lossy(bytes)),
    };
}

/// Writes an integer.
pub(super) fn integer(out: &mut Vec<u8>, number: i64) {
    let _ = serde_json::to_writer(&mut *out, &number);
}

/// Writes a double with the shortest digits that round-trip; null when it is not finite.
pub(super) fn double(out: &mut Vec<u8>, number: f64) {
    const WHOLE_BOUND: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
    if number.fract() == 0.0 && number.abs() < WHOLE_BOUND && !(number == 0.0 && number.is_sign_negative()) {
        integer(out, number as i64);
    } else {
        let _ = serde_json::to_writer(&mut *out, &number);
    }
}

/// Writes a date, given as days since 1970.
pub(super) fn date(out: &mut Vec<u8>, days: f64) {
    match whole(days) {
        None => out.extend_from_slice(b"null"),
        Some(days) => {
            out.push(b'"');
            day(out, days);
            out.push(b'"');
        }
    }
}

/// Writes a timestamp in UTC, given as seconds since 1970, with microseconds.
pub(super) fn time(out: &mut Vec<u8>, seconds: f64) {
    let Some(whole) = whole(seconds) else {
        out.extend_from_slice(b"null");
        return;
    };
    #[expect(clippy::cast_possible_truncation, reason = "at most a million")]
    let mut micros = ((seconds - seconds.floor()) * 1e6).round() as i64;
    let mut seconds = whole;
    if micros == 1_000_000 {
        micros = 0;
        seconds += 1;
    }
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    out.push(b'"');
    day(out, days);
    let clock = format_args!("T{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60).to_string();
    out.extend_from_slice(clock.as_bytes());
    if micros != 0 {
        let digits = format!(".{micros:06}");
        out.extend_from_slice(digits.trim_end_matches('0').as_bytes());
    }
    out.extend_from_slice(b"Z\"");
}

/// Returns the integer part of a number of days or seconds, if it is in the range of usual years.
fn whole(number: f64) -> Option<i64> {
    const YEARS_9999_SECONDS: f64 = 253_402_300_800.0;
    #[expect(clippy::cast_possible_truncation, reason = "within bounds")]
    (number.abs() < YEARS_9999_SECONDS).then(|| number.floor() as i64)
}

/// Writes year, month and day of a day since 1970.
fn day(out: &mut Vec<u8>, days: i64) {
    let (year, month, day) = calendar::date_of(days);
    out.extend_from_slice(format!("{year:04}-{month:02}-{day:02}").as_bytes());
}

/// Writes bytes in base64.
pub(super) fn base64(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    base64::encode(bytes, out);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_short() {
        for (number, text) in
            [(1.0, "1"), (-0.0, "-0.0"), (0.1, "0.1"), (1e300, "1e+300"), (f64::NAN, "null"), (f64::INFINITY, "null")]
        {
            assert_eq!(written(|out| double(out, number)), text);
        }
    }

    #[test]
    fn dates_and_times() {
        assert_eq!(written(|out| date(out, 0.0)), "\"1970-01-01\"");
        assert_eq!(written(|out| date(out, -1.0)), "\"1969-12-31\"");
        assert_eq!(written(|out| date(out, 11_016.0)), "\"2000-02-29\"");
        assert_eq!(written(|out| date(out, f64::NAN)), "null");
        assert_eq!(written(|out| time(out, 0.0)), "\"1970-01-01T00:00:00Z\"");
        assert_eq!(written(|out| time(out, -0.5)), "\"1969-12-31T23:59:59.5Z\"");
        assert_eq!(written(|out| time(out, 1_700_000_000.999_999_9)), "\"2023-11-14T22:13:21Z\"");
    }
}
