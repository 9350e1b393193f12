//! `Idempotency-Key`: a write that is retried under the same key gets the first one's response, and is not done again
//! (<https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/>).
//!
//! Responses are kept in memory: for a day, as long as there is room, and not across a restart. A write under a key
//! continues when its client disconnects, so that the client can ask for the outcome. Transient failures (503, 500) are
//! not kept.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ahash::AHashMap;
use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use salver_model::limits::{IDEMPOTENCY_BYTES_MAX, IDEMPOTENCY_KEPT_S, IDEMPOTENCY_KEY_BYTES_MAX};
use salver_model::{Caller, Code, Error, Holder, Result, Version};
use tokio::sync::watch;

use crate::body::Body;
use crate::dialect::{Dialect, Refusal};
use crate::exit;
use crate::tokens::Owner;

/// Time for which a response is kept.
const KEPT_FOR: Duration = Duration::from_secs(IDEMPOTENCY_KEPT_S);

/// An idempotency key of a caller. The address is no part of it: a client may retry from elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    text: String,
    caller: Owner,
    /// Holder that the response is charged to, by address where nothing else is known.
    holder: Holder,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, &self.caller) == (&other.text, &other.caller)
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.text, &self.caller).hash(state);
    }
}

impl Key {
    /// Creates the key of a request by `caller`.
    ///
    /// # Errors
    /// `InvalidRequest` for an empty or overlong one.
    pub(crate) fn of(text: &str, caller: &Caller) -> Result<Self> {
        if text.is_empty() || text.len() > IDEMPOTENCY_KEY_BYTES_MAX {
            return Err(Error::new(Code::InvalidRequest, "`Idempotency-Key` is empty or too long")
                .with_hint(format!("send up to {IDEMPOTENCY_KEY_BYTES_MAX} characters, like a random UUID")));
        }
        Ok(Self { text: text.to_owned(), caller: Owner::of(caller), holder: caller.holder() })
    }

    fn bytes(&self) -> usize {
        256 + self.text.len() + self.caller.bytes()
    }
}

/// A finished response.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Kept {
    /// Copies a response, if its body is complete.
    pub(crate) fn of(response: &Response<Body>) -> Option<Self> {
        let Body::Full(body) = response.body() else { return None };
        Some(Self { status: response.status(), headers: response.headers().clone(), body: body.clone() })
    }

    /// Returns the response again.
    pub(crate) fn answer(&self) -> Response<Body> {
        let mut response = exit::reply(self.status, Body::Full(self.body.clone()));
        *response.headers_mut() = self.headers.clone();
        response
    }

    fn is_final(&self) -> bool {
        !self.status.is_server_error()
    }

    /// Returns the status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the body.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        512 + self.body.len()
    }
}

#[derive(Debug)]
enum KeySlot {
    /// The request is in progress; the channel closes when it ends.
    Running { request: Version, done: watch::Receiver<()> },
    /// The request is done.
    Done { request: Version, answer: Kept, since: Instant },
}

#[derive(Debug, Default)]
struct Slots {
    by_key: AHashMap<Key, KeySlot>,
    /// The keys of finished requests, oldest first.
    order: VecDeque<(Instant, Key)>,
    bytes: usize,
    bytes_of: AHashMap<Holder, usize>,
}

/// The store of idempotency keys, one per server.
#[derive(Debug, Default)]
pub(crate) struct Idempotency {
    slots: Mutex<Slots>,
}

/// The reason why a request is refused under its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// The key was used for another request.
    Reused,
    /// The first request with the key is still in progress.
    Running,
}

impl From<Conflict> for Refusal {
    fn from(conflict: Conflict) -> Self {
        let (status, message, hint) = match conflict {
            Conflict::Reused => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "this `Idempotency-Key` was used for another request",
                "use a new key for each new request",
            ),
            Conflict::Running => (
                StatusCode::CONFLICT,
                "the first request with this `Idempotency-Key` is still running",
                "try again in a few seconds, under the same key",
            ),
        };
        // No other system has such keys.
        let refusal = Self::from(Error::new(Code::InvalidRequest, message).with_hint(hint));
        refusal.with_status(status).in_dialect(Dialect::Salver)
    }
}

/// The role of a request under its key.
#[derive(Debug)]
pub(crate) enum Turn<'a> {
    /// The response is already there.
    Done(Kept),
    /// This request does the work.
    Mine(Lead<'a>),
}

/// The obligation to do the work and to report the response. If dropped without one, the key is free again.
#[derive(Debug)]
pub(crate) struct Lead<'a> {
    store: &'a Idempotency,
    key: Key,
    request: Version,
    answered: bool,
    _done: watch::Sender<()>,
}

impl Idempotency {
    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides the role of `request` under `key`; waits up to `patience` for another one that is in progress.
    ///
    /// # Errors
    /// When the key was used for another request, or the other one is still in progress.
    pub(crate) async fn turn(
        &self,
        key: Key,
        request: Version,
        patience: Duration,
    ) -> std::result::Result<Turn<'_>, Conflict> {
        let deadline = tokio::time::Instant::now() + patience;
        loop {
            let mut done = match self.look(&key, request)? {
                Look::Turn(turn) => return Ok(turn),
                Look::Wait(done) => done,
            };
            // The channel closes when the other request is done or dropped; then the key is looked up again.
            if tokio::time::timeout_at(deadline, done.changed()).await.is_err() {
                return Err(Conflict::Running);
            }
        }
    }

    fn look(&self, key: &Key, request: Version) -> std::result::Result<Look<'_>, Conflict> {
        let mut slots = self.lock();
        slots.forget_old(Instant::now());
        match slots.by_key.get(key) {
            Some(KeySlot::Running { request: other, .. } | KeySlot::Done { request: other, .. })
                if *other != request =>
            {
                Err(Conflict::Reused)
            }
            Some(KeySlot::Running { done, .. }) => Ok(Look::Wait(done.clone())),
            Some(KeySlot::Done { answer, .. }) => Ok(Look::Turn(Turn::Done(answer.clone()))),
            None => {
                let (sender, done) = watch::channel(());
                slots.by_key.insert(key.clone(), KeySlot::Running { request, done });
                let lead = Lead { store: self, key: key.clone(), request, answered: false, _done: sender };
                Ok(Look::Turn(Turn::Mine(lead)))
            }
        }
    }
}

enum Look<'a> {
    Turn(Turn<'a>),
    Wait(watch::Receiver<()>),
}

impl Slots {
    fn forget_old(&mut self, now: Instant) {
        while let Some((since, key)) = self.order.pop_front_if(|(since, _)| now.duration_since(*since) >= KEPT_FOR) {
            self.forget(since, &key);
        }
        // The holder with the most bytes is evicted first, so that one client with many keys can't evict those of
        // others.
        while self.bytes > IDEMPOTENCY_BYTES_MAX {
            let most = self.bytes_of.iter().max_by_key(|(_, bytes)| **bytes).map(|(holder, _)| holder);
            let oldest = most.and_then(|most| self.order.iter().position(|(_, key)| key.holder == *most));
            let Some((since, key)) = oldest.and_then(|oldest| self.order.remove(oldest)) else { return };
            self.forget(since, &key);
        }
    }

    fn forget(&mut self, since: Instant, key: &Key) {
        let is_this = matches!(self.by_key.get(key), Some(KeySlot::Done { since: own, .. }) if *own == since);
        if is_this && let Some(KeySlot::Done { answer, .. }) = self.by_key.remove(key) {
            let bytes = key.bytes() + answer.bytes();
            self.bytes -= bytes;
            let left = self.bytes_of.get(&key.holder).map_or(0, |own| own.saturating_sub(bytes));
            if left == 0 {
                self.bytes_of.remove(&key.holder);
            } else {
                self.bytes_of.insert(key.holder.clone(), left);
            }
        }
    }
}

impl Lead<'_> {
    /// Keeps the response for retries, unless it is a transient failure.
    pub(crate) fn finish(mut self, answer: Kept) {
        if !answer.is_final() {
            return;
        }
        let now = Instant::now();
        let mut slots = self.store.lock();
        let bytes = self.key.bytes() + answer.bytes();
        slots.bytes += bytes;
        *slots.bytes_of.entry(self.key.holder.clone()).or_default() += bytes;
        slots.by_key.insert(self.key.clone(), KeySlot::Done { request: self.request, answer, since: now });
        slots.order.push_back((now, self.key.clone()));
        slots.forget_old(now);
        self.answered = true;
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.store.lock().by_key.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;
    use http::StatusCode;
    use salver_model::{Caller, Principal, Version};

    use super::{IDEMPOTENCY_BYTES_MAX, Idempotency, Kept, Key, Turn};
    use crate::body::Body;

    fn key(text: &str) -> Key {
        Key::of(text, &Caller::default()).unwrap()
    }

    fn kept(status: StatusCode, body: Bytes) -> Kept {
        let response = crate::exit::reply(status, Body::Full(body));
        Kept::of(&response).unwrap()
    }

    async fn lead<'a>(store: &'a Idempotency, text: &str) -> Option<super::Lead<'a>> {
        match store.turn(key(text), Version(1), Duration::from_secs(60)).await.unwrap() {
            Turn::Mine(lead) => Some(lead),
            Turn::Done(_) => None,
        }
    }

    #[tokio::test]
    async fn who_has_most_makes_room() {
        let store = Idempotency::default();
        let of = |text: &str, user: &str| {
            let caller = Caller::from(Principal {
                attributes: vec![("user".to_owned(), user.to_owned())],
                ..Principal::default()
            });
            Key::of(text, &caller).unwrap()
        };
        let large = Bytes::from(vec![0; IDEMPOTENCY_BYTES_MAX / 8]);
        for (text, user) in [("few", "b"), ("many", "a")] {
            for number in 0..(if user == "a" { 20 } else { 1 }) {
                let key = of(&format!("{text}{number}"), user);
                if let Turn::Mine(lead) = store.turn(key, Version(1), Duration::ZERO).await.unwrap() {
                    lead.finish(kept(StatusCode::OK, large.clone()));
                }
            }
        }
        assert!(matches!(store.turn(of("few0", "b"), Version(1), Duration::ZERO).await.unwrap(), Turn::Done(_)));
        assert!(matches!(store.turn(of("many0", "a"), Version(1), Duration::ZERO).await.unwrap(), Turn::Mine(_)));
    }

    #[tokio::test]
    async fn twins_wait_and_get_the_same() {
        let store = Arc::new(Idempotency::default());
        let first = lead(&store, "a").await.unwrap();
        let other = Arc::clone(&store);
        let twin = tokio::spawn(async move {
            match other.turn(key("a"), Version(1), Duration::from_secs(60)).await.unwrap() {
                Turn::Done(kept) => kept.answer().status(),
                Turn::Mine(_) => panic!("done twice"),
            }
        });
        tokio::task::yield_now().await;
        first.finish(kept(StatusCode::OK, Bytes::from_static(b"1")));
        assert_eq!(twin.await.unwrap(), StatusCode::OK);
        assert!(store.turn(key("a"), Version(2), Duration::ZERO).await.is_err(), "another request");
    }

    #[tokio::test]
    async fn what_may_be_tried_again_is_not_kept() {
        let store = Idempotency::default();
        lead(&store, "a").await.unwrap().finish(kept(StatusCode::SERVICE_UNAVAILABLE, Bytes::new()));
        let second = lead(&store, "a").await.expect("free again");
        assert!(store.turn(key("a"), Version(1), Duration::ZERO).await.is_err(), "still running");
        drop(second);
        assert!(lead(&store, "a").await.is_some(), "free again after a panic");
    }

    #[tokio::test]
    async fn memory_is_bounded() {
        let store = Idempotency::default();
        let body = Bytes::from(vec![0; IDEMPOTENCY_BYTES_MAX / 4]);
        for text in ["a", "b", "c", "d", "e"] {
            lead(&store, text).await.unwrap().finish(kept(StatusCode::OK, body.clone()));
        }
        assert!(store.lock().bytes <= IDEMPOTENCY_BYTES_MAX);
        assert!(lead(&store, "a").await.is_some(), "the oldest went");
        assert!(lead(&store, "e").await.is_none(), "the youngest stayed");
    }
}
