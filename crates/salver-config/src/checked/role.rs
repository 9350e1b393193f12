//! Validates `[[role]]`, for `[[access]]` and `[[limit]]`.

use salver_model::Rule;
use salver_model::access::Role;
use salver_model::network::Network;
use salver_model::spec::{ApiKeySpec, AuthSpec};

use crate::mistake::{Findings, Mistake};
use crate::raw::{Raw, Table};
use crate::setting_place::SettingPlace;

/// Returns every role.
pub(super) fn check(raw: &Raw, auth: Option<&AuthSpec>, has_proxy: bool, findings: &mut Findings) -> Vec<Role> {
    let mut known: Vec<Role> = Vec::new();
    for table in &raw.roles {
        let Some(role) = role(table, findings) else { continue };
        for caller in &role.callers {
            if let Err((message, hint)) = can_be(caller, auth, has_proxy) {
                findings.mistake(Mistake::new(table.place_of("callers"), message).with_hint(hint));
            }
        }
        if known.iter().any(|other| other.name == role.name) {
            let message = format!("there are two roles called `{}`", role.name);
            findings.mistake(Mistake::new(table.place_of("name"), message).with_hint("rename one"));
            continue;
        }
        known.push(role);
    }
    // Who declares roles means to restrict something.
    if let Some(first) = raw.roles.first().filter(|_| raw.access.is_empty() && raw.caller_limits.is_empty()) {
        let message = "there are roles, and no [[access]] that says what they may do, nor a [[limit]]";
        let hint = "add [[access]] with `roles`, `entries` and `permissions`";
        findings.mistake(Mistake::new(&first.place, message).with_hint(hint));
    }
    known
}

/// Checks that somebody can prove to be this caller: a rule about nobody restricts nobody. Returns the message and the
/// hint otherwise.
pub(super) fn can_be(caller: &str, auth: Option<&AuthSpec>, has_proxy: bool) -> Result<(), (String, String)> {
    let nobody = |hint: &str| Err((format!("no caller can be `{caller}`"), hint.to_owned()));
    let (way, name) = caller.split_once([':', '#']).unwrap_or((caller, ""));
    match way {
        "api_key" => {
            let is = |(index, own): (usize, &ApiKeySpec)| match &own.name {
                Some(own) => caller == format!("api_key:{own}"),
                None => caller == format!("api_key#{}", index + 1),
            };
            let keys = auth.map(|auth| auth.api_keys.as_slice()).unwrap_or_default();
            let is_known = keys.iter().enumerate().any(is) || auth.is_some_and(|auth| auth.api_keys_file.is_some());
            let known = keys.iter().filter_map(|own| Some(format!("api_key:{}", own.name.as_ref()?)));
            let near = near(caller, known, "`auth.api_keys` has no key of that name");
            if is_known { Ok(()) } else { nobody(&near) }
        }
        "basic" => {
            let is_user =
                |auth: &AuthSpec| auth.basic_file.is_some() || auth.basic_users.iter().any(|(own, _)| own == name);
            let known = auth.iter().flat_map(|auth| &auth.basic_users).map(|(own, _)| format!("basic:{own}"));
            let near = near(caller, known, "`auth.basic_users` has no user of that name");
            if auth.is_some_and(is_user) { Ok(()) } else { nobody(&near) }
        }
        "jwt" if auth.is_none_or(|auth| !auth.jwt.is_accepted()) => {
            nobody("there is neither `auth.jwt_secrets` nor `auth.jwt_key_set`")
        }
        "jwt" if !name.contains(' ') && auth.is_some_and(|auth| !auth.jwt.issuers.is_empty()) => {
            nobody("tokens have an issuer: write \"jwt:ISSUER SUBJECT\"")
        }
        "oidc" if auth.is_none_or(|auth| auth.oidc.is_none()) => nobody("there is no `auth.oidc_issuer`"),
        "oidc" if name.is_empty() => nobody("write \"oidc:NAME\", with what `auth.oidc_claim` is of the user"),
        "user" if auth.is_none_or(|auth| auth.users.is_none()) => nobody("there is no `auth.database` with users"),
        "certificate" if auth.is_none_or(|auth| !auth.client_certificates) => {
            nobody("callers with a certificate need `server.tls_client_ca`")
        }
        "proxy" if !has_proxy => nobody("callers of a proxy need `server.reverse_proxy` and `server.caller`"),
        "jwt" | "oidc" | "user" | "proxy" | "certificate" => Ok(()),
        _ => nobody(
            "write how the caller proves it: \"api_key:NAME\", \"basic:NAME\", \"jwt:ISSUER SUBJECT\", \"oidc:NAME\", \
             \"user:NAME\", \"certificate:NAME\"",
        ),
    }
}

/// Returns the hint for a caller that is not known: which of those that are may be meant, or what is missing.
fn near(caller: &str, known: impl Iterator<Item = String>, missing: &str) -> String {
    let known: Vec<String> = known.collect();
    match salver_model::suggest::nearest(caller, known.iter().map(String::as_str)) {
        Some(near) => format!("{missing}; did you mean `{near}`?"),
        None => missing.to_owned(),
    }
}

fn role(table: &Table, findings: &mut Findings) -> Option<Role> {
    let name = super::required(table, "name", findings)?.to_owned();
    let texts = |key| table.texts(key).unwrap_or_default();
    let mut addresses = Vec::new();
    for text in texts("addresses") {
        match Network::parse(text) {
            Some(network) => addresses.push(network),
            None => {
                let message = format!("`{text}` is no address or network");
                let mistake = Mistake::new(table.place_of("addresses"), message);
                findings.mistake(mistake.with_hint("write \"192.168.0.7\", \"10.0.0.0/8\" or \"fd00::/8\""));
            }
        }
    }
    not_empty(table, &["callers", "addresses"], findings);
    let when = expression(table, "when", findings);
    if let Some(column) = when.as_ref().and_then(|when| when.columns().first().copied()) {
        let message = format!("`when` is about callers, and names the column `{column}`");
        findings.mistake(Mistake::new(table.place_of("when"), message).with_hint(format!("write caller.{column}")));
    }
    let role = Role { name, callers: texts("callers").to_vec(), addresses, when };
    // What was written and could not be read is a mistake of its own.
    let is_written = |key| table.get(key).is_some_and(|own| own.place != SettingPlace::Default);
    let is_named = ["callers", "addresses", "when"].iter().any(|key| table.is_mistaken(key) || is_written(key));
    if !is_named {
        let message = format!("the role `{}` is everybody's", role.name);
        let hint = "add `callers`, `addresses` or `when`; a rule for everybody names no role";
        findings.mistake(Mistake::new(&table.place, message).with_hint(hint));
    }
    Some(role)
}

/// Returns the roles that `table` names, by their index; `None` if it names none, and so is about everybody.
pub(super) fn named(table: &Table, known: &[Role], findings: &mut Findings) -> Option<Vec<usize>> {
    let names = table.texts("roles").filter(|names| !names.is_empty())?;
    let mut roles = Vec::new();
    for name in names {
        match known.iter().position(|role| role.name == *name) {
            Some(index) => roles.push(index),
            None => {
                let mistake = Mistake::new(table.place_of("roles"), format!("there is no role called `{name}`"));
                let names = known.iter().map(|role| role.name.as_str());
                let hint = salver_model::suggest::hint(name, names);
                let hint =
                    hint.unwrap_or_else(|| "declare it as [[role]]; without `roles`, it is for everybody".into());
                findings.mistake(mistake.with_hint(hint));
            }
        }
    }
    Some(roles)
}

/// Refuses a list that is written and empty: it would mean all, and looks like none.
pub(super) fn not_empty(table: &Table, keys: &[&str], findings: &mut Findings) {
    for key in keys {
        let is_written = *table.place_of(key) != SettingPlace::Default;
        if is_written && table.get(key).is_some() && table.texts(key).is_some_and(<[String]>::is_empty) {
            let mistake = Mistake::new(table.place_of(key), format!("`{key}` is empty, and would mean all"));
            findings.mistake(mistake.with_hint("leave it out to mean all"));
        }
    }
}

/// Parses an expression over rows or callers, if there is one.
pub(super) fn expression(table: &Table, key: &str, findings: &mut Findings) -> Option<Rule> {
    let text = table.text(key)?;
    findings.keep(Rule::parse(text).map_err(|error| Mistake::from_error(table.place_of(key), &error)))
}
