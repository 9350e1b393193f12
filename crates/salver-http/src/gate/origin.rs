//! The origin of the page that a request comes from. A browser sends `Origin` whenever a script could read the response
//! and whenever the request is a write, and `Sec-Fetch-Site` with everything else
//! (<https://www.w3.org/TR/fetch-metadata/>).

use http::{HeaderMap, HeaderName, header};

use super::host::{address, without_port};

pub(super) const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PORT: HeaderName = HeaderName::from_static("x-forwarded-port");

/// Returns whether `origin` is that of the server itself, as named by the client or its proxy. Only the proxy knows
/// whether the client used TLS, so both schemes are accepted.
pub(super) fn is_own(origin: &str, headers: &HeaderMap, proxied: bool) -> bool {
    let Some((default, own)) = server_of(origin) else { return false };
    let is_same = |host: &str| same(own, host.trim(), default);
    let named = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if named.is_some_and(is_same) {
        return true;
    }
    if !proxied {
        return false;
    }
    let port = headers.get(FORWARDED_PORT).and_then(|port| port.to_str().ok()).map(str::trim);
    let is_forwarded = |host: &str| match port {
        Some(port) if without_port(host) == host => same(own, &format!("{host}:{port}"), default),
        _ => same(own, host, default),
    };
    let forwarded = headers.get_all(FORWARDED_HOST).iter().filter_map(|line| line.to_str().ok());
    forwarded.flat_map(|line| line.split(',')).map(str::trim).any(is_forwarded)
}

/// Returns the URL of the server without a path, as the client or its proxy names it; `None` if it does not.
pub(super) fn own_url(headers: &HeaderMap, proxied: bool, is_secure: bool) -> Option<String> {
    let forwarded = headers.get_all(FORWARDED_HOST).iter().next_back().filter(|_| proxied);
    let host = forwarded.or_else(|| headers.get(header::HOST))?.to_str().ok()?;
    // A proxy that appends its own value to the client's means the last.
    let host = host.rsplit(',').next().unwrap_or_default().trim();
    let port = headers.get(FORWARDED_PORT).filter(|_| forwarded.is_some() && without_port(host) == host);
    let port = port.and_then(|port| port.to_str().ok()?.trim().parse::<u16>().ok());
    let scheme = if is_secure { "https" } else { "http" };
    let usual = if scheme == "https" { 443 } else { 80 };
    let authority = match port.filter(|port| *port != usual) {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let is_host = !authority.contains('@') && authority.parse::<http::uri::Authority>().is_ok();
    is_host.then(|| format!("{scheme}://{authority}"))
}

/// Returns whether the browser itself declares the page to be of this server. No page can forge that, and it also holds
/// where a proxy in between does not forward the host.
pub(super) fn is_said_to_be_own(headers: &HeaderMap) -> bool {
    let mut said = headers.get_all(FETCH_SITE).iter();
    said.next().is_some_and(|site| site == "same-origin") && said.next().is_none()
}

/// Returns whether a request without `Origin` comes from a page of another site. `writes` marks requests with which
/// browsers send an origin, so that one without is not the server's own. Navigation by the user, through a link or the
/// address bar, is not foreign.
pub(super) fn is_from_elsewhere(headers: &HeaderMap, writes: bool) -> bool {
    let said = |name: &HeaderName| headers.get(name).map(|value| value.as_bytes());
    match said(&FETCH_SITE) {
        None | Some(b"same-origin" | b"none") => false,
        Some(_) => writes || said(&FETCH_MODE) != Some(b"navigate") || said(&FETCH_DEST) != Some(b"document"),
    }
}

/// Splits a web origin into the default port of its scheme and the authority.
fn server_of(origin: &str) -> Option<(u16, &str)> {
    let (scheme, rest) = origin.split_once("://")?;
    let default = match scheme {
        _ if scheme.eq_ignore_ascii_case("http") => 80,
        _ if scheme.eq_ignore_ascii_case("https") => 443,
        _ => return None,
    };
    (!rest.is_empty() && !rest.contains(['/', '@'])).then_some((default, rest))
}

/// Returns whether both name the same host and port, where `default` is the port if none is given.
fn same(one: &str, other: &str, default: u16) -> bool {
    if one.eq_ignore_ascii_case(other) {
        return true;
    }
    let port = |text: &str| {
        let name = without_port(text);
        let port = text[name.len()..].trim_start_matches(':');
        if port.is_empty() { Some(default) } else { port.parse().ok() }
    };
    let (Some(one_port), Some(other_port)) = (port(one), port(other)) else { return false };
    let (one, other) = (without_port(one), without_port(other));
    let is_same_address = || address(one).is_some_and(|own| address(other) == Some(own));
    one_port == other_port && (one.eq_ignore_ascii_case(other) || is_same_address())
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, header};

    use super::{is_from_elsewhere, is_own, own_url};

    #[test]
    fn own_origins() {
        for (origin, host, expected) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", true),
            ("http://localhost:8080", "LOCALHOST:8080", true),
            ("http://example.org", "example.org", true),
            ("http://example.org", "example.org:80", true),
            ("https://example.org", "example.org:443", true),
            ("https://example.org", "example.org", true),
            ("https://example.org:8443", "example.org:8443", true),
            ("http://[::1]:8080", "[::1]:8080", true),
            ("http://[::1]:8080", "[0:0:0:0:0:0:0:1]:8080", true),
            ("http://example.org", "example.org:8080", false),
            ("https://example.org", "example.org:80", false),
            ("http://example.org:8081", "example.org:8080", false),
            ("http://localhost:8080", "127.0.0.1:8080", false),
            ("http://evil.example", "example.org", false),
            ("http://example.org.evil.example", "example.org", false),
            ("null", "null", false),
            ("", "", false),
            ("file://", "", false),
            ("http://", "", false),
            ("chrome-extension://example.org", "example.org", false),
            ("http://user@example.org", "example.org", false),
            ("http://example.org/", "example.org", false),
            ("example.org", "example.org", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            assert_eq!(is_own(origin, &headers, false), expected, "{origin} {host}");
        }
    }

    #[test]
    fn behind_a_proxy() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "backend:8080".parse().unwrap());
        headers.insert("x-forwarded-host", "data.example.org".parse().unwrap());
        assert!(is_own("https://data.example.org", &headers, true));
        assert!(!is_own("https://data.example.org", &headers, false));
        headers.insert("x-forwarded-port", "8443".parse().unwrap());
        assert!(is_own("https://data.example.org:8443", &headers, true));
        assert!(!is_own("https://data.example.org", &headers, true));
    }

    /// What a proxy, or the own listener, says of a request with TLS.
    const TLS: (&str, &str) = ("x-forwarded-proto", "https");

    #[test]
    fn what_the_server_is_called() {
        let url = |proxied: bool, said: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            said.iter().for_each(|(name, value)| drop(headers.insert(*name, value.parse().unwrap())));
            own_url(&headers, proxied, said.contains(&TLS))
        };
        let host = ("host", "backend:8080");
        let forwarded = ("x-forwarded-host", "evil.example, data.example");
        let tls = TLS;
        assert_eq!(url(false, &[host]).as_deref(), Some("http://backend:8080"));
        assert_eq!(url(false, &[host, forwarded, tls]).as_deref(), Some("https://backend:8080"));
        assert_eq!(url(true, &[host, forwarded, tls]).as_deref(), Some("https://data.example"));
        let port = |port| url(true, &[host, forwarded, tls, ("x-forwarded-port", port)]);
        assert_eq!(port("8443").as_deref(), Some("https://data.example:8443"));
        assert_eq!(port("443").as_deref(), Some("https://data.example"));
        for bad in ["", "a b", "u@data.example", "data.example/x", "data.example?x"] {
            assert_eq!(url(false, &[("host", bad)]), None, "{bad}");
        }
        assert_eq!(url(true, &[]), None);
    }

    #[test]
    fn pages_elsewhere() {
        let says = |site: &str, mode: &str, dest: &str, writes: bool| {
            let mut headers = HeaderMap::new();
            for (name, value) in [("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)] {
                if !value.is_empty() {
                    headers.insert(name, value.parse().unwrap());
                }
            }
            is_from_elsewhere(&headers, writes)
        };
        assert!(!says("", "", "", true) && !says("none", "navigate", "document", true));
        assert!(!says("same-origin", "cors", "empty", true));
        assert!(says("same-site", "cors", "empty", true) && says("same-site", "no-cors", "image", false));
        assert!(says("cross-site", "no-cors", "image", false) && says("cross-site", "navigate", "iframe", false));
        assert!(says("cross-site", "navigate", "document", true) && !says("cross-site", "navigate", "document", false));
    }
}
