//! Times in requests and responses: RFC 3339, or milliseconds since 1970.

use chrono::{DateTime, SecondsFormat};
use salver_model::{Code, Error, Result};

/// Parses either form to milliseconds since 1970.
pub(super) fn read(text: &str) -> Result<i64> {
    text.parse().ok().or_else(|| rfc3339(text)).ok_or_else(|| {
        Error::new(Code::InvalidValue, format!("`{text}` is not a time"))
            .with_hint("write it like `2026-01-31T10:20:30Z`, or as milliseconds since 1970")
    })
}

/// Parses RFC 3339 to milliseconds since 1970. A space may replace the `T` or, in a query string, a `+`.
pub(super) fn rfc3339(text: &str) -> Option<i64> {
    let parse = |text: &str| DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_millis());
    parse(text).or_else(|| parse(&text.replace(' ', "+")))
}

/// Formats the time as RFC 3339 with milliseconds, in UTC; outside the range of years, as a number.
pub(super) fn write(time_ms: i64) -> String {
    DateTime::from_timestamp_millis(time_ms)
        .map_or_else(|| time_ms.to_string(), |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Returns the current time, in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

#[cfg(test)]
mod tests {
    use super::{read, rfc3339, write};

    #[test]
    fn there_and_back() {
        assert_eq!(read("1769854830123").ok(), Some(1_769_854_830_123));
        assert_eq!(read("2026-01-31T10:20:30.123Z").ok(), Some(1_769_854_830_123));
        assert_eq!(rfc3339("2026-01-31T12:20:30.123 02:00"), Some(1_769_854_830_123));
        assert_eq!(rfc3339("12"), None);
        assert_eq!(write(1_769_854_830_123), "2026-01-31T10:20:30.123Z");
        assert!(read("yesterday").is_err());
    }
}
