//! Weighted lists, as in `Accept` and `Accept-Encoding` (RFC 9110, section 12.4.2).

/// Returns the members of a list in order, each in lower case without parameters, with its weight in thousandths. A
/// member with an invalid weight has full weight: the client named it, and a guess is more useful than an error.
pub(crate) fn members(list: &str) -> impl Iterator<Item = (String, u16)> + '_ {
    list.split(',').filter_map(|member| {
        let mut parts = member.split(';');
        let name = parts.next()?.trim();
        if name.is_empty() {
            return None;
        }
        let weight = parts
            .filter_map(|parameter| parameter.split_once('='))
            .find(|(key, _)| key.trim().eq_ignore_ascii_case("q"))
            .map_or(1000, |(_, text)| thousandths(text.trim()).unwrap_or(1000));
        Some((name.to_ascii_lowercase(), weight))
    })
}

/// Parses `0`, `0.5`, `1.000`; refuses values above one, and more than three decimals.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let fraction: u16 = format!("{fraction:0<3}").parse().ok()?;
    match whole {
        "0" => Some(fraction),
        "1" if fraction == 0 => Some(1000),
        _ => None,
    }
}
