//! The address of the database and its connection settings: the URL of a `postgres://` entry.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use salver_model::limits::{DATABASE_CONNECT_MS_MAX, DATABASE_GRACE_MS};
use salver_model::spec::DatabaseSpec;
use salver_model::{Code, Error, Result};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::{self, Proof};

/// TCP keepalive: a peer that has vanished is given up after about a minute, when nothing else noticed.
const KEEPALIVE_IDLE_S: u64 = 30;
const KEEPALIVE_INTERVAL_S: u64 = 10;
const KEEPALIVE_RETRIES: u32 = 3;

/// Everything a new connection needs.
#[derive(Clone)]
pub(super) struct Target {
    /// The entry's name, for messages.
    pub(super) entry: String,
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
    /// Statements that set up the session of a new connection.
    pub(super) greeting: String,
    /// Longest wait for the response to a statement; `None` without a limit.
    pub(super) patience: Option<Duration>,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The driver's `Debug` omits the password.
        f.debug_struct("Target").field("entry", &self.entry).field("config", &self.config).finish_non_exhaustive()
    }
}

impl Target {
    pub(super) fn of(spec: &DatabaseSpec) -> Result<Self> {
        let wrong = |message: String| {
            Error::new(Code::Config, message)
                .with_hint("write `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, each part percent-encoded")
        };
        let (url, own) = Own::split(&spec.url);
        let mut config: Config = url.parse().map_err(|error| {
            wrong(format!("the URL of the database `{}` can't be read", spec.name)).with_source(error)
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host("localhost");
        }
        let proof = own.apply(&mut config).map_err(|mode| {
            wrong(format!("the database `{}` has an unknown `sslmode={mode}`", spec.name))
                .with_hint("`disable`, `prefer`, `require`, `verify-ca` and `verify-full` exist")
        })?;
        if config.get_application_name().is_none() {
            config.application_name("salver");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_millis(DATABASE_CONNECT_MS_MAX));
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(KEEPALIVE_IDLE_S));
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_idle(Duration::from_secs(KEEPALIVE_IDLE_S));
            config.keepalives_interval(Duration::from_secs(KEEPALIVE_INTERVAL_S));
            config.keepalives_retries(KEEPALIVE_RETRIES);
        }
        let tls = tls::connector(&proof, own.root_file.as_deref())?;
        let patience = patience(spec.statement_ms_max);
        Ok(Self { entry: spec.name.to_string(), config, tls, greeting: greeting(spec), patience })
    }

    /// Returns the server's address for messages, without user and password.
    pub(super) fn place(&self) -> String {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(path)) => path.display().to_string(),
            None => self.config.get_hostaddrs().first().map(ToString::to_string).unwrap_or_default(),
        };
        format!("{host}:{}", self.config.get_ports().first().unwrap_or(&5432))
    }
}

/// Returns the longest wait for the response to a statement; `None` without a limit.
fn patience(statement_ms_max: u64) -> Option<Duration> {
    (statement_ms_max > 0).then(|| Duration::from_millis(statement_ms_max.saturating_add(DATABASE_GRACE_MS)))
}

/// Returns the session's settings, sent once per connection: the statement timeout, and text forms independent of the
/// server's configuration.
fn greeting(spec: &DatabaseSpec) -> String {
    let mut sql = format!(
        "SET statement_timeout = {}; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; \
         SET bytea_output = 'hex'; SET TIME ZONE 'UTC'; SET quote_all_identifiers = off",
        i32::try_from(spec.statement_ms_max).unwrap_or(i32::MAX)
    );
    if !spec.writable {
        sql.push_str("; SET default_transaction_read_only = on");
    }
    sql
}

/// Parameters of the URL that the driver doesn't know.
#[derive(Debug, Default, PartialEq, Eq)]
struct Own {
    mode: Option<String>,
    root_file: Option<String>,
}

impl Own {
    fn split(url: &str) -> (String, Self) {
        let mut own = Self::default();
        let Some((place, parameters)) = url.split_once('?') else { return (url.to_owned(), own) };
        let mut left = Vec::new();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", mode)) => own.mode = Some(mode.to_owned()),
                Some(("sslrootcert", file)) => {
                    own.root_file = Some(percent_decode_str(file).decode_utf8_lossy().into_owned())
                }
                _ => left.push(parameter),
            }
        }
        let url = if left.is_empty() { place.to_owned() } else { format!("{place}?{}", left.join("&")) };
        (url, own)
    }

    /// Sets the mode, and returns what the server must prove. `prefer` proves nothing, as in other clients: a man in
    /// the middle could as well claim that there is no TLS. `require` proves, unlike libpq's.
    fn apply(&self, config: &mut Config) -> Result<Proof, String> {
        let (mode, proof) = match self.mode.as_deref() {
            Some("disable") => (SslMode::Disable, Proof::Nothing),
            None | Some("allow" | "prefer") => (SslMode::Prefer, Proof::Nothing),
            Some("require" | "verify-ca" | "verify-full") => (SslMode::Require, Proof::Server),
            Some(other) => return Err(other.to_owned()),
        };
        config.ssl_mode(mode);
        Ok(proof)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use salver_model::spec::{DatabaseKind, DatabaseSpec};
    use salver_model::{Code, Name};
    use tokio_postgres::config::{Host, SslMode};

    use super::Target;

    fn target(url: &str) -> salver_model::Result<Target> {
        Target::of(&DatabaseSpec::new(Name::new("blog").unwrap(), DatabaseKind::Postgres, url))
    }

    #[test]
    fn parts_of_a_url_are_percent_decoded() {
        let target = target("postgres://us%40er:p%3Aw@db.example:5433/my%2Fdb").unwrap();
        assert_eq!(target.config.get_user(), Some("us@er"));
        assert_eq!(target.config.get_password(), Some(&b"p:w"[..]));
        assert_eq!(target.config.get_dbname(), Some("my/db"));
        assert_eq!(target.place(), "db.example:5433");
        assert!(!format!("{target:?}").contains("p:w"));
    }

    #[test]
    fn a_socket_is_a_host_that_is_a_path() {
        let target = target("postgres:///db?host=/var/run/postgresql&user=me&sslmode=disable").unwrap();
        assert_eq!(target.config.get_hosts(), [Host::Unix(PathBuf::from("/var/run/postgresql"))]);
        assert_eq!(target.config.get_ssl_mode(), SslMode::Disable);
    }

    #[test]
    fn modes_of_tls() {
        let mode = |word: &str| target(&format!("postgres://h/d?sslmode={word}")).map(|t| t.config.get_ssl_mode());
        assert_eq!(mode("disable").unwrap(), SslMode::Disable);
        assert_eq!(mode("prefer").unwrap(), SslMode::Prefer);
        assert_eq!(mode("verify-full").unwrap(), SslMode::Require);
        assert_eq!(mode("sometimes").unwrap_err().code, Code::Config);
        assert_eq!(target("postgres://h/d").unwrap().config.get_ssl_mode(), SslMode::Prefer);
    }

    #[test]
    fn a_wrong_url_does_not_show_its_password() {
        let error = target("postgres://u:secret@h:port/d").unwrap_err();
        assert_eq!(error.code, Code::Config);
        assert!(!error.chain().contains("secret"));
    }
}
