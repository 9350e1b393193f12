//! Numbers of JSON, written out as `numeric` writes them: without an exponent, and with all digits behind the point.

use std::cmp::Ordering;

/// A number in its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'a> {
    is_negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

impl<'a> Number<'a> {
    /// Reads the number at the beginning of a text, and returns it with its length; `None` if there is none.
    pub(super) fn read(text: &'a str) -> Option<(Self, usize)> {
        let bytes = text.as_bytes();
        let digits = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_negative = bytes.first() == Some(&b'-');
        let start = usize::from(is_negative);
        let length = digits(start);
        if length == 0 || length > 1 && bytes[start] == b'0' {
            return None;
        }
        let mut at = start + length;
        let whole = &text[start..at];
        let mut fraction = "";
        if bytes.get(at) == Some(&b'.') {
            let length = digits(at + 1);
            if length == 0 {
                return None;
            }
            fraction = &text[at + 1..at + 1 + length];
            at += 1 + length;
        }
        let mut exponent = 0;
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            let sign = bytes.get(at + 1).copied();
            let begin = at + 1 + usize::from(matches!(sign, Some(b'+' | b'-')));
            let length = digits(begin);
            if length == 0 {
                return None;
            }
            at = begin + length;
            // Beyond this it is too long in any case.
            let size = text[begin..at].parse().unwrap_or(i64::from(i32::MAX)).min(i64::from(i32::MAX));
            exponent = if sign == Some(b'-') { -size } else { size };
        }
        Some((Self { is_negative, whole, fraction, exponent }, at))
    }
}

/// Writes a number out; with `by_value`, without zeros at its end. Takes what it adds in zeros from `zeros`, and
/// returns `None` if these don't suffice.
pub(super) fn write(number: Number<'_>, by_value: bool, zeros: &mut usize, out: &mut String) -> Option<()> {
    let Number { is_negative, whole, fraction, exponent } = number;
    let is_zero = |digits: &str| digits.bytes().all(|digit| digit == b'0');
    let is_negative = is_negative && !(is_zero(whole) && is_zero(fraction));
    out.push_str(if is_negative { "-" } else { "" });
    if exponent == 0 {
        append(whole, fraction, by_value, out);
        return Some(());
    }
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let Ok(scale) = usize::try_from(scale) else {
        let more = if digits.is_empty() { 0 } else { usize::try_from(-scale).ok()? };
        *zeros = zeros.checked_sub(more)?;
        let whole = if digits.is_empty() { "0".to_owned() } else { format!("{digits}{}", "0".repeat(more)) };
        append(&whole, "", by_value, out);
        return Some(());
    };
    // At least one digit stands before the point.
    let more = (scale + 1).saturating_sub(digits.len());
    *zeros = zeros.checked_sub(more)?;
    let padded = format!("{}{digits}", "0".repeat(more));
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    append(whole, fraction, by_value, out);
    Some(())
}

fn append(whole: &str, fraction: &str, by_value: bool, out: &mut String) {
    let fraction = if by_value { fraction.trim_end_matches('0') } else { fraction };
    out.push_str(whole);
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
}

/// Compares two numbers that are written out.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let (one, is_one_negative) = unsigned(one);
    let (other, is_other_negative) = unsigned(other);
    match (is_one_negative, is_other_negative) {
        (false, false) => by_digits(one, other),
        (true, true) => by_digits(other, one),
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
    }
}

fn unsigned(number: &str) -> (&str, bool) {
    match number.strip_prefix('-') {
        Some(behind) => (behind, true),
        None => (number, false),
    }
}

fn by_digits(one: &str, other: &str) -> Ordering {
    let parts = |number: &str| -> (usize, usize) {
        let whole = number.find('.').unwrap_or(number.len());
        (whole, if whole < number.len() { number.trim_end_matches('0').len() } else { whole })
    };
    let ((whole, end), (other_whole, other_end)) = (parts(one), parts(other));
    let digits = |number: &str, whole: usize, end: usize| number[whole.min(end)..end].to_owned();
    whole.cmp(&other_whole).then_with(|| one[..whole].cmp(&other[..other_whole])).then_with(|| {
        let fraction = digits(one, whole + 1, end);
        fraction.cmp(&digits(other, other_whole + 1, other_end))
    })
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::compare;

    #[test]
    fn numbers_go_by_their_value() {
        let sorted = ["-10", "-9.5", "-0.01", "0", "0.001", "0.01", "1", "1.5", "9", "10", "10.25", "100"];
        for (place, one) in sorted.iter().enumerate() {
            for (other_place, other) in sorted.iter().enumerate() {
                assert_eq!(compare(one, other), place.cmp(&other_place), "{one} {other}");
            }
        }
        for (one, other) in [("1", "1.0"), ("1.50", "1.5"), ("0", "0.00"), ("-1.0", "-1"), ("10", "10.0")] {
            assert_eq!(compare(one, other), Ordering::Equal, "{one} {other}");
        }
    }
}
