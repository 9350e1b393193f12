//! Places at which a test ends the work on a table as a killed process does. Elsewhere they are nothing.

use std::io;

/// Places where work may end.
#[derive(Clone, Debug, Default)]
pub(super) struct CrashPoints {
    /// Number of places that are passed before one is not; `None` for all.
    #[cfg(test)]
    pub(super) left: Option<std::sync::Arc<std::sync::atomic::AtomicU32>>,
}

impl CrashPoints {
    /// Passes a place.
    #[cfg(not(test))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "it does something in tests")]
    pub(super) fn pass(&self) -> io::Result<()> {
        Ok(())
    }

    /// Passes a place, or fails there: once it has failed, always.
    #[cfg(test)]
    pub(super) fn pass(&self) -> io::Result<()> {
        use std::sync::atomic::Ordering;
        let Some(left) = &self.left else { return Ok(()) };
        let passed = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        passed.map(drop).map_err(|_| io::Error::other("the process is killed"))
    }
}
