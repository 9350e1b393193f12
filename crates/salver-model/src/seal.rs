//! Secrets: cryptographic random numbers, and the root key from which every key for signing tokens is derived.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use crate::error::{Error, Result};

/// Root key of a server's tokens. Whoever has it can forge any token; it is never disclosed or logged.
#[derive(Clone, PartialEq, Eq)]
pub struct RootKey([u8; RootKey::BYTES]);

impl RootKey {
    /// Length of the key.
    pub const BYTES: usize = 32;

    /// Creates the key from its bytes.
    #[must_use]
    pub fn of(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Generates a random key.
    #[must_use]
    pub fn random() -> Self {
        random().map_or_else(|_| Self::of_hashers(), Self)
    }

    /// Generates a key without the system's random numbers: the standard library's hashers have other seeds too, or
    /// abort the program.
    fn of_hashers() -> Self {
        let mut bytes = [0; Self::BYTES];
        for part in bytes.chunks_exact_mut(8) {
            part.copy_from_slice(&RandomState::new().hash_one(0).to_le_bytes());
        }
        Self(bytes)
    }

    /// Returns the bytes, to be stored where no one else can read them.
    #[must_use]
    pub fn reveal(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Derives the key for one purpose. A derived key reveals nothing about the others, nor about the root key.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> [u8; Self::BYTES] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let mut derived = [0; Self::BYTES];
        derived.copy_from_slice(hmac::sign(&key, purpose.as_bytes()).as_ref());
        derived
    }
}

impl fmt::Debug for RootKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RootKey(...)")
    }
}

/// Returns unpredictable bytes.
///
/// # Errors
/// Returns `Internal` when the system has none.
pub fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Error::internal("the system has no random numbers"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{RootKey, random};

    #[test]
    fn keys_differ_by_root_and_purpose_and_are_not_shown() {
        let (one, other) = (RootKey::of([7; 32]), RootKey::random());
        assert_eq!(one.derive("a"), RootKey::of([7; 32]).derive("a"));
        assert_ne!(one.derive("a"), one.derive("b"));
        assert_ne!(one.derive("a"), other.derive("a"));
        assert_ne!(RootKey::of_hashers(), RootKey::of_hashers());
        assert_ne!(random::<16>().unwrap(), random::<16>().unwrap());
        assert_eq!(format!("{one:?}"), "RootKey(...)");
    }
}
