//! Texts in quotes, as PostgreSQL writes them
//! (<https://www.postgresql.org/docs/15/sql-syntax-lexical.html#SQL-SYNTAX-CONSTANTS>).

/// Returns what a text in quotes means; `None` if it does not end.
///
/// # Errors
/// What is wrong with an escape in it.
pub(super) fn text(written: &str) -> Result<Option<String>, String> {
    match written.as_bytes().first() {
        Some(b'e' | b'E') => with_escapes(&written[1..]),
        Some(b'$') => Ok(in_dollars(written)),
        _ => Ok(in_quotes(written, '\'')),
    }
}

/// Returns what stands in these quotes, which are written twice inside; `None` if it does not end.
pub(super) fn in_quotes(written: &str, quote: char) -> Option<String> {
    let inner = written.strip_prefix(quote)?;
    // Those inside are pairs, so that an odd number is left with the last one.
    let is_ended = inner.ends_with(quote) && inner.matches(quote).count() % 2 == 1;
    let inner = is_ended.then(|| &inner[..inner.len() - 1])?;
    Some(inner.replace(&String::from(quote).repeat(2), &String::from(quote)))
}

/// Returns what stands between two equal tags.
fn in_dollars(written: &str) -> Option<String> {
    let tag = &written[..written[1..].find('$')? + 2];
    let inner = written.strip_prefix(tag)?.strip_suffix(tag)?;
    Some(inner.to_owned())
}

/// Returns what a text in quotes with escapes means.
fn with_escapes(written: &str) -> Result<Option<String>, String> {
    let (mut out, mut rest) = (Vec::new(), &written.as_bytes()[1..]);
    loop {
        rest = match rest {
            [b'\''] => break,
            [b'\'', b'\'', rest @ ..] => {
                out.push(b'\'');
                rest
            }
            [b'\\', rest @ ..] if !rest.is_empty() => escape(rest, &mut out)?,
            [] | [b'\'' | b'\\', ..] => return Ok(None),
            [byte, rest @ ..] => {
                out.push(*byte);
                rest
            }
        };
    }
    match String::from_utf8(out) {
        Ok(text) if !text.contains('\0') => Ok(Some(text)),
        _ => Err("invalid byte sequence for encoding \"UTF8\"".to_owned()),
    }
}

/// Reads an escape after its backslash; returns what follows it.
fn escape<'w>(rest: &'w [u8], out: &mut Vec<u8>) -> Result<&'w [u8], String> {
    let (first, rest) = (rest[0], &rest[1..]);
    let digits = |radix: u32, most: usize| {
        let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
        let count = rest.iter().take(most).take_while(is_digit).count();
        let number = std::str::from_utf8(&rest[..count]).ok().and_then(|text| u32::from_str_radix(text, radix).ok());
        (number, count)
    };
    match first {
        b'b' => out.push(8),
        b'f' => out.push(12),
        b'n' => out.push(b'\n'),
        b'r' => out.push(b'\r'),
        b't' => out.push(b'\t'),
        b'0'..=b'7' => {
            let (more, count) = digits(8, 2);
            let number = (u32::from(first - b'0') << (3 * count)) + more.unwrap_or_default();
            out.push((number & 0xff) as u8);
            return Ok(&rest[count..]);
        }
        b'x' => match digits(16, 2) {
            (Some(number), count) => {
                out.push((number & 0xff) as u8);
                return Ok(&rest[count..]);
            }
            (None, _) => out.push(b'x'),
        },
        b'u' | b'U' => {
            let wanted = if first == b'u' { 4 } else { 8 };
            let (number, count) = digits(16, wanted);
            let char = number.filter(|_| count == wanted).and_then(char::from_u32);
            let char = char.ok_or("invalid Unicode escape value")?;
            out.extend(char.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(&rest[count..]);
        }
        other => out.push(other),
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn texts_in_quotes() {
        for (written, wanted) in [
            ("''", Some("")),
            ("'it''s'", Some("it's")),
            ("'\\t'", Some("\\t")),
            ("''''", Some("'")),
            ("'a''", None),
            ("'", None),
            ("'open", None),
            ("e'\\t\\n\\\\'", Some("\t\n\\")),
            ("E'\\011\\x9\\x09a'", Some("\t\t\ta")),
            ("E'\\u00e9\\U0001F600\\q\\''", Some("é😀q'")),
            ("E'\\303\\251'", Some("é")),
            ("e'a''b'", Some("a'b")),
            ("e'\\'", None),
            ("e'", None),
            ("$$|$$", Some("|")),
            ("$t$a$$b$t$", Some("a$$b")),
            ("$t$ open", None),
            ("$$", None),
        ] {
            assert_eq!(text(written).unwrap().as_deref(), wanted, "{written}");
        }
        for wrong in ["e'\\000'", "e'\\xff'", "e'\\u12'", "e'\\ud800'"] {
            assert!(text(wrong).is_err(), "{wrong}");
        }
    }
}
