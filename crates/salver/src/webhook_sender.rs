//! Delivers documents to external addresses by HTTP.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use salver_model::limits::CALLBACK_MS_MAX;
use salver_model::ports::{Delivery, WebhookSender};
use salver_model::trace::SpanContext;
use salver_model::{Code, Error, Result};
use ureq::Agent;

/// Sender of documents by POST.
#[derive(Debug)]
pub(crate) struct HttpWebhookSender {
    agent: Agent,
}

impl HttpWebhookSender {
    pub(crate) fn new() -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect could lead to an address that is not allowed.
            .max_redirects(0)
            .timeout_global(Some(Duration::from_millis(CALLBACK_MS_MAX)))
            .user_agent(concat!("salver/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Self { agent }
    }
}

#[async_trait]
impl WebhookSender for HttpWebhookSender {
    async fn post(&self, address: &str, document: Bytes, trace: Option<&SpanContext>) -> Result<Delivery> {
        let mut request = self.agent.post(address).content_type("application/json");
        if let Some(trace) = trace {
            request = request.header("traceparent", trace.to_string());
            if let Some(state) = &trace.state {
                request = request.header("tracestate", &**state);
            }
        }
        let asked = move || request.send(&document[..]);
        let away = || Error::new(Code::Source, "the address of the callback can't be reached");
        let answered = tokio::task::spawn_blocking(asked).await.map_err(|broken| away().with_source(broken))?;
        match answered.map_err(|cause| away().with_source(cause))?.status().as_u16() {
            200..=299 => Ok(Delivery::Taken),
            status @ (408 | 425 | 429 | 500..) => Err(away().with_source(format!("status {status}"))),
            _ => Ok(Delivery::Refused),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HttpWebhookSender;

    #[tokio::test(flavor = "multi_thread")]
    async fn the_contract_of_the_port() {
        salver_testkit::contract::webhook_sender::run(&HttpWebhookSender::new()).await;
    }
}
