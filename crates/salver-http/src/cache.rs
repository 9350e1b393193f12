//! The cache of final bytes: what the same request over the same versions is answered with.
//!
//! The key is the request as it came (method class, target, body, and the headers an answer depends on), so a hit
//! costs one look-up and no parsing. The value remembers the versions it was made from and is only used while the
//! catalog still has them: static data needs no time to live, and changed data is never served from here.
//!
//! An answer that is made at once is kept only when it is asked for again: most requests that differ never come back,
//! and memory that is touched for the first time costs more than the answer does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use quick_cache::sync::{Cache, DefaultLifecycle, PlaceholderGuard};
use quick_cache::{DefaultHashBuilder, Weighter};
use salver_model::limits::CACHED_BODY_BYTES_MAX;
use salver_model::{Name, Version};
use salver_service::{Catalog, Snapshot};

mod asked;

use asked::Asked;

/// An answer that took no longer is made again rather than kept, unless it is asked for again.
const AT_ONCE: Duration = Duration::from_millis(1);
/// Bytes an entry takes beside its key and its body: its headers, and what the cache keeps of it.
const ENTRY_BYTES: usize = 1_792;

/// A finished answer.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Its status.
    pub(crate) status: StatusCode,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    /// Its entity tag, also among the headers.
    pub(crate) etag: Option<HeaderValue>,
    /// Its body.
    pub(crate) body: Bytes,
    /// What it was made from.
    pub(crate) read: Vec<(Name, Version)>,
    /// The newest catalog generation in which it was found to hold.
    pub(crate) generation: AtomicU64,
}

impl Finished {
    /// Whether the catalog still has every version the answer was made from.
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

/// What is known of a request.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    /// Its answer.
    Answer(Arc<Finished>),
    /// Its answers are too large to keep, or never the same: nobody waits for another's.
    Diverted,
}

/// Bytes an entry occupies, near enough.
#[derive(Clone, Debug)]
pub(crate) struct Weight;

impl Weighter<Vec<u8>, Kept> for Weight {
    fn weight(&self, key: &Vec<u8>, kept: &Kept) -> u64 {
        let body = match kept {
            Kept::Answer(finished) => finished.body.len() + ENTRY_BYTES,
            Kept::Diverted => 64,
        };
        (key.len() + body) as u64
    }
}

type Guard<'a> = PlaceholderGuard<'a, Vec<u8>, Kept, Weight, DefaultHashBuilder, DefaultLifecycle<Vec<u8>, Kept>>;

/// Who makes an answer that several want at once.
pub(crate) enum Flight<'a> {
    /// Somebody made it.
    Landed(Arc<Finished>),
    /// This request makes it since then; the others wait until the guard is filled or dropped.
    Lead(Guard<'a>, Instant),
    /// Everybody makes one.
    Alone,
}

impl Flight<'_> {
    /// Hands `finished` to whoever waits and keeps it, unless it is too large to be worth it, or was made at once and
    /// is asked for the first time.
    pub(crate) fn land(self, cache: &FinalBytes, key: &[u8], finished: &Arc<Finished>) {
        match self {
            // Whoever waits makes it then, which is the second time.
            Self::Lead(guard, begun) if begun.elapsed() < AT_ONCE && !cache.was_asked(key) => drop(guard),
            flight => flight.keep(cache, key, finished),
        }
    }

    /// The same, of an answer that is worth keeping however fast it was made.
    pub(crate) fn keep(self, cache: &FinalBytes, key: &[u8], finished: &Arc<Finished>) {
        if finished.body.len() > CACHED_BODY_BYTES_MAX {
            return self.divert();
        }
        match self {
            // Refused only when the key was removed meanwhile, and then the answer is simply not kept.
            Self::Lead(guard, _) => drop(guard.insert(Kept::Answer(Arc::clone(finished)))),
            Self::Alone => cache.put(key, Arc::clone(finished)),
            Self::Landed(_) => {}
        }
    }

    /// Has whoever waits, and whoever comes later, make it: the answer won't be kept.
    pub(crate) fn divert(self) {
        if let Self::Lead(guard, _) = self {
            let _ = guard.insert(Kept::Diverted);
        }
    }
}

/// The cache.
#[derive(Debug)]
pub(crate) struct FinalBytes {
    cache: Option<Cache<Vec<u8>, Kept, Weight>>,
    asked: Asked,
}

impl FinalBytes {
    /// A cache of at most `bytes_max`; 0 turns it off.
    pub(crate) fn new(bytes_max: u64) -> Self {
        let items = usize::try_from(bytes_max / 1024).unwrap_or(usize::MAX).clamp(64, 1 << 20);
        let cache = (bytes_max > 0).then(|| Cache::with_weighter(items, bytes_max, Weight));
        Self { cache, asked: Asked::new(items) }
    }

    /// The answer to `key`, when it is kept and still holds.
    pub(crate) fn get(&self, key: &[u8], snapshot: &Snapshot) -> Option<Arc<Finished>> {
        let cache = self.cache.as_ref()?;
        let Kept::Answer(found) = cache.get(key)? else { return None };
        if found.holds(snapshot) {
            return Some(found);
        }
        cache.remove(key);
        None
    }

    /// As [`FinalBytes::get`]; on a miss, the first to ask leads and the others wait for its answer, so that a crowd
    /// that wants the same thing has it made once. Nobody waits longer than `patience`.
    pub(crate) async fn get_or_lead(&self, key: &[u8], catalog: &Catalog, patience: Duration) -> Flight<'_> {
        let Some(cache) = &self.cache else { return Flight::Alone };
        let landing = async {
            loop {
                match cache.get_value_or_guard_async(key).await {
                    Ok(Kept::Diverted) => return Flight::Alone,
                    Ok(Kept::Answer(found)) if found.holds(&catalog.peek()) => return Flight::Landed(found),
                    Ok(Kept::Answer(_)) => {
                        cache.remove(key);
                    }
                    Err(guard) => return Flight::Lead(guard, Instant::now()),
                }
            }
        };
        tokio::time::timeout(patience, landing).await.unwrap_or(Flight::Alone)
    }

    /// Whether `key` was asked for lately; it is from now on.
    pub(crate) fn was_asked(&self, key: &[u8]) -> bool {
        self.cache.is_some() && self.asked.again(key)
    }

    /// Keeps `finished` for `key`, unless it is too large to be worth it.
    pub(crate) fn put(&self, key: &[u8], finished: Arc<Finished>) {
        if let Some(cache) = &self.cache
            && finished.body.len() <= CACHED_BODY_BYTES_MAX
        {
            cache.insert(key.to_vec(), Kept::Answer(finished));
        }
    }
}
