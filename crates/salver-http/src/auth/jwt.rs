//! JSON Web Tokens (RFC 7519), signed with HMAC or RSA.
//!
//! The kind of a key decides which algorithms it is for, never the token: a public key is no secret of HMAC, and there
//! is no token without a signature.

mod key;

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use salver_model::Result;
use salver_model::spec::JwtSpec;
use serde_json::{Map, Value};

use self::key::Key;
use super::{Identity, proved_by};

/// Claims that change with every token of the same caller, and say nothing of who it is.
const PASSING: [&str; 4] = ["exp", "iat", "nbf", "jti"];

/// The keys and what else a token must be like.
#[derive(Debug)]
pub(super) struct Jwt {
    keys: Vec<(Option<String>, Key)>,
    algorithms: Vec<String>,
    audiences: Vec<String>,
    issuers: Vec<String>,
    leeway_s: f64,
    ttl_s: f64,
    /// What the names of others begin with.
    foreign: String,
    endless: bool,
}

impl Jwt {
    /// Tokens that `spec` believes, but for those whose subject begins with `foreign`, when that is not empty: as names
    /// of users in a table do.
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

    /// The user that the token's maker tells of; `None` for a token that is not to be believed.
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
        // What must be understood (RFC 7515, section 4.1.11) is not.
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

    /// Whether the token is for us, and from whom we believe.
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

    /// Whether the token holds now; `None` for a time that is no number.
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

/// A part of a token as an object.
fn object(part: &str) -> Option<Map<String, Value>> {
    let bytes = URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// What the claims tell of the caller.
fn identity(claims: &Map<String, Value>) -> Identity {
    let lasting = claims.iter().filter(|(name, _)| !PASSING.contains(&name.as_str()));
    let text = |name: &str| claims.get(name).and_then(super::users::as_text);
    // A subject is one of its issuer's (RFC 7519, section 4.1.2).
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
