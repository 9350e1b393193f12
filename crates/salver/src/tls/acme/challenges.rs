//! The certificates by which the server proves to the authority that a name is its own (RFC 8737, section 3).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use salver_model::{Error, Result};

/// What the authority is shown, by the name that it asks for. Each is there as long as its order goes on.
#[derive(Debug, Default)]
pub(super) struct Challenges(Mutex<BTreeMap<String, Arc<CertifiedKey>>>);

impl Challenges {
    /// Shows the authority the `digest` that it expects for a name.
    ///
    /// # Errors
    /// `Internal` when the certificate can't be made.
    pub(super) fn put(&self, name: &str, digest: &[u8]) -> Result<()> {
        let certified = Arc::new(certified(name, digest)?);
        self.lock().insert(name.to_ascii_lowercase(), certified);
        Ok(())
    }

    /// Shows nothing any more.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<CertifiedKey>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResolvesServerCert for Challenges {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name()?.to_ascii_lowercase();
        self.lock().get(&name).cloned()
    }
}

/// Makes a certificate for a name, with the digest in the extension that is meant for it.
fn certified(name: &str, digest: &[u8]) -> Result<CertifiedKey> {
    let failed = |error| Error::internal("the certificate of a challenge can't be made").with_source(error);
    let key = KeyPair::generate().map_err(failed)?;
    let mut parameters = CertificateParams::new([name.to_owned()]).map_err(failed)?;
    parameters.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let certificate = parameters.self_signed(&key).map_err(failed)?;
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let private = ring::default_provider()
        .key_provider
        .load_private_key(private)
        .map_err(|error| Error::internal("the key of a challenge can't be used").with_source(error))?;
    // `from_der` would read the certificate, and refuses each with a critical extension that it does not know, as the
    // one for the digest is.
    Ok(CertifiedKey::new(vec![certificate.der().clone()], private))
}

#[cfg(test)]
mod tests {
    use super::Challenges;

    #[test]
    fn each_name_has_its_own() {
        let challenges = Challenges::default();
        challenges.put("A.example", &[7; 32]).unwrap();
        challenges.put("b.example", &[8; 32]).unwrap();
        let shown = |name: &str| challenges.lock().get(name).map(|certified| certified.cert[0].to_vec());
        let (a, b) = (shown("a.example").unwrap(), shown("b.example").unwrap());
        // The extension: critical, an octet string of 32 bytes in another.
        let extension = |byte: u8| [&[0x01, 0x01, 0xff, 0x04, 0x22, 0x04, 0x20][..], &[byte; 32]].concat();
        let has = |der: &[u8], byte: u8| der.windows(39).any(|window| window == extension(byte));
        assert!(has(&a, 7) && has(&b, 8) && !has(&a, 8));
        challenges.clear();
        assert!(shown("a.example").is_none());
    }
}
