//! What is known of the server's certificate: until when it is valid, and how often it could not be renewed.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Stands for a certificate that there is not, or whose end is not known.
const UNKNOWN: i64 = i64::MIN;

/// What is known of the server's certificate, as `/metrics` tells it.
#[derive(Debug)]
pub struct CertificateState {
    ends_s: AtomicI64,
    renewals: AtomicU64,
    failures: AtomicU64,
}

impl Default for CertificateState {
    fn default() -> Self {
        Self { ends_s: AtomicI64::new(UNKNOWN), renewals: AtomicU64::new(0), failures: AtomicU64::new(0) }
    }
}

impl CertificateState {
    /// Notes until when the certificate is valid, in seconds since 1970; `None` if that is not known.
    pub fn set_end(&self, ends_s: Option<i64>) {
        self.ends_s.store(ends_s.unwrap_or(UNKNOWN), Ordering::Relaxed);
    }

    /// Counts an attempt to get the certificate from an authority.
    pub fn count_attempt(&self, has_succeeded: bool) {
        let count = if has_succeeded { &self.renewals } else { &self.failures };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns until when the certificate is valid, in seconds since 1970.
    pub(crate) fn end(&self) -> Option<i64> {
        Some(self.ends_s.load(Ordering::Relaxed)).filter(|ends_s| *ends_s != UNKNOWN)
    }

    /// Returns how many attempts to get the certificate succeeded, and how many failed.
    pub(crate) fn attempts(&self) -> [u64; 2] {
        [self.renewals.load(Ordering::Relaxed), self.failures.load(Ordering::Relaxed)]
    }
}
