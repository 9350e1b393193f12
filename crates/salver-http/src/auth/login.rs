//! Tokens for users who logged in with name and password, for protocols whose clients then send a token instead. They
//! are JSON Web Tokens, because such clients parse them, signed with a key that lives as long as the server process.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use salver_model::{Result, seal};
use serde_json::{Value, json};

/// Header of every token that is issued here. Its `kid` distinguishes it from tokens of other issuers.
const HEADER: &str = r#"{"alg":"HS256","kid":"salver-login","typ":"JWT"}"#;
/// Lifetime of a token in seconds, the same as ArangoDB's.
const TTL_S: u64 = 3_600;

/// Issues and verifies login tokens.
#[derive(Debug)]
pub(crate) struct Logins {
    key: hmac::Key,
}

impl Logins {
    /// Creates an issuer with a key of its own.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { key: hmac::Key::new(hmac::HMAC_SHA256, &seal::random::<32>()?) })
    }

    /// Issues a token for the user `name`, valid as long as the user's `state` stays the same.
    pub(crate) fn issue(&self, name: &str, state: &str) -> String {
        self.issue_at(name, state, now_s())
    }

    fn issue_at(&self, name: &str, state: &str, now_s: u64) -> String {
        let claims = json!({
            "iss": "arangodb", "preferred_username": name, "iat": now_s, "exp": now_s + TTL_S, "state": state,
        });
        let signed = format!("{}.{}", encoded(HEADER), encoded(&claims.to_string()));
        let signature = hmac::sign(&self.key, signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// Returns whether a token looks like one that was issued here.
    pub(crate) fn is_own(token: &str) -> bool {
        token.split_once('.').is_some_and(|(header, _)| header == encoded(HEADER))
    }

    /// Returns the user of a token, and the state that the user must be in; `None` for a token that is invalid or
    /// expired.
    pub(crate) fn read(&self, token: &str) -> Option<(String, String)> {
        self.read_at(token, now_s())
    }

    fn read_at(&self, token: &str, now_s: u64) -> Option<(String, String)> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&self.key, signed.as_bytes(), &signature).ok()?;
        let (_, claims) = signed.split_once('.')?;
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        let is_good = claims.get("exp").and_then(Value::as_u64).is_some_and(|end| now_s < end);
        is_good.then_some(())?;
        Some((text("preferred_username")?, text("state")?))
    }
}

fn encoded(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::{Logins, TTL_S};

    #[test]
    fn tokens_are_for_a_time_and_under_one_key() {
        let (own, other) = (Logins::new().unwrap(), Logins::new().unwrap());
        let token = own.issue_at("ann", "x", 1_000);
        assert!(Logins::is_own(&token) && !Logins::is_own("a.b.c") && !Logins::is_own(""));
        assert_eq!(own.read_at(&token, 1_000), Some(("ann".to_owned(), "x".to_owned())));
        assert_eq!(own.read_at(&token, 1_000 + TTL_S), None);
        assert_eq!(other.read_at(&token, 1_000), None);
        let changed = token.replacen('.', ".e", 1);
        assert_eq!(own.read_at(&changed, 1_000), None);
        for cut in 0..token.len() {
            assert_eq!(own.read_at(&token[..cut], 1_000), None);
        }
    }
}
