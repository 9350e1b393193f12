//! Rust source as the checks need it: without comments, strings and tests, every line still in its place.

/// Blanks comments and the insides of strings and characters; line breaks stay.
pub(crate) fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = span_end(bytes, at);
        if end == at {
            out.push(bytes[at]);
            at += 1;
        } else {
            out.extend(bytes[at..end].iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
            at = end;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Where the comment, string or character that begins at `at` ends; `at` itself when none begins there.
fn span_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let starts_word = at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    if rest.starts_with(b"//") {
        return at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        return block_end(bytes, at);
    }
    if rest[0] == b'"' {
        return string_end(bytes, at + 1);
    }
    if starts_word && (rest[0] == b'r' || rest.starts_with(b"br")) {
        let hashes_at = at + 1 + usize::from(rest[0] == b'b');
        let hashes = bytes[hashes_at..].iter().take_while(|byte| **byte == b'#').count();
        if bytes.get(hashes_at + hashes) == Some(&b'"') {
            return raw_end(bytes, hashes_at + hashes + 1, hashes);
        }
    }
    if rest[0] == b'\'' {
        // A character and not a lifetime: `'x'` or an escape.
        if rest.get(1) == Some(&b'\\') {
            return at + 3 + rest[3.min(rest.len())..].iter().position(|byte| *byte == b'\'').unwrap_or(0) + 1;
        }
        let width = rest[1..].iter().take(5).position(|byte| *byte == b'\'');
        let one = width.is_some_and(|w| w == 1 || w > 1 && rest[1] >= 0x80);
        return if one { at + 2 + width.unwrap_or(0) } else { at };
    }
    at
}

fn block_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0usize;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at.min(bytes.len())
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn raw_end(bytes: &[u8], mut at: usize, hashes: usize) -> usize {
    while at < bytes.len() {
        let closes = bytes[at] == b'"' && bytes[at + 1..].iter().take(hashes).filter(|b| **b == b'#').count() == hashes;
        at += 1;
        if closes {
            return at + hashes;
        }
    }
    bytes.len()
}

/// Blanked source without its inline test modules; lines stay in place up to the first of them.
pub(crate) fn without_tests(blanked: &str) -> String {
    let mut out = String::with_capacity(blanked.len());
    let mut rest = blanked;
    while let Some(found) = rest.find("#[cfg(test)]") {
        out.push_str(&rest[..found]);
        let item = &rest[found + "#[cfg(test)]".len()..];
        rest = match (item.find('{'), item.find(';')) {
            (Some(open), semicolon) if semicolon.is_none_or(|semicolon| open < semicolon) => {
                &item[open + braces_end(&item[open..])..]
            }
            (_, Some(semicolon)) => &item[semicolon + 1..],
            _ => "",
        };
    }
    out.push_str(rest);
    out
}

/// Where the block that begins with the first byte ends.
fn braces_end(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{blank, without_tests};

    #[test]
    fn comments_strings_and_characters_go() {
        let text = "a // b\n\"c\\\"d\" e /* f /* g */ h */ i r#\"j \" k\"# l '\\'' m '\"' n <'o> br\"p\" 'é' q";
        let kept: String = blank(text).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(kept, "a e i l m n <'o> q");
        assert_eq!(blank("\"a\nb\"\nc").lines().count(), 3);
    }

    #[test]
    fn tests_go() {
        let text =
            "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { if x {} } }\nfn c() {}\n#[cfg(test)]\nmod d;\nfn e() {}";
        let kept = without_tests(text);
        assert!(kept.contains("fn a") && kept.contains("fn c") && kept.contains("fn e"), "{kept}");
        assert!(!kept.contains("fn b") && !kept.contains("mod d"), "{kept}");
    }
}
