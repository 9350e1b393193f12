//! The formats of password hashes that settings and tables contain: bcrypt, the two of WordPress, and verifiers of
//! SCRAM.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use ring::hmac;
use salver_model::limits::PORTABLE_PASSWORD_BYTES_MAX;
use salver_model::spec::ScramVerifier;

/// HMAC key that WordPress applies before bcrypt, which makes the inner hash useless elsewhere.
const WORDPRESS_KEY: &[u8] = b"wp-sha384";
/// Digits of a portable hash, in the order of their values.
const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A stored password hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored<'h> {
    /// `$2y$...`
    Bcrypt(&'h str),
    /// `SCRAM-SHA-256$...`
    Scram(&'h str),
    /// `$wp$2y$...`, of WordPress since 6.8: bcrypt of a hash of the password, so that passwords have no maximum length
    /// (<https://make.wordpress.org/core/2025/02/17/wordpress-6-8-will-use-bcrypt-for-password-hashing/>).
    Wordpress(&'h str),
    /// `$P$...`, of WordPress before 6.8, and `$H$...` of phpBB: the portable hashes of phpass
    /// (<https://www.openwall.com/phpass/>), MD5 iterated two to the power of `rounds` times.
    Portable {
        /// Binary logarithm of the number of iterations.
        rounds: u32,
        /// The salt.
        salt: &'h str,
        /// The hash, in phpass's digits.
        hash: &'h str,
    },
}

/// The cost of checking a hash; zero for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// bcrypt's cost, the binary logarithm of its rounds.
    pub(super) cost: u32,
    /// Binary logarithm of the iterations of a portable hash.
    pub(super) rounds: u32,
}

impl<'h> Stored<'h> {
    /// Returns the cost of checking the hash.
    pub(super) fn work(self) -> Work {
        match self {
            Self::Bcrypt(hash) | Self::Wordpress(hash) => {
                let parts = hash.parse::<bcrypt::HashParts>();
                Work { cost: parts.map_or(0, |parts| parts.get_cost()), rounds: 0 }
            }
            // So little that the padding hides it.
            Self::Scram(_) => Work::default(),
            Self::Portable { rounds, .. } => Work { cost: 0, rounds },
        }
    }

    /// Parses a stored hash; `None` if `text` has none of the known formats.
    pub(super) fn of(text: &'h str) -> Option<Self> {
        let is_bcrypt = |text: &&str| text.parse::<bcrypt::HashParts>().is_ok();
        if let Some(rest) = text.strip_prefix("$P$").or_else(|| text.strip_prefix("$H$")) {
            let digit = *rest.as_bytes().first()?;
            let rounds = u32::try_from(DIGITS.iter().position(|own| *own == digit)?).ok()?;
            let (salt, hash) = (rest.get(1..9)?, rest.get(9..)?);
            return ((7..=30).contains(&rounds) && hash.len() == 22).then_some(Self::Portable { rounds, salt, hash });
        }
        if ScramVerifier::parse(text).is_some() {
            return Some(Self::Scram(text));
        }
        match text.strip_prefix("$wp") {
            Some(rest) => Some(rest).filter(is_bcrypt).map(Self::Wordpress),
            None => Some(text).filter(is_bcrypt).map(Self::Bcrypt),
        }
    }

    /// Returns whether the hash matches `password`.
    pub(super) fn fits(self, password: &str) -> bool {
        match self {
            Self::Bcrypt(hash) => bcrypt::verify(password, hash).unwrap_or(false),
            Self::Scram(verifier) => ScramVerifier::parse(verifier).is_some_and(|own| own.fits(password)),
            Self::Wordpress(hash) => {
                let key = hmac::Key::new(hmac::HMAC_SHA384, WORDPRESS_KEY);
                let inner = STANDARD.encode(hmac::sign(&key, password.as_bytes()));
                bcrypt::verify(inner, hash).unwrap_or(false)
            }
            Self::Portable { rounds, salt, hash } => {
                password.len() <= PORTABLE_PASSWORD_BYTES_MAX
                    && same(&portable(rounds, salt, password), hash.as_bytes())
            }
        }
    }
}

/// Does the work of a portable hash and discards the result.
pub(super) fn portable_work(rounds: u32, password: &str) {
    if password.len() <= PORTABLE_PASSWORD_BYTES_MAX {
        std::hint::black_box(portable(rounds, "nobodys!", password));
    }
}

/// Computes a portable hash of phpass.
fn portable(rounds: u32, salt: &str, password: &str) -> Vec<u8> {
    let mut hash = Md5::new().chain_update(salt).chain_update(password).finalize();
    for _ in 0..1_u32 << rounds {
        hash = Md5::new().chain_update(hash).chain_update(password).finalize();
    }
    let mut digits = Vec::with_capacity(22);
    // Three bytes become four digits, least significant first.
    for bytes in hash.chunks(3) {
        let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte));
        digits.extend((0..=bytes.len()).map(|place| DIGITS[value >> (6 * place) & 63]));
    }
    digits
}

/// Compares two hashes in constant time.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::Stored;

    /// From the tests of phpass, passlib and John the Ripper, and two hashes that WordPress 6.8 made.
    const KNOWN: [(&str, &str); 10] = [
        ("test12345", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"),
        ("test1", "$H$9aaaaaSXBjgypwqm.JsMssPLiS8YQ00"),
        ("123456", "$H$9PE8jEklgZhgLmZl5.HYJAzfGCQtzi1"),
        ("thisisalongertestPW", "$P$912345678LIjjb6PhecupozNBmDndU0"),
        ("JohnRipper", "$P$612345678si5M0DDyPpmRCmcltU/YW/"),
        ("!?!#?#?#$&@&@!&@", "$P$Buvd5FQxkeXJnDarN7..wRMwRKJeZ40"),
        ("BigBike@2026", "$wp$2y$10$qeleDSuDaeZO5fBsEqFReeWdlqaDnBDBzB16hFgsFnhN9qFBIihvm"),
        ("grimoire-test-123", "$wp$2y$12$iWN5xRwDE7i9R5jVJvCyqOxS1CNnwUggQaF8O2W9Bg8TuXQz.ngrS"),
        (
            "pencil",
            "SCRAM-SHA-256$4096:sudD6bKXnN2NWj3y+p4OTQ==$9HomAWwPiSs1kcS2giOD40iElC7irnjW4FDFS1TyTec=:\
             wBKzF+NAexw1GwO3XMdqeLCwEF5tvcYCdYJ36wdrTYM=",
        ),
        ("pass2", "$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe."),
    ];

    #[test]
    fn known_hashes() {
        for (password, hash) in KNOWN {
            let stored = Stored::of(hash).unwrap();
            assert!(stored.fits(password) && !stored.fits("JohnRippe"), "{hash}");
        }
    }

    #[test]
    fn what_is_no_hash() {
        for text in [
            "",
            "pass1",
            "$P$",
            "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L",
            "$P$ IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0",
            "$P$zIQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0",
            "$P$9IQRaTwmféRo7ud9Fh4E2PdI0S3r.L0",
            "$wp$2y$10$short",
            "$wp$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0",
            "$1$abc$def",
            "827ccb0eea8a706c4c34a16891f84e7b",
        ] {
            assert_eq!(Stored::of(text), None, "{text}");
        }
        let long = "x".repeat(5_000);
        assert!(!Stored::of("$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0").is_some_and(|stored| stored.fits(&long)));
    }
}
