//! The published key set of an issuer: fetched when the server starts, then at intervals, and when a token names a key
//! that is not in it, because issuers sign with a new key as soon as they have published it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use salver_model::limits::JWK_SET_INTERVAL_S_MIN;
use salver_model::ports::KeySetSource;
use salver_model::{Code, Error, Result};
use tokio::sync::Mutex;

use super::jwk::{self, Jwk};

/// Shortest time between two requests for the set that tokens cause.
const INTERVAL: Duration = Duration::from_secs(JWK_SET_INTERVAL_S_MIN);

/// The last set that could be fetched.
#[derive(Debug)]
pub(super) struct KeySet {
    source: Arc<dyn KeySetSource>,
    keys: ArcSwapOption<Vec<Jwk>>,
    /// The time of the last attempt. Locked during an attempt, so that many tokens cause one.
    tried: Mutex<Option<Instant>>,
}

impl KeySet {
    pub(super) fn new(source: Arc<dyn KeySetSource>) -> Self {
        Self { source, keys: ArcSwapOption::empty(), tried: Mutex::default() }
    }

    /// Returns whether some key of the set that fits `kid` and `algorithm` satisfies `verifies`; `None` if the set has
    /// no key that fits. A token without `kid` may be signed with any.
    pub(super) fn verifies(&self, kid: Option<&str>, algorithm: &str, verifies: impl Fn(&Jwk) -> bool) -> Option<bool> {
        let keys = self.keys.load();
        let is_fit = |key: &&Jwk| {
            (kid.is_none() || key.kid.as_deref() == kid) && key.algorithm.as_deref().is_none_or(|own| own == algorithm)
        };
        let mut fit = keys.iter().flat_map(|keys| keys.iter()).filter(is_fit).peekable();
        fit.peek()?;
        Some(fit.any(verifies))
    }

    /// Fetches the set, unless that was tried a moment ago. If it fails, the last set stays.
    ///
    /// # Errors
    /// `AuthenticationUnavailable` if there has never been a set.
    pub(super) async fn look_again(&self) -> Result<()> {
        let mut tried = self.tried.lock().await;
        if tried.is_none_or(|tried| tried.elapsed() >= INTERVAL) {
            *tried = Some(Instant::now());
            self.try_fetch().await;
        }
        if self.keys.load().is_some() { Ok(()) } else { Err(missing()) }
    }

    /// Fetches the set every `interval`, for ever.
    pub(super) async fn keep_fresh(&self, interval: Duration) {
        loop {
            {
                let mut tried = self.tried.lock().await;
                *tried = Some(Instant::now());
                self.try_fetch().await;
            }
            tokio::time::sleep(interval).await;
        }
    }

    /// Fetches the set.
    ///
    /// # Errors
    /// Those of the source, and `Config` for what is not a set of usable keys.
    pub(super) async fn fetch(&self) -> Result<()> {
        let keys = jwk::parse(&self.source.fetch().await?)?;
        self.keys.store(Some(Arc::new(keys)));
        Ok(())
    }

    async fn try_fetch(&self) {
        if let Err(error) = self.fetch().await {
            let state = if self.keys.load().is_some() { "the last one stays" } else { "tokens can't be checked" };
            let hint = error.hint.as_deref().unwrap_or_default();
            tracing::warn!("the key set of `jwt_key_set` can't be used, {state}: {}; {hint}", error.chain());
        }
    }
}

fn missing() -> Error {
    Error::new(Code::AuthenticationUnavailable, "tokens can't be checked now: their issuer's keys are not known yet")
        .with_hint("try again later; the server's log says why")
}
