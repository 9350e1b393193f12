//! Certificates from an authority (ACME, RFC 8555): got when there is none, renewed in time, and kept in the data
//! directory, so that a server that starts without the authority has one.
//!
//! The authority checks each name by a connection to the server at port 443 (TLS-ALPN-01, RFC 8737).

mod challenges;
mod client;
mod order;
mod store;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::ResolvesServerCert;
use rustls::sign::CertifiedKey;
use salver_config::AcmeSpec;
use salver_model::limits::{ACME_RETRY_S_MAX, ACME_RETRY_S_MIN};
use salver_model::{Code, Error, Result, seal};

use self::challenges::Challenges;
use self::client::Client;
use self::store::Store;
use super::shown::Shown;
use super::validity::{self, Validity};

/// The protocol of a connection by which the authority checks a name.
const CHALLENGE: &[u8] = b"acme-tls/1";
/// Longest time until the clock is looked at again, which may have been put forward.
const LOOK: Duration = Duration::from_secs(3_600);
/// Shortest time between two certificates.
const PACE: Duration = Duration::from_secs(1);
/// Longest work on one certificate.
const WORK: Duration = Duration::from_secs(900);
const DAY_S: i64 = 86_400;

/// The authority of the settings, as this server deals with it.
#[derive(Debug)]
pub(super) struct Authority {
    spec: AcmeSpec,
    client: Client,
    store: Store,
    challenges: Arc<Challenges>,
}

impl Authority {
    /// Gets ready to ask the authority, which keeps account and certificate in `keep_dir`.
    ///
    /// # Errors
    /// `Config` without a directory to keep anything in, and for unusable certificates of the authority.
    pub(super) fn open(spec: &AcmeSpec, keep_dir: Option<&Path>) -> Result<Arc<Self>> {
        let keep_dir = keep_dir.ok_or_else(|| {
            Error::new(Code::Config, "there is no directory to keep the certificate of `server.acme_domains` in")
                .with_hint("name one with `--data-dir`")
        })?;
        let (client, store) = (Client::open(spec)?, Store::new(keep_dir));
        Ok(Arc::new(Self { spec: spec.clone(), client, store, challenges: Arc::default() }))
    }

    /// Returns the certificate that was kept, if there is one.
    pub(super) fn kept(&self) -> Option<CertifiedKey> {
        self.store.certificate().map(|kept| kept.certified)
    }

    /// Returns the settings of a listener for connections by which the authority checks names. No client has a
    /// certificate there, and nothing is said after the handshake.
    ///
    /// # Errors
    /// `Internal` when the library has no protocol in common with itself.
    pub(super) fn listener(&self) -> Result<Arc<ServerConfig>> {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::internal("TLS can't be set up").with_source(error))?;
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Challenges>::clone(&self.challenges);
        let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![CHALLENGE.to_vec()];
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    /// Gets a certificate whenever one is due, for ever.
    pub(super) async fn keep_fresh(&self, shown: &Shown) {
        let kept = self.store.certificate();
        // One of another authority is good until there is one of this.
        let mut is_other = kept.is_some_and(|kept| kept.directory != self.spec.directory);
        let mut failures = 0;
        loop {
            let wait = if is_other { Duration::ZERO } else { self.until_due(shown) };
            if !wait.is_zero() {
                tokio::time::sleep(wait.clamp(PACE, LOOK)).await;
                continue;
            }
            let renewed = tokio::time::timeout(WORK, Box::pin(self.renew(shown))).await;
            let renewed = renewed.unwrap_or_else(|_| Err(too_slow(&self.spec)));
            shown.state().count_attempt(renewed.is_ok());
            match renewed {
                Ok(()) => (is_other, failures) = (false, 0),
                Err(error) => {
                    failures += 1;
                    let pause = pause(failures);
                    self.tell(&error, shown, pause);
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    /// Gets a certificate, keeps it, and shows it.
    async fn renew(&self, shown: &Shown) -> Result<()> {
        let account = self.account().await?;
        let ordered = Box::pin(order::certificate(&account, &self.spec, &self.challenges)).await;
        self.challenges.clear();
        let ordered = match ordered {
            Err(error) if order::is_unknown_account(&error) => {
                self.store.forget_account();
                let account = self.account().await?;
                let ordered = Box::pin(order::certificate(&account, &self.spec, &self.challenges)).await;
                self.challenges.clear();
                ordered?
            }
            ordered => ordered?,
        };
        let certified = store::certified(&ordered.chain, &ordered.key)
            .map_err(|error| unusable(&self.spec, &error.message).with_source(error))?;
        if !self.until_due_of(Some(&certified)).is_zero() {
            let kept = self.store.keep_certificate(&self.spec.directory, &ordered);
            let days = days_left(&certified);
            shown.put(certified);
            let names = self.spec.domains.join(", ");
            tracing::info!("`{}` made a certificate for {names}, which is valid for {days}", self.spec.directory);
            return kept;
        }
        Err(unusable(&self.spec, "it is not valid now, or for other names"))
    }

    /// Returns the account at the authority, which is made if there is none yet.
    async fn account(&self) -> Result<instant_acme::Account> {
        if let Some(kept) = self.store.account(&self.spec.directory) {
            return order::open_account(&self.client, &self.spec, kept).await;
        }
        let (account, credentials) = order::make_account(&self.client, &self.spec).await?;
        // An account that is not kept would be another at each attempt, of which authorities bound the number.
        self.store.keep_account(&credentials)?;
        Ok(account)
    }

    /// Returns the time until another certificate is due: when two thirds of this one's are over.
    fn until_due(&self, shown: &Shown) -> Duration {
        self.until_due_of(shown.current().as_deref())
    }

    fn until_due_of(&self, certified: Option<&CertifiedKey>) -> Duration {
        let Some(first) = certified.and_then(|certified| certified.cert.first()) else { return Duration::ZERO };
        let names = validity::names(first);
        let is_for_all = self.spec.domains.iter().all(|domain| names.contains(domain));
        let validity = Validity::of(first).filter(|_| is_for_all);
        validity.map_or(Duration::ZERO, |validity| until_due(validity, now_s()))
    }

    /// Tells the operator of a failure.
    fn tell(&self, error: &Error, shown: &Shown, pause: Duration) {
        let state = match shown.current() {
            None => "there is no certificate, and no connection with TLS until there is one".to_owned(),
            Some(certified) => format!("the last certificate stays, and is valid for {}", days_left(&certified)),
        };
        let (why, hint) = (error.chain(), error.hint.as_deref().unwrap_or_default());
        tracing::warn!("{state}: {why}; {hint}; the next attempt is in {} s", pause.as_secs());
    }
}

/// Checks what can be checked of the settings without the authority.
///
/// # Errors
/// `Config`.
pub(super) fn check_spec(spec: &AcmeSpec) -> Result<()> {
    Client::open(spec).map(drop)
}

/// Returns the time until another certificate is due after one with this validity.
fn until_due(validity: Validity, now_s: i64) -> Duration {
    let whole_s = validity.ends_s.saturating_sub(validity.begins_s);
    let due_s = validity.begins_s.saturating_add(whole_s / 3 * 2 + whole_s % 3);
    // One that is not valid yet is none: the clock may be wrong, or was when it was made.
    if now_s < validity.begins_s {
        return Duration::ZERO;
    }
    Duration::from_secs(u64::try_from(due_s.saturating_sub(now_s)).unwrap_or(0))
}

/// Returns the pause after so many failures: longer with each, and by chance, so that many servers don't come at once.
fn pause(failures: u32) -> Duration {
    let doubled = ACME_RETRY_S_MIN.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let base_ms = doubled.min(ACME_RETRY_S_MAX) * 1_000;
    let chance = seal::random::<1>().map_or(0, |[byte]| u64::from(byte));
    Duration::from_millis(base_ms + base_ms / 4 * chance / 255)
}

fn days_left(certified: &CertifiedKey) -> String {
    let ends_s = certified.cert.first().and_then(Validity::of).map_or(0, |validity| validity.ends_s);
    match ends_s.saturating_sub(now_s()) {
        left_s if left_s <= 0 => "no time any more".to_owned(),
        left_s if left_s < 2 * DAY_S => format!("{} minutes", left_s / 60),
        left_s => format!("{} days", left_s / DAY_S),
    }
}

fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

fn too_slow(spec: &AcmeSpec) -> Error {
    Error::new(Code::Source, format!("`{}` took too long", spec.directory)).with_hint("it may be busy")
}

fn unusable(spec: &AcmeSpec, why: &str) -> Error {
    Error::new(Code::Source, format!("the certificate that `{}` made can't be used: {why}", spec.directory))
        .with_hint("check the clock of this machine, and `server.acme_directory`")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Validity, pause, until_due};

    #[test]
    fn when_a_certificate_is_due() {
        let validity = Validity { begins_s: 1_000, ends_s: 1_900 };
        for (now_s, expected_s) in [(999, 0), (1_000, 600), (1_599, 1), (1_600, 0), (5_000, 0)] {
            assert_eq!(until_due(validity, now_s), Duration::from_secs(expected_s), "{now_s}");
        }
        let absurd = Validity { begins_s: 10, ends_s: 5 };
        assert_eq!(until_due(absurd, 20), Duration::ZERO);
        assert!(until_due(Validity { begins_s: 0, ends_s: i64::MAX }, 5) > Duration::ZERO);
    }

    #[test]
    fn pauses_grow() {
        for (failures, least_s) in [(1, 120), (2, 240), (5, 1_920), (8, 15_360), (9, 21_600), (u32::MAX, 21_600)] {
            let pause = pause(failures).as_secs_f64();
            let least_s = f64::from(least_s);
            assert!(pause >= least_s && pause <= least_s * 1.25, "{failures}: {pause}");
        }
    }
}
