//! Hexadecimal encoding of bytes, with two digits per byte.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Encodes `bytes` in lower case.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    // Digits are text.
    String::from_utf8(text).unwrap_or_default()
}

/// Decodes `text`, with digits of either case; `None` when it has other characters or an odd length.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |letter: u8| char::from(letter).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes: Option<Vec<u8>> = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    bytes.filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn there_and_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&bytes)), Some(bytes.clone()));
        assert_eq!(decode(&encode(&bytes).to_uppercase()), Some(bytes));
        assert_eq!(decode(""), Some(Vec::new()));
        for none in ["0", "0g", "+1", "0x", "\\x00", " 00", "é0"] {
            assert_eq!(decode(none), None, "{none}");
        }
    }
}
