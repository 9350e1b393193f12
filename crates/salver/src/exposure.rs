//! Who can reach the server: one that others than this machine can reach must not let everybody in by accident.

use salver_config::{Checked, UNIX};
use salver_http::Places;
use salver_model::{Code, Error, Result};

/// Refuses to let in everyone who can reach the machine, unless that is meant.
///
/// # Errors
/// `Config`.
pub(crate) fn check(checked: &Checked, places: &Places) -> Result<()> {
    let server = &checked.server;
    let has_addresses = server.reverse_proxy || server.proxy_protocol.iter().any(|own| own == UNIX);
    if !server.firewall.is_empty() && places.addresses.is_empty() && !has_addresses {
        let message = "`server.firewall` would let nobody in: callers of a Unix socket have no address";
        let hint = "leave it to the mode of the socket; or set `server.reverse_proxy`, or \"unix\" in \
                    `server.proxy_protocol`";
        return Err(Error::new(Code::Config, message).with_hint(hint));
    }
    let Some(address) = places.exposed() else { return Ok(()) };
    if checked.auth.is_some() || checked.access.is_some() || !server.firewall.is_empty() {
        return Ok(());
    }
    if checked.server.insecure {
        tracing::warn!("whoever can reach {address} is let in");
        return Ok(());
    }
    let message = format!("whoever can reach {address} would be let in, and read everything");
    Err(Error::new(Code::Config, message)
        .with_hint("add [auth], [[access]] or `server.firewall`, listen on 127.0.0.1, or mean it with `--insecure`"))
}
