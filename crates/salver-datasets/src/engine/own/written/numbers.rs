//! Formats floats: the fewest digits that parse to the same number, with an exponent where PostgreSQL has one.

/// Writes a 64-bit float.
pub(super) fn double(x: f64, text: &mut String) {
    let halves = || Some([neighbour64(x, -1)?, x.abs() as u128, neighbour64(x, 1)?]);
    let digits = |digits: usize| format!("{x:.digits$e}");
    let reads_back = |text: &str| text.parse() == Ok(x);
    text.push_str(&shown(x, format!("{x:e}"), 15, halves, digits, reads_back));
}

/// Writes a 32-bit float.
pub(super) fn single(x: f32, text: &mut String) {
    let halves = || Some([neighbour32(x, -1)?, x.abs() as u128, neighbour32(x, 1)?]);
    let digits = |digits: usize| format!("{x:.digits$e}");
    let reads_back = |text: &str| text.parse() == Ok(x);
    text.push_str(&shown(x.into(), format!("{x:e}"), 6, halves, digits, reads_back));
}

/// Bound up to which floats are converted to integers.
const WHOLE_BOUND: f64 = 1e38;

fn neighbour64(x: f64, step: i64) -> Option<u128> {
    (x.abs() > 9e15 && x.abs() < WHOLE_BOUND)
        .then(|| f64::from_bits(x.abs().to_bits().wrapping_add_signed(step)) as u128)
}

fn neighbour32(x: f32, step: i32) -> Option<u128> {
    let within = x.abs() > 16e6 && f64::from(x.abs()) < WHOLE_BOUND;
    within.then(|| f32::from_bits(x.abs().to_bits().wrapping_add_signed(step)) as u128)
}

fn shown(
    x: f64,
    shortest: String,
    exponents: i32,
    around: impl Fn() -> Option<[u128; 3]>,
    digits: impl Fn(usize) -> String,
    reads_back: impl Fn(&str) -> bool,
) -> String {
    if x.is_nan() {
        return "NaN".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let mut scientific = shortest;
    // PostgreSQL avoids digits halfway between two floats, although they parse to the even one.
    if let Some(around) = around()
        && is_between(&scientific, around)
    {
        let longer = (0..17).map(&digits).find(|longer| reads_back(longer) && !is_between(longer, around));
        scientific = longer.unwrap_or(scientific);
    }
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if !(-4..exponents).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs());
    }
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    match usize::try_from(exponent) {
        Ok(before) if digits.len() > before + 1 => {
            let (whole, fraction) = digits.split_at(before + 1);
            format!("{sign}{whole}.{fraction}")
        }
        Ok(before) => format!("{sign}{digits:0<width$}", width = before + 1),
        Err(_) => {
            let zeros = "0".repeat(usize::try_from(-exponent - 1).unwrap_or_default());
            format!("{sign}0.{zeros}{digits}")
        }
    }
}

/// Returns whether a number is halfway between its float and a neighbor.
fn is_between(scientific: &str, [below, own, above]: [u128; 3]) -> bool {
    let value = || {
        let (mantissa, exponent) = scientific.trim_start_matches('-').split_once('e')?;
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        let zeros = exponent.parse::<u32>().ok()?.checked_sub(u32::try_from(digits.len()).ok()? - 1)?;
        digits.parse::<u128>().ok()?.checked_mul(10_u128.checked_pow(zeros)?)
    };
    value().is_some_and(|value| {
        let doubled = value * 2;
        doubled == own + above || doubled == own + below
    })
}

#[cfg(test)]
mod tests {
    use super::{double, single};

    #[test]
    fn as_postgresql_writes_them() {
        for (x, expected) in [
            (1e20, "1e+20"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (0.0001, "0.0001"),
            (0.000_012, "1.2e-05"),
            (-0.0, "-0"),
            (1e23, "9.999999999999999e+22"),
            (-1.5e300, "-1.5e+300"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        ] {
            let mut text = String::new();
            double(x, &mut text);
            assert_eq!(text, expected);
        }
        for (x, expected) in [(1e6_f32, "1e+06"), (123_456.0, "123456"), (0.1, "0.1"), (16_777_216.0, "1.6777216e+07")]
        {
            let mut text = String::new();
            single(x, &mut text);
            assert_eq!(text, expected);
        }
    }
}
