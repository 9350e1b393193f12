//! Base64 as records have it: written with the standard alphabet and padding, also read with the URL alphabet, so that
//! two texts of one value differ only in alphabet and padding.

pub(crate) use salver_text::base64::encode;

/// Returns `bytes` as base64.
pub(crate) fn text(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    encode(bytes, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Decodes `text`; `None` when it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.contains(['-', '_']) {
        return salver_text::base64::decode(text.as_bytes());
    }
    salver_text::base64::decode(text.replace('-', "+").replace('_', "/").as_bytes())
}

/// Returns whether `text` is exactly what [`encode`] writes.
pub(crate) fn is_exact(text: &str) -> bool {
    salver_text::base64::is_exact(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{decode, is_exact, text};

    #[test]
    fn both_alphabets() {
        assert_eq!(text(b"\xff\xef\xbe\xad"), "/+++rQ==");
        assert_eq!(decode("_----w"), decode("/++++w"));
        assert_eq!(decode("_--_rQ==").unwrap(), decode("/++/rQ").unwrap());
        assert_eq!(decode("4oKsIABhYmMACg1cYgA").unwrap(), b"\xe2\x82\xac \0abc\0\n\r\\b\0");
        assert!(decode("_-=").is_none() && !is_exact("_--_"));
    }
}
