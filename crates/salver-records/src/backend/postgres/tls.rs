//! TLS for connections to a server: which certificates are believed.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use salver_model::{Code, Error, Result};
use tokio_postgres_rustls::MakeRustlsConnect;

/// What a server must prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// Nothing: what is sent can't be read on the way, but might go to somebody else.
    Nothing,
    /// That it is who it says it is.
    Server,
}

/// What makes TLS connections. Without `root_file` the public authorities are believed, else those in it.
pub(super) fn connector(proof: &Proof, root_file: Option<&str>) -> Result<MakeRustlsConnect> {
    let fault = |error| Error::internal("TLS can't be set up").with_source(error);
    // Said here, and not once for the process: who embeds this crate may have chosen another.
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

/// Believes any certificate, but not that somebody holds a key who does not.
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
