//! Numbers and identifiers that Avro writes as bytes.

use arrow::datatypes::{IntervalMonthDayNano, i256};

use super::cursor::{Fault, fault};

/// Returns the number of the bytes of a decimal.
pub(super) fn decimal128(bytes: &[u8]) -> Result<i128, Fault> {
    widened(bytes).map(i128::from_be_bytes)
}

/// Returns the number of the bytes of a decimal.
pub(super) fn decimal256(bytes: &[u8]) -> Result<i256, Fault> {
    widened(bytes).map(i256::from_be_bytes)
}

/// Widens or narrows a signed number to `N` bytes, the first of which is the highest.
fn widened<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Fault> {
    let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 };
    let mut out = [sign; N];
    let (extra, kept) = bytes.split_at(bytes.len().saturating_sub(N));
    out[N - kept.len()..].copy_from_slice(kept);
    let is_same_sign = (out[0] >= 0x80) == (sign == 0xff);
    if is_same_sign && extra.iter().all(|byte| *byte == sign) {
        return Ok(out);
    }
    Err(fault(format!("a decimal of {} bytes is larger than its type", bytes.len())))
}

/// Returns a duration: its months, days and milliseconds have no sign.
pub(super) fn duration(bytes: [u8; 12]) -> Result<IntervalMonthDayNano, Fault> {
    let part = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let signed = |value: u32, of: &str| {
        i32::try_from(value).map_err(|_| {
            fault(format!("a duration of {value} {of} is longer than a column holds"))
                .with_hint("write durations of up to 2147483647 months and days, or write them as text")
        })
    };
    let (months, days) = (signed(part(0), "months")?, signed(part(4), "days")?);
    Ok(IntervalMonthDayNano::new(months, days, i64::from(part(8)) * 1_000_000))
}

/// Formats a UUID: `67e55044-10b1-426f-9247-bb680e5fe0c8`.
pub(super) fn uuid(bytes: [u8; 16]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{decimal128, decimal256, duration};

    #[test]
    fn decimals() {
        for (bytes, expected) in [
            (&[][..], Some(0)),
            (&[0x81], Some(-127)),
            (&[0x7f, 0xff], Some(32_767)),
            (&[0xff; 19], Some(-1)),
            (&[&[0_u8; 4][..], &[0x7f], &[0xff; 15]].concat(), Some(i128::MAX)),
            (&[&[0_u8; 4][..], &[0x80], &[0; 15]].concat(), None),
            (&[&[0xff_u8; 4][..], &[0x7f], &[0; 15]].concat(), None),
            (&[&[1_u8][..], &[0; 16]].concat(), None),
        ] {
            assert_eq!(decimal128(bytes).ok(), expected, "{bytes:?}");
            assert!(decimal256(bytes).is_ok());
        }
        assert!(decimal256(&[1; 33]).is_err());
    }

    #[test]
    fn durations() {
        let bytes = [2, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff];
        let read = duration(bytes).unwrap();
        assert_eq!((read.months, read.days, read.nanoseconds), (2, i32::MAX, 4_294_967_295_000_000));
        let mut wrong = bytes;
        wrong[3] = 0x80;
        assert!(duration(wrong).unwrap_err().to_string().contains("2147483650 months"));
    }
}
