//! The version of an entry's content, as an opaque token.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::hexadecimal;

/// Version of an entry; equal versions mean equal output bytes. It is derived from whatever a backend uses to detect
/// changes: size and modification time of files, an ETag, a transaction counter.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub u64);

impl Version {
    /// Returns a version from any hashable value. Stable within one build of Salver, not across releases.
    #[must_use]
    pub fn of(content: &impl Hash) -> Self {
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        content.hash(&mut hasher);
        Self(hasher.finish())
    }

    /// Returns its 16 hexadecimal digits, as `Display` writes them.
    #[must_use]
    pub fn text(self) -> String {
        hexadecimal::encode(&self.0.to_be_bytes())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({self})")
    }
}

/// FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>) with a final mix: without a random seed, so that a version
/// survives a restart, which the standard library's hasher does not promise.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 33)
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn stable_and_sensitive() {
        assert_eq!(Version::of(&("a", 1)), Version::of(&("a", 1)));
        assert_ne!(Version::of(&("a", 1)), Version::of(&("a", 2)));
        assert_eq!(Version(0x0f0_abcd).to_string(), "0000000000f0abcd");
    }
}
