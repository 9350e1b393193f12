//! Translates PostgreSQL's regular expressions to the engine's syntax.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::row_function::RowFunction;

/// Character classes of all alphabets, in the engine's syntax.
pub(super) const CLASSES: [(&str, &str); 5] = [
    ("[:alpha:]", "\\p{Alphabetic}"),
    ("[:alnum:]", "\\p{Alphabetic}\\p{Nd}"),
    ("[:lower:]", "\\p{Lowercase}"),
    ("[:upper:]", "\\p{Uppercase}"),
    ("[:space:]", "\\s"),
];

/// `spelled(pattern)`: translates a computed pattern.
pub(super) fn function() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let [patterns] = arrays else { return plan_err!("`spelled` takes a pattern") };
        let patterns = cast(patterns, &DataType::Utf8)?;
        let spelled = patterns.as_string::<i32>().iter().map(|pattern| pattern.map(spelled));
        Ok(Arc::new(spelled.collect::<StringArray>()))
    };
    let signature = Signature::any(1, Volatility::Immutable);
    RowFunction { name: "spelled", signature, returns: |_| Ok(DataType::Utf8), values }.function()
}

/// Translates a pattern.
pub(crate) fn spelled(pattern: &str) -> String {
    let own = signs(pattern);
    CLASSES.iter().fold(own, |own, (class, letters)| own.replace(class, letters))
}

/// Translates escapes. Two characters that are an operator between classes for the engine are two members of a class
/// for PostgreSQL.
fn signs(pattern: &str) -> String {
    let mut made = String::with_capacity(pattern.len());
    let (mut inside, mut last, mut is_first) = (false, None, false);
    let mut signs = pattern.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => {
                let letter = signs.next();
                match letter.and_then(|letter| escape(letter, inside)) {
                    Some(own) => made.push_str(own),
                    None => made.extend([sign].into_iter().chain(letter)),
                }
                (last, is_first) = (None, false);
                continue;
            }
            '[' if !inside && made_word(&mut made, &signs) => {
                signs.nth("[:<:]]".len() - 1);
                (last, is_first) = (None, false);
                continue;
            }
            '[' if !inside => {
                inside = true;
                made.push(sign);
                made.extend(signs.next_if_eq(&'^'));
                (last, is_first) = (None, true);
                continue;
            }
            '[' if signs.peek() == Some(&':') => {
                made.push(sign);
                for letter in signs.by_ref() {
                    made.push(letter);
                    if letter == ']' {
                        break;
                    }
                }
                (last, is_first) = (None, false);
                continue;
            }
            ']' if inside && !is_first => inside = false,
            '&' | '~' | '-' if inside && last == Some(sign) => made.push('\\'),
            _ => {}
        }
        made.push(sign);
        (last, is_first) = (Some(sign), false);
    }
    made
}

/// Returns the translation of an escape with another meaning in PostgreSQL: digits are those of ASCII, `\b` is a
/// backspace and `\B` a backslash, and word boundaries have letters of their own.
fn escape(letter: char, inside: bool) -> Option<&'static str> {
    Some(match (letter, inside) {
        ('d', false) => "[0-9]",
        ('d', true) => "0-9",
        ('D', false) => "[^0-9]",
        ('b', _) => "\\x08",
        ('B', _) => "\\\\",
        ('m', false) => "\\b{start}",
        ('M', false) => "\\b{end}",
        ('y', false) => "\\b",
        ('Y', false) => "\\B",
        ('Z', false) => "\\z",
        _ => return None,
    })
}

/// Translates a word boundary such as `[[:<:]]` after its first bracket; returns whether there was one.
fn made_word(made: &mut String, rest: &std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let ahead: String = rest.clone().take("[:<:]]".len()).collect();
    let own = match ahead.as_str() {
        "[:<:]]" => "\\b{start}",
        "[:>:]]" => "\\b{end}",
        _ => return false,
    };
    made.push_str(own);
    true
}
