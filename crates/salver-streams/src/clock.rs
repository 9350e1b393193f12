//! The time, which may jump: the one place it is taken from.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The time, in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let now_ms = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    #[cfg(test)]
    let now_ms = now_ms + skew::MS.load(std::sync::atomic::Ordering::SeqCst);
    now_ms
}

/// A clock that was right once and only goes forward since, for what must be so old in truth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steady {
    began: Instant,
    began_ms: i64,
}

impl Steady {
    /// Goes on from now.
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), began_ms: now_ms() }
    }

    /// The time, in milliseconds since 1970, as if the system's clock had never been set since.
    pub(crate) fn now_ms(self) -> i64 {
        self.began_ms.saturating_add(i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock that is set, for tests: of the whole process, so only where nothing else runs in it.
#[cfg(test)]
pub(crate) mod skew {
    use std::sync::atomic::AtomicI64;

    /// How far it is wrong.
    pub(crate) static MS: AtomicI64 = AtomicI64::new(0);
}
