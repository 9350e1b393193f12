//! The addresses of a cluster. Its protocol knows no callers, so that they are those of one machine unless said
//! otherwise.

use std::net::{IpAddr, SocketAddr, TcpListener};

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

/// Returns two ports: the given one and the next, or two free ones for port 0.
///
/// # Errors
/// If nothing is free.
pub(super) fn two_ports(ip: IpAddr, port: u16) -> Result<[u16; 2]> {
    if port != 0 {
        let next = port.checked_add(1);
        return next.map(|next| [port, next]).ok_or_else(|| {
            Error::new(Code::Config, format!("port {port} is the last, and an executor takes two"))
                .with_hint("choose a smaller one")
        });
    }
    let taken = |error| Error::internal("no port is free").with_source(error);
    let both = [TcpListener::bind((ip, 0)).map_err(taken)?, TcpListener::bind((ip, 0)).map_err(taken)?];
    let [one, other] = both.map(|listener| listener.local_addr().map(|address| address.port()));
    Ok([one.map_err(taken)?, other.map_err(taken)?])
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
    fn executors_take_two_ports() {
        let ip = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(two_ports(ip, 50051).unwrap(), [50051, 50052]);
        assert!(two_ports(ip, u16::MAX).is_err());
        let [one, other] = two_ports(ip, 0).unwrap();
        assert_ne!(one, other);
        assert_eq!(host_and_port("scheduler.example:50050").unwrap(), ("scheduler.example", 50050));
        assert!(host_and_port("50050").is_err());
        assert!(host_and_port("a:0").is_err());
    }
}
