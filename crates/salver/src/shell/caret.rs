//! Shows where in a statement an error is: the line, with a mark below the place.

use salver_model::Error;
use unicode_width::UnicodeWidthStr;

use crate::output;

/// Most characters of the line that are shown on each side of the place.
const SIDE_CHARS: usize = 60;

/// Formats an error of a statement, with its place if the message has one, and its hint.
pub(super) fn shown(error: &Error, statement: &str) -> String {
    let whole = output::with_hint(error);
    let Some(mark) = place(&error.message).and_then(|(line, column)| marked(statement, line, column)) else {
        return whole;
    };
    match whole.split_once("\n  hint: ") {
        Some((message, hint)) => format!("{message}\n{mark}\n  hint: {hint}"),
        None => format!("{whole}\n{mark}"),
    }
}

/// Finds `at line 1, column 8` in a message; both count from 1.
fn place(message: &str) -> Option<(usize, usize)> {
    let (_, rest) = message.rsplit_once(" at line ")?;
    let (line, rest) = rest.split_once(", column ")?;
    let digits = rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest.len());
    Some((line.parse().ok()?, rest.get(..digits)?.parse().ok()?))
}

fn marked(statement: &str, line: usize, column: usize) -> Option<String> {
    let text: Vec<char> = statement.lines().nth(line.checked_sub(1)?)?.chars().collect();
    let at = column.checked_sub(1)?.min(text.len());
    let (first, end) = (at.saturating_sub(SIDE_CHARS), (at + SIDE_CHARS).min(text.len()));
    // A tab would move the mark.
    let shown = |chars: &[char]| chars.iter().map(|sign| if *sign == '\t' { ' ' } else { *sign }).collect::<String>();
    let (before, behind) = (shown(text.get(first..at)?), shown(text.get(at..end)?));
    let (left, right) = (if first > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    let indent = " ".repeat(left.width() + before.as_str().width());
    Some(format!("  {left}{before}{behind}{right}\n  {indent}^"))
}

#[cfg(test)]
mod tests {
    use salver_model::{Code, Error};

    use super::shown;

    #[test]
    fn the_place_is_marked() {
        let error =
            Error::new(Code::InvalidSql, "no column `citi` at line 2, column 3").with_hint("did you mean `city`?");
        assert_eq!(
            shown(&error, "select\n\tüciti\nfrom t"),
            "no column `citi` at line 2, column 3\n   üciti\n    ^\n  hint: did you mean `city`?"
        );
        let error = Error::new(Code::InvalidSql, "syntax at line 1, column 200");
        let long = format!("select {}", "日".repeat(300));
        let text = shown(&error, &long);
        assert!(text.starts_with("syntax at line 1, column 200\n  …日"), "{text}");
        assert!(text.ends_with(&format!("…\n  {}^", " ".repeat(121))), "{text}");
        for message in ["no such table", "x at line 9, column 1", "x at line 0, column 0", "at line a, column 1"] {
            assert_eq!(shown(&Error::new(Code::InvalidSql, message), "select 1"), message);
        }
    }
}
