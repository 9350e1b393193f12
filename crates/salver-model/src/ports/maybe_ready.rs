//! A result that is there at once, or comes later.

use std::fmt;
use std::future::{IntoFuture, Ready, ready};

use futures::future::{BoxFuture, Either};

/// Result of a read that may take microseconds or wait.
///
/// A read that takes microseconds is done when the method returns, without a task, an allocation or a future. A caller
/// that can wait awaits either; one that must not wait, such as a thread that serves other connections, takes what
/// [`MaybeReady::ready`] gives it, and leaves the rest of the work to a task.
#[must_use]
pub enum MaybeReady<'a, T> {
    /// The result.
    Ready(T),
    /// The work, not begun yet. Dropping it cancels the work.
    Pending(BoxFuture<'a, T>),
}

impl<T: fmt::Debug> fmt::Debug for MaybeReady<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(result) => f.debug_tuple("Ready").field(result).finish(),
            Self::Pending(_) => f.write_str("Pending"),
        }
    }
}

impl<'a, T> MaybeReady<'a, T> {
    /// Wraps work that waits.
    pub fn pending(work: impl Future<Output = T> + Send + 'a) -> Self {
        Self::Pending(Box::pin(work))
    }

    /// Continues with the result: at once if it is there.
    pub fn then<U>(self, next: impl FnOnce(T) -> MaybeReady<'a, U> + Send + 'a) -> MaybeReady<'a, U>
    where
        T: Send + 'a,
        U: Send + 'a,
    {
        match self {
            Self::Ready(result) => next(result),
            Self::Pending(work) => MaybeReady::pending(async move { next(work.await).await }),
        }
    }

    /// Returns the result if it is there.
    pub fn ready(self) -> Option<T> {
        match self {
            Self::Ready(result) => Some(result),
            Self::Pending(_) => None,
        }
    }
}

impl<'a, T> IntoFuture for MaybeReady<'a, T> {
    type Output = T;
    type IntoFuture = Either<Ready<T>, BoxFuture<'a, T>>;

    fn into_future(self) -> Self::IntoFuture {
        match self {
            Self::Ready(result) => Either::Left(ready(result)),
            Self::Pending(work) => Either::Right(work),
        }
    }
}
