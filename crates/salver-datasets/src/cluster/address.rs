//! The addresses of a cluster. Its protocol knows no callers, so that they are those of one machine unless said
//! otherwise.

use std::net::{SocketAddr, TcpListener};

use salver_model::{Code, Error, Result};

/// Reads the address on which a process of a cluster listens.
///
/// # Errors
/// `Config` for one that others than this machine can reach, unless that is `allowed`.
pub(super) fn listening(text: &str, allowed: bool) -> Result<SocketAddr> {
    let address: SocketAddr = text.parse().map_err(|error| {
        Error::new(Code::Config, format!("`{text}` is not an address to listen on"))
            .with_hint("write IP:PORT, like 127.0.0.1:50050")
            .with_source(error)
    })?;
    if !address.ip().is_loopback() && !allowed {
        return Err(Error::new(Code::Config, format!("others than this machine can reach `{text}`")).with_hint(
            "whoever reaches the ports of a cluster can run anything there: put it into a network of its own, and say \
             `--insecure`",
        ));
    }
    Ok(address)
}

/// Splits HOST:PORT.
///
/// # Errors
/// `Config` for anything else.
pub(super) fn host_and_port(text: &str) -> Result<(&str, u16)> {
    let split = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    split.filter(|(host, port)| !host.is_empty() && *port != 0).ok_or_else(|| {
        Error::new(Code::Config, format!("`{text}` is not the address of a scheduler"))
            .with_hint("write HOST:PORT, like 127.0.0.1:50050")
    })
}

/// Returns the port of an address, or a free one for port 0.
///
/// # Errors
/// If nothing is free.
pub(super) fn port(address: SocketAddr) -> Result<u16> {
    if address.port() != 0 {
        return Ok(address.port());
    }
    let taken = |error| Error::internal("no port is free").with_source(error);
    let listener = TcpListener::bind(address).map_err(taken)?;
    Ok(listener.local_addr().map_err(taken)?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_unless_told() {
        assert!(listening("127.0.0.1:50050", false).is_ok());
        assert!(listening("[::1]:50050", false).is_ok());
        assert!(listening("0.0.0.0:50050", false).is_err());
        assert!(listening("0.0.0.0:50050", true).is_ok());
        assert!(listening("localhost", true).is_err());
    }

    #[test]
    fn ports_are_known() {
        assert_eq!(port(SocketAddr::from(([127, 0, 0, 1], 50051))).unwrap(), 50051);
        assert_ne!(port(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap(), 0);
        assert_eq!(host_and_port("scheduler.example:50050").unwrap(), ("scheduler.example", 50050));
        assert!(host_and_port("50050").is_err());
        assert!(host_and_port("a:0").is_err());
    }
}
