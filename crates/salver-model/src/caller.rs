//! Who asks, as far as a door knows.

use std::net::{IpAddr, Ipv6Addr};

/// Who asks. Rules over rows see it as `caller.NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Where the request came from, behind a trusted proxy what that says; `None` for callers inside the process.
    pub address: Option<IpAddr>,
    /// What is known of the caller by name, like `user` or `tenant`.
    pub attributes: Vec<(String, String)>,
}

impl Caller {
    /// The attribute that tells the way of the proof with the name. Who makes a caller puts it before all that a client
    /// may have chosen.
    pub const IDENTITY: &str = "identity";

    /// The attribute `name`; `address` is one too.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<String> {
        if name == "address" {
            return self.address.map(|address| address.to_string());
        }
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }

    /// Who is charged for what a request holds.
    #[must_use]
    pub fn holder(&self) -> Holder {
        match (self.identity(), self.address) {
            (Some(identity), _) => Holder::Identity(identity.to_owned()),
            (None, Some(address)) => Holder::of_address(address),
            (None, None) => Holder::Server,
        }
    }

    /// What the caller is known by: the way of the proof with the name that it proved (`api_key:reporting`,
    /// `user:ann`), so that the same name proved in two ways is two callers. Else, of callers whom no door made, `user`
    /// or `sub` alone. `None` for a caller of whom nothing is known.
    #[must_use]
    pub fn identity(&self) -> Option<&str> {
        let named = |name: &str| self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        named(Self::IDENTITY).or_else(|| named("user")).or_else(|| named("sub"))
    }
}

/// Who is charged for places, connections and other things of which each may have a share only: an identity where one
/// was proved, else an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// A caller who proved an identity.
    Identity(String),
    /// A caller of whom only the address is known. Of an IPv6 address the network counts (its first 64 bits), because
    /// one host has as many addresses as it wants in it.
    Address(IpAddr),
    /// The server itself.
    Server,
}

impl Holder {
    /// The holder that an address stands for.
    #[must_use]
    pub fn of_address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            v4 @ IpAddr::V4(_) => v4,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Caller, Holder};

    #[test]
    fn an_identity_counts_before_an_address_and_a_network_as_one_host() {
        let at = |address: &str| Caller { address: address.parse().ok(), attributes: Vec::new() };
        assert_eq!(at("2001:db8::1").holder(), at("2001:db8::ffff:1").holder());
        assert_ne!(at("2001:db8::1").holder(), at("2001:db8:0:1::1").holder());
        assert_eq!(at("::ffff:192.0.2.1").holder(), at("192.0.2.1").holder());
        assert_ne!(at("192.0.2.1").holder(), at("192.0.2.2").holder());
        let known = |address: &str| Caller { attributes: vec![("user".into(), "ann".into())], ..at(address) };
        assert_eq!(known("192.0.2.1").holder(), known("192.0.2.2").holder());
        assert_eq!(Caller::default().holder(), Holder::Server);
    }
}
