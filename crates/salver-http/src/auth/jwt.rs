//! JSON Web Tokens (RFC 7519), signed with HMAC or RSA.
//!
//! The type of the key decides which algorithms are accepted, never the token: a public key is not accepted as an HMAC
//! secret, and unsigned tokens are refused.

mod key;

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use salver_model::Result;
use salver_model::spec::JwtSpec;
use serde_json::{Map, Value};

use self::key::Key;
use super::{Identity, proved_by};

/// Claims that differ between tokens of the same caller, and do not identify it.
const PASSING: [&str; 4] = ["exp", "iat", "nbf", "jti"];

/// The keys, and the other requirements on a token.
#[derive(Debug)]
pub(super) struct Jwt {
    keys: Vec<(Option<String>, Key)>,
    algorithms: Vec<String>,
    audiences: Vec<String>,
    issuers: Vec<String>,
    leeway_s: f64,
    ttl_s: f64,
    /// Prefix of the names of users from elsewhere.
    foreign: String,
    endless: bool,
}

impl Jwt {
    /// Returns a verifier for the tokens that `spec` trusts, except those whose subject begins with `foreign`, if that
    /// is not empty: this prefix marks the names of users in a table.
    pub(super) fn new(spec: &JwtSpec, foreign: &str) -> Result<Self> {
        let keys = spec.secrets.iter().map(|(kid, secret)| Ok((kid.clone(), Key::of(secret.reveal())?)));
        Ok(Self {
            keys: keys.collect::<Result<_>>()?,
            algorithms: spec.algorithms.clone(),
            audiences: spec.audiences.clone(),
            issuers: spec.issuers.clone(),
            leeway_s: spec.leeway.as_secs_f64(),
            ttl_s: spec.ttl.as_secs_f64(),
            foreign: foreign.to_owned(),
            endless: spec.endless,
        })
    }

    /// Verifies a token and returns the identity in it; `None` for a token that is not trusted.
    pub(super) fn prove(&self, token: &str) -> Option<Identity> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        self.prove_at(token, now.as_secs_f64())
    }

    fn prove_at(&self, token: &str, now_s: f64) -> Option<Identity> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature.trim_end_matches('=')).ok()?;
        let header = object(header)?;
        let algorithm = header.get("alg")?.as_str()?;
        let is_typed = header.get("typ").is_none_or(|typ| {
            typ.as_str().is_some_and(|typ| typ.eq_ignore_ascii_case("JWT") || typ.eq_ignore_ascii_case("at+jwt"))
        });
        // Extensions that must be understood (RFC 7515, section 4.1.11) are not supported.
        if !is_typed || header.contains_key("crit") {
            return None;
        }
        if !self.algorithms.is_empty() && !self.algorithms.iter().any(|own| own == algorithm) {
            return None;
        }
        let kid = match header.get("kid") {
            Some(kid) => Some(kid.as_str()?),
            None => None,
        };
        let mut keys = self.keys.iter().filter(|(own, _)| own.as_deref() == kid);
        if !keys.any(|(_, key)| key.verifies(algorithm, signed.as_bytes(), &signature)) {
            return None;
        }
        let claims = object(payload)?;
        let identity = (self.is_meant(&claims) && self.is_current(&claims, now_s)?).then(|| identity(&claims))?;
        let user = identity.iter().find(|(name, _)| name == "user").map_or("", |(_, user)| user);
        let is_foreign = !self.foreign.is_empty() && user.starts_with(&self.foreign);
        (!is_foreign).then_some(identity)
    }

    /// Returns whether audience and issuer of the token are accepted.
    fn is_meant(&self, claims: &Map<String, Value>) -> bool {
        let is_one_of = |name: &str, allowed: &[String]| {
            let is_allowed = |value: &Value| value.as_str().is_some_and(|text| allowed.iter().any(|own| own == text));
            allowed.is_empty()
                || match claims.get(name) {
                    Some(Value::Array(several)) => several.iter().any(is_allowed),
                    Some(one) => is_allowed(one),
                    None => false,
                }
        };
        is_one_of("aud", &self.audiences) && is_one_of("iss", &self.issuers)
    }

    /// Returns whether the token is valid at this time; `None` for a time that is not a number.
    fn is_current(&self, claims: &Map<String, Value>, now_s: f64) -> Option<bool> {
        let time = |name: &str| match claims.get(name) {
            None => Some(None),
            Some(value) => value.as_f64().map(Some),
        };
        let (begins, made, ends) = (time("nbf")?, time("iat")?, time("exp")?);
        let ends = ends.or(made.map(|made| made + self.ttl_s));
        if ends.is_none() && !self.endless {
            return Some(false);
        }
        let has_begun = |time: Option<f64>| time.is_none_or(|time| now_s + self.leeway_s >= time);
        Some(has_begun(begins) && has_begun(made) && ends.is_none_or(|ends| now_s - self.leeway_s <= ends))
    }
}

/// Decodes a part of a token as a JSON object.
fn object(part: &str) -> Option<Map<String, Value>> {
    let bytes = URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Returns the identity that the claims describe.
fn identity(claims: &Map<String, Value>) -> Identity {
    let lasting = claims.iter().filter(|(name, _)| !PASSING.contains(&name.as_str()));
    let text = |name: &str| claims.get(name).and_then(super::users::as_text);
    // A subject is only unique for its issuer (RFC 7519, section 4.1.2).
    let subject = text("sub").or_else(|| text("user"));
    let whole = subject.map(|subject| text("iss").map_or(subject.clone(), |issuer| format!("{issuer} {subject}")));
    let mut identity = proved_by("jwt", whole.as_deref());
    identity.extend(lasting.filter_map(|(name, value)| Some((name.clone(), super::users::as_text(value)?))));
    let subject = identity.iter().find(|(name, _)| name == "sub").map(|(_, value)| value.clone());
    if let Some(subject) = subject.filter(|_| !claims.contains_key("user")) {
        identity.push(("user".to_owned(), subject));
    }
    identity
}

#[cfg(test)]
mod tests;
