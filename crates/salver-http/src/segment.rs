//! Path segments.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use salver_model::{Code, Error, Result};

/// Longest part of a path that a message shows, in characters.
const SHOWN: usize = 200;

/// Checks that a path is text when it is decoded. What is not would stand for another text.
///
/// # Errors
/// `InvalidRequest`.
pub(crate) fn check_text(path: &str) -> Result<()> {
    if is_text(path) {
        return Ok(());
    }
    let shown: String = path.chars().take(SHOWN).collect();
    Err(Error::new(Code::InvalidRequest, format!("the path `{shown}` is not UTF-8 when decoded"))
        .with_hint("percent-encode the UTF-8 bytes of each character"))
}

/// Returns whether a path is text when it is decoded.
pub(crate) fn is_text(path: &str) -> bool {
    !path.contains('%') || percent_decode_str(path).decode_utf8().is_ok()
}

/// Decodes a path segment. Invalid encodings stay as they are, and then simply match no name.
pub(crate) fn segment(text: &str) -> Cow<'_, str> {
    // Most need no decoding, and no check for valid UTF-8 either.
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    percent_decode_str(text).decode_utf8_lossy()
}
