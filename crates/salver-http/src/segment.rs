//! Segments of paths.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// A segment of a path, decoded. What can't be decoded stays as it is, and then simply names nothing.
pub(crate) fn segment(text: &str) -> Cow<'_, str> {
    // Most need no decoding, and are not looked through for what is no UTF-8 either.
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    percent_decode_str(text).decode_utf8_lossy()
}
