//! Keys that verify signatures.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use ring::signature::{self, RsaParameters, UnparsedPublicKey};
use salver_model::{Code, Error, Result};

/// An HMAC secret, or an RSA public key in the PKCS #1 encoding (RFC 8017, appendix A.1.1).
#[derive(Debug)]
pub(super) enum Key {
    /// One HMAC key per digest length.
    Secret(Box<[hmac::Key; 3]>),
    /// The public key in DER.
    Public(Vec<u8>),
}

impl Key {
    /// Parses a public key in PEM; any other text is an HMAC secret.
    ///
    /// # Errors
    /// `Config` for a PEM that is not an RSA public key.
    pub(super) fn of(text: &str) -> Result<Self> {
        if !text.trim_start().starts_with("-----BEGIN ") {
            let key = |algorithm| hmac::Key::new(algorithm, text.as_bytes());
            let keys = [hmac::HMAC_SHA256, hmac::HMAC_SHA384, hmac::HMAC_SHA512].map(key);
            return Ok(Self::Secret(Box::new(keys)));
        }
        let der: String = text.lines().filter(|line| !line.contains("-----")).map(str::trim).collect();
        let der = STANDARD.decode(der).ok();
        let is_bare = text.contains("-----BEGIN RSA PUBLIC KEY-----");
        let key = der.and_then(|der| if is_bare { Some(der) } else { unwrapped(&der).map(<[u8]>::to_vec) });
        key.map(Self::Public).ok_or_else(|| {
            Error::new(Code::Config, "a key of `jwt_secrets` is not the public key of RSA in PEM")
                .with_hint("`openssl rsa -in key.pem -pubout` writes one")
        })
    }

    /// Returns whether `signature` is valid for `message` under an algorithm that fits the key.
    pub(super) fn verifies(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Secret(keys) => {
                let [short, middle, long] = &**keys;
                let key = match algorithm {
                    "HS256" => short,
                    "HS384" => middle,
                    "HS512" => long,
                    _ => return false,
                };
                hmac::verify(key, message, signature).is_ok()
            }
            Self::Public(der) => {
                let parameters: &RsaParameters = match algorithm {
                    "RS256" => &signature::RSA_PKCS1_2048_8192_SHA256,
                    "RS384" => &signature::RSA_PKCS1_2048_8192_SHA384,
                    "RS512" => &signature::RSA_PKCS1_2048_8192_SHA512,
                    _ => return false,
                };
                UnparsedPublicKey::new(parameters, der).verify(message, signature).is_ok()
            }
        }
    }
}

/// Returns the key inside a SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7), if it is an RSA key.
fn unwrapped(der: &[u8]) -> Option<&[u8]> {
    /// The object identifier `rsaEncryption`.
    const RSA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
    let (info, rest) = element(der, 0x30)?;
    let (algorithm, key) = element(info, 0x30)?;
    let (identifier, _) = element(algorithm, 0x06)?;
    let (bits, end) = element(key, 0x03)?;
    let (unused_bits, key) = bits.split_first()?;
    (rest.is_empty() && end.is_empty() && identifier == RSA && *unused_bits == 0).then_some(key)
}

/// Splits `der` after its first element, which must have the type `tag`; returns the element's content and the rest.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (first, rest) = der.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(*length), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
            (bytes.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    (*first == tag).then_some(())?;
    rest.split_at_checked(length)
}
