//! Ids in text form.

const DIGITS: &[u8; 16] = b"0123456789abcdef";
/// Place of the two digits of each byte.
const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/// Formats a generated id as a UUID (RFC 9562); it is one of version 7.
pub(crate) fn text(id: u128) -> String {
    let mut out = *b"00000000-0000-0000-0000-000000000000";
    for (byte, at) in id.to_be_bytes().into_iter().zip(PLACES) {
        out[at] = DIGITS[usize::from(byte >> 4)];
        out[at + 1] = DIGITS[usize::from(byte & 15)];
    }
    std::str::from_utf8(&out).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn looks_like_one() {
        assert_eq!(super::text(0x0190_1234_5678_7abc_8def_0123_4567_89ab), "01901234-5678-7abc-8def-0123456789ab");
    }
}
