//! The authorities that sign the certificates of clients, read again when their file changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, RootCertStore, SignatureScheme};
use salver_config::TlsClient;
use salver_model::{Code, Error, Result};

/// Checks the certificates of clients against the authorities of a file.
#[derive(Debug)]
pub(super) struct ClientAuthorities {
    path: PathBuf,
    required: bool,
    current: RwLock<Arc<dyn ClientCertVerifier>>,
}

impl ClientAuthorities {
    /// Reads the authorities.
    ///
    /// # Errors
    /// `Config` when the file can't be read, or has something else than certificates.
    pub(super) fn open(spec: &TlsClient) -> Result<Arc<Self>> {
        let current = RwLock::new(read(&spec.authorities, spec.required)?);
        Ok(Arc::new(Self { path: spec.authorities.clone(), required: spec.required, current }))
    }

    /// Returns the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the authorities again. If the file is wrong, the last good ones stay.
    pub(super) fn read_again(&self) {
        match read(&self.path, self.required) {
            Ok(verifier) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = verifier;
                tracing::info!("the authorities of clients were read again");
            }
            Err(error) => {
                let hint = error.hint.as_deref().unwrap_or_default();
                tracing::warn!("the last authorities of clients stay: {}; {hint}", error.message);
            }
        }
    }

    fn current(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn read(path: &Path, required: bool) -> Result<Arc<dyn ClientCertVerifier>> {
    let mut roots = RootCertStore::empty();
    let unusable = |why: String| {
        Error::new(Code::Config, format!("{} can't be trusted for clients: {why}", path.display()))
            .with_hint("`server.tls_client_ca` has the certificates of authorities, which sign those of clients")
    };
    for certificate in super::certificates(path)? {
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(ring::default_provider()));
    let builder = if required { builder } else { builder.allow_unauthenticated() };
    builder.build().map_err(|error| unusable(error.to_string()))
}

impl ClientCertVerifier for ClientAuthorities {
    fn client_auth_mandatory(&self) -> bool {
        self.required
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        // The names of the authorities are for clients that have several certificates to choose from. They may be
        // others by the next handshake, and tell strangers whom the server trusts.
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.current().verify_client_cert(end_entity, intermediates, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.current().verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.current().verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.current().supported_verify_schemes()
    }
}
