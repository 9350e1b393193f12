//! Who is at the other end of a connection, before any request says so.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use salver_model::Holder;

/// Who is at the other end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Peer {
    /// Address, as the connection has it or the header of the PROXY protocol tells; `None` at a Unix socket.
    address: Option<IpAddr>,
    /// User of the operating system, where a Unix socket tells it.
    user: Option<u32>,
    /// Name in the certificate that the client showed and the server checked.
    certificate: Option<Arc<str>>,
    /// Whether it came to the address that `/metrics` has for itself.
    is_at_metrics: bool,
}

impl Peer {
    /// Returns the peer of a connection over the network.
    pub(crate) fn at(address: IpAddr) -> Self {
        Self { address: Some(address.to_canonical()), ..Self::default() }
    }

    /// Returns the peer of a connection to a Unix socket.
    pub(crate) fn local(user: Option<u32>) -> Self {
        Self { user, ..Self::default() }
    }

    /// Returns the same peer with the name of its certificate.
    pub(crate) fn with_certificate(self, certificate: Option<Arc<str>>) -> Self {
        Self { certificate, ..self }
    }

    /// Returns the same peer at the address that `/metrics` has for itself.
    pub(crate) fn at_metrics(self) -> Self {
        Self { is_at_metrics: true, ..self }
    }

    /// Returns whether it came to the address that `/metrics` has for itself.
    pub(crate) fn is_at_metrics(&self) -> bool {
        self.is_at_metrics
    }

    /// Returns the address; `None` at a Unix socket.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Returns the user of the operating system, where a Unix socket tells it.
    pub(crate) fn user(&self) -> Option<u32> {
        self.user
    }

    /// Returns the name in the certificate of the client.
    pub(crate) fn certificate(&self) -> Option<&str> {
        self.certificate.as_deref()
    }

    /// Returns the client that the connection is charged to.
    pub(crate) fn holder(&self) -> Holder {
        match (self.address, self.user) {
            (Some(address), _) => Holder::of_address(address),
            (None, Some(user)) => Holder::LocalUser(user),
            (None, None) => Holder::Server,
        }
    }

    /// Returns whether the address stands for many programs, so that it is not limited like a client.
    pub(crate) fn is_many(&self) -> bool {
        self.address.map_or(self.user.is_none(), |address| address.is_loopback())
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.address, self.user) {
            (Some(address), _) => address.fmt(f),
            (None, Some(user)) => write!(f, "unix:{user}"),
            (None, None) => f.write_str("unix"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Peer;

    #[test]
    fn what_a_connection_tells() {
        let at = |address: &str| Peer::at(address.parse().unwrap());
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
        assert_eq!(at("2001:db8::1").holder(), at("2001:db8::2").holder());
        assert_ne!(Peer::local(Some(1)).holder(), Peer::local(Some(2)).holder());
        assert!(at("127.0.0.1").is_many() && Peer::local(None).is_many());
        assert!(!at("192.0.2.1").is_many() && !Peer::local(Some(0)).is_many());
        let shown = [at("::ffff:192.0.2.1"), Peer::local(Some(7)), Peer::local(None)].map(|peer| peer.to_string());
        assert_eq!(shown, ["192.0.2.1", "unix:7", "unix"]);
    }
}
