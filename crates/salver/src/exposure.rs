//! Who can reach the server: one that others than this machine can reach must not let everybody in by accident.

use std::net::SocketAddr;

use salver_config::Checked;
use salver_model::{Code, Error, Result};

/// Refuses to let in everyone who can reach the machine, unless that is meant.
///
/// # Errors
/// `Config`.
pub(crate) fn check(checked: &Checked, address: SocketAddr) -> Result<()> {
    let is_local = address.ip().to_canonical().is_loopback();
    if is_local || checked.auth.is_some() || checked.access.is_some() || !checked.server.firewall.is_empty() {
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
