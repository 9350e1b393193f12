//! The cursor: the token that carries a scan from one page to the next.
//!
//! With keyset pagination the next page starts from *values* and not from a number of rows to skip, so a page costs the
//! same wherever it is. The token is opaque to clients, so that a backend can put into it whatever makes its next page
//! cheap: here the sort values of the last row, and its position, which also breaks ties. It is bound to the version of
//! the entry: after a reload the position is meaningless, and the client is told to start again instead of getting a
//! torn page.
//!
//! A token is a position and not a permission: each page is authorized anew for its caller. It is therefore signed, so
//! that it cannot be forged, but not bound to a caller: the page that contains it is the same for all callers who may
//! see it, and can be cached as finished bytes.

use std::sync::OnceLock;

use ring::hmac;

use crate::error::{Code, Error, Result};
use crate::hexadecimal;
use crate::seal::RootKey;
use crate::value::Value;
use crate::version::Version;

/// First byte of a token, to be changed when the format of the rest changes.
const KIND: u8 = 2;
/// Length of the signature at the end, in bytes.
const SIGNATURE_BYTES: usize = 16;

/// Signing key of this process. It is global, because backends also create tokens, in the middle of the response bytes.
static KEY: OnceLock<hmac::Key> = OnceLock::new();

/// Signs tokens with a key derived from `root`, so that those of another process with the same root key are valid here.
/// Call it before the first token is created or read; without it the key is random per process.
pub fn sign_under(root: &RootKey) {
    // A key already in use stays: tokens already issued would become invalid.
    let _ = KEY.set(derived(root));
}

fn derived(root: &RootKey) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, &root.derive("cursor of pages"))
}

fn key() -> &'static hmac::Key {
    KEY.get_or_init(|| derived(&RootKey::random()))
}

/// Returns an identifier of the signing key that does not reveal it. A cached body that contains a token is only valid
/// under the key of that token.
#[must_use]
pub fn key_id() -> u64 {
    static ID: OnceLock<u64> = OnceLock::new();
    *ID.get_or_init(|| {
        let mut id = [0; 8];
        id.copy_from_slice(&hmac::sign(key(), b"id").as_ref()[..8]);
        u64::from_le_bytes(id)
    })
}

/// Start of the next page.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    /// Version of the entry that the earlier page was read from.
    pub version: Version,
    /// Hash of the query without its page, so that a token is not used with another query.
    pub query: u64,
    /// Position of the last row in the source, or the number of rows passed; its meaning is up to the backend.
    pub position: u64,
    /// Sort values of the last row; empty when the order is the source's.
    pub values: Vec<Value>,
}

impl Cursor {
    /// Returns the token as URL-safe text.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut bytes = Vec::with_capacity(64);
        bytes.push(KIND);
        bytes.extend(self.version.0.to_le_bytes());
        bytes.extend(self.query.to_le_bytes());
        bytes.extend(self.position.to_le_bytes());
        for value in &self.values {
            encode_value(value, &mut bytes);
        }
        let signature = hmac::sign(key(), &bytes);
        bytes.extend_from_slice(&signature.as_ref()[..SIGNATURE_BYTES]);
        hexadecimal::encode(&bytes)
    }

    /// Parses a token made by [`Cursor::encode`].
    ///
    /// # Errors
    /// Returns [`Code::InvalidCursor`] when `text` is not exactly a token of this server.
    pub fn decode(text: &str) -> Result<Self> {
        decode(text).ok_or_else(|| {
            Error::new(Code::InvalidCursor, "`after` is not a cursor of this server")
                .with_hint("use the `after` of a `Link: rel=\"next\"` header as it is, or leave it out to start again")
        })
    }
}

fn encode_value(value: &Value, out: &mut Vec<u8>) {
    let mut tagged = |tag: u8, bytes: &[u8]| {
        out.push(tag);
        out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(bytes);
    };
    match value {
        Value::Null => tagged(0, &[]),
        Value::Bool(b) => tagged(1, &[u8::from(*b)]),
        Value::Int(i) => tagged(2, &i.to_le_bytes()),
        Value::UInt(u) => tagged(3, &u.to_le_bytes()),
        Value::Float(x) => tagged(4, &x.to_bits().to_le_bytes()),
        Value::Text(s) | Value::Bare(s) => tagged(5, s.as_bytes()),
    }
}

fn decode(text: &str) -> Option<Cursor> {
    // Each token has exactly one spelling.
    let bytes = hexadecimal::decode(text).filter(|_| !text.bytes().any(|digit| digit.is_ascii_uppercase()))?;
    let (bytes, signature) = bytes.split_at_checked(bytes.len().checked_sub(SIGNATURE_BYTES)?)?;
    let expected = hmac::sign(key(), bytes);
    if is_same(&expected.as_ref()[..SIGNATURE_BYTES], signature) { read(bytes) } else { None }
}

/// Compares two signatures in constant time.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |differing, (one, other)| differing | (one ^ other));
    std::hint::black_box(differing) == 0 && one.len() == other.len()
}

fn read(bytes: &[u8]) -> Option<Cursor> {
    let (&KIND, rest) = bytes.split_first()? else { return None };
    let word = |at: usize| Some(u64::from_le_bytes(rest.get(at..at + 8)?.try_into().ok()?));
    let (version, query, position) = (Version(word(0)?), word(8)?, word(16)?);
    let mut values = Vec::new();
    let mut rest = rest.get(24..)?;
    while let Some((tag, tail)) = rest.split_first() {
        let (len, tail) = tail.split_at_checked(4)?;
        let (body, tail) = tail.split_at_checked(u32::from_le_bytes(len.try_into().ok()?) as usize)?;
        values.push(match tag {
            0 => Value::Null,
            1 => Value::Bool(body == [1]),
            2 => Value::Int(i64::from_le_bytes(body.try_into().ok()?)),
            3 => Value::UInt(u64::from_le_bytes(body.try_into().ok()?)),
            4 => Value::Float(f64::from_bits(u64::from_le_bytes(body.try_into().ok()?))),
            5 => Value::Text(std::str::from_utf8(body).ok()?.to_owned()),
            _ => return None,
        });
        rest = tail;
    }
    Some(Cursor { version, query, position, values })
}

#[cfg(test)]
mod tests {
    use super::Cursor;
    use crate::{Value, Version};

    #[test]
    fn round_trip_and_garbage() {
        let cursor = Cursor {
            version: Version(7),
            query: 9,
            position: 42,
            values: vec![Value::Null, Value::Int(-1), Value::Float(0.5), Value::Text("é".into()), Value::Bool(true)],
        };
        let text = cursor.encode();
        assert_eq!(Cursor::decode(&text).ok(), Some(cursor));
        for at in 0..text.len() {
            assert!(Cursor::decode(&text[..at]).is_err(), "{at}");
            for other in "0123456789abcdefABCDEF+ -".chars().filter(|other| !text[at..].starts_with(*other)) {
                let damaged = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                assert!(Cursor::decode(&damaged).is_err(), "{damaged}");
            }
        }
        assert!(Cursor::decode(&format!("{text}0")).is_err() && Cursor::decode(&format!("{text}00")).is_err());
        assert!(Cursor::decode(&text.to_uppercase()).is_err());
        assert!(Cursor::decode("zz").is_err());
        assert!(Cursor::decode("é").is_err());
    }
}
