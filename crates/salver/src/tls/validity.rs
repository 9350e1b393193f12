//! When a certificate is valid, and for which names, as it says itself.

use std::time::Duration;

use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// When a certificate is valid, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Validity {
    /// Its first second.
    #[cfg_attr(not(feature = "acme"), allow(dead_code, reason = "tells when a certificate is renewed"))]
    pub(super) begins_s: i64,
    /// Its last second.
    pub(super) ends_s: i64,
}

impl Validity {
    /// Returns when a certificate is valid; `None` for one that can't be read.
    pub(super) fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let read = Certificate::from_der(certificate).ok()?;
        let seconds = |time: Duration| i64::try_from(time.as_secs()).ok();
        let validity = read.tbs_certificate.validity;
        let begins_s = seconds(validity.not_before.to_unix_duration())?;
        Some(Self { begins_s, ends_s: seconds(validity.not_after.to_unix_duration())? })
    }
}

/// Returns the names of hosts that a certificate is for, in small letters.
#[cfg(feature = "acme")]
pub(super) fn names(certificate: &CertificateDer<'_>) -> Vec<String> {
    use x509_cert::ext::pkix::SubjectAltName;
    use x509_cert::ext::pkix::name::GeneralName;

    let Ok(read) = Certificate::from_der(certificate) else { return Vec::new() };
    let Ok(Some((_, all))) = read.tbs_certificate.get::<SubjectAltName>() else { return Vec::new() };
    let name = |name: &GeneralName| match name {
        GeneralName::DnsName(name) => Some(name.as_str().to_ascii_lowercase()),
        _ => None,
    };
    all.0.iter().filter_map(name).collect()
}
