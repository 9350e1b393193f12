//! Path segments.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Decodes a path segment. Invalid encodings stay as they are, and then simply match no name.
pub(crate) fn segment(text: &str) -> Cow<'_, str> {
    // Most need no decoding, and no check for valid UTF-8 either.
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    percent_decode_str(text).decode_utf8_lossy()
}
