//! TLS of the server: the certificate and its key, from files that are read again when they change or from an
//! authority, and whom it trusts to sign the certificates of clients.

#[cfg(feature = "acme")]
mod acme;
mod client_authorities;
mod shown;
mod validity;
#[cfg(not(feature = "acme"))]
mod without_acme;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use salver_config::{CertificateSource, Tls, TlsFiles};
use salver_http::TlsOptions;
use salver_model::limits::TLS_FILE_BYTES_MAX;
use salver_model::{Code, Error, Result};

#[cfg(feature = "acme")]
use self::acme::{Authority, check_spec};
use self::client_authorities::ClientAuthorities;
use self::shown::Shown;
#[cfg(not(feature = "acme"))]
use self::without_acme::{Authority, check_spec};

/// Interval at which the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The certificate that the server shows.
#[derive(Debug)]
pub(crate) struct Certificate {
    source: Source,
    shown: Arc<Shown>,
    clients: Option<Arc<ClientAuthorities>>,
}

/// Where it comes from.
#[derive(Debug)]
enum Source {
    Files(TlsFiles),
    Authority(Arc<Authority>),
}

/// What tells that a file is another than before.
type Stamp = Option<(u64, Option<SystemTime>)>;

impl Certificate {
    /// Reads the certificate, the key, and the authorities of clients. A certificate from an authority is the one that
    /// is kept in `keep_dir`; without it there is none yet.
    ///
    /// # Errors
    /// `Config` when a file can't be read, has nothing of its kind, or the key is another certificate's.
    pub(crate) fn open(tls: &Tls, keep_dir: Option<&Path>) -> Result<Arc<Self>> {
        let shown = Arc::new(Shown::default());
        let source = match &tls.source {
            CertificateSource::Files(files) => {
                shown.put(read(files)?);
                Source::Files(files.clone())
            }
            CertificateSource::Acme(spec) => {
                let authority = Authority::open(spec, keep_dir)?;
                if let Some(kept) = authority.kept() {
                    shown.put(kept);
                }
                Source::Authority(authority)
            }
        };
        let clients = tls.client.as_ref().map(ClientAuthorities::open).transpose()?;
        Ok(Arc::new(Self { source, shown, clients }))
    }

    /// Checks what can be checked without an authority.
    ///
    /// # Errors
    /// `Config`.
    pub(crate) fn check(tls: &Tls) -> Result<()> {
        match &tls.source {
            CertificateSource::Files(files) => read(files).map(drop)?,
            CertificateSource::Acme(spec) => check_spec(spec)?,
        }
        tls.client.as_ref().map(ClientAuthorities::open).transpose().map(drop)
    }

    /// Returns the TLS of a listener that shows this certificate.
    ///
    /// # Errors
    /// `Internal` when the library has no protocol in common with itself.
    pub(crate) fn options(&self) -> Result<TlsOptions> {
        let challenges = match &self.source {
            Source::Files(_) => None,
            Source::Authority(authority) => Some(authority.listener()?),
        };
        Ok(TlsOptions { clients: self.listener()?, challenges, certificate: Arc::clone(self.shown.state()) })
    }

    fn listener(&self) -> Result<Arc<ServerConfig>> {
        let failed = |error| Error::internal("TLS can't be set up").with_source(error);
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Shown>::clone(&self.shown);
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

    /// Keeps the certificate fresh, for ever.
    pub(crate) async fn keep_fresh(self: Arc<Self>) {
        match &self.source {
            Source::Files(_) => self.keep_files_fresh().await,
            Source::Authority(authority) => {
                tokio::join!(self.keep_files_fresh(), authority.keep_fresh(&self.shown));
            }
        }
    }

    /// Reads the files again whenever they change. While they are wrong, the last good certificate stays.
    async fn keep_files_fresh(&self) {
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
            let Source::Files(files) = &self.source else { continue };
            if now[..2] == before[..2] {
                continue;
            }
            match read(files) {
                Ok(certified) => {
                    self.shown.put(certified);
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
        let files = match &self.source {
            Source::Files(files) => Some(files),
            Source::Authority(_) => None,
        };
        let paths = [files.map(|files| files.certificate.as_path()), files.map(|files| files.key.as_path()), clients];
        paths.map(|path| path.and_then(|path| std::fs::metadata(path).ok()).map(stamp))
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
    certificates_in(&text(path)?).map_err(|error| unread("certificate", path, &error))
}

/// Returns the certificates of a text, of which there must be one.
fn certificates_in(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, pem::Error> {
    let all: Vec<_> = CertificateDer::pem_slice_iter(text).collect::<Result<_, _>>()?;
    if all.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(all) }
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
