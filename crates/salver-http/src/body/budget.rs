//! Limit on the work for a response while it is sent.

use std::time::Duration;

use salver_model::access::Bound;
use salver_model::{Code, Result};

/// Remaining time for producing the pieces of one response.
pub(super) struct BodyBudget {
    bound: Option<Bound>,
    left: Duration,
}

impl BodyBudget {
    /// Creates a budget of so many milliseconds.
    pub(super) fn of(bound: Option<Bound>) -> Self {
        let left = bound.and_then(Bound::most).map_or(Duration::MAX, Duration::from_millis);
        Self { bound, left }
    }

    /// Deducts the time of one piece.
    ///
    /// # Errors
    /// `Timeout`.
    pub(super) fn spend(&mut self, took: Duration) -> Result<()> {
        match (self.left.checked_sub(took), self.bound) {
            (None, Some(bound)) => Err(bound
                .refuse(Code::Timeout, format!("writing the answer took longer than {} ms", bound.value()))
                .with_hint(format!("ask for fewer rows, export the table, or raise {}", bound.setting()))),
            (left, _) => {
                self.left = left.unwrap_or_default();
                Ok(())
            }
        }
    }
}
