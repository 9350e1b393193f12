//! In place of Arrow Flight, which this program was built without.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;
use salver_model::Limits;
use salver_service::reception::Reception;

/// A listener that there can't be.
#[derive(Debug)]
pub(crate) enum FlightWire {}

impl FlightWire {
    /// Returns an error.
    ///
    /// # Errors
    /// `Unsupported`.
    pub(crate) async fn bind(
        _: &str,
        _: Arc<dyn Reception>,
        _: Option<&Arc<ServerConfig>>,
        _: &Limits,
    ) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this program was built without the feature `flight`"))
    }

    /// Returns where it listens.
    ///
    /// # Errors
    /// None.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        match *self {}
    }

    /// Serves.
    pub(crate) async fn serve(self, _: impl Future<Output = ()> + Send) {
        match self {}
    }
}
