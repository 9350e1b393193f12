//! The shape of files: what they are stands on top, they are short, and so are their lines.

use super::exceptions::Exceptions;
use super::source::{blank, without_tests};
use crate::tree::Tree;

/// Most lines of a file, without its inline tests.
const LINES_MAX: usize = 500;
/// Most characters of a line.
const COLUMNS_MAX: usize = 120;

/// Checks every source file.
pub(crate) fn check(tree: &Tree, exceptions: &Exceptions) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in tree.with_suffix(".rs") {
        if !file.text.starts_with("//! ") {
            complaints.push(format!("{}:1: the first line must say what the file is, after `//!`", file.path));
        }
    }
    for file in tree.with_suffix(".rs").filter(|file| !file.is_test()) {
        let lines = without_tests(&blank(&file.text)).trim_end().lines().count();
        complaints.extend(size(&file.path, lines, exceptions.lines.get(&file.path).copied()));
    }
    for path in exceptions.lines.keys().filter(|path| tree.file(path).is_none()) {
        complaints.push(format!("{}: {path} does not exist any more; remove the line", super::EXCEPTIONS));
    }
    for file in tree.with_suffix(".rs").chain(tree.with_suffix(".py")) {
        for (at, line) in file.text.lines().enumerate() {
            // An address can't be broken, and the expected text of a test reads best as it is.
            let whole = line.contains("://") || file.is_test() && line.contains('"');
            if line.chars().count() > COLUMNS_MAX && !whole {
                complaints.push(format!("{}:{}: longer than {COLUMNS_MAX} characters", file.path, at + 1));
            }
        }
    }
    complaints
}

fn size(path: &str, lines: usize, most: Option<usize>) -> Option<String> {
    let list = super::EXCEPTIONS;
    match most {
        None if lines > LINES_MAX => Some(format!(
            "{path}: {lines} lines; {LINES_MAX} are allowed. It is probably two things: make two files of it"
        )),
        Some(_) if lines <= LINES_MAX => Some(format!("{list}: {path} has {lines} lines now; remove the line")),
        Some(most) if lines > most => Some(format!("{path}: {lines} lines; it had {most} and may only get shorter")),
        Some(most) if lines < most => Some(format!("{list}: {path} has {lines} lines now; lower {most} to it")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{check, size};
    use crate::tidy::exceptions::Exceptions;
    use crate::tree::Tree;

    #[test]
    fn the_ratchet() {
        assert_eq!(size("a.rs", 500, None), None);
        assert_eq!(size("a.rs", 600, Some(600)), None);
        assert!(size("a.rs", 501, None).is_some());
        assert!(size("a.rs", 601, Some(600)).is_some());
        assert!(size("a.rs", 599, Some(600)).is_some_and(|text| text.contains("lower 600")));
        assert!(size("a.rs", 300, Some(600)).is_some_and(|text| text.contains("remove")));
    }

    #[test]
    fn head_lines_and_tests() {
        let long = format!("//! A.\n{}", "x\n".repeat(500));
        let tested = format!("//! A.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(500));
        let wide = format!("//! A.\n{}\n", "x".repeat(121));
        let address = format!("//! A.\n// https://{}\n", "x".repeat(121));
        for (text, complaints) in
            [("//! A.\n", 0), ("use a;\n", 1), (&long, 1), (&tested, 0), (&wide, 1), (&address, 0)]
        {
            let found = check(&Tree::of(&[("crates/x/src/a.rs", text)]), &Exceptions::default());
            assert_eq!(found.len(), complaints, "{found:?}");
        }
    }

    #[test]
    fn an_exception_for_a_file_that_is_gone() {
        let exceptions = Exceptions::parse("[lines]\n\"gone.rs\" = 600").unwrap();
        assert_eq!(check(&Tree::default(), &exceptions).len(), 1);
    }
}
