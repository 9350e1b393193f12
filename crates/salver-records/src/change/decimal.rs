//! Decimals as text, parsed digit by digit, so that no precision is lost through a float.

use salver_model::limits::DECIMAL_EXPONENT_MAX;

/// A parsed decimal number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    /// Digits before the point, without leading zeros.
    whole: String,
    /// Digits after the point, as many as were written.
    fraction: String,
}

impl Decimal {
    /// Parses `-12.50` and `1.25e1`; returns `None` for everything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, body) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match body.find(['e', 'E']) {
            Some(at) => (&body[..at], body[at + 1..].parse::<i32>().ok()?),
            None => (body, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
            return None;
        }
        if exponent.abs() > DECIMAL_EXPONENT_MAX {
            return None;
        }
        let (mut whole, mut fraction) = (whole.to_owned(), fraction.to_owned());
        for _ in 0..exponent {
            whole.push(if fraction.is_empty() { '0' } else { fraction.remove(0) });
        }
        for _ in exponent..0 {
            fraction.insert(0, whole.pop().unwrap_or('0'));
        }
        Some(Self { negative, whole: whole.trim_start_matches('0').to_owned(), fraction })
    }

    /// Returns whether `text` is a number, however large.
    pub(crate) fn is_written(text: &str) -> bool {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits(exponent) && Self::parse(mantissa).is_some()
    }

    /// Returns the number of decimal places without trailing zeros.
    fn scale(&self) -> usize {
        self.fraction.trim_end_matches('0').len()
    }

    /// Returns the reason why it does not fit a column with this precision and scale, as a validation message.
    pub(crate) fn unfit(&self, precision: Option<u32>, scale: Option<u32>) -> Option<&'static str> {
        let (Some(precision), scale) = (precision, scale.unwrap_or(0)) else { return None };
        if self.whole.len() > precision.saturating_sub(scale) as usize {
            return Some("decimal too large");
        }
        (self.scale() > scale as usize).then_some("decimal too precise")
    }

    /// Returns whether the last `count` digits before the point are zeros, with no fraction if there are any such.
    pub(crate) fn ends_in_noughts(&self, count: usize) -> bool {
        let noughts = self.whole.len() - self.whole.trim_end_matches('0').len();
        count == 0 || self.scale() == 0 && (self.whole.is_empty() || noughts >= count)
    }

    /// Returns whether a 64-bit float, SQLite's representation of fractions, can hold all its digits.
    pub(crate) fn fits_float(&self) -> bool {
        if self.scale() == 0 {
            return self.whole.len() <= 18;
        }
        let digits = format!("{}{}", self.whole, &self.fraction[..self.scale()]);
        digits.trim_start_matches('0').len() <= 15
    }

    /// Rounds to this many decimal places, half away from zero, and formats with exactly these.
    pub(crate) fn rounded(&self, scale: usize) -> String {
        let mut digits: Vec<u8> = self.whole.bytes().chain(self.fraction.bytes()).collect();
        let point = self.whole.len();
        let up = digits.get(point + scale).is_some_and(|digit| *digit >= b'5');
        digits.resize(point + scale, b'0');
        let mut carry = up;
        for digit in digits.iter_mut().rev() {
            if !carry {
                break;
            }
            carry = *digit == b'9';
            *digit = if carry { b'0' } else { *digit + 1 };
        }
        let mut text = String::with_capacity(digits.len() + 3);
        if self.negative && (carry || digits.iter().any(|digit| *digit != b'0')) {
            text.push('-');
        }
        if carry {
            text.push('1');
        }
        let (whole, fraction) = digits.split_at(point);
        if whole.is_empty() && !carry {
            text.push('0');
        }
        text.extend(whole.iter().map(|digit| char::from(*digit)));
        if !fraction.is_empty() {
            text.push('.');
            text.extend(fraction.iter().map(|digit| char::from(*digit)));
        }
        text
    }

    /// Formats it without exponent.
    pub(crate) fn plain(&self) -> String {
        self.rounded(self.fraction.len())
    }

    /// Returns it as an integer, when it is one.
    pub(crate) fn whole(&self) -> Option<i128> {
        if self.scale() > 0 {
            return None;
        }
        self.rounded(0).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    fn parse(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn reads_and_lays_out() {
        for (text, plain) in
            [("-012.50", "-12.50"), ("1.25e1", "12.5"), ("5e-3", "0.005"), ("12e2", "1200"), (".5", "0.5")]
        {
            assert_eq!(parse(text).plain(), plain, "{text}");
        }
        for bad in ["", "-", ".", "1.2.3", "1e", "0x1", "1 2", "nan", "1e999999999"] {
            assert_eq!(Decimal::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn rounds_half_away_from_zero() {
        for (text, scale, rounded) in [
            ("1.23006", 4, "1.2301"),
            ("1.23004", 4, "1.2300"),
            ("1.23", 4, "1.2300"),
            ("-9.995", 2, "-10.00"),
            ("0.5", 0, "1"),
            ("-0.4", 0, "0"),
            ("1.99999", 0, "2"),
        ] {
            assert_eq!(parse(text).rounded(scale), rounded, "{text} to {scale}");
        }
    }

    #[test]
    fn says_what_does_not_fit() {
        let unfit = |text| parse(text).unfit(Some(10), Some(4));
        assert_eq!(unfit("1131313145345"), Some("decimal too large"));
        assert_eq!(unfit("1234567.123"), Some("decimal too large"));
        assert_eq!(unfit("123456.12345"), Some("decimal too precise"));
        assert_eq!(unfit("123456.12340"), None);
        assert!(!parse("12345678901234567.89").fits_float() && parse("0.000000000000012345").fits_float());
    }

    #[test]
    fn whole_numbers() {
        assert_eq!(parse("2.0").whole(), Some(2));
        assert_eq!(parse("-1e3").whole(), Some(-1000));
        assert_eq!(parse("2.3").whole(), None);
        assert_eq!(parse("1e100").whole(), None);
        assert!(Decimal::is_written("1e400") && Decimal::is_written("-.5") && !Decimal::is_written("1e"));
    }
}
