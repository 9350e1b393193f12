//! JSON Web Tokens (RFC 7519), signed with keys of the settings or of the key set that their issuer publishes.
//!
//! The type of the key decides which algorithms are accepted, never the token: a public key is not accepted as an HMAC
//! secret, and unsigned tokens are refused.

mod jwk;
mod key;
mod key_set;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use salver_model::Result;
use salver_model::ports::KeySetSource;
use salver_model::spec::JwtSpec;
use serde_json::{Map, Value};

use self::key::Key;
use self::key_set::KeySet;
use super::{Identity, proved_by};

/// Claims that differ between tokens of the same caller, and do not identify it.
pub(super) const PASSING: [&str; 4] = ["exp", "iat", "nbf", "jti"];

/// The keys, and the other requirements on a token.
#[derive(Debug)]
pub(super) struct Jwt {
    keys: Vec<(Option<String>, Key)>,
    key_set: Option<KeySet>,
    key_set_interval: Duration,
    algorithms: Vec<String>,
    audiences: Vec<String>,
    issuers: Vec<String>,
    leeway_s: f64,
    ttl_s: f64,
    /// Prefix of the names of users from elsewhere.
    foreign: String,
    endless: bool,
}

/// The result of checking a token.
#[derive(Debug)]
pub(super) enum TokenCheck {
    /// The token is trusted; who it is for.
    Trusted(Identity),
    /// The token is not trusted.
    Refused,
    /// The key that the token names is not known; the issuer may have published it since.
    UnknownKey,
}

impl Jwt {
    /// Returns a verifier for the tokens that `spec` trusts, except those whose subject begins with `foreign`, if that
    /// is not empty: this prefix marks the names of users in a table. Where the key set of `previous` is the same, its
    /// keys stay known.
    pub(super) fn new(
        spec: &JwtSpec,
        key_set: Option<Arc<dyn KeySetSource>>,
        (foreign, previous): (&str, Option<&Self>),
    ) -> Result<Self> {
        let location = spec.key_set.as_deref().unwrap_or_default();
        let known = previous.and_then(|previous| previous.key_set.clone()).filter(|own| own.is_of(location));
        let key_set = key_set.map(|source| known.unwrap_or_else(|| KeySet::new(location, source)));
        let keys = spec.secrets.iter().map(|(kid, secret)| Ok((kid.clone(), Key::of(secret.reveal())?)));
        Ok(Self {
            keys: keys.collect::<Result<_>>()?,
            key_set,
            key_set_interval: spec.key_set_interval,
            algorithms: spec.algorithms.clone(),
            audiences: spec.audiences.clone(),
            issuers: spec.issuers.clone(),
            leeway_s: spec.leeway.as_secs_f64(),
            ttl_s: spec.ttl.as_secs_f64(),
            foreign: foreign.to_owned(),
            endless: spec.endless,
        })
    }

    /// Keeps the key set fresh, for ever; without one it returns.
    pub(super) async fn keep_fresh(&self) {
        if let Some(key_set) = &self.key_set {
            key_set.keep_fresh(self.key_set_interval).await;
        }
    }

    /// Fetches the key set, if there is one.
    ///
    /// # Errors
    /// Those of [`KeySet::fetch`].
    pub(super) async fn fetch_key_set(&self) -> Result<()> {
        match &self.key_set {
            Some(key_set) => key_set.fetch().await,
            None => Ok(()),
        }
    }

    /// Checks a token with the keys that are known.
    pub(super) fn check(&self, token: &str) -> TokenCheck {
        self.check_at(token, now_s())
    }

    /// Checks a token that names an unknown key, after looking for the key.
    ///
    /// # Errors
    /// `AuthenticationUnavailable` while no key set could be fetched.
    pub(super) async fn check_again(&self, token: &str) -> Result<Option<Identity>> {
        if let Some(key_set) = &self.key_set {
            key_set.look_again().await?;
        }
        Ok(match self.check(token) {
            TokenCheck::Trusted(identity) => Some(identity),
            TokenCheck::Refused | TokenCheck::UnknownKey => None,
        })
    }

    /// Returns the claims of a token, after looking for its key if that is unknown; `None` if it is not trusted.
    ///
    /// # Errors
    /// `AuthenticationUnavailable` while no key set could be fetched.
    pub(super) async fn claims(&self, token: &str) -> Result<Option<Map<String, Value>>> {
        if let (Signed::ByUnknownKey, Some(key_set)) = (self.verify(token, now_s()), &self.key_set) {
            key_set.look_again().await?;
        }
        Ok(match self.verify(token, now_s()) {
            Signed::Claims(claims) => Some(claims),
            Signed::NotAtAll | Signed::ByUnknownKey => None,
        })
    }

    fn check_at(&self, token: &str, now_s: f64) -> TokenCheck {
        match self.verify(token, now_s) {
            Signed::Claims(claims) => self.identify(&claims).map_or(TokenCheck::Refused, TokenCheck::Trusted),
            Signed::NotAtAll => TokenCheck::Refused,
            Signed::ByUnknownKey => TokenCheck::UnknownKey,
        }
    }

    fn verify(&self, token: &str, now_s: f64) -> Signed {
        let Some(token) = Token::of(token) else { return Signed::NotAtAll };
        match self.is_signed(&token) {
            Some(true) => self.valid_claims(&token, now_s).map_or(Signed::NotAtAll, Signed::Claims),
            Some(false) => Signed::NotAtAll,
            None => Signed::ByUnknownKey,
        }
    }

    /// Returns whether the signature is that of a trusted key; `None` if only a key set could have the key.
    fn is_signed(&self, token: &Token<'_>) -> Option<bool> {
        let (algorithm, kid) = (token.algorithm.as_str(), token.kid.as_deref());
        if !self.algorithms.is_empty() && !self.algorithms.iter().any(|own| own == algorithm) {
            return Some(false);
        }
        let is_right = |key: &Key| key.verifies(algorithm, token.signed.as_bytes(), &token.signature);
        let mut own = self.keys.iter().filter(|(own, _)| own.as_deref() == kid);
        match &self.key_set {
            _ if own.any(|(_, key)| is_right(key)) => Some(true),
            Some(key_set) => key_set.verifies(kid, algorithm, |jwk| is_right(&jwk.key)),
            None => Some(false),
        }
    }

    /// Returns the claims of a token whose signature is right; `None` if it is not meant for this server or not valid
    /// now.
    fn valid_claims(&self, token: &Token<'_>, now_s: f64) -> Option<Map<String, Value>> {
        let claims = object(token.payload)?;
        (self.is_meant(&claims) && self.is_current(&claims, now_s)?).then_some(claims)
    }

    /// Returns the identity that the claims describe; `None` for a user that can't come from elsewhere.
    fn identify(&self, claims: &Map<String, Value>) -> Option<Identity> {
        let identity = identity(claims);
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
                    // Only an audience may be several (RFC 7519, section 4.1).
                    Some(Value::Array(several)) if name == "aud" => several.iter().any(is_allowed),
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

/// What a token is, as far as its keys tell.
enum Signed {
    /// Trusted, with these claims.
    Claims(Map<String, Value>),
    /// Not trusted.
    NotAtAll,
    /// Signed with a key that is not known.
    ByUnknownKey,
}

/// The parts of a token, which proves nothing yet.
struct Token<'t> {
    /// The text that is signed.
    signed: &'t str,
    payload: &'t str,
    signature: Vec<u8>,
    algorithm: String,
    kid: Option<String>,
}

impl<'t> Token<'t> {
    /// Parses a token in the compact serialization (RFC 7515, section 3.1).
    fn of(text: &'t str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature.trim_end_matches('=')).ok()?;
        let header = object(header)?;
        let is_typed = header.get("typ").is_none_or(|typ| {
            typ.as_str().is_some_and(|typ| typ.eq_ignore_ascii_case("JWT") || typ.eq_ignore_ascii_case("at+jwt"))
        });
        // Extensions that must be understood (RFC 7515, section 4.1.11) are not supported.
        (is_typed && !header.contains_key("crit")).then_some(())?;
        let kid = match header.get("kid") {
            Some(kid) => Some(kid.as_str()?.to_owned()),
            None => None,
        };
        Some(Self { signed, payload, signature, algorithm: header.get("alg")?.as_str()?.to_owned(), kid })
    }
}

fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
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
    // The caller's name is the subject, also where a claim of the token's own is called `user`: the latter may be one
    // that its holder chooses.
    let name = text("sub");
    let lasting = lasting.filter(|(own, _)| name.is_none() || *own != "user");
    identity.extend(lasting.filter_map(|(name, value)| Some((name.clone(), super::users::as_text(value)?))));
    identity.extend(name.map(|name| ("user".to_owned(), name)));
    identity
}

#[cfg(test)]
mod tests;
