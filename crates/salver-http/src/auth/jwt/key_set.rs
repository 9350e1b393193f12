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

/// Shortest time from one request for the set to the next, if tokens cause it.
const INTERVAL: Duration = Duration::from_secs(JWK_SET_INTERVAL_S_MIN);
/// Longest time that a token waits for the set; then it is refused.
const WAIT: Duration = Duration::from_secs(JWK_SET_INTERVAL_S_MIN / 3);

/// The last set that could be fetched. Cheap to share.
#[derive(Clone, Debug)]
pub(super) struct KeySet(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// URL or path of the set.
    location: String,
    source: Arc<dyn KeySetSource>,
    keys: ArcSwapOption<Vec<Jwk>>,
    /// The end of the last attempt. Locked during an attempt, so that many tokens cause one.
    tried: Arc<Mutex<Option<Instant>>>,
}

impl KeySet {
    pub(super) fn new(location: &str, source: Arc<dyn KeySetSource>) -> Self {
        let (keys, tried) = (ArcSwapOption::empty(), Arc::default());
        Self(Arc::new(Shared { location: location.to_owned(), source, keys, tried }))
    }

    /// Returns whether this is the set of that URL or path.
    pub(super) fn is_of(&self, location: &str) -> bool {
        self.0.location == location
    }

    /// Returns whether some key of the set that fits `kid` and `algorithm` satisfies `verifies`; `None` if the set has
    /// no key that fits. A token without `kid` may be signed with any.
    pub(super) fn verifies(&self, kid: Option<&str>, algorithm: &str, verifies: impl Fn(&Jwk) -> bool) -> Option<bool> {
        let keys = self.0.keys.load();
        let is_fit = |key: &&Jwk| {
            (kid.is_none() || key.kid.as_deref() == kid) && key.algorithm.as_deref().is_none_or(|own| own == algorithm)
        };
        let mut fit = keys.iter().flat_map(|keys| keys.iter()).filter(is_fit).peekable();
        fit.peek()?;
        Some(fit.any(verifies))
    }

    /// Fetches the set, unless that was tried a moment ago, and waits for it for a while. If it fails, the last set
    /// stays.
    ///
    /// # Errors
    /// `AuthenticationUnavailable` if there has never been a set.
    pub(super) async fn look_again(&self) -> Result<()> {
        let looking = async {
            let mut tried = Arc::clone(&self.0.tried).lock_owned().await;
            if tried.is_none_or(|tried| tried.elapsed() >= INTERVAL) {
                let own = self.clone();
                // A task of its own, from which others profit when this request is given up. It has the lock, so that
                // there is never more than one.
                let fetching = tokio::spawn(async move {
                    own.try_fetch().await;
                    *tried = Some(Instant::now());
                });
                let _ = fetching.await;
            }
        };
        let _ = tokio::time::timeout(WAIT, looking).await;
        if self.0.keys.load().is_some() { Ok(()) } else { Err(missing()) }
    }

    /// Fetches the set now, unless it has just been fetched, and then every `interval`, for ever.
    pub(super) async fn keep_fresh(&self, interval: Duration) {
        loop {
            let mut tried = self.0.tried.lock().await;
            if self.0.keys.load().is_none() || tried.is_none_or(|tried| tried.elapsed() >= interval) {
                self.try_fetch().await;
                *tried = Some(Instant::now());
            }
            drop(tried);
            tokio::time::sleep(interval).await;
        }
    }

    /// Fetches the set.
    ///
    /// # Errors
    /// Those of the source, and `Config` for what is not a set of usable keys.
    pub(super) async fn fetch(&self) -> Result<()> {
        let keys = jwk::parse(&self.0.source.fetch().await?)?;
        self.0.keys.store(Some(Arc::new(keys)));
        Ok(())
    }

    async fn try_fetch(&self) {
        if let Err(error) = self.fetch().await {
            let state = if self.0.keys.load().is_some() { "the last one stays" } else { "tokens can't be checked" };
            let hint = error.hint.as_deref().unwrap_or_default();
            tracing::warn!("the key set of an issuer of tokens can't be used, {state}: {}; {hint}", error.chain());
        }
    }
}

fn missing() -> Error {
    Error::new(Code::AuthenticationUnavailable, "tokens can't be checked now: their issuer's keys are not known yet")
        .with_hint("try again later; the server's log says why")
}
