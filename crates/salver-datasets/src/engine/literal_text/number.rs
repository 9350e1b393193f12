//! Numbers with an exponent.

/// Maximum digits of a numeric literal.
const LITERAL_DIGITS: usize = 70;
/// Maximum fractional digits of a decimal.
const FRACTION_DIGITS: i64 = 37;

/// Expands `1.5e3` to `1500`; `None` if that has too many digits, or is no number with an exponent.
pub(crate) fn written_out(number: &str) -> Option<String> {
    if let Some(positive) = number.strip_prefix('-') {
        return unsigned(positive).map(|plain| format!("-{plain}"));
    }
    unsigned(number.strip_prefix('+').unwrap_or(number))
}

fn unsigned(number: &str) -> Option<String> {
    let (digits, exponent) = number.split_once(['e', 'E'])?;
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = whole.len() + fraction.len() > 0 && [whole, fraction].iter().all(|part| is_digits(part));
    if !is_number {
        return None;
    }
    let behind = i64::try_from(fraction.len()).ok()? - exponent;
    let all = format!("{whole}{fraction}");
    if behind > FRACTION_DIGITS || exponent.unsigned_abs() > LITERAL_DIGITS as u64 {
        return None;
    }
    let plain = match usize::try_from(behind) {
        Ok(0) => all,
        Ok(behind) => {
            let all = format!("{all:0>width$}", width = behind + 1);
            let (whole, fraction) = all.split_at(all.len() - behind);
            format!("{whole}.{fraction}")
        }
        Err(_) => all + &"0".repeat(usize::try_from(-behind).ok()?),
    };
    (plain.len() <= LITERAL_DIGITS).then_some(plain)
}

fn is_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::written_out;

    #[test]
    fn exponents_are_written_out() {
        for (number, wanted) in [
            ("1.5e3", Some("1500")),
            ("-2.5E-2", Some("-0.025")),
            ("+.5e1", Some("5")),
            ("1e0", Some("1")),
            ("1.2.3e4", None),
            ("--1e2", None),
            ("e5", None),
            ("1", None),
            ("one", None),
            ("1e200", None),
        ] {
            assert_eq!(written_out(number).as_deref(), wanted, "{number}");
        }
    }
}
