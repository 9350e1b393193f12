//! The timer of a connection: the deadline for the head of a request.
//!
//! The HTTP library sets it before each head. A timer of the async runtime would cost each request an entry in a list
//! that all threads share, and a read of the clock. Here the deadline is a number in the connection, which is checked
//! together with all others a few times a second, so that it fires up to two intervals late.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::task::AtomicWaker;
use hyper::rt::{Sleep, Timer};

use super::Connection;

/// A deadline, and the waker of the task that waits for it.
#[derive(Debug)]
pub(super) struct Due {
    /// Milliseconds since the server's start; [`NEVER`] while no task waits.
    at_ms: AtomicU64,
    waker: AtomicWaker,
}

const NEVER: u64 = u64::MAX;

impl Default for Due {
    fn default() -> Self {
        Self { at_ms: AtomicU64::new(NEVER), waker: AtomicWaker::new() }
    }
}

impl Due {
    /// Returns whether the deadline has passed.
    pub(super) fn is_over(&self, now_ms: u64) -> bool {
        self.at_ms.load(Ordering::Acquire) <= now_ms
    }

    /// Wakes the waiting task.
    pub(super) fn wake(&self) {
        self.waker.wake();
    }
}

/// The timer of one connection.
#[derive(Debug)]
pub(crate) struct HeadTimer(pub(crate) Arc<Connection>);

impl Timer for HeadTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        // The stored time may be one interval old.
        let at_ms = self.0.all.ms_at(deadline + self.0.all.look_every);
        Box::pin(HeadDeadline { connection: Arc::clone(&self.0), at_ms })
    }

    fn now(&self) -> Instant {
        self.0.all.seen()
    }
}

/// A future that completes at the deadline.
struct HeadDeadline {
    connection: Arc<Connection>,
    at_ms: u64,
}

impl Future for HeadDeadline {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let due = &self.connection.head_due;
        due.waker.register(context.waker());
        due.at_ms.store(self.at_ms, Ordering::Release);
        // Checked after the waker is registered, so that no wakeup is lost in between.
        if self.connection.all.now_ms.load(Ordering::Acquire) >= self.at_ms { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Sleep for HeadDeadline {}

impl Drop for HeadDeadline {
    fn drop(&mut self) {
        self.connection.head_due.at_ms.store(NEVER, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use futures::task::noop_waker;
    use hyper::rt::Timer;

    use super::super::Connections;
    use super::HeadTimer;
    use crate::peer::Peer;

    #[test]
    fn it_ends_not_early_and_two_looks_late_at_most() {
        let look = Duration::from_millis(20);
        let all = Connections::new(8, 0, true, look);
        let timer = HeadTimer(all.enter(&Peer::at(IpAddr::from([192, 0, 2, 1])), false));
        let (waker, began) = (noop_waker(), std::time::Instant::now());
        let mut context = Context::from_waker(&waker);
        let mut sleep = timer.sleep(Duration::from_millis(60));
        while sleep.as_mut().poll(&mut context) == Poll::Pending {
            std::thread::sleep(look);
            all.tick();
            assert!(began.elapsed() < Duration::from_secs(60), "it does not end");
        }
        assert!(began.elapsed() >= Duration::from_millis(60), "{:?}", began.elapsed());
        assert!(timer.0.head_due.is_over(all.look()));
        drop(sleep);
        assert!(!timer.0.head_due.is_over(all.look()), "nobody waits any more");
    }
}
