//! TLS of the server: the certificate and its key, read again when their files change.

use std::fs::Metadata;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use salver_config::TlsFiles;
use salver_model::{Code, Error, Result};

/// Interval at which the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The certificate that the server shows.
#[derive(Debug)]
pub(crate) struct Certificate {
    files: TlsFiles,
    current: RwLock<Arc<CertifiedKey>>,
}

/// What tells that a file is another than before.
type Stamp = Option<(u64, Option<SystemTime>)>;

impl Certificate {
    /// Reads the certificate and the key.
    ///
    /// # Errors
    /// `Config` when a file can't be read, has nothing of its kind, or the key is another certificate's.
    pub(crate) fn open(files: &TlsFiles) -> Result<Arc<Self>> {
        let current = RwLock::new(Arc::new(read(files)?));
        Ok(Arc::new(Self { files: files.clone(), current }))
    }

    /// Returns the settings of a listener that shows this certificate.
    ///
    /// # Errors
    /// `Internal` when the library has no protocol in common with itself.
    pub(crate) fn listener(self: &Arc<Self>) -> Result<Arc<ServerConfig>> {
        let failed = |error| Error::internal("TLS can't be set up").with_source(error);
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Self>::clone(self);
        let mut config = builder.map_err(failed)?.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        config.ticketer = ring::Ticketer::new().map_err(failed)?;
        Ok(Arc::new(config))
    }

    /// Reads the files again whenever they change. While they are wrong, the last good certificate stays.
    pub(crate) async fn keep_fresh(self: Arc<Self>) {
        let mut seen = self.stamps();
        loop {
            tokio::time::sleep(LOOK).await;
            let now = self.stamps();
            if now == seen {
                continue;
            }
            seen = now;
            match read(&self.files) {
                Ok(certified) => {
                    *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
                    tracing::info!("the certificate of the server was read again");
                }
                Err(error) => {
                    let hint = error.hint.as_deref().unwrap_or_default();
                    tracing::warn!("the last certificate stays: {}; {hint}", error.message);
                }
            }
        }
    }

    fn stamps(&self) -> [Stamp; 2] {
        let stamp = |metadata: Metadata| (metadata.len(), metadata.modified().ok());
        [&self.files.certificate, &self.files.key].map(|path| std::fs::metadata(path).ok().map(stamp))
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn read(files: &TlsFiles) -> Result<CertifiedKey> {
    let (certificate, key) = (&files.certificate, &files.key);
    let chain = certificates(certificate)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unread("private key", key, error))?;
    CertifiedKey::from_der(chain, private, &ring::default_provider()).map_err(|error| {
        let (key, certificate) = (key.display(), certificate.display());
        let message = match &error {
            rustls::Error::InconsistentKeys(_) => {
                format!("the key in {key} is not that of the certificate in {certificate}")
            }
            other => format!("the key in {key} can't be used: {other}"),
        };
        Error::new(Code::Config, message)
            .with_hint("`server.tls_key` is the private key of the first certificate in `server.tls_certificate`")
    })
}

/// Reads the certificates of a file, of which there must be one.
///
/// # Errors
/// `Config` when it can't be read, or has none.
pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let all = all.map_err(|error| unread("certificate", path, error))?;
    if all.is_empty() { Err(unread("certificate", path, pem::Error::NoItemsFound)) } else { Ok(all) }
}

/// Returns the error for a file without what it should have.
fn unread(what: &str, path: &Path, error: pem::Error) -> Error {
    let (why, hint) = match &error {
        pem::Error::Io(cause) => (format!("can't be read: {cause}"), "the server's user must be able to read it"),
        pem::Error::NoItemsFound => (
            format!("has no {what}"),
            "it is a PEM file, with `-----BEGIN ...-----`; `openssl pkey` takes the password off a key",
        ),
        pem::Error::MissingSectionEnd { .. } => ("is cut off".to_owned(), "its last line is `-----END ...-----`"),
        other => (format!("is not right: {other}"), "it is a PEM file, with `-----BEGIN ...-----`"),
    };
    Error::new(Code::Config, format!("{} {why}", path.display())).with_hint(hint)
}
