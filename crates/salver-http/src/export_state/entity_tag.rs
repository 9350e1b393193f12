//! Entity tags that name the version of the rows, so that a client can resume a body at exactly that version.

use http::HeaderValue;
use salver_model::Version;

/// The entity tag of a body: the version of the rows, and everything else that determines the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tag {
    /// The version of the rows.
    pub(crate) content: Version,
    /// A hash of everything else that determines the bytes.
    pub(crate) shape: Version,
}

impl Tag {
    /// Formats it as a header value.
    pub(crate) fn header(&self) -> HeaderValue {
        let text = format!("\"{}-{}\"", self.content, self.shape);
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
    }

    /// Parses a strong tag; `None` for anything else, such as a date or another server's tag.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let inside = text.trim().strip_prefix('"')?.strip_suffix('"')?;
        let (content, shape) = inside.split_once('-')?;
        let version = |text: &str| {
            let is_hex = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| u64::from_str_radix(text, 16).ok()).flatten().map(Version)
        };
        Some(Self { content: version(content)?, shape: version(shape)? })
    }
}

#[cfg(test)]
mod tests {
    use salver_model::Version;

    use super::Tag;

    #[test]
    fn there_and_back() {
        let tag = Tag { content: Version(7), shape: Version(u64::MAX) };
        assert_eq!(Tag::read(tag.header().to_str().unwrap()), Some(tag));
        for none in ["", "\"\"", "W/\"0000000000000007-0000000000000007\"", "\"7-7\"", "Sat, 21 Nov 2026 00:00:00 GMT"]
        {
            assert_eq!(Tag::read(none), None, "{none}");
        }
    }
}
