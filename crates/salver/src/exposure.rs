//! Who can reach the server: one that others than this machine can reach must not let everybody in by accident.

use std::net::{SocketAddr, ToSocketAddrs};

use salver_config::{Checked, Listen, Server, UNIX};
use salver_http::{Listener, Places};
use salver_model::{Code, Error, Result};

use crate::listening;

/// Where a server listens.
#[derive(Debug)]
pub(crate) struct Exposure {
    /// Where everything is served.
    pub(crate) main: Places,
    /// Where `/metrics` is served alone.
    pub(crate) metrics: Option<Places>,
}

impl Exposure {
    /// Returns where `listener` listens.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn of(listener: &Listener) -> std::io::Result<Self> {
        Ok(Self { main: listener.places()?, metrics: listener.metrics_places()? })
    }

    /// Returns where a server with these settings would listen. What systemd hands over is not known before.
    ///
    /// # Errors
    /// `Config` for a host that is not known.
    pub(crate) fn planned(server: &Server) -> Result<Self> {
        let address = |address: &str| {
            // Of several addresses of a host, the first that can be had is taken.
            let known = address.to_socket_addrs().map_err(|error| listening::cannot_listen(address, &error))?;
            Ok::<_, Error>(Places { addresses: known.take(1).collect(), files: Vec::new() })
        };
        let main = match &server.listen {
            Listen::Address(text) => address(text)?,
            Listen::Unix(path) => Places { addresses: Vec::new(), files: vec![path.clone()] },
            Listen::Systemd => Places::default(),
        };
        Ok(Self { main, metrics: server.metrics_listen.as_deref().map(address).transpose()? })
    }

    /// Refuses to let in everyone who can reach the machine, unless that is meant.
    ///
    /// # Errors
    /// `Config`.
    pub(crate) fn check(&self, checked: &Checked) -> Result<()> {
        let server = &checked.server;
        let has_addresses = server.reverse_proxy || server.proxy_protocol.iter().any(|own| own == UNIX);
        let is_socket = self.main.addresses.is_empty() && !self.main.files.is_empty();
        if !server.firewall.is_empty() && is_socket && !has_addresses {
            let message = "`server.firewall` would let nobody in: callers of a Unix socket have no address";
            let hint = "leave it to the mode of the socket; or set `server.reverse_proxy`, or \"unix\" in \
                        `server.proxy_protocol`";
            return Err(Error::new(Code::Config, message).with_hint(hint));
        }
        only_meant(checked, &self.main, "read everything")?;
        self.metrics.as_ref().map_or(Ok(()), |places| only_meant(checked, places, "read what is measured"))?;
        // What is listened on may have another port than was asked for, and that is checked again.
        let wires = [&checked.wire.postgres, &checked.wire.flight].into_iter().flatten();
        let mut planned = wires.filter_map(|address| address.to_socket_addrs().ok()?.next());
        planned.try_for_each(|address| check_wire(checked, address))
    }
}

/// Refuses to let in everyone who can reach the address of another wire, unless that is meant.
///
/// # Errors
/// `Config`.
pub(crate) fn check_wire(checked: &Checked, address: SocketAddr) -> Result<()> {
    only_meant(checked, &Places { addresses: vec![address], files: Vec::new() }, "read everything")
}

/// Refuses to let everyone in at one of `places`, unless that is meant.
fn only_meant(checked: &Checked, places: &Places, could: &str) -> Result<()> {
    let Some(address) = places.exposed() else { return Ok(()) };
    if checked.auth.is_some() || checked.access.is_some() || !checked.server.firewall.is_empty() {
        return Ok(());
    }
    if checked.server.insecure {
        tracing::warn!("whoever can reach {address} is let in");
        return Ok(());
    }
    let message = format!("whoever can reach {address} would be let in, and {could}");
    Err(Error::new(Code::Config, message)
        .with_hint("add [auth], [[access]] or `server.firewall`, listen on 127.0.0.1, or mean it with `--insecure`"))
}
