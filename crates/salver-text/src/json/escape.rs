//! Escapes in JSON strings.

/// Decodes the escape at the beginning of `text`, with its backslash. Returns the character and the length of the
/// escape; `None` when it is malformed or half of a surrogate pair.
#[must_use]
pub fn unescape(text: &[u8]) -> Option<(char, usize)> {
    let letter = match text.get(1)? {
        letter @ (b'"' | b'\\' | b'/') => char::from(*letter),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return code(text),
        _ => return None,
    };
    Some((letter, 2))
}

fn code(text: &[u8]) -> Option<(char, usize)> {
    let high = unit(text.get(2..6)?)?;
    if !(0xd800..0xdc00).contains(&high) {
        return Some((char::from_u32(high)?, 6));
    }
    let low = unit(text.get(6..12)?.strip_prefix(b"\\u")?)?;
    let is_low = (0xdc00..0xe000).contains(&low);
    let letter = is_low.then(|| 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
    Some((char::from_u32(letter?)?, 12))
}

/// Parses hexadecimal digits. Signs, which the parser of the standard library accepts, are none.
fn unit(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn escapes() {
        for (text, expected) in [
            ("\\n", Some(('\n', 2))),
            ("\\/x", Some(('/', 2))),
            ("\\u0041B", Some(('A', 6))),
            ("\\uD83d\\uDe00", Some(('😀', 12))),
            ("\\u+041", None),
            ("\\u-041", None),
            ("\\u 041", None),
            ("\\u004", None),
            ("\\ud83d", None),
            ("\\ud83d\\u0041", None),
            ("\\ude00", None),
            ("\\x", None),
            ("\\", None),
        ] {
            assert_eq!(unescape(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn as_serde_json() {
        for unit in 0..=0xffff_u32 {
            let text = format!("\\u{unit:04x}");
            let theirs = serde_json::from_str::<char>(&format!("\"{text}\"")).ok();
            assert_eq!(unescape(text.as_bytes()).map(|(letter, _)| letter), theirs, "{text}");
        }
    }
}
