//! Serves clients that come by protocols other than HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use salver_config::Checked;
use salver_http::{Doors, TlsOptions};
use salver_model::{Code, Error, Result};
#[cfg(feature = "wire")]
use salver_wire::postgres::PostgresWire;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::exposure;
use crate::listening::cannot_listen;

#[cfg(not(feature = "wire"))]
use self::without_wire::PostgresWire;

#[cfg(not(feature = "wire"))]
mod without_wire;

/// What listens for such clients.
#[derive(Debug)]
pub(crate) struct Wires {
    postgres: Option<PostgresWire>,
}

impl Wires {
    /// Listens as the settings say. Callers come in by `doors`, like those of HTTP.
    ///
    /// # Errors
    /// `Config` for an address that can't be had, and for one that would let everyone in.
    pub(crate) async fn open(checked: &Checked, doors: &Doors, tls: Option<&TlsOptions>) -> Result<Self> {
        let Some(address) = &checked.wire.postgres else { return Ok(Self { postgres: None }) };
        let clients = tls.map(|tls| &tls.clients);
        let wire = PostgresWire::bind(address, Arc::new(doors.clone()), clients, &checked.limits).await;
        let wire = wire.map_err(|error| {
            Error::new(Code::Config, cannot_listen(address, &error).message)
                .with_hint("`wire.postgres` is a free address of this machine, like \"127.0.0.1:5433\"")
                .with_source(error)
        })?;
        exposure::check_wire(checked, wire.address().map_err(|error| cannot_listen(address, &error))?)?;
        Ok(Self { postgres: Some(wire) })
    }

    /// Returns where clients of PostgreSQL connect.
    pub(crate) fn postgres(&self) -> Option<SocketAddr> {
        self.postgres.as_ref().and_then(|wire| wire.address().ok())
    }

    /// Serves until `ended` says so.
    pub(crate) fn serve(self, mut ended: watch::Receiver<bool>) -> Option<JoinHandle<()>> {
        let wire = self.postgres?;
        let ending = async move {
            let _ = ended.wait_for(|ended| *ended).await;
        };
        Some(tokio::spawn(wire.serve(ending)))
    }
}
