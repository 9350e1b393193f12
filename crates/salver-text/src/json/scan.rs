//! Search for the ends of strings and of white space, eight bytes at a time.

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGHS: u64 = ONES << 7;

/// Returns the place of the first `"`, `\` or control character at or behind `at`; the length of `text` when there is
/// none.
#[inline]
#[must_use]
pub fn plain_end(text: &[u8], mut at: usize) -> usize {
    while let Some(word) = text.get(at..at + 8).and_then(|word| word.try_into().ok()).map(u64::from_le_bytes) {
        // Each term sets the high bit of the bytes it looks for. A borrow may also set it in bytes behind the first
        // match, but only the first match counts.
        let quote = word ^ (ONES * b'"' as u64);
        let backslash = word ^ (ONES * b'\\' as u64);
        let found = (word.wrapping_sub(ONES * 0x20) & !word)
            | (quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash);
        if found & HIGHS != 0 {
            return at + (found & HIGHS).trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(byte) = text.get(at) {
        if matches!(byte, b'"' | b'\\' | 0..0x20) {
            break;
        }
        at += 1;
    }
    at.min(text.len())
}

/// Returns the place of the first byte at or behind `at` that is not JSON white space.
#[inline]
#[must_use]
pub fn blank_end(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

/// Returns the end of the string whose opening quote is at `at`, and whether it has escapes (or control characters,
/// which are not allowed); `None` when it has no end.
#[inline]
#[must_use]
pub fn string_end(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let mut at = at + 1;
    let mut is_escaped = false;
    loop {
        at = plain_end(text, at);
        match text.get(at)? {
            b'"' => return Some((at + 1, is_escaped)),
            special => {
                is_escaped = true;
                at += if *special == b'\\' { 2 } else { 1 };
            }
        }
    }
}

/// Splits valid JSON into its strings, with their quotes, and what is between them, without white space.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = blank_end(bytes, at);
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let is_end = |byte: &u8| matches!(byte, b'"' | b' ' | b'\n' | b'\r' | b'\t');
        let end = match rest[0] {
            b'"' => string_end(bytes, start).map(|(end, _)| end),
            _ => rest.iter().position(is_end).map(|length| start + length),
        };
        at = end.unwrap_or(bytes.len());
        Some(&text[start..at])
    })
}

#[cfg(test)]
mod tests {
    use super::{pieces, plain_end, string_end};

    #[test]
    fn finds_what_a_loop_finds() {
        for special in 0..=255_u8 {
            for length in 0..20 {
                for place in 0..length {
                    let mut text = vec![b'\xff'; length];
                    text[place] = special;
                    text[length - 1] = b'"';
                    let expected = text.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
                    assert_eq!(Some(plain_end(&text, 0)), expected, "{special} {length} {place}");
                }
            }
        }
        assert_eq!(plain_end(b"abc", 0), 3);
        assert_eq!(plain_end(b"abc", 9), 3);
    }

    #[test]
    fn ends_of_strings() {
        assert_eq!(string_end(br#""a" "#, 0), Some((3, false)));
        assert_eq!(string_end(br#"["a\\\"b"]"#, 1), Some((9, true)));
        for open in [&b"\"a"[..], b"\"a\\", b"\"a\\\"", b"\""] {
            assert_eq!(string_end(open, 0), None);
        }
    }

    #[test]
    fn strings_and_what_is_between() {
        let found: Vec<_> = pieces(" {\"a \\\" é\" : [1, 2 ,null],\"\":\"\"}\n").collect();
        assert_eq!(found, ["{", "\"a \\\" é\"", ":", "[1,", "2", ",null],", "\"\"", ":", "\"\"", "}"]);
        assert_eq!(pieces("\"a").collect::<Vec<_>>(), ["\"a"]);
        assert_eq!(pieces(" ").count(), 0);
    }
}
