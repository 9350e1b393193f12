//! What is known of who asks.

use std::net::{IpAddr, Ipv6Addr};

/// What is known of a caller. Rules see its attributes as `caller.NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Principal {
    /// Client address, behind a trusted proxy the one it reports; `None` for callers inside the process.
    pub address: Option<IpAddr>,
    /// Attributes known of the caller by name, like `user` or `tenant`.
    pub attributes: Vec<(String, String)>,
    /// User of the operating system who opened the connection, where the connection tells: at a Unix socket.
    pub local_user: Option<u32>,
}

impl Principal {
    /// Attribute with the authentication method and the authenticated name. A door puts it before all attributes that a
    /// client may have chosen.
    pub const IDENTITY: &str = "identity";

    /// Returns the text of the attribute `name`, which is not `address`.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Returns the attribute `name`; `address` is one too.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<String> {
        if name == "address" {
            return self.address.map(|address| address.to_string());
        }
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }

    /// Returns the holder charged for the resources of a request.
    #[must_use]
    pub fn holder(&self) -> Holder {
        match (self.identity(), self.address) {
            (Some(identity), _) => Holder::Identity(identity.to_owned()),
            (None, Some(address)) => Holder::of_address(address),
            (None, None) => self.local_user.map_or(Holder::Server, Holder::LocalUser),
        }
    }

    /// Returns the caller's identity: the authentication method with the authenticated name (`api_key:reporting`,
    /// `user:ann`), so that the same name authenticated in two ways is two callers. For callers not created by a door,
    /// `user` or `sub` alone. `None` for an anonymous caller.
    #[must_use]
    pub fn identity(&self) -> Option<&str> {
        let named = |name: &str| self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        named(Self::IDENTITY).or_else(|| named("user")).or_else(|| named("sub"))
    }
}

/// Owner of permits, connections and other limited resources, each of which has a share only: an authenticated
/// identity, or else an address, or else a user of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// Authenticated caller.
    Identity(String),
    /// Anonymous caller, by address. An IPv6 address counts by its network (its first 64 bits), because one host can
    /// use any number of addresses in it.
    Address(IpAddr),
    /// Anonymous caller without an address, by the number of the user of the operating system.
    LocalUser(u32),
    /// The server itself.
    Server,
}

impl Holder {
    /// Returns the holder of an address.
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
    use super::{Holder, Principal};

    #[test]
    fn an_identity_counts_before_an_address_and_a_network_as_one_host() {
        let at = |address: &str| Principal { address: address.parse().ok(), ..Principal::default() };
        assert_eq!(at("2001:db8::1").holder(), at("2001:db8::ffff:1").holder());
        assert_ne!(at("2001:db8::1").holder(), at("2001:db8:0:1::1").holder());
        assert_eq!(at("::ffff:192.0.2.1").holder(), at("192.0.2.1").holder());
        assert_ne!(at("192.0.2.1").holder(), at("192.0.2.2").holder());
        let known = |address: &str| Principal { attributes: vec![("user".into(), "ann".into())], ..at(address) };
        assert_eq!(known("192.0.2.1").holder(), known("192.0.2.2").holder());
        assert_eq!(Principal::default().holder(), Holder::Server);
        let local = Principal { local_user: Some(7), ..Principal::default() };
        assert_eq!(local.holder(), Holder::LocalUser(7));
        assert_eq!(Principal { local_user: Some(7), ..known("192.0.2.1") }.holder(), known("192.0.2.2").holder());
    }
}
