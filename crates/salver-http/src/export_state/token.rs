//! The token of an export. It names the rows and their version by itself, so that an export can be opened again after
//! the server has dropped it, as long as that version is available. Its content is sealed and valid only for the caller
//! who opened the export.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use salver_model::limits::{EXPORT_STREAMS_MAX, EXPORT_TOKEN_BYTES_MAX, EXPORT_TTL_S_MAX, LIST_ITEMS_MAX};
use salver_model::{Code, Error, Name, Result, Version};

use crate::tokens::{Owner, Tokens};

/// Prefix of every token, which tells it from a name and from the ids of other handlers.
const START: &str = "x_";
/// The first byte, which changes when the format of the rest changes.
const KIND: u8 = 2;
/// The door that these tokens are sealed for.
const DOOR: &str = "export";

/// The content of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExportToken {
    /// The id of its lease.
    pub(crate) lease: u64,
    /// The version of the rows.
    pub(crate) version: Version,
    /// Number of streams.
    pub(crate) streams: u64,
    /// Time between two reads after which the export expires, in seconds.
    pub(crate) ttl_s: u64,
    /// The name of the entry.
    pub(crate) entry: Name,
    /// The columns, by their indexes in the schema; `None` for all.
    pub(crate) columns: Option<Vec<usize>>,
}

impl ExportToken {
    /// Returns whether `text` is meant to be a token, damaged or not.
    pub(crate) fn is_like(text: &str) -> bool {
        text.starts_with(START)
    }

    /// Formats the token for a path, sealed for `owner`.
    ///
    /// # Errors
    /// `Internal` when sealing fails.
    pub(crate) fn write(&self, tokens: &Tokens, owner: &Owner) -> Result<String> {
        let mut bytes = vec![KIND];
        for number in [self.lease, self.version.0, self.streams, self.ttl_s] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let name = self.entry.as_str().as_bytes();
        // The limits on names and columns are far below the range of these integers.
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(name);
        for index in self.columns.iter().flatten() {
            bytes.extend_from_slice(&(*index as u32).to_le_bytes());
        }
        Ok(format!("{START}{}", URL_SAFE_NO_PAD.encode(tokens.seal(DOOR, owner, bytes)?)))
    }

    /// Parses a token; `None` when the text was altered, for any caller but its owner, and when a field is out of the
    /// range of requests.
    pub(crate) fn read(text: &str, tokens: &Tokens, owner: &Owner) -> Option<Self> {
        let text = text.strip_prefix(START).filter(|text| text.len() <= EXPORT_TOKEN_BYTES_MAX)?;
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

    /// Returns whether a request can have asked for this. Columns are checked against the entry when the snapshot is
    /// taken.
    fn is_possible(&self) -> bool {
        let mut seen = ahash::AHashSet::new();
        let columns = self.columns.as_deref().unwrap_or_default();
        (1..=EXPORT_STREAMS_MAX).contains(&self.streams)
            && (1..=EXPORT_TTL_S_MAX).contains(&self.ttl_s)
            && columns.len() <= LIST_ITEMS_MAX
            && columns.iter().all(|column| seen.insert(*column))
    }
}

/// The error for a text that is not a token.
pub(crate) fn damaged(text: &str) -> Error {
    let shown: String = text.chars().take(40).collect();
    Error::new(Code::InvalidCursor, format!("`{shown}` is not the token of an export"))
        .with_hint("use `export` of the answer to `POST /api/export` as it is, or `url` of one of its streams")
}

#[cfg(test)]
mod tests {
    use salver_model::{Caller, Name, Principal, RootKey, Version};

    use super::ExportToken;
    use crate::tokens::{Owner, Tokens};

    fn token(columns: Option<Vec<usize>>) -> ExportToken {
        let entry = Name::new("größe.csv").unwrap();
        ExportToken { lease: 7, version: Version(u64::MAX), streams: 64, ttl_s: 300, entry, columns }
    }

    #[test]
    fn there_and_back_and_nothing_else() {
        let (tokens, owner) = (Tokens::new(&RootKey::random()), Owner::default());
        for columns in [None, Some(vec![0]), Some(vec![3, 1, 70_000])] {
            let text = token(columns.clone()).write(&tokens, &owner).unwrap();
            assert_eq!(ExportToken::read(&text, &tokens, &owner), Some(token(columns)));
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{text}");
            for at in 0..text.len() {
                let mut other = text.clone().into_bytes();
                other[at] = if other[at] == b'A' { b'B' } else { b'A' };
                assert_eq!(ExportToken::read(std::str::from_utf8(&other).unwrap(), &tokens, &owner), None, "{at}");
                assert_eq!(ExportToken::read(&text[..at], &tokens, &owner), None, "{at}");
            }
            let ann = Caller::from(Principal {
                attributes: vec![("user".to_owned(), "ann".to_owned())],
                ..Principal::default()
            });
            assert_eq!(ExportToken::read(&text, &tokens, &Owner::of(&ann)), None);
            assert_eq!(ExportToken::read(&text, &Tokens::new(&RootKey::random()), &owner), None);
        }
        for none in ["", "x_", "x_AAAA", "people", "x_\u{e9}", "12"] {
            assert_eq!(ExportToken::read(none, &tokens, &owner), None, "{none}");
        }
    }

    #[test]
    fn what_nobody_could_ask_for_is_no_token_though_it_is_sealed() {
        let (tokens, owner) = (Tokens::new(&RootKey::random()), Owner::default());
        for impossible in [
            ExportToken { streams: 0, ..token(None) },
            ExportToken { streams: 1 << 40, ..token(None) },
            ExportToken { ttl_s: 0, ..token(None) },
            ExportToken { ttl_s: u64::MAX, ..token(None) },
            token(Some(vec![1, 2, 1])),
            token(Some((0..2_000).collect())),
        ] {
            let text = impossible.write(&tokens, &owner).unwrap();
            assert_eq!(ExportToken::read(&text, &tokens, &owner), None, "{impossible:?}");
        }
    }
}
