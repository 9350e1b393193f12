//! Stands for certificates from an authority in a program that was built without them.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::sign::CertifiedKey;
use salver_config::AcmeSpec;
use salver_model::{Code, Error, Result};

use super::shown::Shown;

/// An authority, which there is none.
#[derive(Debug)]
pub(super) struct Authority(Infallible);

impl Authority {
    /// Refuses to ask an authority.
    ///
    /// # Errors
    /// `Config`, always.
    pub(super) fn open(_: &AcmeSpec, _: Option<&Path>) -> Result<Arc<Self>> {
        check().map(|never| match never {})
    }

    pub(super) fn kept(&self) -> Option<CertifiedKey> {
        match self.0 {}
    }

    pub(super) fn listener(&self) -> Result<Arc<ServerConfig>> {
        match self.0 {}
    }

    pub(super) async fn keep_fresh(&self, _: &Shown) {
        match self.0 {}
    }
}

/// Refuses the settings.
///
/// # Errors
/// `Config`, always.
pub(super) fn check_spec(_: &AcmeSpec) -> Result<()> {
    check().map(|never| match never {})
}

fn check() -> Result<Infallible> {
    Err(Error::new(
        Code::Config,
        "this program was built without certificates from an authority (`server.acme_domains`)",
    )
    .with_hint("name a certificate with `server.tls_certificate`, or build it with the feature `acme`"))
}
