//! Talks to the authority over HTTP.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use instant_acme::{BodyWrapper, BytesResponse, HttpClient};
use salver_config::AcmeSpec;
use salver_model::Result;
use salver_model::limits::{ACME_ANSWER_BYTES_MAX, ACME_REQUEST_MS_MAX};
use ureq::Agent;
use ureq::http::{Request, request, response};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// A client of the authority. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Client(Agent);

impl Client {
    /// Reads the certificates that the authority's own leads to, if they are others than those of the public ones.
    ///
    /// # Errors
    /// `Config` when they can't be read.
    pub(super) fn open(spec: &AcmeSpec) -> Result<Self> {
        let mut tls = TlsConfig::builder();
        if let Some(path) = &spec.authorities {
            let trusted = crate::tls::certificates(path)?;
            let trusted: Vec<_> = trusted.iter().map(|own| Certificate::from_der(own).to_owned()).collect();
            tls = tls.root_certs(RootCerts::new_with_certs(&trusted));
        }
        let agent = Agent::config_builder()
            .tls_config(tls.build())
            .http_status_as_error(false)
            .https_only(true)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_millis(ACME_REQUEST_MS_MAX)))
            .build()
            .new_agent();
        Ok(Self(agent))
    }
}

impl HttpClient for Client {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, instant_acme::Error>> + Send>> {
        let agent = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let Ok(body) = body.collect().await;
            let asking = tokio::task::spawn_blocking(move || ask(&agent, parts, &body.to_bytes()));
            match asking.await {
                Ok(Ok((parts, body))) => Ok(BytesResponse { parts, body: Box::new(body) }),
                Ok(Err(error)) => Err(instant_acme::Error::Other(Box::new(error))),
                Err(broken) => Err(instant_acme::Error::Other(Box::new(broken))),
            }
        })
    }
}

/// Runs a request.
fn ask(agent: &Agent, parts: request::Parts, body: &[u8]) -> Result<(response::Parts, Bytes), ureq::Error> {
    let answered = match body.is_empty() {
        true => agent.run(Request::from_parts(parts, ())),
        false => agent.run(Request::from_parts(parts, body)),
    };
    let (parts, mut body) = answered?.into_parts();
    let body = body.with_config().limit(ACME_ANSWER_BYTES_MAX).read_to_vec()?;
    Ok((parts, Bytes::from(body)))
}
