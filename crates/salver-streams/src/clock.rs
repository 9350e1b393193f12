//! The system clock. All reads of the time go through this module, because the system clock may jump.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Returns the current system time, in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let now_ms = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    #[cfg(test)]
    let now_ms = now_ms + skew::MS.load(std::sync::atomic::Ordering::SeqCst);
    now_ms
}

/// Monotonic clock that reads the system time once, for deadlines and ages that must not follow later clock changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steady {
    began: Instant,
    began_ms: i64,
}

impl Steady {
    /// Starts the clock at the current system time.
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), began_ms: now_ms() }
    }

    /// Returns the time in milliseconds since 1970, unaffected by changes of the system clock since the start.
    pub(crate) fn now_ms(self) -> i64 {
        self.began_ms.saturating_add(i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX))
    }
}

/// Clock skew for tests. It is global to the process, so a test that sets it must be the only one running.
#[cfg(test)]
pub(crate) mod skew {
    use std::sync::atomic::AtomicI64;

    /// Offset added to the system time, in milliseconds.
    pub(crate) static MS: AtomicI64 = AtomicI64::new(0);
}
