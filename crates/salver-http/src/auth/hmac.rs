//! Keyed hashes of secrets. The key is derived from the root key and never disclosed, so that the timing of a
//! comparison of hashes reveals nothing about the secrets, and neither does a hash that is stored.

use ring::hmac;
use salver_model::{Result, RootKey, seal};

/// The hash of a secret.
pub(super) type Tag = [u8; 32];

/// Computes keyed hashes, and generates random numbers.
#[derive(Debug)]
pub(super) struct Tagger {
    key: hmac::Key,
}

impl Tagger {
    /// Returns a tagger with the key that `root` gives for this purpose.
    pub(super) fn of(root: &RootKey, purpose: &str) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, &root.derive(purpose)) }
    }

    /// Returns the hash of `parts`, unambiguous as to where one part ends and the next begins.
    pub(super) fn tag(&self, parts: &[&str]) -> Tag {
        let mut context = hmac::Context::with_key(&self.key);
        for part in parts {
            context.update(&part.len().to_be_bytes());
            context.update(part.as_bytes());
        }
        let mut tag = Tag::default();
        tag.copy_from_slice(context.sign().as_ref());
        tag
    }

    /// Returns an unguessable number.
    pub(super) fn random(&self) -> Result<[u8; 32]> {
        seal::random()
    }
}

#[cfg(test)]
mod tests {
    use salver_model::RootKey;

    use super::Tagger;

    #[test]
    fn parts_stay_apart() {
        let root = RootKey::of([7; 32]);
        let tagger = Tagger::of(&root, "a test");
        assert_eq!(tagger.tag(&["a", "b"]), tagger.tag(&["a", "b"]));
        assert_ne!(tagger.tag(&["a", "b"]), tagger.tag(&["ab", ""]));
        assert_eq!(tagger.tag(&["a"]), Tagger::of(&root, "a test").tag(&["a"]));
        assert_ne!(tagger.tag(&["a"]), Tagger::of(&root, "another").tag(&["a"]));
        assert_ne!(tagger.tag(&["a"]), Tagger::of(&RootKey::random(), "a test").tag(&["a"]));
        assert_ne!(tagger.random().unwrap(), tagger.random().unwrap());
    }
}
