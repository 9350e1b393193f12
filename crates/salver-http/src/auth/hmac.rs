//! Keyed hashes of secrets. The random key is generated at startup and never leaves the process, so that the timing of
//! a comparison of hashes reveals nothing about the secrets.

use ring::hmac;
use salver_model::{Result, seal};

/// The hash of a secret.
pub(super) type Tag = [u8; 32];

/// Computes keyed hashes, and generates random numbers.
#[derive(Debug)]
pub(super) struct Tagger {
    key: hmac::Key,
}

impl Tagger {
    pub(super) fn new() -> Result<Self> {
        Ok(Self { key: hmac::Key::new(hmac::HMAC_SHA256, &seal::random::<32>()?) })
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
    use super::Tagger;

    #[test]
    fn parts_stay_apart() {
        let tagger = Tagger::new().unwrap();
        assert_eq!(tagger.tag(&["a", "b"]), tagger.tag(&["a", "b"]));
        assert_ne!(tagger.tag(&["a", "b"]), tagger.tag(&["ab", ""]));
        assert_ne!(tagger.tag(&["a"]), Tagger::new().unwrap().tag(&["a"]));
        assert_ne!(tagger.random().unwrap(), tagger.random().unwrap());
    }
}
