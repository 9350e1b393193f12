//! How callers prove who they are, as proved from the settings.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::name::Name;

/// A text that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text` from being shown.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Ways to prove who one is. One of them is enough; what is given must be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSpec {
    /// Whether who proves nothing is turned away; otherwise that is a caller of whom nothing is known.
    pub required: bool,
    /// Keys, each with the name of its caller when it has one.
    pub api_keys: Vec<(Option<String>, Secret)>,
    /// The header a key comes in, also one of the users' table.
    pub api_key_header: String,
    /// Users with the bcrypt hashes of their passwords.
    pub basic_users: Vec<(String, Secret)>,
    /// A file of more of them, as `htpasswd -B` writes it.
    pub basic_file: Option<PathBuf>,
    /// What a browser shows when it asks for a password.
    pub realm: String,
    /// Signed tokens.
    pub jwt: JwtSpec,
    /// Users in a table of a database.
    pub users: Option<UsersSpec>,
    /// How often an address may fail to give a right password, in a minute.
    pub attempts_max: u64,
}

impl AuthSpec {
    /// Whether name and password may come along with each request.
    #[must_use]
    pub fn has_basic(&self) -> bool {
        !self.basic_users.is_empty() || self.basic_file.is_some()
    }
}

/// Which signed tokens are believed (RFC 7519).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JwtSpec {
    /// Secrets of HS256 and its like, or public keys of RS256 and its like in PEM, each under its `kid` when it has
    /// one.
    pub secrets: Vec<(Option<String>, Secret)>,
    /// The header the token comes in; `None` for `X-Authorization` and `Authorization`.
    pub header: Option<String>,
    /// Algorithms that are believed; empty for all that the keys are for.
    pub algorithms: Vec<String>,
    /// One of which the token must be for; empty for any.
    pub audiences: Vec<String>,
    /// One of which must have made the token; empty for any.
    pub issuers: Vec<String>,
    /// How far clocks may differ.
    pub leeway: Duration,
    /// How long a token holds that tells when it was made but not when it ends.
    pub ttl: Duration,
    /// Whether one that tells neither is believed, for ever.
    pub endless: bool,
}

/// Users in a table of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsersSpec {
    /// The database.
    pub database: Name,
    /// What the names of WordPress's tables begin with, when its users are meant.
    pub wordpress: Option<String>,
    /// The table.
    pub table: String,
    /// A view of it that logging in reads in its place.
    pub login_table: Option<String>,
    /// Whether one may log in.
    pub login: bool,
    /// The column of names.
    pub username_column: String,
    /// The column of hashes of passwords.
    pub password_column: String,
    /// The column of keys; `None` for no keys in the table.
    pub api_key_column: Option<String>,
    /// Columns that are told of a user; empty for all but passwords and keys.
    pub returned_columns: Vec<String>,
    /// The names of the user, the password and the new password in a request.
    pub fields: [String; 3],
    /// What `caller.user` begins with, so that no name in the table is that of a key or a token; empty for the bare
    /// name.
    pub prefix: String,
    /// Whether new users may come by themselves.
    pub register: bool,
    /// What is written to further columns of a new user.
    pub register_columns: Vec<(String, String)>,
    /// Whether a new user is logged in at once.
    pub login_after_registration: bool,
    /// Shortest password.
    pub password_length_min: usize,
    /// The cookie of a session.
    pub session_cookie: String,
    /// How long a session lasts that is not used.
    pub session_idle: Duration,
    /// Whether the table is served, without passwords and keys.
    pub shown: bool,
}

impl UsersSpec {
    /// The columns that nobody is told: of passwords, of keys, and of what WordPress sends to who forgot the password.
    pub fn secret_columns(&self) -> impl Iterator<Item = &str> {
        let of_wordpress = self.wordpress.as_ref().map(|_| "user_activation_key");
        [Some(self.password_column.as_str()), self.api_key_column.as_deref(), of_wordpress].into_iter().flatten()
    }

    /// WordPress's table of what users are besides: what they may, and their sessions.
    #[must_use]
    pub fn wordpress_meta(&self) -> Option<String> {
        self.wordpress.as_ref().map(|prefix| format!("{prefix}usermeta"))
    }
}
