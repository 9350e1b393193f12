//! Validates the settings of log-in at an identity provider.

use std::path::PathBuf;
use std::time::Duration;

use salver_model::network::is_protected;
use salver_model::secrecy::MASK;
use salver_model::spec::{OidcSpec, Secret};

use crate::mistake::{Findings, Mistake, Warning};
use crate::raw::Table;

/// Returns `None` when no provider is set.
pub(super) fn check(
    table: &Table,
    (session_cookie, session_idle): (String, Duration),
    findings: &mut Findings,
) -> Option<OidcSpec> {
    let Some(issuer) = table.text("oidc_issuer") else {
        for key in ["oidc_client_id", "oidc_client_secret", "oidc_client_secret_file"] {
            if table.text(key).is_some() {
                let mistake =
                    Mistake::new(table.place_of(key), format!("`{key}` is for a provider, and there is none"));
                findings.mistake(mistake.with_hint("set `oidc_issuer`"));
            }
        }
        return None;
    };
    let place = table.place_of("oidc_issuer");
    if !is_protected(issuer) {
        let message = format!("`{issuer}` comes unprotected, and who changes it on its way can be anybody");
        findings.mistake(Mistake::new(place, message).with_hint("use `https://`"));
    } else if issuer.contains(['?', '#', '@']) || !issuer.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = format!("`{issuer}` is not the URL of an issuer");
        findings.mistake(Mistake::new(place, message).with_hint("write it like \"https://id.example.com/\""));
    }
    let client_id = table.text("oidc_client_id").unwrap_or_default();
    if client_id.is_empty() {
        let mistake = Mistake::new(place, "the provider has no `oidc_client_id`, by which it knows this server");
        findings.mistake(mistake.with_hint("register this server at the provider, which gives it one"));
    }
    let secret = table.text("oidc_client_secret");
    if secret == Some(MASK) {
        let mistake = Mistake::new(table.place_of("oidc_client_secret"), "the secret of the client is not shown here");
        findings.mistake(mistake.with_hint("`***` stands for it; write the secret itself"));
    }
    let secret_file = table.text("oidc_client_secret_file");
    if secret.is_some() && secret_file.is_some() {
        let warning = Warning::new(table.place_of("oidc_client_secret"), "the secret of the client is in a file, too");
        findings.warning(warning.with_hint("leave out `oidc_client_secret`; the file counts"));
    }
    let scopes = table.text("oidc_scopes").unwrap_or_default();
    if !scopes.split(' ').any(|scope| scope == "openid") {
        let message = format!("`{scopes}` does not ask the provider who the user is");
        let mistake = Mistake::new(table.place_of("oidc_scopes"), message);
        findings.mistake(mistake.with_hint("add the scope `openid`"));
    }
    Some(OidcSpec {
        issuer: issuer.to_owned(),
        client_id: client_id.to_owned(),
        client_secret: secret.map(Secret::new),
        client_secret_file: secret_file.map(PathBuf::from),
        scopes: scopes.to_owned(),
        claim: table.text("oidc_claim").unwrap_or_default().to_owned(),
        logout: table.bool("oidc_logout"),
        session_cookie,
        session_idle,
    })
}
