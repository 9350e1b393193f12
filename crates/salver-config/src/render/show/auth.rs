//! The settings of `[auth]`, with `***` in place of secrets.

use salver_model::spec::{ApiKeySpec, AuthSpec, OidcSpec, Secret};

use super::{absolute, pairs_unless_empty, quoted, texts};
use crate::checked::auth::{MASK, is_public_key};
use crate::value::duration_text;

/// Returns the value of a setting; `None` when it was not given.
pub(super) fn value(spec: &AuthSpec, key: &str) -> Option<String> {
    let ms = |time: std::time::Duration| quoted(&duration_text(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)));
    let some = |list: &[String]| (!list.is_empty()).then(|| texts(list));
    let jwt = &spec.jwt;
    match key {
        "mode" => Some(quoted(if spec.required { "required" } else { "optional" })),
        "api_keys" => {
            let shown = |own: &ApiKeySpec| own.name.as_ref().map_or(MASK.to_owned(), |name| format!("{name}:{MASK}"));
            some(&spec.api_keys.iter().map(shown).collect::<Vec<_>>())
        }
        "api_keys_file" => {
            spec.api_keys_file.as_ref().and_then(|path| path.to_str()).map(|path| quoted(&absolute(path)))
        }
        "api_key_header" => Some(quoted(&spec.api_key_header)),
        "basic_users" => masked(spec.basic_users.iter().map(|(name, secret)| (Some(name.as_str()), secret))),
        "basic_file" => spec.basic_file.as_ref().and_then(|path| path.to_str()).map(|path| quoted(&absolute(path))),
        "realm" => Some(quoted(&spec.realm)),
        "jwt_secrets" => masked(jwt.secrets.iter().map(|(name, secret)| (name.as_deref(), secret))),
        "jwt_key_set" => jwt.key_set.as_deref().map(|location| match location.contains("://") {
            true => quoted(&salver_model::secrecy::masked(location)),
            false => quoted(&absolute(location)),
        }),
        "jwt_key_set_interval" => Some(ms(jwt.key_set_interval)),
        "jwt_header" => jwt.header.as_deref().map(quoted),
        "jwt_algorithms" => some(&jwt.algorithms),
        "jwt_audiences" => some(&jwt.audiences),
        "jwt_issuers" => some(&jwt.issuers),
        "jwt_leeway" => Some(ms(jwt.leeway)),
        "jwt_ttl" => Some(ms(jwt.ttl)),
        "jwt_exp_required" => Some((!jwt.endless).to_string()),
        "attempts_max" => Some(spec.attempts_max.to_string()),
        "session_cookie" | "session_idle" => {
            let of_users = spec.users.as_ref().map(|users| (&users.session_cookie, users.session_idle));
            let of_provider = spec.oidc.as_ref().map(|oidc| (&oidc.session_cookie, oidc.session_idle));
            let (cookie, idle) = of_users.or(of_provider)?;
            Some(if key == "session_cookie" { quoted(cookie) } else { ms(idle) })
        }
        key if key.starts_with("oidc_") => oidc(spec.oidc.as_ref()?, key),
        _ => users(spec, key, &some),
    }
}

fn users(spec: &AuthSpec, key: &str, some: &dyn Fn(&[String]) -> Option<String>) -> Option<String> {
    let users = spec.users.as_ref()?;
    let [username, password, new_password] = &users.fields;
    match key {
        "database" => Some(quoted(users.database.as_str())),
        "wordpress" => users.wordpress.as_deref().map(quoted),
        "users_table" => Some(quoted(&users.table)),
        "login_table" => users.login_table.as_deref().map(quoted),
        "login" => Some(users.login.to_string()),
        "username_column" => Some(quoted(&users.username_column)),
        "password_column" => Some(quoted(&users.password_column)),
        "api_key_column" => users.api_key_column.as_deref().map(quoted),
        "returned_columns" => some(&users.returned_columns),
        "username_field" => Some(quoted(username)),
        "password_field" => Some(quoted(password)),
        "new_password_field" => Some(quoted(new_password)),
        "users_prefix" => (!users.prefix.is_empty()).then(|| quoted(&users.prefix)),
        "register" => Some(users.register.to_string()),
        "register_columns" => pairs_unless_empty(&users.register_columns),
        "login_after_registration" => Some(users.login_after_registration.to_string()),
        "password_length_min" => Some(users.password_length_min.to_string()),
        "users_shown" => Some(users.shown.to_string()),
        _ => None,
    }
}

fn oidc(oidc: &OidcSpec, key: &str) -> Option<String> {
    match key {
        "oidc_issuer" => Some(quoted(&oidc.issuer)),
        "oidc_client_id" => Some(quoted(&oidc.client_id)),
        "oidc_client_secret" => oidc.client_secret.as_ref().map(|_| quoted(MASK)),
        "oidc_client_secret_file" => {
            oidc.client_secret_file.as_ref().and_then(|path| path.to_str()).map(|path| quoted(&absolute(path)))
        }
        "oidc_scopes" => Some(quoted(&oidc.scopes)),
        "oidc_claim" => Some(quoted(&oidc.claim)),
        "oidc_logout" => Some(oidc.logout.to_string()),
        _ => None,
    }
}

/// Returns names with `***`. Public keys are not secret.
fn masked<'s>(secrets: impl Iterator<Item = (Option<&'s str>, &'s Secret)>) -> Option<String> {
    let shown = |(name, secret): (Option<&str>, &Secret)| {
        let text = if is_public_key(secret.reveal()) { secret.reveal() } else { MASK };
        name.map_or_else(|| text.to_owned(), |name| format!("{name}:{text}"))
    };
    let shown: Vec<String> = secrets.map(shown).collect();
    (!shown.is_empty()).then(|| texts(&shown))
}
