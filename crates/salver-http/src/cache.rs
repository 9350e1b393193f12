//! The response cache: final bytes, by request and by the versions of the data they were made from.
//!
//! The key is the request as it came (method class, target, body, and the headers a response depends on), so a hit
//! costs one lookup and no parsing. The value remembers the versions it was made from and is only used while the
//! catalog still has them: static data needs no time to live, and changed data is never served from the cache.
//!
//! A response that takes almost no time to make is kept only when it is requested again: most distinct requests never
//! recur, and touching fresh memory costs more than such a response does.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use quick_cache::sync::{Cache, DefaultLifecycle, PlaceholderGuard};
use quick_cache::{DefaultHashBuilder, Weighter};
use salver_model::limits::CACHED_BODY_BYTES_MAX;
use salver_model::{Name, Version};
use salver_service::Snapshot;

mod recent_requests;

use recent_requests::RecentRequests;

/// Time to make a response up to which it is kept only from the second request on.
const AT_ONCE: Duration = Duration::from_millis(1);
/// Bytes of an entry in addition to its key and its body: its headers, and the cache's own bookkeeping.
const ENTRY_BYTES: usize = 1_792;

/// A finished response.
#[derive(Debug)]
pub(crate) struct CachedResponse {
    /// Status of the response.
    pub(crate) status: StatusCode,
    /// Headers of the response.
    pub(crate) headers: HeaderMap,
    /// Entity tag, also among the headers.
    pub(crate) etag: Option<HeaderValue>,
    /// Body of the response.
    pub(crate) body: Bytes,
    /// The entries and versions it was made from.
    pub(crate) read: Vec<(Name, Version)>,
    /// The newest catalog generation for which it was validated.
    pub(crate) generation: AtomicU64,
}

impl CachedResponse {
    /// Returns whether the catalog still has every version that the response was made from.
    fn holds(&self, snapshot: &Snapshot) -> bool {
        let generation = snapshot.generation();
        if self.generation.load(Ordering::Relaxed) == generation {
            return true;
        }
        let same = self.read.iter().all(|(name, version)| {
            snapshot
                .entry(name.as_str())
                .and_then(|entry| entry.table())
                .is_some_and(|table| table.describe().version == *version)
        });
        if same {
            self.generation.store(generation, Ordering::Relaxed);
        }
        same
    }
}

/// A cache entry.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    /// The response.
    Answer(Arc<CachedResponse>),
    /// Marks a request whose responses are too large to keep, or never the same: requests do not wait for each other.
    Abandoned,
}

/// Approximate size of an entry in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Weight;

impl Weighter<Vec<u8>, Kept> for Weight {
    fn weight(&self, key: &Vec<u8>, kept: &Kept) -> u64 {
        let body = match kept {
            Kept::Answer(finished) => finished.body.len() + ENTRY_BYTES,
            Kept::Abandoned => 64,
        };
        (key.len() + body) as u64
    }
}

type CachePlaceholder<'a> =
    PlaceholderGuard<'a, Vec<u8>, Kept, Weight, DefaultHashBuilder, DefaultLifecycle<Vec<u8>, Kept>>;

/// The role of a request among concurrent requests for the same response.
pub(crate) enum SingleFlight<'a> {
    /// Another request made the response.
    Completed(Arc<CachedResponse>),
    /// This request has been making it since then; the others wait until the guard is filled or dropped.
    Lead(CachePlaceholder<'a>, Instant),
    /// Each request makes its own.
    Alone,
    /// The response takes microseconds, so that no request waits for another's.
    Immediate,
}

impl SingleFlight<'_> {
    /// Passes `finished` to the waiting requests and keeps it, unless it is too large for that, or took almost no time
    /// and is requested for the first time.
    pub(crate) fn complete(self, cache: &ResponseCache, key: &[u8], finished: &Arc<CachedResponse>) {
        match self {
            // A waiting request makes it then, which counts as the second time.
            Self::Lead(guard, begun) if begun.elapsed() < AT_ONCE && !cache.was_asked(key) => drop(guard),
            Self::Immediate if !cache.was_asked(key) => {}
            flight => flight.keep(cache, key, finished),
        }
    }

    /// The same, for a response that is worth keeping regardless of the time it took.
    pub(crate) fn keep(self, cache: &ResponseCache, key: &[u8], finished: &Arc<CachedResponse>) {
        if finished.body.len() > CACHED_BODY_BYTES_MAX {
            return self.abandon();
        }
        match self {
            // Fails only if the key was removed meanwhile; then the response is simply not kept.
            Self::Lead(guard, _) => drop(guard.insert(Kept::Answer(Arc::clone(finished)))),
            Self::Alone | Self::Immediate => cache.put(key, Arc::clone(finished)),
            Self::Completed(_) => {}
        }
    }

    /// Makes waiting and later requests do the work themselves: the response won't be kept.
    pub(crate) fn abandon(self) {
        if let Self::Lead(guard, _) = self {
            let _ = guard.insert(Kept::Abandoned);
        }
    }
}

/// The response cache.
#[derive(Debug)]
pub(crate) struct ResponseCache {
    cache: Option<Cache<Vec<u8>, Kept, Weight>>,
    asked: RecentRequests,
}

impl ResponseCache {
    /// Creates a cache of at most `bytes_max` bytes; 0 turns it off.
    pub(crate) fn new(bytes_max: u64) -> Self {
        let items = usize::try_from(bytes_max / 1024).unwrap_or(usize::MAX).clamp(64, 1 << 20);
        let cache = (bytes_max > 0).then(|| Cache::with_weighter(items, bytes_max, Weight));
        Self { cache, asked: RecentRequests::new(items) }
    }

    /// Returns the response for `key`, if it is cached and still valid.
    pub(crate) fn get(&self, key: &[u8], snapshot: &Snapshot) -> Option<Arc<CachedResponse>> {
        let cache = self.cache.as_ref()?;
        let Kept::Answer(found) = cache.get(key)? else { return None };
        if found.holds(snapshot) {
            return Some(found);
        }
        cache.remove(key);
        None
    }

    /// Like [`ResponseCache::get`]; on a miss, the first request leads and concurrent ones wait for its response, so
    /// that it is made only once. No request waits longer than `patience`.
    pub(crate) async fn get_or_lead<S: Deref<Target = Snapshot>>(
        &self,
        key: &[u8],
        catalog: impl Fn() -> S,
        patience: Duration,
    ) -> SingleFlight<'_> {
        let Some(cache) = &self.cache else { return SingleFlight::Alone };
        let landing = async {
            loop {
                match cache.get_value_or_guard_async(key).await {
                    Ok(Kept::Abandoned) => return SingleFlight::Alone,
                    Ok(Kept::Answer(found)) if found.holds(&catalog()) => return SingleFlight::Completed(found),
                    Ok(Kept::Answer(_)) => {
                        cache.remove(key);
                    }
                    Err(guard) => return SingleFlight::Lead(guard, Instant::now()),
                }
            }
        };
        tokio::time::timeout(patience, landing).await.unwrap_or(SingleFlight::Alone)
    }

    /// Returns whether `key` was requested lately, and records it.
    pub(crate) fn was_asked(&self, key: &[u8]) -> bool {
        self.cache.is_some() && self.asked.again(key)
    }

    /// Keeps `finished` for `key`, unless it is too large for that.
    pub(crate) fn put(&self, key: &[u8], finished: Arc<CachedResponse>) {
        if let Some(cache) = &self.cache
            && finished.body.len() <= CACHED_BODY_BYTES_MAX
        {
            cache.insert(key.to_vec(), Kept::Answer(finished));
        }
    }
}
