//! UUIDs: `{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}`, `a0eebc999c0b4ef8bb6d6bb9bd380a11`.

use salver_model::{Code, Error, Result, SqlFault};

/// Hexadecimal digits of a UUID.
const DIGITS: usize = 32;

/// Returns a UUID in lower case, with hyphens behind the digits 8, 12, 16 and 20.
///
/// # Errors
/// `InvalidSql` for a text that is none.
pub(crate) fn uuid(text: &str) -> Result<String> {
    read(text).ok_or_else(|| {
        let hint = "a UUID has 32 hexadecimal digits, as `a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11`";
        let error = Error::new(Code::InvalidSql, format!("`{text}` is not a UUID"));
        error.with_hint(hint).with_sql_fault(SqlFault::InvalidText)
    })
}

/// Reads a UUID in any form of PostgreSQL's: it may stand in braces, and a hyphen may stand behind every four digits.
fn read(text: &str) -> Option<String> {
    let inner = match text.strip_prefix('{') {
        Some(behind) => behind.strip_suffix('}')?,
        None => text,
    };
    let mut written = String::with_capacity(DIGITS + 4);
    let (mut digits, mut may_part) = (0, false);
    for sign in inner.chars() {
        if sign == '-' && may_part {
            may_part = false;
            continue;
        }
        if digits == DIGITS || !sign.is_ascii_hexdigit() {
            return None;
        }
        if matches!(digits, 8 | 12 | 16 | 20) {
            written.push('-');
        }
        written.push(sign.to_ascii_lowercase());
        digits += 1;
        may_part = digits % 4 == 0 && digits < DIGITS;
    }
    (digits == DIGITS).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::uuid;

    #[test]
    fn every_form_is_read() {
        let wanted = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        for text in [
            wanted,
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}",
            "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
            "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
        ] {
            assert_eq!(uuid(text).unwrap(), wanted, "{text}");
        }
        for text in [
            "",
            "nonsense",
            " a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0eebc999c0b4ef8bb6d6bb9bd380a11-",
            "-a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0eebc999c0b4ef8bb6d6bb9bd380a1",
            "a0eebc999c0b4ef8bb6d6bb9bd380a112",
            "a0--eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0eebc99--9c0b4ef8bb6d6bb9bd380a11",
            "{a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0eebc999c0b4ef8bb6d6bb9bd380a11}",
            "g0eebc999c0b4ef8bb6d6bb9bd380a11",
            "é",
        ] {
            assert!(uuid(text).is_err(), "{text}");
        }
    }
}
