//! Validated names of entries.

use std::fmt;
use std::sync::Arc;

use crate::error::{Code, Error, Result};
use crate::limits::NAME_BYTES_MAX;

/// Name of a catalog entry: 1 to [`NAME_BYTES_MAX`] bytes, no `/`, no control characters, no leading or trailing space,
/// and not `.` or `..`. Names are case-sensitive and cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

impl Name {
    /// Validates `text` and creates a name.
    ///
    /// # Errors
    /// Returns [`Code::InvalidName`] with the rule that `text` breaks.
    pub fn new(text: &str) -> Result<Self> {
        let broken = if text.is_empty() {
            Some("it is empty".to_owned())
        } else if text.len() > NAME_BYTES_MAX {
            Some(format!("it has {} bytes, {NAME_BYTES_MAX} are allowed", text.len()))
        } else if text.contains('/') {
            Some("it contains `/`".to_owned())
        } else if text.chars().any(char::is_control) {
            Some("it contains a control character".to_owned())
        } else if text.trim() != text {
            Some("it begins or ends with a space".to_owned())
        } else if matches!(text, "." | "..") {
            // Clients take them for steps of a path (RFC 3986, section 5.2.4).
            Some("clients leave it out of an address".to_owned())
        } else {
            None
        };
        match broken {
            None => Ok(Self(Arc::from(text))),
            Some(why) => Err(Error::new(Code::InvalidName, format!("`{text}` can't be a name: {why}"))
                .with_hint("choose a name like `uk_cities`")),
        }
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

impl std::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn good_and_bad_names() {
        for good in ["a", "uk_cities", "Blog posts", "events.main", "größe", "..."] {
            assert!(Name::new(good).is_ok(), "{good}");
        }
        for bad in ["", "a/b", " a", "a ", "a\n", ".", "..", &"x".repeat(200)] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
    }
}
