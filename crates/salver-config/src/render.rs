//! Renders settings: an example of all, those in force, and the reference page.

mod example;
mod reference;
mod show;

pub use example::example;
pub use reference::reference;
pub use show::{differing, show};

/// Returns a text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Wraps `text` into lines of at most `width` characters, each with the prefix `before`.
fn wrap(text: &str, width: usize, before: &str) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            out.push_str(&format!("{before}{line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    out.push_str(&format!("{before}{line}\n"));
    out
}
