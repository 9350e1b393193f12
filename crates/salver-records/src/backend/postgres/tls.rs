//! TLS for connections to a server: which certificates are trusted.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use salver_model::{Code, Error, Result};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The proof that a server must give of its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// None: the connection is encrypted, but may end at an impostor.
    Nothing,
    /// A certificate for its host name.
    Server,
}

/// Returns the TLS connector. Trusts the public authorities, or with `root_file` those in it.
pub(super) fn connector(proof: &Proof, root_file: Option<&str>) -> Result<MakeRustlsConnect> {
    let fault = |error| Error::internal("TLS can't be set up").with_source(error);
    // Passed explicitly, because an embedding program may have installed another provider for the process.
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(fault)?;
    let config = match proof {
        Proof::Server => builder.with_root_certificates(roots(root_file)?).with_no_client_auth(),
        Proof::Nothing => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Unproved { provider })).with_no_client_auth()
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

fn roots(file: Option<&str>) -> Result<RootCertStore> {
    let Some(file) = file else {
        return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
    };
    let wrong = |message: String| Error::new(Code::Config, message).with_hint("`sslrootcert` names a PEM file");
    let mut store = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file)
        .map_err(|error| wrong(format!("`{file}` can't be read")).with_source(error))?;
    for certificate in certificates {
        let certificate =
            certificate.map_err(|error| wrong(format!("`{file}` is not a PEM file")).with_source(error))?;
        store.add(certificate).map_err(|error| wrong(format!("`{file}` has no certificate")).with_source(error))?;
    }
    if store.is_empty() {
        return Err(wrong(format!("`{file}` has no certificate")));
    }
    Ok(store)
}

/// Accepts any certificate, but still verifies that the peer holds its key.
#[derive(Debug)]
struct Unproved {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Unproved {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
