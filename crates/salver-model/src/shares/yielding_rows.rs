//! Rows that hold a permit while their client reads them.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Instant;

use futures::stream::BoxStream;
use futures::{Stream, StreamExt};

use super::{Share, Yields};
use crate::{Code, Error, Result};

/// Stream of rows or text that holds a permit until it ends. The permit is revoked when the client reads nothing while
/// others wait; a later read then gets an error.
pub struct Yielding<T> {
    slot: Arc<YieldingSlot<T>>,
}

struct YieldingSlot<T>(Mutex<Lying<T>>);

struct Lying<T> {
    /// Stream; declared first, so that the work ends before the permit is released.
    stream: Option<BoxStream<'static, Result<T>>>,
    share: Option<Share>,
    idle_since: Option<Instant>,
    gave_up: bool,
    /// Called when the permit is revoked.
    on_give_up: Option<Box<dyn FnOnce() + Send>>,
}

impl<T: Send + 'static> Yielding<T> {
    /// Wraps `stream`, which holds `share`.
    #[must_use]
    pub fn new(stream: BoxStream<'static, Result<T>>, mut share: Share) -> Self {
        let lying = Lying { stream: Some(stream), share: None, idle_since: None, gave_up: false, on_give_up: None };
        let slot = Arc::new(YieldingSlot(Mutex::new(lying)));
        let weak: Weak<YieldingSlot<T>> = Arc::downgrade(&slot);
        share.lies(weak);
        slot.lock().share = Some(share);
        Self { slot }
    }

    /// Calls `then` when the permit is revoked, before the work ends.
    #[must_use]
    pub fn on_give_up(self, then: impl FnOnce() + Send + 'static) -> Self {
        self.slot.lock().on_give_up = Some(Box::new(then));
        self
    }
}

impl<T> YieldingSlot<T> {
    fn lock(&self) -> MutexGuard<'_, Lying<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> Yields for YieldingSlot<T> {
    fn idle_since(&self) -> Option<Instant> {
        // A locked stream is in use.
        self.0.try_lock().ok().and_then(|lying| lying.idle_since)
    }

    fn give_up(&self) {
        let mut lying = self.lock();
        if lying.idle_since.is_none() {
            return;
        }
        lying.gave_up = true;
        if let Some(then) = lying.on_give_up.take() {
            then();
        }
        let gone = (lying.stream.take(), lying.share.take());
        drop(lying);
        drop(gone);
    }
}

impl<T: Send + 'static> Stream for Yielding<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut lying = self.slot.lock();
        let Some(stream) = &mut lying.stream else {
            return Poll::Ready(std::mem::take(&mut lying.gave_up).then(|| Err(gave_up())));
        };
        let polled = stream.poll_next_unpin(context);
        lying.idle_since = polled.is_ready().then(Instant::now);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            let gone = (lying.stream.take(), lying.share.take());
            drop(lying);
            drop(gone);
        }
        polled
    }
}

impl<T> fmt::Debug for Yielding<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Yielding")
    }
}

/// Returns the error of rows whose permit was revoked.
#[must_use]
pub fn gave_up() -> Error {
    Error::new(Code::Overloaded, "the response was aborted: its client read nothing, and others needed its place")
        .with_hint("take answers as they come, or page through the rows")
}
