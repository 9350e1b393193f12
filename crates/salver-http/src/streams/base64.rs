//! Base64 (RFC 4648, section 4), as Confluent's clients use it for bytes.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value in [`DIGITS`] of a byte that is not a digit.
const NONE: u8 = 0xFF;

/// The value of each digit.
const DIGITS: [u8; 256] = {
    let mut digits = [NONE; 256];
    let mut at = 0;
    while at < 64 {
        digits[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    digits
};

/// Encodes `bytes`, with padding.
pub(super) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            let value = (word >> (18 - 6 * digit)) as usize & 63;
            out.push(if digit <= group.len() { ALPHABET[value] } else { b'=' });
        }
    }
}

/// Decodes `text`, with or without padding. `None` when it is not Base64.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let body = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    if body.len() % 4 == 1 || (text.len() != body.len() && !text.len().is_multiple_of(4)) {
        return None;
    }
    let mut out = Vec::with_capacity(body.len() / 4 * 3 + 2);
    for group in body.chunks(4) {
        let mut word = 0_u32;
        for byte in group {
            let value = DIGITS[usize::from(*byte)];
            if value == NONE {
                return None;
            }
            word = word << 6 | u32::from(value);
        }
        word <<= 6 * (4 - group.len());
        out.extend_from_slice(&word.to_be_bytes()[1..group.len()]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn vectors_of_the_rfc() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = Vec::new();
            encode(plain.as_bytes(), &mut out);
            assert_eq!(out, coded.as_bytes());
            assert_eq!(decode(coded.as_bytes()).as_deref(), Some(plain.as_bytes()));
            assert_eq!(decode(coded.trim_end_matches('=').as_bytes()).as_deref(), Some(plain.as_bytes()));
        }
    }

    #[test]
    fn what_is_not_base64() {
        for bad in ["Z", "Zm9v!", "Zg=", "=", "Zm 9v"] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
    }
}
