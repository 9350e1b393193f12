//! Parses keys, hashes and secrets, written alone or as `NAME:SECRET`.

use std::time::SystemTime;

use salver_model::limits::{API_KEY_BYTES_MIN, JWT_SECRET_BYTES_MIN};
pub(crate) use salver_model::secrecy::MASK;
use salver_model::spec::{ApiKey, ApiKeySpec, ScramVerifier, Secret};

use crate::mistake::{Findings, Mistake, Warning};
use crate::raw::Table;

/// Secret with its name.
type Named = (Option<String>, Secret);

/// Returns whether a token key is a public one, in PEM.
pub(crate) fn is_public_key(text: &str) -> bool {
    text.trim_start().starts_with("-----BEGIN ")
}

/// Splits a text at its first colon.
fn split(text: &str) -> (Option<String>, &str) {
    match text.split_once(':') {
        Some((name, secret)) if !is_public_key(text) && !name.is_empty() => {
            (Some(name.trim().to_owned()), secret.trim())
        }
        _ => (None, text.trim()),
    }
}

/// Returns every secret under `key`; empty ones and placeholders are mistakes.
fn all(table: &Table, key: &str, findings: &mut Findings) -> Vec<Named> {
    let mut secrets: Vec<Named> = Vec::new();
    for text in table.texts(key).unwrap_or_default() {
        let (name, secret) = split(text);
        let what = name.as_ref().map_or_else(|| format!("`{key}`"), |name| format!("`{name}` in `{key}`"));
        let wrong = if secret.is_empty() {
            Some((format!("the secret of {what} is empty"), "write it behind the colon"))
        } else if secret == MASK {
            Some((format!("the secret of {what} is not shown here"), "`***` stands for it; write the secret itself"))
        } else if secrets.iter().any(|(_, other)| other.reveal() == secret) {
            Some((format!("the secret of {what} stands there twice"), "give each its own"))
        } else {
            None
        };
        match wrong {
            Some((message, hint)) => {
                findings.mistake(Mistake::new(table.place_of(key), message).with_hint(hint));
            }
            None => secrets.push((name, Secret::new(secret))),
        }
    }
    secrets
}

pub(super) fn api_keys(table: &Table, findings: &mut Findings) -> Vec<ApiKeySpec> {
    let written = all(table, "api_keys", findings);
    if written.iter().any(|(_, key)| key.reveal().len() < API_KEY_BYTES_MIN) {
        short(table, "api_keys", API_KEY_BYTES_MIN, findings);
    }
    let place = table.place_of("api_keys");
    let mut keys = Vec::new();
    for (name, text) in written {
        if name.as_deref() == Some("sha256") {
            let mistake = Mistake::new(place, "a hash in `api_keys` has no name before it");
            findings.mistake(mistake.with_hint("write `NAME:sha256:HASH`"));
            continue;
        }
        let lower = text.reveal().to_ascii_lowercase();
        let is_other_hash =
            ["sha1:", "sha224:", "sha384:", "sha512:", "md5:"].iter().any(|kind| lower.starts_with(kind));
        if is_other_hash || lower.starts_with("sha256:") && !text.reveal().starts_with("sha256:") {
            let what = name.as_deref().unwrap_or("a key");
            let message = format!("the hash of `{what}` in `api_keys` does not begin with `sha256:`");
            findings.mistake(Mistake::new(place, message).with_hint("`salver key new NAME` makes a key and its hash"));
            continue;
        }
        match ApiKey::parse(text.reveal()) {
            Ok(key) if keys.iter().any(|own: &ApiKeySpec| own.key.digest() == key.digest()) => {
                let what = name.as_deref().unwrap_or("a key");
                let message = format!("the key of `{what}` in `api_keys` stands there twice, once as its hash");
                findings.mistake(Mistake::new(place, message).with_hint("give each its own"));
            }
            Ok(key) => keys.push(ApiKeySpec { name, key }),
            Err(error) => {
                let what = name.map_or_else(|| "`api_keys`".to_owned(), |name| format!("`{name}` in `api_keys`"));
                let mistake = Mistake::new(place, format!("{what}: {}", error.message));
                findings.mistake(mistake.with_hint(error.hint.unwrap_or_default()));
            }
        }
    }
    if let Some(gone) = keys.iter().find(|own| own.key.expires().is_some_and(|end| end <= SystemTime::now())) {
        let name = gone.name.as_deref().unwrap_or_default();
        let warning = Warning::new(place, format!("the key of `{name}` has expired"));
        findings.warning(warning.with_hint("take it out, or make a new one with `salver key new`"));
    }
    keys
}

pub(super) fn basic_users(table: &Table, findings: &mut Findings) -> Vec<(String, Secret)> {
    let mut users = Vec::new();
    for (name, hash) in all(table, "basic_users", findings) {
        let shown = name.as_deref().unwrap_or("somebody").to_owned();
        match name.filter(|_| is_bcrypt(hash.reveal()) || ScramVerifier::parse(hash.reveal()).is_some()) {
            Some(name) => users.push((name, hash)),
            None => {
                let message =
                    format!("`{shown}` in `basic_users` has neither a bcrypt hash nor a verifier of a password");
                let hint =
                    format!("`htpasswd -nB {shown}` writes NAME:HASH, and `salver key password {shown}` a verifier");
                findings.mistake(Mistake::new(table.place_of("basic_users"), message).with_hint(hint));
            }
        }
    }
    users
}

pub(super) fn jwt(table: &Table, findings: &mut Findings) -> Vec<Named> {
    let secrets = all(table, "jwt_secrets", findings);
    for (_, secret) in &secrets {
        let text = secret.reveal();
        if is_public_key(text) {
            let is_public = ["PUBLIC KEY", "RSA PUBLIC KEY"]
                .iter()
                .any(|kind| text.starts_with(&format!("-----BEGIN {kind}-----")) && text.contains("-----END "));
            if !is_public {
                let mistake = Mistake::new(table.place_of("jwt_secrets"), "a key is not a public key");
                findings.mistake(mistake.with_hint("`openssl pkey -in key.pem -pubout` writes the public key"));
            }
        } else if text.len() < JWT_SECRET_BYTES_MIN {
            short(table, "jwt_secrets", JWT_SECRET_BYTES_MIN, findings);
        }
    }
    secrets
}

fn short(table: &Table, key: &str, bytes_min: usize, findings: &mut Findings) {
    let message = format!("a secret in `{key}` is short enough to be found out by trying");
    let hint = format!("use {bytes_min} random characters or more, as `openssl rand -base64 {bytes_min}` writes them");
    findings.warning(Warning::new(table.place_of(key), message).with_hint(hint));
}

/// Returns whether `text` looks like `$2y$10$` and 53 more characters.
fn is_bcrypt(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("$2") else { return false };
    let rest = rest.strip_prefix(['a', 'b', 'x', 'y']).unwrap_or(rest);
    rest.starts_with('$') && text.len() >= 59 && text.is_ascii()
}
