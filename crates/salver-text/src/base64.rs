//! Base64 (RFC 4648, section 4): the standard alphabet, written with padding, read with or without.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const CONFIG: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const ENGINE: GeneralPurpose = GeneralPurpose::new(&STANDARD, CONFIG);
const LOOSE: GeneralPurpose = GeneralPurpose::new(&STANDARD, CONFIG.with_decode_allow_trailing_bits(true));

/// Appends `bytes` as base64.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let end = ENGINE.encode_slice(bytes, &mut out[start..]).map_or(start, |length| start + length);
    out.truncate(end);
}

/// Decodes `text`; `None` when it is not base64: it has other characters, such as white space, too few or too many
/// `=`, or bits after the last byte.
#[must_use]
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    decode_with(&ENGINE, text)
}

/// Decodes `text` in the same way, but ignores bits after the last byte.
#[must_use]
pub fn decode_loosely(text: &[u8]) -> Option<Vec<u8>> {
    decode_with(&LOOSE, text)
}

fn decode_with(engine: &GeneralPurpose, text: &[u8]) -> Option<Vec<u8>> {
    // The engine accepts some of the padding.
    let is_whole = text.len().is_multiple_of(4) || !text.ends_with(b"=");
    is_whole.then(|| engine.decode(text).ok()).flatten()
}

/// Returns whether `text` is exactly what [`encode`] writes.
#[must_use]
pub fn is_exact(text: &[u8]) -> bool {
    text.len().is_multiple_of(4) && decode(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::{decode, decode_loosely, encode, is_exact};

    #[test]
    fn there_and_back() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
            (b"fooba", "Zm9vYmE="),
            (b"foobar", "Zm9vYmFy"),
            (b"\xff\xef\xbe\xad", "/+++rQ=="),
        ] {
            let mut out = b"x".to_vec();
            encode(bytes, &mut out);
            assert_eq!(out, [b"x", text.as_bytes()].concat());
            assert!(is_exact(text.as_bytes()), "{text}");
            for text in [text, text.trim_end_matches('=')] {
                assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes), "{text}");
                assert_eq!(decode_loosely(text.as_bytes()).as_deref(), Some(bytes), "{text}");
            }
        }
    }

    #[test]
    fn what_is_not_base64() {
        for bad in [
            "Z", "Zm9v!", "Zg=", "=", "==", "====", "Zm 9v", "a*b=", "a b", "YWJj\n", " YWJj", "YQ===", "YWJj=",
            "Y=Q=", "Zm9v====", "-_==",
        ] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
            assert_eq!(decode_loosely(bad.as_bytes()), None, "{bad}");
        }
        for bits in ["YR==", "YWK=", "YR", "YWK"] {
            assert_eq!(decode(bits.as_bytes()), None, "{bits}");
            assert!(decode_loosely(bits.as_bytes()).is_some(), "{bits}");
            assert!(!is_exact(bits.as_bytes()), "{bits}");
        }
        assert!(!is_exact(b"YQ"));
    }
}
