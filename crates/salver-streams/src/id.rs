//! Ids as text.

/// A made id in the form of a UUID (RFC 9562), which it is: version 7.
pub(crate) fn text(id: u128) -> String {
    let mut out = String::with_capacity(36);
    for (index, byte) in id.to_be_bytes().into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn looks_like_one() {
        assert_eq!(super::text(0x0190_1234_5678_7abc_8def_0123_4567_89ab), "01901234-5678-7abc-8def-0123456789ab");
    }
}
