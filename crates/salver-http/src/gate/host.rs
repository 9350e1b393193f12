//! The host names that the server answers to. A page whose name was made to resolve to this machine (DNS rebinding)
//! sends requests under that name. So a server that only this machine can reach answers only to IP addresses and to the
//! names of this machine.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::OnceLock;

use http::{HeaderMap, HeaderValue, Request, Version, header};
use salver_model::spec::matches_host;
use salver_model::{Code, Error, Result};

use super::CheckedHeaders;
use crate::listener::Places;
use crate::options::HttpOptions;

/// The accepted hosts.
#[derive(Debug)]
pub(super) struct Hosts {
    /// Address of the listener, the most frequent `Host`.
    own: String,
    /// Another host that was accepted first: a client that uses another name mostly keeps using it.
    usual: OnceLock<Box<[u8]>>,
    /// Host names, with `*` for any part.
    named: Vec<String>,
    /// Whether any host is accepted.
    any: bool,
}

impl Hosts {
    /// Collects the hosts that the options name, and those that follow from the listener's address. Behind a proxy any
    /// host is accepted by default, since the proxy knows the names.
    pub(super) fn new(options: &HttpOptions) -> Self {
        let HttpOptions { listens, only_local, ref hosts, reverse_proxy, ref listen_host, .. } = *options;
        let named = hosts.iter().chain([listen_host]).chain(&options.certificate_names);
        let named = named.map(|name| name.trim().to_ascii_lowercase());
        Self {
            own: listens.map(|address| address.to_string()).unwrap_or_default(),
            usual: OnceLock::new(),
            named: named.filter(|name| !name.is_empty()).collect(),
            any: hosts.is_empty() && (reverse_proxy || !only_local),
        }
    }

    /// Collects the hosts of the address that `/metrics` has for itself, which no proxy stands before.
    pub(super) fn of_metrics(options: &HttpOptions, places: &Places) -> Self {
        Self::new(&HttpOptions {
            listens: places.addresses.first().copied(),
            only_local: places.exposed().is_none(),
            reverse_proxy: false,
            ..options.clone()
        })
    }

    /// Checks that the request is for one of the hosts.
    ///
    /// # Errors
    /// `InvalidRequest` when it has no host, or several; `HostForbidden`.
    pub(super) fn admit(&self, version: Version, said: &CheckedHeaders<'_>) -> Result<()> {
        let Some(host) = said.host else {
            // HTTP/1.0 has no such header; clients that still use it are probes and not pages.
            if version < Version::HTTP_11 {
                return Ok(());
            }
            return Err(Error::new(Code::InvalidRequest, "the request does not say which host it means")
                .with_hint("send the header `Host`"));
        };
        if said.hosts {
            return Err(Error::new(Code::InvalidRequest, "the request says more than once which host it means")
                .with_hint("send the header `Host` once"));
        }
        let is_own = host.as_bytes() == self.own.as_bytes() && !self.own.is_empty();
        if is_own || self.any || self.usual.get().is_some_and(|usual| **usual == *host.as_bytes()) {
            return Ok(());
        }
        let shown = host.to_str().unwrap_or_default();
        if self.is_one(shown) {
            // If two requests race here, either value will do.
            let _ = self.usual.set(host.as_bytes().into());
            return Ok(());
        }
        let shown: String = shown.chars().take(255).collect();
        Err(Error::new(Code::HostForbidden, format!("this server is not `{shown}`"))
            .with_hint("ask it by its address, or add the name to `server.hosts`"))
    }

    fn is_one(&self, host: &str) -> bool {
        let name = without_port(host);
        let bare = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        // An IP address can't be rebound: a page there is the server's own, also behind a forwarded port.
        address(&bare).is_some() || bare == "localhost" || bare.ends_with(".localhost") || self.is_named(&bare, host)
    }

    fn is_named(&self, bare: &str, host: &str) -> bool {
        let whole = host.to_ascii_lowercase();
        self.named.iter().any(|named| matches_host(named, bare) || matches_host(named, &whole))
    }
}

/// Sets `Host` to the host in the request target, as in HTTP/2 and in requests to a proxy (RFC 9112, section 3.2.2; RFC
/// 9113, section 8.3.1).
pub(crate) fn settle<B>(request: &mut Request<B>) {
    let Some(authority) = request.uri().authority() else { return };
    let host = authority.as_str();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    if let Ok(value) = HeaderValue::from_str(host)
        && is_alone(request.headers())
    {
        request.headers_mut().insert(header::HOST, value);
    }
}

/// Returns whether there is no second `Host`.
fn is_alone(headers: &HeaderMap) -> bool {
    headers.get_all(header::HOST).iter().nth(1).is_none()
}

/// Strips the port of a host.
pub(super) fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Parses `name` as an IP address, IPv6 in brackets.
pub(super) fn address(name: &str) -> Option<IpAddr> {
    match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(|address| IpAddr::V6(address).to_canonical()),
        None => name.parse().ok().map(IpAddr::V4),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use http::{HeaderMap, Request, Version, header};

    use super::super::CheckedHeaders;
    use super::{Hosts, settle};
    use crate::options::HttpOptions;

    fn hosts(listens: &str, named: &[&str], reverse_proxy: bool) -> Hosts {
        let hosts = named.iter().map(|name| (*name).to_owned()).collect();
        let listens: Option<SocketAddr> = listens.parse().ok();
        let only_local = listens.is_some_and(|address| address.ip().is_loopback());
        Hosts::new(&HttpOptions { listens, only_local, hosts, reverse_proxy, ..HttpOptions::default() })
    }

    fn admits(hosts: &Hosts, host: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        hosts.admit(Version::HTTP_11, &CheckedHeaders::of(&headers)).is_ok()
    }

    const LOCAL: [&str; 14] = [
        "127.0.0.1:8080",
        "127.0.0.1",
        "127.9.9.9:1",
        "localhost",
        "LocalHost:8080",
        "localhost.",
        "a.localhost:80",
        "[::1]:8080",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]:8080",
        "localhost:",
        "192.0.2.7:8080",
        "0.0.0.0:8080",
    ];
    const FOREIGN: [&str; 10] = [
        "evil.example",
        "evil.example:8080",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evillocalhost",
        "127.0.0.1:8080.evil.example",
        "2130706433",
        "0x7f.0.0.1",
        "[::1].evil.example",
        "",
    ];

    #[test]
    fn a_local_server_has_local_names() {
        let hosts = hosts("127.0.0.1:8080", &[], false);
        for host in LOCAL {
            assert!(admits(&hosts, host), "{host}");
        }
        for host in FOREIGN {
            assert!(!admits(&hosts, host), "{host}");
        }
        let named = super::tests::hosts("127.0.0.1:8080", &["Data.Example.org", "*.corp:8443"], true);
        for (host, expected) in [
            ("data.example.ORG:99", true),
            ("data.example.org.", true),
            ("a.corp:8443", true),
            ("a.corp", false),
            ("evil@a.corp:8443", false),
            ("evil.example:1#.corp:8443", false),
            ("x.data.example.org", false),
            ("localhost", true),
            ("192.0.2.7", true),
        ] {
            assert_eq!(admits(&named, host), expected, "{host}");
        }
    }

    #[test]
    fn others_have_any_name_unless_named() {
        for (listens, proxied) in [("0.0.0.0:80", false), ("192.0.2.7:80", false), ("127.0.0.1:80", true)] {
            assert!(admits(&hosts(listens, &[], proxied), "evil.example"), "{listens}");
        }
        let named = hosts("0.0.0.0:80", &["data.example.org"], false);
        for (host, expected) in [("evil.example", false), ("data.example.org", true), ("192.0.2.7:80", true)] {
            assert_eq!(admits(&named, host), expected, "{host}");
        }
    }

    #[test]
    fn one_host_and_no_more() {
        let hosts = hosts("", &[], false);
        let mut headers = HeaderMap::new();
        assert!(hosts.admit(Version::HTTP_10, &CheckedHeaders::of(&headers)).is_ok());
        assert!(hosts.admit(Version::HTTP_11, &CheckedHeaders::of(&headers)).is_err());
        assert!(hosts.admit(Version::HTTP_2, &CheckedHeaders::of(&headers)).is_err());
        headers.append(header::HOST, "a".parse().unwrap());
        headers.append(header::HOST, "a".parse().unwrap());
        assert!(hosts.admit(Version::HTTP_11, &CheckedHeaders::of(&headers)).is_err());
        let mut request = Request::get("http://user@b:1/x").header(header::HOST, "a").body(()).unwrap();
        settle(&mut request);
        assert_eq!(request.headers()[header::HOST], "b:1");
    }
}
