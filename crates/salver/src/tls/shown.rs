//! The certificate that the server shows, and what is known of it.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use salver_http::CertificateState;

use super::validity::Validity;

/// The certificate that the server shows; `None` as long as there is none, when every handshake fails.
#[derive(Debug, Default)]
pub(super) struct Shown {
    current: RwLock<Option<Arc<CertifiedKey>>>,
    state: Arc<CertificateState>,
}

impl Shown {
    /// Shows another certificate from now on.
    pub(super) fn put(&self, certified: CertifiedKey) {
        let validity = certified.cert.first().and_then(Validity::of);
        self.state.set_end(validity.map(|validity| validity.ends_s));
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(certified));
    }

    /// Returns the certificate.
    pub(super) fn current(&self) -> Option<Arc<CertifiedKey>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what is known of it.
    pub(super) fn state(&self) -> &Arc<CertificateState> {
        &self.state
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.current()
    }
}
