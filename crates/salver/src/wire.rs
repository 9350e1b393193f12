//! Serves clients that come by protocols other than HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use salver_config::Checked;
use salver_http::{Doors, TlsOptions};
use salver_model::{Code, Error, Result};
#[cfg(feature = "flight")]
use salver_wire::flight::FlightWire;
#[cfg(feature = "wire")]
use salver_wire::postgres::PostgresWire;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::exposure;
use crate::listening::cannot_listen;

#[cfg(not(feature = "flight"))]
use self::without_flight::FlightWire;
#[cfg(not(feature = "wire"))]
use self::without_wire::PostgresWire;

#[cfg(not(feature = "flight"))]
mod without_flight;
#[cfg(not(feature = "wire"))]
mod without_wire;

/// What listens for such clients.
#[derive(Debug)]
pub(crate) struct Wires {
    postgres: Option<PostgresWire>,
    flight: Option<FlightWire>,
    /// Whether clients can have TLS.
    is_secure: bool,
}

impl Wires {
    /// Listens as the settings say. Callers come in by `doors`, like those of HTTP.
    ///
    /// # Errors
    /// `Config` for an address that can't be had, and for one that would let everyone in.
    pub(crate) async fn open(checked: &Checked, doors: &Doors, tls: Option<&TlsOptions>) -> Result<Self> {
        let (clients, limits) = (tls.map(|tls| &tls.clients), &checked.limits);
        let mut wires = Self { postgres: None, flight: None, is_secure: clients.is_some() };
        if let Some(address) = &checked.wire.postgres {
            let wire = PostgresWire::bind(address, Arc::new(doors.clone()), clients, limits).await;
            let wire = wire.map_err(|error| taken("postgres", address, "127.0.0.1:5433", error))?;
            exposure::check_wire(checked, wire.address().map_err(|error| cannot_listen(address, &error))?)?;
            wires.postgres = Some(wire);
        }
        if let Some(address) = &checked.wire.flight {
            let wire = FlightWire::bind(address, Arc::new(doors.clone()), clients, limits).await;
            let wire = wire.map_err(|error| taken("flight", address, "127.0.0.1:32010", error))?;
            exposure::check_wire(checked, wire.address().map_err(|error| cannot_listen(address, &error))?)?;
            wires.flight = Some(wire);
        }
        Ok(wires)
    }

    /// Returns where clients of PostgreSQL connect.
    pub(crate) fn postgres(&self) -> Option<SocketAddr> {
        self.postgres.as_ref().and_then(|wire| wire.address().ok())
    }

    /// Returns where clients of Arrow Flight SQL connect, as a URI.
    pub(crate) fn flight(&self) -> Option<String> {
        let address = self.flight.as_ref()?.address().ok()?;
        let scheme = if self.is_secure { "grpc+tls" } else { "grpc" };
        Some(format!("{scheme}://{address}"))
    }

    /// Serves until `ended` says so.
    pub(crate) fn serve(self, ended: &watch::Receiver<bool>) -> Option<JoinHandle<()>> {
        let ending = || {
            let mut ended = ended.clone();
            async move {
                let _ = ended.wait_for(|ended| *ended).await;
            }
        };
        let mut serving = JoinSet::new();
        if let Some(wire) = self.postgres {
            serving.spawn(wire.serve(ending()));
        }
        if let Some(wire) = self.flight {
            serving.spawn(wire.serve(ending()));
        }
        (!serving.is_empty()).then(|| {
            tokio::spawn(async move {
                serving.join_all().await;
            })
        })
    }
}

/// The error for an address of a wire that can't be had.
fn taken(key: &str, address: &str, example: &str, error: std::io::Error) -> Error {
    Error::new(Code::Config, cannot_listen(address, &error).message)
        .with_hint(format!("`wire.{key}` is a free address of this machine, like \"{example}\""))
        .with_source(error)
}
