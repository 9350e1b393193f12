//! The token that carries a scan from one page to the next.
//!
//! A page costs the same wherever it is when the next one starts from *values* (a keyset) and not from a count of
//! rows to skip. The token is opaque to clients so that a backend may carry whatever makes its next page cheap: here
//! the sort values of the last row, and its position, which also breaks ties. It is bound to the version of the entry:
//! after a reload the position means nothing, and the client is told to start again and not given a torn page.

use crate::error::{Code, Error, Result};
use crate::value::Value;
use crate::version::Version;

/// Where the next page starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    /// The version of the entry the earlier page was read from.
    pub version: Version,
    /// A hash of the query without its page, so that a token isn't used with another query.
    pub query: u64,
    /// The position of the last row in the source, or how many rows were passed: the backend's own meaning.
    pub position: u64,
    /// The sort values of the last row; empty when the order is the source's.
    pub values: Vec<Value>,
}

impl Cursor {
    /// The token as text that is safe in a URL.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut bytes = Vec::with_capacity(32);
        bytes.push(1);
        bytes.extend(self.version.0.to_le_bytes());
        bytes.extend(self.query.to_le_bytes());
        bytes.extend(self.position.to_le_bytes());
        for value in &self.values {
            encode_value(value, &mut bytes);
        }
        let sum = Version::of(&bytes).0 as u8;
        bytes.push(sum);
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    /// Reads a token made by [`Cursor::encode`].
    ///
    /// # Errors
    /// [`Code::InvalidCursor`] when `text` was not made by this release of Salver.
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
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    let bytes: Vec<u8> =
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()).collect::<Option<_>>()?;
    let (sum, bytes) = bytes.split_last()?;
    if Version::of(&bytes.to_vec()).0 as u8 != *sum {
        return None;
    }
    let (&1, rest) = bytes.split_first()? else { return None };
    let word = |at: usize| Some(u64::from_le_bytes(rest.get(at..at + 8)?.try_into().ok()?));
    let (version, query, position) = (Version(word(0)?), word(8)?, word(16)?);
    let mut values = Vec::new();
    let mut rest = &rest[24..];
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
        for end in 0..text.len() {
            assert!(Cursor::decode(&text[..end]).is_err(), "{end}");
        }
        assert!(Cursor::decode("zz").is_err());
        assert!(Cursor::decode("é").is_err());
    }
}
