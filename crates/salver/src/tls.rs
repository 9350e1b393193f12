//! TLS of the server: the certificate and its key, and whom it trusts to sign the certificates of clients, read again
//! when their files change.

mod client_authorities;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use salver_config::TlsFiles;
use salver_model::limits::TLS_FILE_BYTES_MAX;
use salver_model::{Code, Error, Result};

use self::client_authorities::ClientAuthorities;

/// Interval at which the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The certificate that the server shows.
#[derive(Debug)]
pub(crate) struct Certificate {
    files: TlsFiles,
    current: RwLock<Arc<CertifiedKey>>,
    clients: Option<Arc<ClientAuthorities>>,
}

/// What tells that a file is another than before.
type Stamp = Option<(u64, Option<SystemTime>)>;

impl Certificate {
    /// Reads the certificate, the key, and the authorities of clients.
    ///
    /// # Errors
    /// `Config` when a file can't be read, has nothing of its kind, or the key is another certificate's.
    pub(crate) fn open(files: &TlsFiles) -> Result<Arc<Self>> {
        let current = RwLock::new(Arc::new(read(files)?));
        let clients = files.client.as_ref().map(ClientAuthorities::open).transpose()?;
        Ok(Arc::new(Self { files: files.clone(), current, clients }))
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
        let builder = builder.map_err(failed)?;
        let mut config = match &self.clients {
            Some(clients) => {
                let verifier: Arc<dyn ClientCertVerifier> = Arc::<ClientAuthorities>::clone(clients);
                let mut config = builder.with_client_cert_verifier(verifier).with_cert_resolver(resolver);
                // A session that is resumed has the certificate of then, which may have expired, or may be one of an
                // authority that is not trusted any more. So there are none.
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
                config
            }
            None => {
                let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
                config.ticketer = ring::Ticketer::new().map_err(failed)?;
                config
            }
        };
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// Reads the files again whenever they change. While they are wrong, the last good certificate stays.
    pub(crate) async fn keep_fresh(self: Arc<Self>) {
        let mut seen = self.stamps();
        loop {
            tokio::time::sleep(LOOK).await;
            let now = self.stamps();
            let before = std::mem::replace(&mut seen, now);
            if now[2] != before[2]
                && let Some(clients) = &self.clients
            {
                clients.read_again();
            }
            if now[..2] == before[..2] {
                continue;
            }
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

    /// Returns the stamps of the certificate, its key, and the authorities of clients.
    fn stamps(&self) -> [Stamp; 3] {
        let stamp = |metadata: Metadata| (metadata.len(), metadata.modified().ok());
        let clients = self.clients.as_ref().map(|clients| clients.path());
        let paths = [Some(self.files.certificate.as_path()), Some(self.files.key.as_path()), clients];
        paths.map(|path| path.and_then(|path| std::fs::metadata(path).ok()).map(stamp))
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
    let text = text(key)?;
    let private = PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
        if String::from_utf8_lossy(&text).contains("ENCRYPTED") {
            let message = format!("{} has a password", key.display());
            return Error::new(Code::Config, message).with_hint("`openssl pkey -in KEY -out KEY` takes it off");
        }
        unread("private key", key, &error)
    })?;
    CertifiedKey::from_der(chain, private, &ring::default_provider()).map_err(|error| {
        let (key, certificate) = (key.display(), certificate.display());
        match &error {
            rustls::Error::InconsistentKeys(_) => {
                let message = format!("the key in {key} is not that of the certificate in {certificate}");
                let hint = "`server.tls_key` is the private key of the first certificate in `server.tls_certificate`";
                Error::new(Code::Config, message).with_hint(hint)
            }
            other => Error::new(Code::Config, format!("the key in {key} can't be used: {other}"))
                .with_hint("keys of RSA (2048 bits and more), ECDSA (P-256, P-384) and Ed25519 can"),
        }
    })
}

/// Reads the certificates of a file, of which there must be one.
///
/// # Errors
/// `Config` when it can't be read, or has none.
pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text(path)?).collect();
    let all = all.map_err(|error| unread("certificate", path, &error))?;
    if all.is_empty() { Err(unread("certificate", path, &pem::Error::NoItemsFound)) } else { Ok(all) }
}

/// Reads a file, unless it is none, or too large to be meant: a pipe would have no end, and a device neither.
fn text(path: &Path) -> Result<Vec<u8>> {
    let failed = |why: String| {
        Error::new(Code::Config, format!("{} {why}", path.display()))
            .with_hint("name a file of PEM that the user of this program may read")
    };
    let unreadable = |error: io::Error| failed(format!("can't be read: {error}"));
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(failed("is not a file".to_owned()));
    }
    let mut text = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(TLS_FILE_BYTES_MAX + 1).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > TLS_FILE_BYTES_MAX {
        return Err(failed(format!("has more than {TLS_FILE_BYTES_MAX} bytes")));
    }
    // Some editors begin a file with a byte order mark.
    Ok(text.strip_prefix(b"\xEF\xBB\xBF").map(<[u8]>::to_vec).unwrap_or(text))
}

/// Returns the error for a file without what it should have.
fn unread(what: &str, path: &Path, error: &pem::Error) -> Error {
    let why = match error {
        pem::Error::NoItemsFound => format!("has no {what}"),
        pem::Error::MissingSectionEnd { .. } => "is cut off: its last line is not `-----END ...-----`".to_owned(),
        pem::Error::IllegalSectionStart { .. } => "has a line that begins like `-----BEGIN` and is not one".to_owned(),
        other => format!("is not right: {other}"),
    };
    Error::new(Code::Config, format!("{} {why}", path.display()))
        .with_hint(format!("it is a PEM file, with `-----BEGIN ...-----` around each {what}"))
}
