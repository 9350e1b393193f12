//! Base64 (RFC 4648): encodes with the standard alphabet and padding; also decodes the URL alphabet and missing
//! padding.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Marks a byte that is no digit.
const NONE: u8 = 64;

/// Two digits for each 12 bits, so that three bytes take two lookups.
static PAIRS: [[u8; 2]; 4096] = pairs();
static VALUES: [u8; 256] = values();

const fn pairs() -> [[u8; 2]; 4096] {
    let mut pairs = [[0; 2]; 4096];
    let mut at = 0;
    while at < 4096 {
        pairs[at] = [ALPHABET[at >> 6], ALPHABET[at & 63]];
        at += 1;
    }
    pairs
}

const fn values() -> [u8; 256] {
    let mut values = [NONE; 256];
    let mut at = 0;
    while at < 64 {
        values[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    values[b'-' as usize] = 62;
    values[b'_' as usize] = 63;
    values
}

/// Appends `bytes` as base64.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    let (triples, rest) = bytes.as_chunks::<3>();
    for [a, b, c] in triples {
        let word = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        let ([w, x], [y, z]) = (PAIRS[word >> 12], PAIRS[word & 4095]);
        out.extend_from_slice(&[w, x, y, z]);
    }
    match rest {
        [a] => {
            let [w, x] = PAIRS[usize::from(*a) << 4];
            out.extend_from_slice(&[w, x, b'=', b'=']);
        }
        [a, b] => {
            let word = usize::from(*a) << 10 | usize::from(*b) << 2;
            let [w, x] = PAIRS[word >> 6];
            out.extend_from_slice(&[w, x, ALPHABET[word & 63], b'=']);
        }
        _ => {}
    }
}

/// Returns `bytes` as base64.
pub(crate) fn text(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    encode(bytes, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Decodes `text`; returns `None` when it is not base64: it has other characters, such as white space, too few or too
/// many `=`, or bits after the last byte, so that two texts of one value differ only in alphabet and padding.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    if padding > 2 || (padding > 0 && !text.len().is_multiple_of(4)) {
        return None;
    }
    let mut bytes = Vec::with_capacity(body.len() / 4 * 3 + 3);
    let (mut word, mut digits) = (0_u32, 0_usize);
    for byte in body.bytes() {
        let value = VALUES[usize::from(byte)];
        if value == NONE {
            return None;
        }
        word = word << 6 | u32::from(value);
        digits += 1;
        if digits.is_multiple_of(4) {
            let [_, a, b, c] = word.to_be_bytes();
            bytes.extend([a, b, c]);
            word = 0;
        }
    }
    match digits % 4 {
        0 => {}
        2 if word & 0xf == 0 => bytes.push((word >> 4) as u8),
        3 if word & 0x3 == 0 => bytes.extend([(word >> 10) as u8, (word >> 2) as u8]),
        _ => return None,
    }
    Some(bytes)
}

/// Returns whether `text` is exactly what [`encode`] writes.
pub(crate) fn is_exact(text: &str) -> bool {
    let mut again = Vec::with_capacity(text.len());
    if let Some(bytes) = decode(text) {
        encode(&bytes, &mut again);
    }
    again == text.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn there_and_back() {
        for (bytes, text) in
            [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (b"\xff\xef\xbe\xad", "/+++rQ==")]
        {
            let mut out = Vec::new();
            encode(bytes, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
            assert_eq!(decode(text).unwrap(), bytes);
            assert_eq!(decode(text.trim_end_matches('=')).unwrap(), bytes);
        }
        assert_eq!(decode("_----w").unwrap(), decode("/++++w").unwrap());
        assert_eq!(decode("4oKsIABhYmMACg1cYgA").unwrap(), b"\xe2\x82\xac \0abc\0\n\r\\b\0");
        for bad in ["a", "a*b=", "a b", "YWJj\n", " YWJj", "=", "====", "YQ=", "YQ===", "YWJj=", "YR==", "YWK=", "Y=Q="]
        {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
