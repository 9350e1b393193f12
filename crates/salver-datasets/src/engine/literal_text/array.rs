//! Arrays: `{1,null,"a b",{2}}`.

use salver_model::limits::SQL_ARRAY_DEPTH_MAX;
use salver_model::{Code, Error, Result, SqlFault};

/// An element of an array that is a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Null,
    Text(String),
    Array(Vec<Self>),
}

/// Takes an array apart.
///
/// # Errors
/// `InvalidSql` for a text that is none.
pub(crate) fn elements(text: &str) -> Result<Vec<Element>> {
    let mut rest = text.trim();
    match read(&mut rest, 1) {
        Some(array) if rest.trim().is_empty() => Ok(array),
        _ => {
            let message = format!("`{text}` is not an array, which is written as `{{1,2}}`");
            let hint = "write `array[1, 2]`, or `string_to_array(x, ',')` for a text that has commas";
            Err(Error::new(Code::InvalidSql, message).with_hint(hint).with_sql_fault(SqlFault::InvalidText))
        }
    }
}

/// Reads the brackets at the beginning of a text, and leaves the rest.
fn read(rest: &mut &str, depth: usize) -> Option<Vec<Element>> {
    *rest = rest.strip_prefix('{').filter(|_| depth <= SQL_ARRAY_DEPTH_MAX)?.trim_start();
    let mut all = Vec::new();
    if let Some(behind) = rest.strip_prefix('}') {
        *rest = behind;
        return Some(all);
    }
    loop {
        *rest = rest.trim_start();
        all.push(match rest.as_bytes().first()? {
            b'{' => Element::Array(read(rest, depth + 1)?),
            b'"' => Element::Text(quoted(rest)?),
            _ => plain(rest)?,
        });
        *rest = rest.trim_start();
        if let Some(behind) = rest.strip_prefix(',') {
            *rest = behind;
            continue;
        }
        *rest = rest.strip_prefix('}')?;
        return Some(all);
    }
}

/// Reads a quoted element.
fn quoted(rest: &mut &str) -> Option<String> {
    let mut item = String::new();
    let mut signs = rest.char_indices().skip(1);
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => {
                *rest = &rest[at + 1..];
                return Some(item);
            }
            '\\' => item.push(signs.next()?.1),
            sign => item.push(sign),
        }
    }
    None
}

/// Reads an unquoted element, which may be null.
fn plain(rest: &mut &str) -> Option<Element> {
    let mut item = String::new();
    let mut signs = rest.char_indices();
    let end = loop {
        match signs.next()? {
            (at, ',' | '}') => break at,
            (_, '{' | '"') => return None,
            (_, '\\') => item.push(signs.next()?.1),
            (_, sign) => item.push(sign),
        }
    };
    let is_null = rest[..end].trim().eq_ignore_ascii_case("null");
    *rest = &rest[end..];
    match item.trim() {
        "" => None,
        _ if is_null => Some(Element::Null),
        item => Some(Element::Text(item.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Element, elements};

    #[test]
    fn elements_may_be_quoted_null_and_nested() {
        let text = |text: &str| Element::Text(text.to_owned());
        assert_eq!(elements(" {} ").unwrap(), []);
        assert_eq!(
            elements(r#"{a b ,NULL,"null","x\"y",{1, 2}}"#).unwrap(),
            [text("a b"), Element::Null, text("null"), text("x\"y"), Element::Array(vec![text("1"), text("2")])]
        );
        for wrong in ["", "1", "{1", "{1}}", "{,}", "{a{b}}", "{\"a}", &"{".repeat(100_000)] {
            assert!(elements(wrong).is_err(), "{wrong}");
        }
    }
}
