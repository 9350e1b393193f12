//! What a client holds of an export: a text that says by itself which rows of which version are meant, so that the
//! export outlives the server's memory of it, as long as the version is still there. What it says is sealed: it is of
//! use to the caller who opened the export, and to nobody else.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use salver_model::limits::{EXPORT_STREAMS_MAX, EXPORT_TTL_S_MAX, LIST_ITEMS_MAX};
use salver_model::{Code, Error, Name, Result, Version};

use crate::tokens::{Owner, Tokens};

/// What every token begins with, so that it can be told from a name and from another door's number.
const START: &str = "x_";
/// The first byte, which will be another when the rest means something else.
const KIND: u8 = 2;
/// The door that these tokens are for.
const DOOR: &str = "export";
/// Longest token that is looked at: every column of a list, and the longest name.
const TEXT_BYTES_MAX: usize = 16 * 1024;

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

    /// As a text that can stand in a path, for `owner` alone.
    ///
    /// # Errors
    /// `Internal` when it can't be sealed.
    pub(crate) fn write(&self, tokens: &Tokens, owner: &Owner) -> Result<String> {
        let mut bytes = vec![KIND];
        for number in [self.lease, self.version.0, self.streams, self.ttl_s] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let name = self.entry.as_str().as_bytes();
        // Names are bounded far below what two bytes can count, and columns below what four can.
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(name);
        for index in self.columns.iter().flatten() {
            bytes.extend_from_slice(&(*index as u32).to_le_bytes());
        }
        Ok(format!("{START}{}", URL_SAFE_NO_PAD.encode(tokens.seal(DOOR, owner, bytes)?)))
    }

    /// Reads a token; `None` for anything that is not just as it was written, for anybody but its owner, and where a
    /// field is not what a request could have asked for.
    pub(crate) fn read(text: &str, tokens: &Tokens, owner: &Owner) -> Option<Self> {
        let text = text.strip_prefix(START).filter(|text| text.len() <= TEXT_BYTES_MAX)?;
        let content = tokens.open(DOOR, owner, URL_SAFE_NO_PAD.decode(text).ok()?)?;
        Self::of(&content).filter(Self::is_possible)
    }

    fn of(content: &[u8]) -> Option<Self> {
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
        let (indexes, odd) = rest.as_chunks::<4>();
        let columns: Option<Vec<usize>> =
            indexes.iter().map(|index| usize::try_from(u32::from_le_bytes(*index)).ok()).collect();
        let columns = columns?;
        let columns = (!columns.is_empty()).then_some(columns);
        odd.is_empty().then_some(Self { lease, version, streams, ttl_s, entry, columns })
    }

    /// Whether a request can have asked for this. Whether the entry has such columns is seen when it is held.
    fn is_possible(&self) -> bool {
        let mut seen = ahash::AHashSet::new();
        let columns = self.columns.as_deref().unwrap_or_default();
        (1..=EXPORT_STREAMS_MAX).contains(&self.streams)
            && (1..=EXPORT_TTL_S_MAX).contains(&self.ttl_s)
            && columns.len() <= LIST_ITEMS_MAX
            && columns.iter().all(|column| seen.insert(*column))
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
    use salver_model::{Caller, Name, RootKey, Version};

    use super::Token;
    use crate::tokens::{Owner, Tokens};

    fn token(columns: Option<Vec<usize>>) -> Token {
        let entry = Name::new("größe.csv").unwrap();
        Token { lease: 7, version: Version(u64::MAX), streams: 64, ttl_s: 300, entry, columns }
    }

    #[test]
    fn there_and_back_and_nothing_else() {
        let (tokens, owner) = (Tokens::new(&RootKey::random()), Owner::default());
        for columns in [None, Some(vec![0]), Some(vec![3, 1, 70_000])] {
            let text = token(columns.clone()).write(&tokens, &owner).unwrap();
            assert_eq!(Token::read(&text, &tokens, &owner), Some(token(columns)));
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{text}");
            for at in 0..text.len() {
                let mut other = text.clone().into_bytes();
                other[at] = if other[at] == b'A' { b'B' } else { b'A' };
                assert_eq!(Token::read(std::str::from_utf8(&other).unwrap(), &tokens, &owner), None, "{at}");
                assert_eq!(Token::read(&text[..at], &tokens, &owner), None, "{at}");
            }
            let ann = Caller { attributes: vec![("user".to_owned(), "ann".to_owned())], ..Caller::default() };
            assert_eq!(Token::read(&text, &tokens, &Owner::of(&ann)), None);
            assert_eq!(Token::read(&text, &Tokens::new(&RootKey::random()), &owner), None);
        }
        for none in ["", "x_", "x_AAAA", "people", "x_\u{e9}", "12"] {
            assert_eq!(Token::read(none, &tokens, &owner), None, "{none}");
        }
    }

    #[test]
    fn what_nobody_could_ask_for_is_no_token_though_it_is_sealed() {
        let (tokens, owner) = (Tokens::new(&RootKey::random()), Owner::default());
        for impossible in [
            Token { streams: 0, ..token(None) },
            Token { streams: 1 << 40, ..token(None) },
            Token { ttl_s: 0, ..token(None) },
            Token { ttl_s: u64::MAX, ..token(None) },
            token(Some(vec![1, 2, 1])),
            token(Some((0..2_000).collect())),
        ] {
            let text = impossible.write(&tokens, &owner).unwrap();
            assert_eq!(Token::read(&text, &tokens, &owner), None, "{impossible:?}");
        }
    }
}
