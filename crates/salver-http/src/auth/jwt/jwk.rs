//! JSON Web Key sets (RFC 7517, section 5), as identity providers publish them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::RsaPublicKeyComponents;
use salver_model::limits::JWK_SET_KEYS_MAX;
use salver_model::{Code, Error, Result};
use serde::Deserialize;

use super::key::Key;

/// A key of a set.
#[derive(Debug)]
pub(super) struct Jwk {
    /// Its name in the set.
    pub(super) kid: Option<String>,
    /// The only algorithm that it is for, if the set tells one.
    pub(super) algorithm: Option<String>,
    pub(super) key: Key,
}

/// A set as it is written. Members that are not understood are ignored (RFC 7517, section 4).
#[derive(Deserialize)]
struct WrittenSet {
    keys: Vec<serde_json::Value>,
}

/// A key as it is written.
#[derive(Deserialize)]
struct WrittenKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// Parses the keys of a set that verify signatures. Keys of other types and for other purposes are skipped, as
/// RFC 7517 (section 5) demands; so are symmetric ones, which are not for publishing.
///
/// # Errors
/// `Config` for what is not a set of keys, and for one without a usable key.
pub(super) fn parse(text: &[u8]) -> Result<Vec<Jwk>> {
    let set: WrittenSet = serde_json::from_slice(text).map_err(|error| {
        Error::new(Code::Config, format!("it is not a JSON Web Key set: {error}"))
            .with_hint("a set is a JSON object with an array `keys`")
            .with_source(error)
    })?;
    if set.keys.len() > JWK_SET_KEYS_MAX {
        let message = format!("the key set has more than {JWK_SET_KEYS_MAX} keys");
        return Err(Error::new(Code::Config, message).with_hint("name the set of one issuer"));
    }
    let written = set.keys.into_iter().filter_map(|key| serde_json::from_value::<WrittenKey>(key).ok());
    let keys: Vec<Jwk> = written.filter_map(read).collect();
    if keys.is_empty() {
        return Err(Error::new(Code::Config, "the key set has no key that verifies signatures")
            .with_hint("public keys of RSA (2048 bits and more), P-256, P-384 and Ed25519 do"));
    }
    Ok(keys)
}

fn read(written: WrittenKey) -> Option<Jwk> {
    let is_for_signatures = written.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
        && written.key_ops.as_ref().is_none_or(|operations| operations.iter().any(|one| one == "verify"));
    is_for_signatures.then_some(())?;
    let key = match (written.kty.as_str(), written.crv.as_deref()) {
        ("RSA", _) => Key::RsaNumbers(RsaPublicKeyComponents { n: number(&written.n)?, e: number(&written.e)? }),
        ("EC", Some("P-256")) => Key::P256(point(&written, 32)?),
        ("EC", Some("P-384")) => Key::P384(point(&written, 48)?),
        ("OKP", Some("Ed25519")) => Key::Ed25519(bytes(&written.x).filter(|key| key.len() == 32)?),
        _ => return None,
    };
    Some(Jwk { kid: written.kid, algorithm: written.alg, key })
}

fn bytes(text: &Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text.as_deref()?.trim_end_matches('=')).ok()
}

/// Decodes a number without the zeros before it, which some issuers write and the library refuses.
fn number(text: &Option<String>) -> Option<Vec<u8>> {
    let bytes = bytes(text)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    Some(bytes[zeros..].to_vec()).filter(|number| !number.is_empty())
}

/// Joins both coordinates to an uncompressed point (SEC 1, section 2.3.3).
fn point(written: &WrittenKey, length: usize) -> Option<Vec<u8>> {
    let coordinate = |text| bytes(text).filter(|bytes| bytes.len() == length);
    Some([vec![4], coordinate(&written.x)?, coordinate(&written.y)?].concat())
}
