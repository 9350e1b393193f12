//! Removes the operator's private data from error messages for clients: paths on the machine, and passwords in URLs.
//! Libraries and user code put both into their messages, so this is done on output and not where messages are made. The
//! log contains the full messages.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, PoisonError, RwLock};

use salver_model::secrecy::{MASK, masked};
use salver_model::{Code, Error};

/// First segments of the server's own URL paths, which are not paths on the machine.
const OWN: [&str; 7] = ["api", "_api", "health", "ready", "metrics", "docs", "openapi.json"];

/// Directories that the settings name, longest first: paths below them are shown relative to them.
static KNOWN: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Texts that came into the settings from outside, longest first.
static SECRETS: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Registers texts of the settings that may be secrets, and are not disclosed to clients.
pub fn keep_secret(texts: Vec<String>) {
    let mut known = SECRETS.write().unwrap_or_else(PoisonError::into_inner);
    known.extend(texts);
    known.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    known.dedup();
}

/// Registers directories of entries and of the server, whose paths are not disclosed to clients.
pub fn keep_private(directories: &[PathBuf]) {
    let absolute = directories.iter().filter_map(|directory| std::path::absolute(directory).ok());
    let real = directories.iter().filter_map(|directory| directory.canonicalize().ok());
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    for directory in absolute.chain(real) {
        let text = directory.to_string_lossy();
        // The root and its children carry no information, and would match in other texts.
        if text.matches('/').count() >= 2 && !known.iter().any(|other| *other == text) {
            known.push(text.into_owned());
        }
    }
    known.sort_by_key(|directory| std::cmp::Reverse(directory.len()));
}

/// Returns the message of `error` for a client.
pub(crate) fn message(error: &Error) -> Cow<'_, str> {
    if is_ours(error.code) { text(&error.message) } else { masked(&error.message) }
}

/// Returns the hint of `error` for a client.
pub(crate) fn hint(error: &Error) -> Option<Cow<'_, str>> {
    let hint = error.hint.as_deref()?;
    Some(if is_ours(error.code) { text(hint) } else { masked(hint) })
}

/// Returns whether the message is about the server, rather than the client's own input, which is returned unchanged.
fn is_ours(code: Code) -> bool {
    matches!(
        code,
        Code::Source
            | Code::Config
            | Code::Internal
            | Code::FunctionFailed
            | Code::EntryUnavailable
            | Code::StreamUnavailable
            | Code::DatabaseUnavailable
            | Code::Contention
            | Code::OutOfMemory
            | Code::Overloaded
            | Code::Execution
            | Code::InvalidSql
    )
}

/// Returns a text of the server for a client.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    let masked = without_secrets(masked(text), text);
    if !masked.contains('/') {
        return masked;
    }
    let below = below_known(&masked);
    Cow::Owned(without_paths(&below))
}

/// Masks in `told` the secrets that `text` contained, before its URLs were masked.
fn without_secrets<'t>(told: Cow<'t, str>, text: &str) -> Cow<'t, str> {
    let known = SECRETS.read().unwrap_or_else(PoisonError::into_inner);
    known.iter().filter(|secret| text.contains(secret.as_str())).fold(told, |told, secret| {
        if told.contains(secret.as_str()) { Cow::Owned(told.replace(secret, MASK)) } else { told }
    })
}

/// Removes the known directories from the text, with a leading slash or, as in object stores, without.
fn below_known(text: &str) -> String {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let mut text = text.to_owned();
    for directory in known.iter() {
        let bare = directory.trim_start_matches('/');
        if text.contains(bare) {
            text = text.replace(&format!("{directory}/"), "").replace(&format!("{bare}/"), "");
            let name = Path::new(directory).file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            text = text.replace(directory.as_str(), &name).replace(bare, &name);
        }
    }
    text
}

/// Replaces paths in the text by their file names.
fn without_paths(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        out.push_str(before);
        let opening = out.chars().next_back();
        let joins = |c: char| c.is_alphanumeric() || "_.~%:/-?=&".contains(c);
        if opening.is_some_and(joins) && !out.ends_with("file://") {
            let is_file = out.ends_with("file:") && path.starts_with("///");
            let length = if is_file { 2 } else { path.find(|c| c != '/').unwrap_or(path.len()) };
            out.push_str(&path[..length]);
            rest = &path[length..];
            continue;
        }
        let end = match opening {
            Some(quote @ ('"' | '\'' | '`')) => path.find(quote),
            _ => path.find(|c: char| c.is_whitespace() || "\"'`<>|;,:()[]{}".contains(c)),
        };
        let (path, behind) = path.split_at(end.unwrap_or(path.len()));
        out.push_str(if is_of_machine(path) { name(path) } else { path });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Returns whether the path begins with a directory of the machine.
fn is_of_machine(path: &str) -> bool {
    static TOP: OnceLock<Vec<String>> = OnceLock::new();
    let read = || {
        let entries = std::fs::read_dir("/").into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    let Some((first, below)) = path.trim_start_matches('/').split_once('/') else { return false };
    !below.is_empty() && !OWN.contains(&first) && TOP.get_or_init(read).iter().any(|top| top == first)
}

/// Returns the last segment of a path.
fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use salver_model::{Code, Error};

    use super::{keep_private, message, text};

    #[test]
    fn paths_become_names() {
        for (told, expected) in [
            ("`/usr/lib/x y.csv` is damaged", "`x y.csv` is damaged"),
            ("can't read /usr/lib/a.csv: no", "can't read a.csv: no"),
            ("File \"/usr/lib/f.py\", line 3", "File \"f.py\", line 3"),
            ("file:///usr/lib/a.csv", "file://a.csv"),
            ("(/usr/lib/deep/er/a.csv)", "(a.csv)"),
            ("`/api/functions/f` lists what it has", "`/api/functions/f` lists what it has"),
            ("`/data-that-is-not-there/rows` is not an array", "`/data-that-is-not-there/rows` is not an array"),
            ("https://example.org/usr/lib/a.csv", "https://example.org/usr/lib/a.csv"),
            ("3/4 of a/b and and/or", "3/4 of a/b and and/or"),
            ("/", "/"),
            ("//usr/lib/x", "x"),
            ("postgres://ann:s3cret@db/x at /usr/lib/x", "postgres://ann:***@db/x at x"),
            ("", ""),
        ] {
            assert_eq!(text(told), expected);
        }
    }

    #[test]
    fn known_directories_are_left_out() {
        keep_private(&[PathBuf::from("/srv-of-this-test/our data"), PathBuf::from("/")]);
        assert_eq!(text("/srv-of-this-test/our data/a/b.csv: no"), "a/b.csv: no");
        assert_eq!(text("location srv-of-this-test/our data/b.csv not found"), "location b.csv not found");
        assert_eq!(text("`/srv-of-this-test/our data`"), "`our data`");
    }

    #[test]
    fn the_clients_words_go_back() {
        let path = "`/usr/lib/x`";
        assert_eq!(message(&Error::new(Code::NotFound, path)), path);
        assert_eq!(message(&Error::new(Code::Source, path)), "`x`");
    }
}
