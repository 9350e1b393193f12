//! Traces of requests, sent to a collector of OpenTelemetry: whether they are wanted, by settings and by the variables
//! of the environment that every program with OpenTelemetry heeds.

#[cfg(feature = "otel")]
mod exporter;
#[cfg(feature = "otel")]
mod sampler;
#[cfg(not(feature = "otel"))]
mod without_exporter;

use std::sync::Arc;

use salver_config::Server;
use salver_model::Result;
use salver_model::ports::Tracer;

#[cfg(feature = "otel")]
use exporter::Exporter;
#[cfg(not(feature = "otel"))]
use without_exporter::Exporter;

/// Variables with the address of the collector; the first is that of traces alone.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// The traces of a server; by default there are none.
#[derive(Debug, Default)]
pub(crate) struct Traces(Option<Exporter>);

impl Traces {
    /// Begins to send traces, if that is wanted.
    ///
    /// # Errors
    /// Returns an error for an address or an option that can't be used. A collector that is away is none.
    pub(crate) fn start(server: &Server) -> Result<Self> {
        match is_wanted(server) {
            true => Exporter::start(server.otlp_endpoint.as_deref()).map(|exporter| Self(Some(exporter))),
            false => Ok(Self::default()),
        }
    }

    /// Returns the recorder of traces, if they are recorded.
    pub(crate) fn tracer(&self) -> Option<Arc<dyn Tracer>> {
        self.0.as_ref().map(Exporter::tracer)
    }

    /// Sends what is still to be sent, for a while.
    pub(crate) fn finish(self) {
        if let Some(exporter) = self.0 {
            exporter.finish();
        }
    }
}

/// Returns whether requests are traced.
pub(crate) fn is_wanted(server: &Server) -> bool {
    let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true"))
        || variable("OTEL_TRACES_EXPORTER").is_some_and(|text| text == "none");
    !is_off && (server.otlp_endpoint.is_some() || ENDPOINTS.iter().any(|name| variable(name).is_some()))
}

/// Returns a variable of the environment that is not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
