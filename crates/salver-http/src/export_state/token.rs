//! What a client holds of an export: a text that says by itself which rows of which version are meant, so that the
//! export outlives the server's memory of it, as long as the version is still there.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use salver_model::{Code, Error, Name, Version};

/// What every token begins with, so that it can be told from a name and from another door's number.
const START: &str = "x_";
/// The first byte, which will be another when the rest means something else.
const KIND: u8 = 1;
/// Bytes of the check at the end.
const CHECK_BYTES: usize = 8;

/// An export, as its client holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Under which id the server keeps it.
    pub(crate) lease: u64,
    /// The version of the rows.
    pub(crate) version: Version,
    /// How many streams there are.
    pub(crate) streams: u64,
    /// How long it waits for its reader, in seconds.
    pub(crate) ttl_s: u64,
    /// The entry.
    pub(crate) entry: Name,
    /// The columns, by their indexes in the schema; `None` for all.
    pub(crate) columns: Option<Vec<usize>>,
}

impl Token {
    /// Whether `text` is meant to be a token, damaged or not.
    pub(crate) fn is_like(text: &str) -> bool {
        text.starts_with(START)
    }

    /// As a text that can stand in a path.
    pub(crate) fn write(&self) -> String {
        let mut bytes = vec![KIND];
        for number in [self.lease, self.version.0, self.streams, self.ttl_s] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let name = self.entry.as_str().as_bytes();
        // Names and schemas are bounded far below what two bytes can count.
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(name);
        for index in self.columns.iter().flatten() {
            bytes.extend_from_slice(&(*index as u16).to_le_bytes());
        }
        let check = Version::of(&bytes.as_slice()).0.to_le_bytes();
        bytes.extend_from_slice(&check);
        format!("{START}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Reads a token; `None` for anything that is not just as it was written.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(START)?).ok()?;
        let (content, check) = bytes.split_at_checked(bytes.len().checked_sub(CHECK_BYTES)?)?;
        if Version::of(&content).0.to_le_bytes() != check {
            return None;
        }
        let mut rest = content.strip_prefix(&[KIND])?;
        let mut number = || {
            let (head, tail) = rest.split_first_chunk::<8>()?;
            rest = tail;
            Some(u64::from_le_bytes(*head))
        };
        let (lease, version, streams, ttl_s) = (number()?, Version(number()?), number()?, number()?);
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let (name, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        let entry = Name::new(std::str::from_utf8(name).ok()?).ok()?;
        let columns = rest.chunks_exact(2).map(|pair| usize::from(u16::from_le_bytes([pair[0], pair[1]])));
        let columns = (!rest.is_empty()).then(|| columns.collect());
        Some(Self { lease, version, streams, ttl_s, entry, columns })
    }
}

/// That a text is no token.
pub(crate) fn damaged(text: &str) -> Error {
    let shown: String = text.chars().take(40).collect();
    Error::new(Code::InvalidCursor, format!("`{shown}` is not the token of an export"))
        .with_hint("use `export` of the answer to `POST /api/export` as it is, or `url` of one of its streams")
}

#[cfg(test)]
mod tests {
    use salver_model::{Name, Version};

    use super::Token;

    #[test]
    fn there_and_back_and_nothing_else() {
        for columns in [None, Some(vec![0]), Some(vec![3, 1, 70])] {
            let entry = Name::new("größe.csv").unwrap();
            let token = Token { lease: 7, version: Version(u64::MAX), streams: 64, ttl_s: 300, entry, columns };
            let text = token.write();
            assert_eq!(Token::read(&text), Some(token));
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{text}");
            for at in 0..text.len() {
                let mut other = text.clone().into_bytes();
                other[at] = if other[at] == b'A' { b'B' } else { b'A' };
                assert_eq!(Token::read(std::str::from_utf8(&other).unwrap()), None, "{at}");
                assert_eq!(Token::read(&text[..at]), None, "{at}");
            }
        }
        for none in ["", "x_", "x_AAAA", "people", "x_\u{e9}", "12"] {
            assert_eq!(Token::read(none), None, "{none}");
        }
    }
}
