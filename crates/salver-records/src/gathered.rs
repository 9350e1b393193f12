//! Memory of rows that are gathered before any of them is sent: bounded for each request, and for all together.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use salver_model::limits::GATHERED_BYTES_ALL_MAX;
use salver_model::{Code, Error, Result};

/// By how many bytes a request's rows grow before they are counted among all requests': not each row, because all
/// threads would write to one place.
const STEP_BYTES: usize = 1024 * 1024;

/// What is gathered for all requests, in bytes.
static ALL: AtomicUsize = AtomicUsize::new(0);

/// What is gathered for one request.
#[derive(Debug)]
pub(crate) struct Gathered {
    bytes: usize,
    bytes_max: usize,
    /// Of the bytes, those that are counted among all requests'.
    counted: usize,
}

impl Gathered {
    /// Nothing yet, and so many bytes at most.
    pub(crate) fn within(bytes_max: usize) -> Self {
        Self { bytes: 0, bytes_max, counted: 0 }
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts more.
    ///
    /// # Errors
    /// `AnswerTooLarge` when the request's are too many, `Overloaded` when all requests' are.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        if self.bytes > self.bytes_max {
            let message = format!("the answer has more than {} bytes that can't be sent as they come", self.bytes_max);
            return Err(Error::new(Code::AnswerTooLarge, message));
        }
        // What grows is copied to twice its length now and then.
        let step = (2 * self.bytes).saturating_sub(self.counted);
        if step >= STEP_BYTES {
            self.counted = 2 * self.bytes;
            if ALL.fetch_add(step, Relaxed) + step > GATHERED_BYTES_ALL_MAX {
                let message = "rows that are gathered for other requests take all memory there is for them";
                return Err(Error::new(Code::Overloaded, message).with_hint("try again in a few seconds"));
            }
        }
        Ok(())
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        ALL.fetch_sub(self.counted, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use salver_model::Code;

    use super::{Gathered, STEP_BYTES};

    #[test]
    fn one_request_and_all() {
        let mut own = Gathered::within(3 * STEP_BYTES);
        assert!(own.add(3 * STEP_BYTES).is_ok());
        assert!(own.add(1).is_err_and(|error| error.code == Code::AnswerTooLarge));
        drop(own);
        let mut all: Vec<Gathered> = Vec::new();
        let refused = loop {
            let mut next = Gathered::within(usize::MAX);
            match next.add(32 * STEP_BYTES) {
                Ok(()) => all.push(next),
                Err(error) => break error,
            }
        };
        assert_eq!(refused.code, Code::Overloaded);
        all.clear();
        assert!(Gathered::within(usize::MAX).add(32 * STEP_BYTES).is_ok());
    }
}
