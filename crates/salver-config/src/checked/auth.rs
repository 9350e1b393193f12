//! Validates `[auth]`.

mod oidc;
mod secrets;

use std::path::PathBuf;
use std::time::Duration;

use salver_model::network::is_protected;
use salver_model::spec::{AuthSpec, DatabaseSpec, JwtSpec, UsersSpec};

use crate::event_field;
use crate::mistake::{Findings, Mistake, Warning};
use crate::raw::Table;
use crate::setting_place::SettingPlace;

pub(crate) use secrets::{MASK, is_public_key};

/// Supported signature algorithms.
const ALGORITHMS: [&str; 13] = [
    "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA",
    "Ed25519",
];

/// Returns `None` when no authentication method is configured, so that everyone is admitted.
pub(super) fn check(
    table: &Table,
    databases: &[DatabaseSpec],
    client_certificates: bool,
    findings: &mut Findings,
) -> Option<AuthSpec> {
    let session = session(table, findings);
    let spec = AuthSpec {
        required: table.text("mode") != Some("optional"),
        api_keys: secrets::api_keys(table, findings),
        api_keys_file: table.text("api_keys_file").map(PathBuf::from),
        api_key_header: header(table, "api_key_header", findings).unwrap_or_default(),
        basic_users: secrets::basic_users(table, findings),
        basic_file: table.text("basic_file").map(PathBuf::from),
        realm: realm(table, findings),
        jwt: jwt(table, findings),
        users: users(table, databases, &session, findings),
        oidc: oidc::check(table, session, findings),
        client_certificates,
        attempts_max: table.count("attempts_max"),
    };
    let proves = |users: &UsersSpec| users.login || users.api_key_column.is_some();
    let has_users = spec.oidc.is_some() || spec.users.as_ref().is_some_and(proves);
    let has_way =
        spec.has_api_keys() || spec.has_basic() || spec.jwt.is_accepted() || spec.client_certificates || has_users;
    if has_way {
        apart(table, &spec, findings);
        return Some(spec);
    }
    // Any setting here means that the operator intended to restrict access.
    if let Some(written) = table.written.iter().find(|written| written.place != SettingPlace::Default) {
        let message = "[auth] names no way to prove who one is, so that everybody would be let in";
        let hint = "set `api_keys`, `api_keys_file`, `basic_users`, `basic_file`, `jwt_secrets`, `jwt_key_set`, \
                    `oidc_issuer` or `database`, or `server.tls_client_ca`";
        findings.mistake(Mistake::new(&written.place, message).with_hint(hint));
    }
    None
}

/// Checks that names are unambiguous across methods: those of a table in which users can register, and those of the
/// other methods.
fn apart(table: &Table, spec: &AuthSpec, findings: &mut Findings) {
    let Some(users) = &spec.users else { return };
    if users.prefix.is_empty() {
        if users.register && spec.jwt.is_accepted() {
            findings.mistake(confusable(table, "the subject of a token"));
        }
        if users.register && spec.client_certificates {
            findings.mistake(confusable(table, "a client's certificate"));
        }
        if users.register && spec.oidc.is_some() {
            findings.mistake(confusable(table, "a user of the provider"));
        }
        return;
    }
    let keys = spec.api_keys.iter().filter_map(|key| key.name.as_deref());
    let names = keys.chain(spec.basic_users.iter().map(|(name, _)| name.as_str()));
    for name in names.filter(|name| name.starts_with(&users.prefix)) {
        let message = format!("`{name}` begins as the names of users in the table do");
        let mistake = Mistake::new(table.place_of("users_prefix"), message);
        findings.mistake(mistake.with_hint("rename it, or choose another `users_prefix`"));
    }
}

/// Returns the mistake that a registered user may be taken for another caller.
fn confusable(table: &Table, whose: &str) -> Mistake {
    let message = format!("who registers could take the name of {whose}, and would be the same `caller.user`");
    Mistake::new(table.place_of("register"), message)
        .with_hint("set `users_prefix = \"user:\"`, which `caller.user` of users in the table then begins with")
}

/// Checks the same for callers named by a proxy.
pub(super) fn apart_of_proxy(table: &Table, auth: Option<&AuthSpec>, server: &super::Server, findings: &mut Findings) {
    let registers = auth.and_then(|auth| auth.users.as_ref()).is_some_and(|own| own.register && own.prefix.is_empty());
    if registers && server.reverse_proxy && server.caller.iter().any(|(name, _)| name == "user") {
        findings.mistake(confusable(table, "somebody whom the proxy names"));
    }
}

fn header(table: &Table, key: &str, findings: &mut Findings) -> Option<String> {
    let header = table.text(key)?;
    if !event_field::is_header(header) {
        let message = format!("`{header}` is not the name of a header");
        findings.mistake(Mistake::new(table.place_of(key), message).with_hint("write it like \"X-API-Key\""));
    }
    Some(header.to_owned())
}

/// Returns the realm, which is quoted in a header.
fn realm(table: &Table, findings: &mut Findings) -> String {
    let realm = table.text("realm").unwrap_or_default();
    if realm.contains(['"', '\\']) || !realm.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
        let mistake = Mistake::new(table.place_of("realm"), "the realm has characters that a header can't have");
        findings.mistake(mistake.with_hint("use ASCII without quotes and backslashes"));
    }
    realm.to_owned()
}

fn jwt(table: &Table, findings: &mut Findings) -> JwtSpec {
    let texts = |key| table.texts(key).unwrap_or_default().to_vec();
    let algorithms = texts("jwt_algorithms");
    for algorithm in algorithms.iter().filter(|own| !ALGORITHMS.contains(&own.as_str())) {
        let message = format!("there is no algorithm `{algorithm}` here");
        let hint = format!("use some of {}", ALGORITHMS.join(", "));
        findings.mistake(Mistake::new(table.place_of("jwt_algorithms"), message).with_hint(hint));
    }
    JwtSpec {
        secrets: secrets::jwt(table, findings),
        key_set: key_set(table, findings),
        key_set_interval: Duration::from_millis(table.count("jwt_key_set_interval")),
        header: header(table, "jwt_header", findings),
        algorithms,
        audiences: texts("jwt_audiences"),
        issuers: texts("jwt_issuers"),
        leeway: Duration::from_millis(table.count("jwt_leeway")),
        ttl: Duration::from_millis(table.count("jwt_ttl")),
        endless: !table.bool("jwt_exp_required"),
    }
}

/// Returns where the key set is. Whoever can change it on its way can make tokens, so it must come by TLS, from this
/// machine or from a file.
fn key_set(table: &Table, findings: &mut Findings) -> Option<String> {
    let location = table.text("jwt_key_set")?;
    let place = table.place_of("jwt_key_set");
    match location.split_once("://") {
        None | Some(("https", _)) => {}
        Some(("http", _)) => {
            if !is_protected(location) {
                let message = format!("`{location}` comes unprotected, and who changes it on its way can make tokens");
                findings.mistake(Mistake::new(place, message).with_hint("use `https://`, or a file"));
            }
        }
        Some((scheme, _)) => {
            let message = format!("`{scheme}` is no way to fetch keys");
            findings.mistake(Mistake::new(place, message).with_hint("use `https://`, or the path of a file"));
        }
    }
    if table.texts("jwt_audiences").is_none_or(<[String]>::is_empty) {
        let message = "tokens that the issuer made for other applications are accepted too";
        let warning = Warning::new(place, message);
        findings.warning(warning.with_hint("set `jwt_audiences` to what `aud` is in tokens for this server"));
    }
    Some(location.to_owned())
}

/// Returns the name of the cookie of sessions, and how long one lasts unused.
fn session(table: &Table, findings: &mut Findings) -> (String, Duration) {
    let cookie = table.text("session_cookie").unwrap_or_default();
    if !event_field::is_header(cookie) {
        let message = format!("`{cookie}` is not the name of a cookie");
        findings.mistake(Mistake::new(table.place_of("session_cookie"), message).with_hint("write it like \"sid\""));
    }
    (cookie.to_owned(), Duration::from_millis(table.count("session_idle")))
}

fn users(
    table: &Table,
    databases: &[DatabaseSpec],
    (session_cookie, session_idle): &(String, Duration),
    findings: &mut Findings,
) -> Option<UsersSpec> {
    let named = table.text("database")?;
    let Some(database) = databases.iter().find(|database| database.name.as_str() == named) else {
        let names = databases.iter().map(|database| database.name.as_str());
        let message = format!("there is no database called `{named}`");
        let hint = salver_model::suggest::hint(named, names);
        let hint = hint.unwrap_or_else(|| "declare it with [[database]]".to_owned());
        findings.mistake(Mistake::new(table.place_of("database"), message).with_hint(hint));
        return None;
    };
    if database.url.starts_with("sqlite::memory:") {
        let mistake = Mistake::new(table.place_of("database"), format!("`{named}` is in memory, which holds no users"));
        findings.mistake(mistake.with_hint("use a file, like \"sqlite:app.db\""));
    }
    if database.of_caller.is_some() {
        let message = format!("`{named}` is another one for each caller, and who asks is found out in it");
        let hint = "keep users in a database of their own";
        findings.mistake(Mistake::new(table.place_of("database"), message).with_hint(hint));
    }
    if table.bool("register") && !database.writable {
        let message = format!("`register` writes to `{named}`, which is read-only");
        let hint = "set `writable = true` in its [[database]]";
        findings.mistake(Mistake::new(table.place_of("register"), message).with_hint(hint));
    }
    let wordpress = wordpress(table, findings);
    let text = |key| table.text(key).unwrap_or_default().to_owned();
    // Explicit settings take precedence over WordPress's defaults.
    let text_or = |key, known: &str| match &wordpress {
        Some(prefix) if *table.place_of(key) == SettingPlace::Default => known.replace("{prefix}", prefix),
        _ => text(key),
    };
    Some(UsersSpec {
        database: database.name.clone(),
        table: text_or("users_table", "{prefix}users"),
        login_table: table.text("login_table").map(str::to_owned),
        login: table.bool("login"),
        username_column: text_or("username_column", "user_login"),
        password_column: text_or("password_column", "user_pass"),
        api_key_column: table.text("api_key_column").map(str::to_owned),
        returned_columns: table.texts("returned_columns").unwrap_or_default().to_vec(),
        fields: [text("username_field"), text("password_field"), text("new_password_field")],
        prefix: text("users_prefix"),
        register: table.bool("register"),
        register_columns: table.pairs("register_columns").unwrap_or_default().to_vec(),
        login_after_registration: table.bool("login_after_registration"),
        password_length_min: usize::try_from(table.count("password_length_min")).unwrap_or(usize::MAX),
        session_cookie: session_cookie.clone(),
        session_idle: *session_idle,
        shown: table.bool("users_shown"),
        wordpress,
    })
}

/// Returns the prefix of WordPress's tables.
fn wordpress(table: &Table, findings: &mut Findings) -> Option<String> {
    let prefix = table.text("wordpress")?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if !prefix.chars().all(is_name) {
        let message = format!("`{prefix}` is not what the names of WordPress's tables begin with");
        let hint = "write $table_prefix of its wp-config.php, like \"wp_\"";
        findings.mistake(Mistake::new(table.place_of("wordpress"), message).with_hint(hint));
    }
    Some(prefix.to_owned())
}
