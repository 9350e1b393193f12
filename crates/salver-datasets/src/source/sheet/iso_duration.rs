//! Durations and times of day as OpenDocument writes them: `PT10H11M12.5S`.

/// Parses a duration of days, hours, minutes and seconds as microseconds; `None` for other text. Digits beyond six of a
/// second are dropped.
pub(super) fn micros(text: &str) -> Option<i64> {
    let (sign, text) = text.trim().strip_prefix('-').map_or((1, text.trim()), |rest| (-1, rest));
    let (days, time) = match text.strip_prefix('P')?.split_once('T') {
        Some((days, time)) => (days, time),
        None => (text.strip_prefix('P')?, ""),
    };
    if days.is_empty() && time.is_empty() {
        return None;
    }
    let mut sum = parts(days, &[('D', 86_400)])?;
    sum = sum.checked_add(parts(time, &[('H', 3_600), ('M', 60), ('S', 1)])?)?;
    Some(sign * sum)
}

/// Adds up numbers with their units, each of which may be missing.
fn parts(mut text: &str, units: &[(char, i64)]) -> Option<i64> {
    let mut sum = 0_i64;
    for (unit, seconds) in units {
        let Some((number, rest)) = text.split_once(*unit) else { continue };
        let (whole, fraction) = number.split_once(['.', ',']).unwrap_or((number, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) || (*unit != 'S' && number != whole) {
            return None;
        }
        let micros: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
        sum = whole.parse::<i64>().ok()?.checked_mul(seconds * 1_000_000)?.checked_add(micros)?.checked_add(sum)?;
        text = rest;
    }
    text.is_empty().then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::micros;

    #[test]
    fn durations() {
        for (text, expected) in [
            ("PT10H11M12S", 36_672_000_000),
            ("PT36H00M00S", 129_600_000_000),
            ("P1DT1H", 90_000_000_000),
            ("P2D", 172_800_000_000),
            ("-PT01H00M00S", -3_600_000_000),
            ("PT00H00M00.5S", 500_000),
            ("PT0,1234567S", 123_456),
        ] {
            assert_eq!(micros(text), Some(expected), "{text}");
        }
        for text in ["", "P", "PT", "PT1", "PTH", "PT1S1H", "P1Y", "PT1.5H", "PT-1H", "10:11:12", "PT99999999999999H"] {
            assert_eq!(micros(text), None, "{text}");
        }
    }
}
