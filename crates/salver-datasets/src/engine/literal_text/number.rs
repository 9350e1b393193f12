//! Numbers with an exponent.

/// Maximum digits of a numeric literal.
const LITERAL_DIGITS: usize = 70;
/// Maximum fractional digits of a decimal.
const FRACTION_DIGITS: i64 = 37;

/// Expands `1.5e3` to `1500`; `None` if that has too many digits.
pub(crate) fn written_out(number: &str) -> Option<String> {
    let (digits, exponent) = number.split_once(['e', 'E'])?;
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
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
