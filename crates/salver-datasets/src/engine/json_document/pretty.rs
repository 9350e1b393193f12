//! A document in its normal form with each part on a line of its own.

use salver_text::json::string_end;

/// Blanks before a line for each level.
const INDENT: &str = "    ";
/// Lines of a document may be so many times as long as its text, and so many bytes.
pub(in crate::engine) const LINES: (usize, usize) = (8, 4_096);

/// Returns the lines of a document; `None` if they are longer than `most`.
pub(in crate::engine) fn pretty(document: &str, most: usize) -> Option<String> {
    let bytes = document.as_bytes();
    let mut out = String::with_capacity(document.len() * 2);
    let (mut at, mut level) = (0, 0_usize);
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        (0..level).for_each(|_| out.push_str(INDENT));
    };
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => {
                at = string_end(bytes, start).map_or(bytes.len(), |(end, _)| end);
                out.push_str(&document[start..at]);
            }
            b'{' | b'[' => {
                level += 1;
                out.push(char::from(*byte));
                // Before the end of an empty one there is only one line.
                if !matches!(bytes.get(at), Some(b'}' | b']')) {
                    line(&mut out, level);
                }
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                line(&mut out, level);
                out.push(char::from(*byte));
            }
            b',' => {
                out.push(',');
                line(&mut out, level);
                at += 1;
            }
            other => out.push(char::from(*other)),
        }
        if out.len() > most {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn each_part_has_a_line() {
        let lines = "{\n    \"a\": [\n        1,\n        \", é\"\n    ],\n    \"b\": {\n    }\n}";
        assert_eq!(pretty("{\"a\": [1, \", é\"], \"b\": {}}", 1_000).as_deref(), Some(lines));
        assert_eq!(pretty("[1, 2]", 5), None);
        assert_eq!(pretty("1", 5).as_deref(), Some("1"));
    }
}
