//! The version of an entry's content, as an opaque token.

use std::fmt;
use std::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;

use crate::hexadecimal;

/// Version of an entry; equal versions mean equal output bytes. It is derived from whatever a backend uses to detect
/// changes: size and modification time of files, an ETag, a transaction counter.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub u64);

/// Seed of the hash.
const SEED: u64 = 0;

impl Version {
    /// Returns a version from any hashable value. Stable within one build of Salver, not across releases.
    #[must_use]
    pub fn of(content: &impl Hash) -> Self {
        // Without a random seed, so that a version survives a restart.
        Self(FixedState::with_seed(SEED).hash_one(content))
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Version;

    #[test]
    fn stable_and_sensitive() {
        assert_eq!(Version::of(&("a", 1)), Version::of(&("a", 1)));
        assert_ne!(Version::of(&("a", 1)), Version::of(&("a", 2)));
        assert_eq!(Version(0x0f0_abcd).to_string(), "0000000000f0abcd");
        let bytes = [7_u8; 300];
        let all: BTreeSet<Version> = (0..300).map(|length| Version::of(&bytes[..length].to_vec())).collect();
        assert_eq!(all.len(), 300);
        for at in 0..40 {
            let mut other = bytes[..40].to_vec();
            other[at] ^= 1;
            assert_ne!(Version::of(&other), Version::of(&bytes[..40].to_vec()), "{at}");
        }
    }
}
