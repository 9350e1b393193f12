//! Kinds of JSON values, as columns distinguish them.

use serde::{Deserialize, Serialize};

/// Number of digits that a 128-bit decimal always holds.
pub(crate) const WHOLE_DIGITS: u8 = 38;

/// A set of kinds of JSON values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOL: Self = Self(2);
    /// A number without point and exponent that is in the range of `i64`.
    pub(super) const INT: Self = Self(4);
    pub(super) const FLOAT: Self = Self(8);
    pub(super) const TEXT: Self = Self(16);
    pub(super) const OBJECT: Self = Self(32);
    pub(super) const ARRAY: Self = Self(64);
    /// A number without point and exponent beyond `i64`, of no more than [`WHOLE_DIGITS`] digits.
    pub(super) const LARGE: Self = Self(128);
    pub(super) const ALL: Self = Self(255);

    const WORDS: [(&'static str, Self); 8] = [
        ("null", Self::NULL),
        ("bool", Self::BOOL),
        ("int", Self::INT),
        ("large", Self::LARGE),
        ("float", Self::FLOAT),
        ("text", Self::TEXT),
        ("object", Self::OBJECT),
        ("array", Self::ARRAY),
    ];

    #[inline]
    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn words(self) -> Vec<&'static str> {
        Self::WORDS.iter().filter(|(_, kind)| self.has(*kind)).map(|(word, _)| *word).collect()
    }

    pub(super) fn named(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(own, _)| *own == word).map(|(_, kind)| *kind)
    }
}

impl Serialize for Kinds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.words().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Kinds {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<String>::deserialize(deserializer)?;
        words.iter().try_fold(Self::default(), |kinds, word| {
            Self::named(word)
                .map(|kind| kinds.with(kind))
                .ok_or_else(|| serde::de::Error::custom(format!("no kind of value is called `{word}`")))
        })
    }
}

/// Returns the kind of column a number needs.
pub(super) fn number_kind(text: &[u8]) -> Kinds {
    if text.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) { float_kind(text) } else { whole_number_kind(text) }
}

/// Returns the kind of column for a number without point and exponent: `-0` and numbers that do not fit a decimal are
/// floats.
pub(super) fn whole_number_kind(text: &[u8]) -> Kinds {
    let is_int = match text.len() {
        2 => text != b"-0",
        0..19 => true,
        _ => std::str::from_utf8(text).is_ok_and(|text| text.parse::<i64>().is_ok()),
    };
    if is_int {
        return Kinds::INT;
    }
    let digits = text.strip_prefix(b"-").unwrap_or(text).len();
    if (2..=usize::from(WHOLE_DIGITS)).contains(&digits) { Kinds::LARGE } else { float_kind(text) }
}

/// Returns the kind of column for any other number: one out of the range of floats is kept as text.
pub(super) fn float_kind(text: &[u8]) -> Kinds {
    // Shorter texts have fewer than three digits in the exponent.
    let is_small = text.len() < 5;
    let is_beyond = || std::str::from_utf8(text).is_ok_and(|text| text.parse().is_ok_and(f64::is_infinite));
    let may_be_beyond = !is_small && (text.len() > 300 || text.iter().any(|byte| matches!(byte, b'e' | b'E')));
    if may_be_beyond && is_beyond() { Kinds::TEXT } else { Kinds::FLOAT }
}
