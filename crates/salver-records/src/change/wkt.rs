//! Checks whether text looks like well-known text (OGC Simple Features): a known keyword and balanced parentheses with
//! numbers. Databases with geometries validate the rest; SQLite stores it as text and would accept anything.

const WORDS: [&str; 8] = [
    "POINT",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
    "TRIANGLE",
];

/// Returns whether `text` may be a geometry.
pub(crate) fn is_geometry(text: &str) -> bool {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if !WORDS.iter().any(|own| own.eq_ignore_ascii_case(word)) {
        return false;
    }
    let rest = rest.trim_start();
    if rest.eq_ignore_ascii_case("empty") {
        return true;
    }
    let body = ["ZM", "Z", "M"].iter().find_map(|word| strip_word(rest, word)).unwrap_or(rest);
    if word.eq_ignore_ascii_case("geometrycollection") {
        return body.starts_with('(') && body.ends_with(')') && is_balanced(body);
    }
    let known =
        |c: char| c.is_ascii_digit() || matches!(c, '(' | ')' | ',' | '.' | '-' | '+' | 'e' | 'E') || c.is_whitespace();
    body.starts_with('(') && body.chars().all(known) && body.contains(|c: char| c.is_ascii_digit()) && is_balanced(body)
}

fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let head = text.get(..word.len())?;
    let rest = text[word.len()..].trim_start();
    (head.eq_ignore_ascii_case(word) && rest.starts_with('(')).then_some(rest)
}

/// Returns whether parentheses are balanced, and nothing follows the last.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return false,
            b')' => {
                depth -= 1;
                if depth == 0 && at + 1 < text.len() {
                    return false;
                }
            }
            _ => {}
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::is_geometry;

    #[test]
    fn geometries_and_others() {
        for good in [
            "POINT(1 2)",
            "point (30 10)",
            "POINT Z (1 2 3)",
            "POLYGON ((30 10, 40 40, 20 40, 10 20, 30 10))",
            "GEOMETRYCOLLECTION(POINT(4 6),LINESTRING(4 6,7 10))",
            "MULTIPOINT EMPTY",
            "POINT(-1.5e-3 +2)",
        ] {
            assert!(is_geometry(good), "{good}");
        }
        for bad in ["", "POINT", "POINT 1 2", "POINT(1 2", "POINT(1 2))", "CIRCLE(1 2)", "POINT(a b)", "POINT()", "x"] {
            assert!(!is_geometry(bad), "{bad}");
        }
    }
}
