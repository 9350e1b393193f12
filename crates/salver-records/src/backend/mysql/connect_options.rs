//! Converts a `mysql://` URL to the driver's options. Nothing here connects.

use std::path::PathBuf;
use std::time::Duration;

use mysql_async::{Opts, OptsBuilder, SslOpts};
use percent_encoding::percent_decode_str;
use salver_model::spec::DatabaseSpec;
use salver_model::{Code, Error, Result};

/// Idle time after which TCP keepalive probes the other side.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// The address of the database.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) options: Opts,
    /// Name of the database in messages; without user and password.
    pub(super) place: String,
}

/// The encryption that the URL asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encryption {
    Off,
    /// Without certificate verification.
    Required,
    /// With a certificate of a trusted authority, for any host name.
    Authority,
    /// With a certificate of this host.
    Identity,
}

impl Encryption {
    fn named(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().replace('_', "-").as_str() {
            "disabled" | "disable" => Self::Off,
            "required" | "require" => Self::Required,
            "verify-ca" => Self::Authority,
            "verify-identity" | "verify-full" => Self::Identity,
            _ => return None,
        })
    }
}

/// Parses the URL of `spec`. Besides the driver's own parameters (`socket`, `require_ssl`, `compression`, ...) it may
/// have `ssl-mode` and `ssl-ca`, as other clients know them, and `charset`, which can only be `utf8mb4`.
pub(super) fn address(spec: &DatabaseSpec) -> Result<Address> {
    let wrong = |why: String| {
        Error::new(Code::Config, format!("the URL of the database `{}` {why}", spec.name))
            .with_hint("it looks like `mysql://user:password@host:3306/database`")
    };
    let (base, query) = spec.url.split_once('?').unwrap_or((&spec.url, ""));
    let base = match base.split_once("://") {
        Some((_, rest)) => format!("mysql://{rest}"),
        None => return Err(wrong("names no host".to_owned())),
    };
    let mut encryption = None;
    let mut authority = None;
    let mut socket_preferred = false;
    let mut for_driver = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
        match key.to_ascii_lowercase().replace('_', "-").as_str() {
            "ssl-mode" | "sslmode" => {
                let mode = Encryption::named(&value).ok_or_else(|| {
                    wrong(format!(
                        "has an unknown `ssl-mode`: disabled, required, verify_ca or verify_identity, not `{value}`"
                    ))
                })?;
                encryption = Some(mode);
            }
            "ssl-ca" | "sslrootcert" => authority = Some(PathBuf::from(value)),
            "charset" if value.eq_ignore_ascii_case("utf8mb4") => {}
            "charset" => return Err(wrong("has a `charset` that is not utf8mb4".to_owned())),
            "prefer-socket" => {
                socket_preferred = value == "true";
                for_driver.push(pair);
            }
            _ => for_driver.push(pair),
        }
    }
    let options = Opts::from_url(&format!("{base}?{}", for_driver.join("&")))
        .map_err(|cause| wrong(format!("can't be read: {cause}")))?;
    let Some(database) = options.db_name().map(str::to_owned) else {
        return Err(wrong("names no database".to_owned()));
    };
    // A URL writes an IPv6 host in brackets; resolvers want it without.
    let host = options.ip_or_hostname().trim_start_matches('[').trim_end_matches(']').to_owned();
    let place = match options.socket() {
        Some(socket) => format!("`{database}` at {socket}"),
        None => format!("`{database}` at {host}:{}", options.tcp_port()),
    };
    let encrypted = secured(options.ssl_opts().cloned(), encryption, authority);
    let mut builder = OptsBuilder::from_opts(options)
        .ip_or_hostname(host)
        .tcp_keepalive(Some(KEEPALIVE))
        // An UPDATE counts the rows it matched, also those that had the values already.
        .client_found_rows(true)
        // Statements are cached beside the connection, where a lookup does not parse their text.
        .stmt_cache_size(0)
        .ssl_opts(encrypted);
    if !socket_preferred {
        // The socket path that a server reports may be another server's on this machine.
        builder = builder.prefer_socket(false);
    }
    Ok(Address { options: builder.into(), place })
}

fn secured(own: Option<SslOpts>, mode: Option<Encryption>, authority: Option<PathBuf>) -> Option<SslOpts> {
    let own = match mode {
        None => own,
        Some(Encryption::Off) => None,
        Some(mode) => Some(
            own.unwrap_or_default()
                .with_danger_accept_invalid_certs(mode == Encryption::Required)
                .with_danger_skip_domain_validation(mode != Encryption::Identity),
        ),
    };
    match authority {
        Some(path) => own.map(|own| own.with_root_certs(vec![path.into()])),
        None => own,
    }
}

#[cfg(test)]
mod tests {
    use salver_model::spec::{DatabaseKind, DatabaseSpec};
    use salver_model::{Code, Name};

    use super::address;

    fn spec(url: &str) -> DatabaseSpec {
        DatabaseSpec::new(Name::new("blog").unwrap(), DatabaseKind::Mysql, url)
    }

    #[test]
    fn what_a_url_says() {
        let plain = address(&spec("mariadb://us%40er:p%3Aw@[::1]:3307/blog?charset=utf8mb4")).unwrap();
        assert_eq!((plain.options.user(), plain.options.pass()), (Some("us@er"), Some("p:w")));
        assert_eq!((plain.options.ip_or_hostname(), plain.options.tcp_port()), ("::1", 3307));
        assert_eq!(plain.place, "`blog` at ::1:3307");
        assert!(plain.options.ssl_opts().is_none());
        let socket = address(&spec("mysql://u:p@localhost/blog?socket=/run/my.sock")).unwrap();
        assert_eq!(socket.options.socket(), Some("/run/my.sock"));
    }

    #[test]
    fn encryption() {
        let of = |url: &str| address(&spec(url)).unwrap().options.ssl_opts().cloned();
        let required = of("mysql://u@h/d?ssl-mode=REQUIRED").unwrap();
        assert!(required.accept_invalid_certs() && required.skip_domain_validation());
        let strict = of("mysql://u@h/d?require_ssl=true&ssl-ca=/etc/ca%2Epem").unwrap();
        assert!(!strict.accept_invalid_certs() && !strict.skip_domain_validation());
        assert_eq!(strict.root_certs().len(), 1);
        let authority = of("mysql://u@h/d?ssl-mode=verify_ca").unwrap();
        assert!(!authority.accept_invalid_certs() && authority.skip_domain_validation());
        assert!(of("mysql://u@h/d?ssl-mode=disabled").is_none());
    }

    #[test]
    fn mistakes_are_told_without_the_password() {
        for url in
            ["mysql://u:secret@h:1", "mysql:secret", "mysql://u:secret@h/d?ssl-mode=maybe", "mysql://u:secret@h/d?x=1"]
        {
            let error = address(&spec(url)).unwrap_err();
            assert_eq!(error.code, Code::Config, "{url}");
            assert!(!error.chain().contains("secret"), "{error:?}");
        }
    }
}
