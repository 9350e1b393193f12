//! Conditional requests (RFC 9110, section 13): strong entity tags and `If-None-Match`.

use http::HeaderValue;
use salver_model::Version;

/// The entity tag of an answer: a hash of everything its bytes follow from.
pub(crate) fn etag(content: Version) -> HeaderValue {
    // Digit by digit: the formatter takes longer than everything else here.
    let mut text = [b'"'; 18];
    for (at, digit) in text[1..17].iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(content.0 >> (60 - 4 * at)) as usize & 15];
    }
    HeaderValue::from_bytes(&text).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

/// Whether the client's `If-None-Match` names `etag`, so that 304 is the answer. Weak tags match too: the comparison
/// for this header is the weak one. `*` names nothing here, because it asks whether there is any answer at all, and
/// that is known only once there is one.
pub(crate) fn matches(if_none_match: Option<&HeaderValue>, etag: &HeaderValue) -> bool {
    let Some(given) = if_none_match.and_then(|value| value.to_str().ok()) else { return false };
    let Ok(etag) = etag.to_str() else { return false };
    given.split(',').map(str::trim).any(|tag| tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use salver_model::Version;

    use super::{etag, matches};

    #[test]
    fn lists_weak_tags_and_stars() {
        let tag = etag(Version(7));
        let given = |text: &str| HeaderValue::from_str(text).ok();
        for yes in ["\"0000000000000007\"", "W/\"0000000000000007\"", "\"a\", \"0000000000000007\""] {
            assert!(matches(given(yes).as_ref(), &tag), "{yes}");
        }
        for no in ["\"a\"", "", "0000000000000007", "*"] {
            assert!(!matches(given(no).as_ref(), &tag), "{no}");
        }
        assert!(!matches(None, &tag));
    }
}
