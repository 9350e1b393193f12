//! A reader that fails if the sender takes too long. It is independent of the protocol.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use salver_model::limits::{DOWNLOAD_BYTES_PER_SECOND_MIN, DOWNLOAD_GRACE_S, DOWNLOAD_S_MAX};

/// Reads at the sender's pace, as long as that meets the limits.
#[derive(Debug)]
pub(super) struct Paced<R> {
    inner: R,
    started: Instant,
    received: u64,
}

impl<R> Paced<R> {
    /// Starts the clock.
    pub(super) fn new(inner: R) -> Self {
        Self { inner, started: Instant::now(), received: 0 }
    }
}

impl<R: Read> Read for Paced<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.received += count as u64;
        match fault(self.started.elapsed(), self.received) {
            // End of file is no error, however late.
            Some(fault) if count > 0 => Err(io::Error::new(io::ErrorKind::TimedOut, fault)),
            _ => Ok(count),
        }
    }
}

/// Returns the limit that is violated by having received `received` bytes after `elapsed`.
fn fault(elapsed: Duration, received: u64) -> Option<String> {
    let elapsed_s = elapsed.as_secs();
    if elapsed_s >= DOWNLOAD_S_MAX {
        return Some(format!("it takes longer than {DOWNLOAD_S_MAX} s"));
    }
    let due = elapsed_s.saturating_sub(DOWNLOAD_GRACE_S).saturating_mul(DOWNLOAD_BYTES_PER_SECOND_MIN);
    (received < due).then(|| format!("it comes slower than {DOWNLOAD_BYTES_PER_SECOND_MIN} bytes a second"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace() {
        let after = |s: u64, received: u64| fault(Duration::from_secs(s), received).is_some();
        assert!(!after(DOWNLOAD_GRACE_S - 1, 0), "a slow start is borne");
        assert!(after(2 * DOWNLOAD_GRACE_S, 100), "a trickle is not");
        assert!(!after(2 * DOWNLOAD_GRACE_S, 2 * DOWNLOAD_GRACE_S * DOWNLOAD_BYTES_PER_SECOND_MIN));
        assert!(after(DOWNLOAD_S_MAX, u64::MAX));
    }
}
