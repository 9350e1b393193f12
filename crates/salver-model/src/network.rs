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
}
