//! Keys that verify signatures (RFC 7518, section 3; RFC 8037).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use salver_model::{Code, Error, Result};

/// A key. Its type decides which algorithms it verifies.
#[derive(Debug)]
pub(super) enum Key {
    /// An HMAC secret, as one key per digest length.
    Secret(Box<[hmac::Key; 3]>),
    /// An RSA public key in the PKCS #1 encoding (RFC 8017, appendix A.1.1).
    Rsa(Vec<u8>),
    /// An RSA public key as modulus and exponent, big-endian.
    RsaNumbers(RsaPublicKeyComponents<Vec<u8>>),
    /// A point on P-256, uncompressed (SEC 1, section 2.3.3).
    P256(Vec<u8>),
    /// A point on P-384, uncompressed.
    P384(Vec<u8>),
    /// An Ed25519 public key.
    Ed25519(Vec<u8>),
}

impl Key {
    /// Parses a public key in PEM; any other text is an HMAC secret.
    ///
    /// # Errors
    /// `Config` for a PEM that is not a public key of a supported type.
    pub(super) fn of(text: &str) -> Result<Self> {
        if !text.trim_start().starts_with("-----BEGIN ") {
            let key = |algorithm| hmac::Key::new(algorithm, text.as_bytes());
            let keys = [hmac::HMAC_SHA256, hmac::HMAC_SHA384, hmac::HMAC_SHA512].map(key);
            return Ok(Self::Secret(Box::new(keys)));
        }
        let der: String = text.lines().filter(|line| !line.contains("-----")).map(str::trim).collect();
        let der = STANDARD.decode(der).ok();
        let is_bare = text.contains("-----BEGIN RSA PUBLIC KEY-----");
        let key = der.and_then(|der| if is_bare { Some(Self::Rsa(der)) } else { unwrapped(&der) });
        key.ok_or_else(|| {
            let message = "a key of `jwt_secrets` is not a public key of RSA, P-256, P-384 or Ed25519 in PEM";
            Error::new(Code::Config, message).with_hint("`openssl pkey -in key.pem -pubout` writes one")
        })
    }

    /// Returns whether `signature` is valid for `message` under an algorithm that fits the key.
    pub(super) fn verifies(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        let by = |algorithm: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(algorithm, key).verify(message, signature).is_ok()
        };
        match (self, algorithm) {
            (Self::Secret(keys), _) => {
                let [short, middle, long] = &**keys;
                let key = match algorithm {
                    "HS256" => short,
                    "HS384" => middle,
                    "HS512" => long,
                    _ => return false,
                };
                hmac::verify(key, message, signature).is_ok()
            }
            (Self::Rsa(der), _) => rsa(algorithm).is_some_and(|parameters| by(parameters, der)),
            (Self::RsaNumbers(key), _) => {
                rsa(algorithm).is_some_and(|parameters| key.verify(parameters, message, signature).is_ok())
            }
            (Self::P256(point), "ES256") => by(&ECDSA_P256_SHA256_FIXED, point),
            (Self::P384(point), "ES384") => by(&ECDSA_P384_SHA384_FIXED, point),
            // Also by its name of RFC 9864.
            (Self::Ed25519(key), "EdDSA" | "Ed25519") => by(&ED25519, key),
            _ => false,
        }
    }
}

fn rsa(algorithm: &str) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        "RS256" => &RSA_PKCS1_2048_8192_SHA256,
        "RS384" => &RSA_PKCS1_2048_8192_SHA384,
        "RS512" => &RSA_PKCS1_2048_8192_SHA512,
        "PS256" => &RSA_PSS_2048_8192_SHA256,
        "PS384" => &RSA_PSS_2048_8192_SHA384,
        "PS512" => &RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

/// Returns the key inside a SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7), if its type is supported.
fn unwrapped(der: &[u8]) -> Option<Key> {
    /// The object identifier `rsaEncryption` (RFC 8017, appendix C).
    const RSA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
    /// `id-ecPublicKey`, with the named curve as its parameter (RFC 5480, section 2.1.1).
    const EC: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
    /// `secp256r1`.
    const P256: [u8; 8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
    /// `secp384r1`.
    const P384: [u8; 5] = [0x2b, 0x81, 0x04, 0x00, 0x22];
    /// `id-Ed25519` (RFC 8410, section 3).
    const ED25519: [u8; 3] = [0x2b, 0x65, 0x70];
    let (info, rest) = element(der, 0x30)?;
    let (algorithm, key) = element(info, 0x30)?;
    let (identifier, parameters) = element(algorithm, 0x06)?;
    let (bits, end) = element(key, 0x03)?;
    let (unused_bits, key) = bits.split_first()?;
    (rest.is_empty() && end.is_empty() && *unused_bits == 0).then_some(())?;
    let key = key.to_vec();
    if identifier == RSA {
        return Some(Key::Rsa(key));
    }
    if identifier == ED25519 {
        return (key.len() == 32).then_some(Key::Ed25519(key));
    }
    let (curve, _) = element(parameters, 0x06).filter(|_| identifier == EC)?;
    if curve == P256 {
        return is_point(&key, 32).then_some(Key::P256(key));
    }
    (curve == P384 && is_point(&key, 48)).then_some(Key::P384(key))
}

/// Returns whether `key` has the form of an uncompressed point with coordinates of this many bytes.
fn is_point(key: &[u8], coordinate: usize) -> bool {
    key.len() == 1 + 2 * coordinate && key.first() == Some(&4)
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
