//! The way to the collector: the HTTP client that webhooks have, too.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use salver_model::limits::{TRACE_ANSWER_BYTES_MAX, TRACE_EXPORT_MS_MAX};
use ureq::Agent;

/// How the program calls itself.
pub(super) const AGENT: &str = concat!("salver/", env!("CARGO_PKG_VERSION"));

/// Client of the collector. It blocks, and so belongs in a thread of its own.
#[derive(Debug)]
pub(super) struct CollectorClient {
    agent: Agent,
}

impl CollectorClient {
    pub(super) fn new() -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // The header fields for the collector are for nobody else.
            .max_redirects(0)
            .timeout_global(Some(Duration::from_millis(TRACE_EXPORT_MS_MAX)))
            .user_agent(AGENT)
            .build()
            .new_agent();
        Self { agent }
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let mut request = self.agent.post(head.uri);
        for (name, value) in &head.headers {
            request = request.header(name, value);
        }
        let (head, mut body) = request.send(&body[..])?.into_parts();
        // What it says of spans that it did not take is of no use here, and may be missing.
        let read = body.with_config().limit(TRACE_ANSWER_BYTES_MAX).read_to_vec().unwrap_or_default();
        Ok(Response::from_parts(head, read.into()))
    }
}
