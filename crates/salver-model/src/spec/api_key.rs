//! Specification of API keys: how they are written in settings and files.
//!
//! A key is written out, or as the hash of it: `sha256:` and 64 hexadecimal digits, with `@` and an expiry if it has
//! one, like `sha256:9f86…0a08@2027-01-31`. A hash without salt and iterations suffices, because keys are random: no
//! list of likely keys contains them.

use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, NaiveDate, NaiveTime};
use ring::digest;

use crate::error::{Code, Error, Result};
use crate::seal;
use crate::spec::Secret;

/// Prefix of a hash.
const HASH_PREFIX: &str = "sha256:";
/// Prefix of generated keys, by which scanners for leaked secrets recognize them.
const KEY_PREFIX: &str = "slv_";

/// An API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeySpec {
    /// Name of the caller who has it.
    pub name: Option<String>,
    /// Content.
    pub key: ApiKey,
}

/// An API key, or what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiKey {
    /// The key itself.
    Plain(Secret),
    /// Its hash.
    Hashed {
        /// SHA-256 of the key.
        digest: [u8; 32],
        /// End of its validity.
        expires: Option<SystemTime>,
    },
}

impl ApiKey {
    /// Parses a key; text that is not a hash is the key itself.
    ///
    /// # Errors
    /// `Config` for a malformed hash or expiry.
    pub fn parse(text: &str) -> Result<Self> {
        let Some(hash) = text.strip_prefix(HASH_PREFIX) else { return Ok(Self::Plain(Secret::new(text))) };
        let (digits, expiry) = match hash.split_once('@') {
            Some((digits, expiry)) => (digits, Some(expiry)),
            None => (hash, None),
        };
        let digest = digest_of_digits(digits.trim()).ok_or_else(|| {
            Error::new(Code::Config, "what follows `sha256:` is not a hash of 64 hexadecimal digits")
                .with_hint("`salver key new NAME` makes a key and its hash")
        })?;
        let expires = expiry.map(|text| parse_expiry(text.trim())).transpose()?;
        Ok(Self::Hashed { digest, expires })
    }

    /// Returns the SHA-256 hash of the key.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        match self {
            Self::Plain(secret) => digest_of(secret.reveal()),
            Self::Hashed { digest, .. } => *digest,
        }
    }

    /// Returns the end of its validity; `None` if it has none.
    #[must_use]
    pub fn expires(&self) -> Option<SystemTime> {
        match self {
            Self::Plain(_) => None,
            Self::Hashed { expires, .. } => *expires,
        }
    }

    /// Generates a random key and returns it with its hash, as settings have it.
    ///
    /// # Errors
    /// `Internal` when the system has no random numbers.
    pub fn generate(expires: Option<SystemTime>) -> Result<(Secret, String)> {
        let mut key = KEY_PREFIX.to_owned();
        hex(&seal::random::<32>()?, &mut key);
        let mut hash = HASH_PREFIX.to_owned();
        hex(&digest_of(&key), &mut hash);
        if let Some(expires) = expires {
            let _ = write!(hash, "@{}", DateTime::<chrono::Utc>::from(expires).format("%Y-%m-%dT%H:%M:%SZ"));
        }
        Ok((Secret::new(key), hash))
    }
}

/// Returns the SHA-256 hash of a key.
#[must_use]
pub fn digest_of(key: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, key.as_bytes()).as_ref());
    hash
}

/// Parses the end of validity: a date, at the beginning of which (UTC) it is, or a moment (RFC 3339).
///
/// # Errors
/// `Config`.
pub fn parse_expiry(text: &str) -> Result<SystemTime> {
    let moment = match text.parse::<NaiveDate>() {
        Ok(date) => Some(date.and_time(NaiveTime::MIN).and_utc()),
        Err(_) => DateTime::parse_from_rfc3339(text).ok().map(|moment| moment.to_utc()),
    };
    let seconds = moment.and_then(|moment| u64::try_from(moment.timestamp()).ok());
    let expires = seconds.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    expires.ok_or_else(|| {
        Error::new(Code::Config, format!("`{text}` is not the expiry of a key"))
            .with_hint("write a date like 2027-01-31, or a moment like 2027-01-31T12:00:00Z")
    })
}

fn digest_of_digits(digits: &str) -> Option<[u8; 32]> {
    let digits = digits.as_bytes();
    (digits.len() == 64 && digits.iter().all(u8::is_ascii_hexdigit)).then_some(())?;
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(digest)
}

fn hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::{ApiKey, parse_expiry};

    #[test]
    fn what_is_generated_is_read() {
        let expires = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        for expires in [None, Some(expires)] {
            let (key, hash) = ApiKey::generate(expires).unwrap();
            let read = ApiKey::parse(&hash).unwrap();
            assert_eq!(read.digest(), ApiKey::parse(key.reveal()).unwrap().digest());
            assert_eq!(read.expires(), expires, "{hash}");
        }
        let [one, other] = [0, 1].map(|_| ApiKey::generate(None).unwrap().1);
        assert_ne!(one, other);
    }

    #[test]
    fn hashes_and_expiries() {
        let digits = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        let known = ApiKey::parse(&format!("sha256:{digits}")).unwrap();
        assert_eq!(known.digest(), super::digest_of("test"));
        assert_eq!(known, ApiKey::parse(&format!("sha256:{}", digits.to_uppercase())).unwrap());
        let day = |text: &str| parse_expiry(text).ok().and_then(|end| end.duration_since(UNIX_EPOCH).ok());
        assert_eq!(day("1970-01-02"), Some(Duration::from_secs(86_400)));
        assert_eq!(day("1970-01-02T01:00:00+01:00"), Some(Duration::from_secs(86_400)));
        for bad in ["", "tomorrow", "2027-02-30", "1969-12-31", "2027-01-31 12:00", "31.01.2027"] {
            assert!(parse_expiry(bad).is_err(), "{bad}");
        }
        let short = &digits[1..];
        for bad in [
            "sha256:",
            "sha256:test",
            &format!("sha256:{short}"),
            &format!("sha256:{digits}@"),
            &format!("sha256:+{short}"),
        ] {
            assert!(ApiKey::parse(bad).is_err(), "{bad}");
        }
        assert!(matches!(ApiKey::parse(digits), Ok(ApiKey::Plain(_))));
    }
}
