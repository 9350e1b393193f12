//! What is kept of an authority in the data directory: the account there, and the certificate with its key. Both are
//! for the user of this process alone.

use std::path::{Path, PathBuf};

use instant_acme::AccountCredentials;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::CertifiedKey;
use salver_config::ACME_DIR;
use salver_model::{Code, Error, Result};

use super::order::Ordered;
use crate::private_file;

const ACCOUNT: &str = "account.json";
/// Chain and key are one file, so that they always belong together.
const CERTIFICATE: &str = "certificate.pem";
/// Line of that file with the directory of the authority; what stands outside of the blocks of PEM is a comment.
const DIRECTORY: &str = "Directory: ";

/// The folder of the data directory.
#[derive(Debug)]
pub(super) struct Store(PathBuf);

/// A certificate that was kept.
pub(super) struct Kept {
    /// Directory of the authority that made it.
    pub(super) directory: String,
    pub(super) certified: CertifiedKey,
}

impl Store {
    pub(super) fn new(keep_dir: &Path) -> Self {
        Self(keep_dir.join(ACME_DIR))
    }

    /// Returns the certificate that is kept; one that is damaged is reported, and counts as none.
    pub(super) fn certificate(&self) -> Option<Kept> {
        let path = self.0.join(CERTIFICATE);
        if !path.exists() {
            return None;
        }
        let read = crate::tls::text(&path).and_then(|text| {
            let text = String::from_utf8_lossy(&text).into_owned();
            let directory = text.lines().find_map(|line| line.strip_prefix(DIRECTORY)).unwrap_or_default().to_owned();
            Ok(Kept { directory, certified: certified(&text, &text)? })
        });
        read.inspect_err(|error| tracing::warn!("`{}` is left out: {}", path.display(), error.message)).ok()
    }

    /// Keeps a certificate in place of the one before.
    ///
    /// # Errors
    /// `Config` when it can't be written.
    pub(super) fn keep_certificate(&self, directory: &str, ordered: &Ordered) -> Result<()> {
        self.keep(CERTIFICATE, &format!("{DIRECTORY}{directory}\n{}{}", ordered.key, ordered.chain))
    }

    /// Returns the account at the authority with this directory.
    pub(super) fn account(&self, directory: &str) -> Option<AccountCredentials> {
        let text = std::fs::read_to_string(self.0.join(ACCOUNT)).ok()?;
        let read: serde_json::Value = serde_json::from_str(&text).ok()?;
        let is_of = read.get("directory").and_then(serde_json::Value::as_str) == Some(directory);
        if is_of { serde_json::from_str(&text).ok() } else { None }
    }

    /// Keeps an account in place of the one before.
    ///
    /// # Errors
    /// `Config` when it can't be written.
    pub(super) fn keep_account(&self, credentials: &AccountCredentials) -> Result<()> {
        let text = serde_json::to_string(credentials);
        self.keep(ACCOUNT, &text.map_err(|error| Error::internal("an account can't be written").with_source(error))?)
    }

    /// Forgets the account.
    pub(super) fn forget_account(&self) {
        let _ = std::fs::remove_file(self.0.join(ACCOUNT));
    }

    fn keep(&self, name: &str, text: &str) -> Result<()> {
        private_file::replace(&self.0, name, text).map_err(|error| {
            Error::new(Code::Config, format!("can't write `{}`: {error}", self.0.join(name).display()))
                .with_hint("the user of this program must be able to write to the data directory")
                .with_source(error)
        })
    }
}

/// Returns a chain with its key, both PEM.
///
/// # Errors
/// `Config` for what is damaged, or does not belong together.
pub(super) fn certified(chain: &str, key: &str) -> Result<CertifiedKey> {
    let wrong = |why: String| Error::new(Code::Config, why).with_hint("it will be replaced");
    let chain = crate::tls::certificates_in(chain.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    CertifiedKey::from_der(chain, key, &rustls::crypto::ring::default_provider())
        .map_err(|error| wrong(error.to_string()))
}
