//! Converts decimals from the text of databases to Arrow's scaled integers, exactly or not at all.

use arrow::datatypes::i256;

/// Returns `text` times ten to the power of `scale`; `None` when it is not a decimal (like `NaN`), or has more decimal
/// places or more than `precision` digits in total.
pub(super) fn narrow(text: &str, precision: u8, scale: i8) -> Option<i128> {
    let Parts { negative, whole, fraction } = Parts::of(text)?;
    let zeros = usize::try_from(scale).ok()?.checked_sub(fraction.len())?;
    if whole.len() + fraction.len() + zeros > usize::from(precision.min(38))
        && !(whole.is_empty() && fraction.is_empty())
    {
        return None;
    }
    let digits = whole.bytes().chain(fraction.bytes()).map(|digit| i128::from(digit - b'0'));
    let number = digits.chain(std::iter::repeat_n(0, zeros)).fold(0, |number, digit| 10 * number + digit);
    Some(if negative { -number } else { number })
}

/// Converts like `narrow`, up to 76 digits.
pub(super) fn wide(text: &str, precision: u8, scale: i8) -> Option<i256> {
    if let Some(number) = narrow(text, precision, scale) {
        return Some(i256::from_i128(number));
    }
    let Parts { negative, whole, fraction } = Parts::of(text)?;
    let zeros = usize::try_from(scale).ok()?.checked_sub(fraction.len())?;
    if whole.len() + fraction.len() + zeros > usize::from(precision.min(76)) {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    i256::from_string(&format!("{sign}{whole}{fraction}{}", "0".repeat(zeros)))
}

/// The digits of a decimal, without leading and trailing zeros.
pub(super) struct Parts<'t> {
    pub(super) negative: bool,
    pub(super) whole: &'t str,
    pub(super) fraction: &'t str,
}

impl<'t> Parts<'t> {
    /// Parses `-12.50`, `12`, `.5`, `12.`.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !plain(whole) || !plain(fraction) {
            return None;
        }
        Some(Self { negative, whole: whole.trim_start_matches('0'), fraction: fraction.trim_end_matches('0') })
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::i256;

    use super::{narrow, wide};

    #[test]
    fn exactly_or_not_at_all() {
        assert_eq!(narrow("1234567.89", 10, 2), Some(123_456_789));
        assert_eq!(narrow("-0.5", 10, 2), Some(-50));
        assert_eq!(narrow("000.000", 3, 2), Some(0));
        assert_eq!(narrow("0", 2, 2), Some(0));
        assert_eq!(narrow("1.230", 3, 2), Some(123));
        for none in ["1.234", "10.00", "NaN", "Infinity", "1e3", "", ".", "-", "1.2.3"] {
            assert_eq!(narrow(none, 3, 2), None, "{none}");
        }
        let nines = "9".repeat(76);
        assert_eq!(wide(&nines, 76, 0), i256::from_string(&nines));
        assert_eq!(wide(&format!("-{nines}"), 76, 0), i256::from_string(&format!("-{nines}")));
        assert_eq!(wide(&format!("{nines}9"), 76, 0), None);
        let long = format!("{}.{}", "1".repeat(46), "2".repeat(30));
        assert_eq!(wide(&long, 76, 30), i256::from_string(&long.replace('.', "")));
        assert_eq!(wide("1e-31", 76, 30), None);
        assert_eq!(wide(&format!("0.{}1", "0".repeat(30)), 76, 30), None);
    }
}
