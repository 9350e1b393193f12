//! Writes text as a JSON string, with PHP's escapes: `/` as `\/`, U+2028 and U+2029 as `\u2028` and `\u2029`.

const HIGH: u64 = 0x8080_8080_8080_8080;
const LOW: u64 = 0x0101_0101_0101_0101;

/// Appends `text` between quotes.
pub fn write_php_string(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let (mut start, mut at) = (0, 0);
    loop {
        at = suspect(bytes, at);
        let Some(&byte) = bytes.get(at) else { break };
        let mut hex = *b"\\u0000";
        let (escape, length): (&[u8], usize) = match byte {
            b'"' => (b"\\\"", 1),
            b'\\' => (b"\\\\", 1),
            b'/' => (b"\\/", 1),
            b'\n' => (b"\\n", 1),
            b'\r' => (b"\\r", 1),
            b'\t' => (b"\\t", 1),
            0x08 => (b"\\b", 1),
            0x0c => (b"\\f", 1),
            0xe2 => match bytes.get(at..at + 3) {
                Some([_, 0x80, 0xa8]) => (b"\\u2028", 3),
                Some([_, 0x80, 0xa9]) => (b"\\u2029", 3),
                _ => {
                    at += 1;
                    continue;
                }
            },
            control => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                hex[4] = DIGITS[usize::from(control >> 4)];
                hex[5] = DIGITS[usize::from(control & 15)];
                (&hex, 1)
            }
        };
        out.extend_from_slice(&bytes[start..at]);
        out.extend_from_slice(escape);
        at += length;
        start = at;
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

/// Returns the next position from `at` on that may need an escape; the end when there is none.
fn suspect(bytes: &[u8], mut at: usize) -> usize {
    while let Some(eight) = bytes.get(at..at + 8) {
        let mut word = [0; 8];
        word.copy_from_slice(eight);
        let found = suspects(u64::from_le_bytes(word));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at) {
        if *byte < 0x20 || matches!(byte, b'"' | b'\\' | b'/' | 0xe2) {
            return at;
        }
        at += 1;
    }
    at
}

/// Returns the high bits of a word's suspect bytes; only the lowest one is reliable, and only that is used.
fn suspects(word: u64) -> u64 {
    let zero = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let is = |byte: u8| zero(word ^ (LOW * u64::from(byte)));
    let control = word.wrapping_sub(LOW * 0x20) & !word & HIGH;
    control | is(b'"') | is(b'\\') | is(b'/') | is(0xe2)
}

#[cfg(test)]
mod tests {
    use super::write_php_string;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write_php_string(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes() {
        assert_eq!(written(""), "\"\"");
        assert_eq!(
            written("a/b\"c\\d\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}"),
            "\"a\\/b\\\"c\\\\d\\n\\r\\t\\b\\f\\u0001\\u001f\u{7f}\""
        );
        assert_eq!(written("€ ä_ö_ü é ✓ \u{2028}\u{2029}"), "\"€ ä_ö_ü é ✓ \\u2028\\u2029\"");
    }

    #[test]
    fn every_place_in_a_word() {
        for length in 0..20 {
            for at in 0..length {
                for (c, escape) in [('/', "\\/"), ('"', "\\\""), ('\u{2}', "\\u0002")] {
                    let text: String = (0..length).map(|i| if i == at { c } else { 'x' }).collect();
                    let expected: String =
                        (0..length).map(|i| if i == at { escape.to_owned() } else { "x".to_owned() }).collect();
                    assert_eq!(written(&text), format!("\"{expected}\""), "{length} {at}");
                }
            }
        }
    }
}
