//! An address or a range of addresses, as `192.168.0.7`, `10.0.0.0/8` or `fd00::/8`.

use std::fmt;
use std::net::IpAddr;

/// The addresses that share the first `bits` bits of `address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// Parses an address or a range; `None` when the text is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.trim().split_once('/').map_or((text.trim(), None), |(a, b)| (a, Some(b)));
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(most), |bits| bits.parse().ok().filter(|bits| *bits <= most))?;
        Some(Self { address, bits })
    }

    /// Returns whether the address is in the range; an IPv4 address also as IPv6 writes it.
    #[must_use]
    pub fn holds(self, address: IpAddr) -> bool {
        let same = |a: u128, b: u128, width: u32| self.bits == 0 || (a ^ b) >> (width - self.bits) == 0;
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => same(own.to_bits().into(), other.to_bits().into(), 32),
            (IpAddr::V6(own), IpAddr::V6(other)) => same(own.to_bits(), other.to_bits(), 128),
            _ => false,
        }
    }
}

/// Returns whether nobody on the way can read or change what is behind a URL: it has TLS, or leads to this machine.
#[must_use]
pub fn is_protected(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    // Some programs take a backslash for a slash, and others don't.
    let authority = rest.split(['/', '?', '#']).next().filter(|_| !url.contains('\\')).unwrap_or_default();
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) => host,
        _ => authority,
    };
    match scheme {
        "https" => !host.is_empty(),
        // Before an `@` stands a user, whatever it looks like; it is part of the host here.
        "http" => ["localhost", "127.0.0.1", "[::1]"].contains(&host),
        _ => false,
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::Network;

    #[test]
    fn networks_hold_their_addresses() {
        let holds = |network: &str, address: &str| Network::parse(network).unwrap().holds(address.parse().unwrap());
        assert!(holds("10.0.0.0/8", "10.255.0.1") && !holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("192.168.0.7", "192.168.0.7") && !holds("192.168.0.7", "192.168.0.6"));
        assert!(holds("192.168.0.7", "::ffff:192.168.0.7"));
        assert!(holds("0.0.0.0/0", "1.2.3.4") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("fd00::/8", "fd12::1") && !holds("fd00::/8", "fe80::1") && holds("::/0", "::1"));
        for bad in ["", "x", "10.0.0.0/33", "::1/129", "10.0.0.0/", "10.0.0"] {
            assert_eq!(Network::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn protected_urls() {
        for (url, expected) in [
            ("https://id.example", true),
            ("https://id.example:8443/a?b", true),
            ("https://", false),
            ("https:///a", false),
            ("http://localhost/a", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]", true),
            ("http://[::1]:80/a", true),
            ("http://id.example", false),
            ("http://localhost.example", false),
            ("http://localhost:80@id.example", false),
            ("http://localhost\\@id.example", false),
            ("https://id.example\\@localhost", false),
            ("http://127.0.0.1.example", false),
            ("HTTPS://id.example", false),
            ("ftp://localhost", false),
            ("localhost", false),
        ] {
            assert_eq!(super::is_protected(url), expected, "{url}");
        }
    }
}
