//! Specification of authentication, validated from the settings.

use std::path::PathBuf;
use std::time::Duration;

use crate::name::Name;
use crate::spec::{ApiKeySpec, Secret};

/// Authentication methods. One of them suffices; credentials that are sent must be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSpec {
    /// Whether anonymous requests are refused; otherwise their caller is anonymous.
    pub required: bool,
    /// API keys.
    pub api_keys: Vec<ApiKeySpec>,
    /// File with further ones, all hashed.
    pub api_keys_file: Option<PathBuf>,
    /// Header of API keys, including those of the users' table.
    pub api_key_header: String,
    /// Users with the bcrypt hashes of their passwords.
    pub basic_users: Vec<(String, Secret)>,
    /// File with further users, as written by `htpasswd -B`.
    pub basic_file: Option<PathBuf>,
    /// Realm that a browser shows when it asks for a password.
    pub realm: String,
    /// Signed tokens.
    pub jwt: JwtSpec,
    /// Users in a table of a database.
    pub users: Option<UsersSpec>,
    /// Users of an identity provider.
    pub oidc: Option<OidcSpec>,
    /// Whether the certificate that a client shows during the TLS handshake proves who it is.
    pub client_certificates: bool,
    /// Number of failed password attempts allowed per address and minute, and per user and minute.
    pub attempts_max: u64,
}

impl AuthSpec {
    /// Returns whether some API keys are known, in a table of users aside.
    #[must_use]
    pub fn has_api_keys(&self) -> bool {
        !self.api_keys.is_empty() || self.api_keys_file.is_some()
    }

    /// Returns whether somebody may log in and stay known by a cookie.
    #[must_use]
    pub fn has_sessions(&self) -> bool {
        self.oidc.is_some() || self.users.as_ref().is_some_and(|users| users.login)
    }

    /// Returns whether HTTP Basic authentication is configured.
    #[must_use]
    pub fn has_basic(&self) -> bool {
        !self.basic_users.is_empty() || self.basic_file.is_some()
    }
}

/// Accepted signed tokens (RFC 7519).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JwtSpec {
    /// Secrets for HS256 and the like, or public keys in PEM for RS256 and the like, each with its `kid` if it has one.
    pub secrets: Vec<(Option<String>, Secret)>,
    /// URL or file of the key set that the issuer publishes (RFC 7517).
    pub key_set: Option<String>,
    /// Interval at which the set is fetched again.
    pub key_set_interval: Duration,
    /// Header of the token; `None` for `X-Authorization` and `Authorization`.
    pub header: Option<String>,
    /// Accepted algorithms; empty for all that the keys support.
    pub algorithms: Vec<String>,
    /// Accepted audiences; empty for any.
    pub audiences: Vec<String>,
    /// Accepted issuers; empty for any.
    pub issuers: Vec<String>,
    /// Tolerated difference between clocks.
    pub leeway: Duration,
    /// Lifetime of a token that has an issue time but no expiry.
    pub ttl: Duration,
    /// Whether a token with neither is accepted, without expiry.
    pub endless: bool,
}

/// Users in a table of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsersSpec {
    /// Database.
    pub database: Name,
    /// Prefix of WordPress's tables, if its users are used.
    pub wordpress: Option<String>,
    /// Table.
    pub table: String,
    /// View of the table that login reads instead.
    pub login_table: Option<String>,
    /// Whether login is enabled.
    pub login: bool,
    /// Column of names.
    pub username_column: String,
    /// Column of password hashes.
    pub password_column: String,
    /// Column of API keys; `None` for no keys in the table.
    pub api_key_column: Option<String>,
    /// Columns returned for a user; empty for all but passwords and keys.
    pub returned_columns: Vec<String>,
    /// Names of the user, the password and the new password in a request.
    pub fields: [String; 3],
    /// Prefix of `caller.user`, so that no name in the table equals that of a key or a token; empty for the bare name.
    pub prefix: String,
    /// Whether users can register themselves.
    pub register: bool,
    /// Values of further columns of a new user.
    pub register_columns: Vec<(String, String)>,
    /// Whether a new user is logged in at once.
    pub login_after_registration: bool,
    /// Minimum length of a password.
    pub password_length_min: usize,
    /// Name of the session cookie.
    pub session_cookie: String,
    /// Idle timeout of a session.
    pub session_idle: Duration,
    /// Whether the table is served, without passwords and keys.
    pub shown: bool,
}

/// Users of an identity provider (OpenID Connect).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OidcSpec {
    /// URL of the issuer, to the letter as it calls itself.
    pub issuer: String,
    /// Name under which the server is registered there.
    pub client_id: String,
    /// Secret of the server there; `None` for a public client.
    pub client_secret: Option<Secret>,
    /// File with that secret, in place of `client_secret`.
    pub client_secret_file: Option<PathBuf>,
    /// What is asked of the provider, separated by spaces.
    pub scopes: String,
    /// Claim that names the user.
    pub claim: String,
    /// Whether a logout leads to the provider, which ends its own session.
    pub logout: bool,
    /// Name of the session cookie.
    pub session_cookie: String,
    /// Idle timeout of a session.
    pub session_idle: Duration,
}

impl JwtSpec {
    /// Returns whether tokens are accepted.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        !self.secrets.is_empty() || self.key_set.is_some()
    }
}

impl UsersSpec {
    /// Returns the columns that are never served: of passwords, of keys, and of WordPress's keys for password resets.
    pub fn secret_columns(&self) -> impl Iterator<Item = &str> {
        let of_wordpress = self.wordpress.as_ref().map(|_| "user_activation_key");
        [Some(self.password_column.as_str()), self.api_key_column.as_deref(), of_wordpress].into_iter().flatten()
    }

    /// Returns WordPress's table of user metadata, with capabilities and sessions.
    #[must_use]
    pub fn wordpress_meta(&self) -> Option<String> {
        self.wordpress.as_ref().map(|prefix| format!("{prefix}usermeta"))
    }
}
