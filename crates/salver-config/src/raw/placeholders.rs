//! Placeholders in texts of the configuration file: `${NAME}`, `${NAME:-default}` and `${file:PATH}`.
//!
//! They are replaced after the file was parsed and once, so that what comes in can't end its text, and is not searched
//! for placeholders itself.

use std::borrow::Cow;
use std::path::Path;

use toml::de::DeValue;

use super::value_file;

/// Beginning of a placeholder; with another `$` before it, it stands for itself.
const START: &str = "${";
/// What to write, for mistakes.
const FORMS: &str = "write `${NAME}`, `${NAME:-default}` or `${file:PATH}`; `$${` stands for `${` itself";

/// What placeholders are replaced by.
#[derive(Debug)]
pub(crate) struct Placeholders<'s> {
    /// Variables with their values.
    pub(crate) environment: &'s [(String, String)],
    /// Directory of the configuration file, at which relative paths start.
    pub(crate) directory: &'s Path,
}

/// Text without placeholders.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    pub(crate) text: String,
    /// The parts that came from variables and files.
    pub(crate) parts: Vec<String>,
}

/// Placeholder that can't be replaced.
#[derive(Debug)]
pub(crate) struct Unfilled {
    /// What is wrong.
    pub(crate) why: String,
    /// The way out.
    pub(crate) hint: String,
}

impl Unfilled {
    fn new(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { why: why.into(), hint: hint.into() }
    }
}

impl Placeholders<'_> {
    /// Replaces the placeholders of `text`.
    pub(crate) fn fill(&self, text: &str) -> Result<Filled, Unfilled> {
        let mut filled = Filled::default();
        let mut rest = text;
        while let Some(at) = rest.find(START) {
            let (before, placeholder) = rest.split_at(at);
            let behind = &placeholder[START.len()..];
            if let Some(before) = before.strip_suffix('$') {
                filled.text.push_str(before);
                filled.text.push_str(START);
                rest = behind;
                continue;
            }
            filled.text.push_str(before);
            // Not quoted: it may be part of a password.
            let length = closing(behind).ok_or_else(|| Unfilled::new("`${` has no `}` that closes it", FORMS))?;
            self.replace(&behind[..length], &mut filled)?;
            rest = &behind[length + 1..];
        }
        filled.text.push_str(rest);
        Ok(filled)
    }

    /// Appends what stands for a placeholder, of which `inside` is between the braces.
    fn replace(&self, inside: &str, filled: &mut Filled) -> Result<(), Unfilled> {
        let part = if let Some(path) = inside.strip_prefix("file:") {
            let hint = "name a file with the value, absolute or relative to this file; `$${` stands for `${` itself";
            let read = if path.is_empty() { Err("`${file:}` names no file".to_owned()) } else { self.file(path) };
            read.map_err(|why| Unfilled::new(why, hint))?
        } else {
            let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, text)| (name, Some(text)));
            if !is_name(name) || default.is_some_and(|text| text.contains(START)) {
                return Err(Unfilled::new("`${` begins no placeholder", FORMS));
            }
            let value = self.environment.iter().find(|(own, _)| own == name).map(|(_, value)| value);
            match (value, default) {
                (Some(value), None) => value.clone(),
                (Some(value), Some(_)) if !value.is_empty() => value.clone(),
                // It stands in the file, and so is not hidden.
                (_, Some(default)) => {
                    filled.text.push_str(default);
                    return Ok(());
                }
                (None, None) => {
                    let hint = format!("set it, or write `${{{name}:-default}}`; `$${{` stands for `${{` itself");
                    return Err(Unfilled::new(format!("the environment variable `{name}` is not set"), hint));
                }
            }
        };
        filled.text.push_str(&part);
        filled.parts.push(part);
        Ok(())
    }

    fn file(&self, path: &str) -> Result<String, String> {
        value_file::read(&self.directory.join(path))
    }
}

/// Returns whether a text of the value has a placeholder, or a mark that stands for one.
pub(crate) fn are_in(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::String(text) => text.contains(START),
        DeValue::Array(items) => items.iter().any(|item| are_in(item.get_ref())),
        DeValue::Table(table) => table.values().any(|value| are_in(value.get_ref())),
        _ => false,
    }
}

/// Calls `change` with each text of the value.
pub(crate) fn each_text<'v>(value: &mut DeValue<'v>, change: &mut dyn FnMut(&mut Cow<'v, str>)) {
    match value {
        DeValue::String(text) => change(text),
        DeValue::Array(items) => items.iter_mut().for_each(|item| each_text(item.get_mut(), change)),
        DeValue::Table(table) => table.iter_mut().for_each(|(_, value)| each_text(value.get_mut(), change)),
        _ => {}
    }
}

/// Returns the position of the brace that closes a placeholder. Defaults may have pairs of braces, as
/// `{caller.tenant}`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' if open == 0 => return Some(at),
            b'}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// Returns whether the text can be the name of a variable.
fn is_name(text: &str) -> bool {
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word && text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Placeholders;

    #[test]
    fn what_stands_for_what() {
        let environment = [("A", "one"), ("EMPTY", ""), ("NESTED", "${A}\"\n")];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let own = Placeholders { environment: &environment, directory: Path::new("") };
        for (text, expected, parts) in [
            ("a$b$$c{d}", "a$b$$c{d}", 0),
            ("${A}", "one", 1),
            ("<${A}-${A}>", "<one-one>", 2),
            ("${A:-two}", "one", 1),
            ("${B:-two}", "two", 0),
            ("${B:-}", "", 0),
            ("${EMPTY}", "", 1),
            ("${EMPTY:-x{caller.tenant}y}.db", "x{caller.tenant}y.db", 0),
            ("$${A}", "${A}", 0),
            ("$${A}${A}", "${A}one", 1),
            ("${NESTED}", "${A}\"\n", 1),
        ] {
            let filled = own.fill(text).unwrap();
            assert_eq!((filled.text.as_str(), filled.parts.len()), (expected, parts), "{text}");
        }
        for text in
            ["${", "${A", "${}", "${1}", "${A B}", "${caller.tenant}", "${B}", "${A:-${B}}", "${file:}", "${a-b}"]
        {
            assert!(own.fill(text).is_err(), "{text}");
        }
        let told = own.fill("s3cret${x!more").unwrap_err();
        assert!(!told.why.contains("more") && !told.hint.contains("more"));
    }
}
