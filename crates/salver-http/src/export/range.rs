//! Parses `Range: bytes=...` (RFC 9110, section 14).

use http::{HeaderMap, header};

/// The requested range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RangeRequest {
    /// `N-`
    From(u64),
    /// `N-M`, both included.
    Span(u64, u64),
    /// `-N`
    Last(u64),
}

impl RangeRequest {
    /// Parses the header. `None` when it is missing, invalid or lists several ranges: a server may always send the
    /// whole body.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut lines = headers.get_all(header::RANGE).iter();
        let text = lines.next()?.to_str().ok()?;
        if lines.next().is_some() {
            return None;
        }
        let (unit, range) = text.split_once('=')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") || range.contains(',') {
            return None;
        }
        let (first, last) = range.trim().split_once('-')?;
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // A number that overflows is past the end of any body.
            is_number.then(|| text.parse().unwrap_or(u64::MAX))
        };
        match (first.trim(), last.trim()) {
            ("", last) => number(last).map(Self::Last),
            (first, "") => number(first).map(Self::From),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::Span(first, last))
            }
        }
    }

    /// Returns the first byte and the end (exclusive) of the range in a body of `total` bytes; `None` when it is
    /// unsatisfiable.
    pub(super) fn within(self, total: u64) -> Option<(u64, u64)> {
        let (first, end) = match self {
            Self::From(first) => (first, total),
            Self::Span(first, last) => (first, last.saturating_add(1).min(total)),
            Self::Last(count) => (total - count.min(total), total),
        };
        (first < end).then_some((first, end))
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, header};

    use super::RangeRequest;

    #[test]
    fn headers_and_what_they_mean_of_ten_bytes() {
        let wish = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RANGE, HeaderValue::from_str(text).unwrap());
            RangeRequest::of(&headers)
        };
        for (text, bytes) in [
            ("bytes=0-", Some((0, 10))),
            ("bytes=3-", Some((3, 10))),
            ("Bytes = 3-4", Some((3, 5))),
            ("bytes=3-99999999999999999999999", Some((3, 10))),
            ("bytes=-4", Some((6, 10))),
            ("bytes=-40", Some((0, 10))),
            ("bytes=10-", None),
            ("bytes=-0", None),
            ("bytes=99999999999999999999999-", None),
        ] {
            let wish = wish(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(wish.within(10), bytes, "{text}");
            assert_eq!(wish.within(0), None, "{text}");
        }
        for none in
            ["", "bytes", "bytes=", "bytes=-", "bytes=4-3", "bytes=a-", "bytes=1-2,4-5", "rows=1-2", "bytes=+1-"]
        {
            assert_eq!(wish(none), None, "{none}");
        }
    }
}
