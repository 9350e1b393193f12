//! A program without OpenTelemetry, which can't send traces.

use std::sync::Arc;

use salver_model::ports::Tracer;
use salver_model::{Code, Error, Result};

/// What sends traces; there is none.
#[derive(Debug)]
pub(super) enum Exporter {}

impl Exporter {
    /// Refuses to send traces.
    pub(super) fn start(_: Option<&str>) -> Result<Self> {
        Err(Error::new(Code::Config, "this program was built without OpenTelemetry and can't send traces")
            .with_hint("build it with the feature `otel`; or leave `server.otlp_endpoint` and OTEL_... variables out"))
    }

    pub(super) fn tracer(&self) -> Arc<dyn Tracer> {
        match *self {}
    }

    pub(super) fn finish(self) {
        match self {}
    }
}
