//! ID tokens (OpenID Connect Core, section 2). Signature, issuer, audience and times are checked as those of other
//! tokens are; here stands what only ID tokens have.

use salver_model::limits::{OIDC_CLAIMS_BYTES_MAX, OIDC_NAME_BYTES_MAX};
use salver_model::ports::TokenAnswer;
use salver_model::spec::OidcSpec;
use salver_model::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{refused, word};
use crate::auth::jwt::PASSING;
use crate::auth::users::as_text;
use crate::auth::{Identity, proved_by};
use crate::tokens::OF_LOGIN;

/// What the token endpoint answers (RFC 6749, sections 5.1 and 5.2).
#[derive(Deserialize)]
struct Answer {
    id_token: Option<String>,
    error: Option<String>,
}

/// Returns the ID token in an answer of the token endpoint.
///
/// # Errors
/// `AuthenticationFailed`.
pub(super) fn of_answer(answer: &TokenAnswer) -> Result<String> {
    let parsed: Option<Answer> = serde_json::from_slice(&answer.body).ok();
    let status = answer.status;
    match parsed {
        Some(Answer { id_token: Some(token), .. }) if status == 200 => Ok(token),
        Some(Answer { error: Some(error), .. }) => {
            Err(refused(&format!("the provider does not redeem the code: `{}`", word(&error))))
        }
        _ => Err(refused(&format!("the provider gives no ID token for the code (status {status})"))),
    }
}

/// Returns who the claims of an ID token are about, if it was made for the log-in with this `nonce`.
///
/// # Errors
/// `AuthenticationFailed`.
pub(super) fn identity(claims: &Map<String, Value>, spec: &OidcSpec, nonce: &str) -> Result<Identity> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("nonce") != Some(nonce) {
        return Err(refused("the ID token belongs to another log-in"));
    }
    if !claims.contains_key("exp") || text("sub").is_none_or(str::is_empty) {
        return Err(refused("the ID token has no end, or no subject"));
    }
    // A token for several clients was made for the one that it names so.
    let is_for_several = claims.get("aud").and_then(Value::as_array).is_some_and(|audiences| audiences.len() > 1);
    let is_for_us = match claims.get("azp") {
        Some(party) => party.as_str() == Some(spec.client_id.as_str()),
        None => !is_for_several,
    };
    if !is_for_us {
        return Err(refused("the ID token was made for another client"));
    }
    let name = name(claims, &spec.claim)?;
    let is_lasting = |name: &str| !PASSING.contains(&name) && !OF_LOGIN.contains(&name);
    let told = claims.iter().filter(|(name, _)| is_lasting(name));
    let told: Identity = told.filter_map(|(name, value)| Some((name.clone(), as_text(value)?))).collect();
    if told.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > OIDC_CLAIMS_BYTES_MAX {
        return Err(refused(&format!("the claims of the user have more than {OIDC_CLAIMS_BYTES_MAX} bytes"))
            .with_hint("ask the provider for less, with `auth.oidc_scopes` or its own settings"));
    }
    let mut identity = proved_by("oidc", Some(&name));
    identity.push(("user".to_owned(), name));
    identity.extend(told);
    Ok(identity)
}

/// Returns the name of the user.
fn name(claims: &Map<String, Value>, claim: &str) -> Result<String> {
    let unfit = |why: &str| -> Error {
        refused(&format!("the claim `{claim}` {why}")).with_hint("`auth.oidc_claim` is the claim that names the user")
    };
    // Whoever may write any address into his account would be whoever has it.
    let is_verified = || matches!(claims.get("email_verified"), Some(Value::Bool(true)));
    if claim == "email" && !is_verified() {
        return Err(unfit("is not verified by the provider"));
    }
    let name = match claims.get(claim) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => return Err(unfit("is missing, or no text")),
    };
    let is_fit = !name.is_empty() && name.len() <= OIDC_NAME_BYTES_MAX && !name.chars().any(char::is_control);
    if is_fit { Ok(name) } else { Err(unfit("is no name")) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use salver_model::spec::OidcSpec;
    use serde_json::{Value, json};

    use super::identity;

    fn spec(claim: &str) -> OidcSpec {
        OidcSpec {
            issuer: "https://id.example".to_owned(),
            client_id: "shop".to_owned(),
            client_secret: None,
            client_secret_file: None,
            scopes: "openid".to_owned(),
            claim: claim.to_owned(),
            logout: false,
            session_cookie: "sid".to_owned(),
            session_idle: Duration::from_secs(1),
        }
    }

    fn claims(change: Value) -> serde_json::Map<String, Value> {
        let mut claims =
            json!({ "sub": "7", "aud": "shop", "exp": 9, "iat": 1, "nonce": "n", "sid": "s", "at_hash": "h" });
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims.as_object().unwrap().clone()
    }

    #[test]
    fn who_it_is_about() {
        let claims = claims(json!({ "groups": ["a"], "user": "admin", "identity": "oidc:admin", "auth": "api_key" }));
        let identity = identity(&claims, &spec("sub"), "n").unwrap();
        // What is proved comes before what is claimed.
        let first = |wanted: &str| identity.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        assert_eq!(first("auth"), Some("oidc"));
        assert_eq!((first("identity"), first("user")), (Some("oidc:7"), Some("7")));
        assert_eq!((first("groups"), first("sub")), (Some("[\"a\"]"), Some("7")));
        assert!(["exp", "iat", "nonce", "sid", "at_hash"].iter().all(|name| first(name).is_none()));
    }

    #[test]
    fn what_is_refused() {
        let name = "x".repeat(300);
        for (change, claim, expected) in [
            (json!({}), "sub", Some("7")),
            (json!({ "nonce": "m" }), "sub", None),
            (json!({ "nonce": null }), "sub", None),
            (json!({ "aud": ["shop"] }), "sub", Some("7")),
            (json!({ "aud": ["shop", "desk"] }), "sub", None),
            (json!({ "aud": ["shop", "desk"], "azp": "shop" }), "sub", Some("7")),
            (json!({ "azp": "desk" }), "sub", None),
            (json!({ "azp": 1 }), "sub", None),
            (json!({ "sub": "" }), "sub", None),
            (json!({ "sub": "a\nb" }), "sub", None),
            (json!({ "sub": name }), "sub", None),
            (json!({ "name": "Ann" }), "name", Some("Ann")),
            (json!({ "name": 7 }), "name", Some("7")),
            (json!({ "name": ["Ann"] }), "name", None),
            (json!({}), "name", None),
            (json!({ "email": "a@b.example" }), "email", None),
            (json!({ "email": "a@b.example", "email_verified": "true" }), "email", None),
            (json!({ "email": "a@b.example", "email_verified": true }), "email", Some("a@b.example")),
            (json!({ "groups": "x".repeat(9_000) }), "sub", None),
        ] {
            let found = identity(&claims(change.clone()), &spec(claim), "n").ok();
            let user = found.as_ref().and_then(|found| found.iter().find(|(name, _)| name == "user"));
            assert_eq!(user.map(|(_, user)| user.as_str()), expected, "{change} {claim}");
        }
        let mut endless = claims(json!({}));
        endless.remove("exp");
        assert!(identity(&endless, &spec("sub"), "n").is_err());
    }
}
