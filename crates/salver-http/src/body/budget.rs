//! Limit on the work for a response while it is sent.

use std::time::Duration;

use salver_model::{Code, Error, Result};

/// Remaining time for producing the pieces of one response.
pub(super) struct BodyBudget {
    ms_max: u64,
    left: Duration,
}

impl BodyBudget {
    /// Creates a budget of `ms_max` milliseconds; 0 stands for no limit.
    pub(super) fn of(ms_max: u64) -> Self {
        let left = if ms_max == 0 { Duration::MAX } else { Duration::from_millis(ms_max) };
        Self { ms_max, left }
    }

    /// Deducts the time of one piece.
    ///
    /// # Errors
    /// `Timeout`.
    pub(super) fn spend(&mut self, took: Duration) -> Result<()> {
        self.left = self.left.checked_sub(took).ok_or_else(|| {
            Error::new(Code::Timeout, format!("writing the answer took longer than {} ms", self.ms_max))
                .with_hint("ask for fewer rows, export the table, or raise `limits.query_ms_max`")
        })?;
        Ok(())
    }
}
