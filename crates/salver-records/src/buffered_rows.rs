//! Accounts for the memory of rows that are buffered before any is sent: bounded per request, and for all requests
//! together.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use salver_model::limits::GATHERED_BYTES_ALL_MAX;
use salver_model::{Code, Error, Result};

/// Bytes by which a request's rows grow before they are added to the total of all requests: not per row, since all
/// threads would contend for one counter.
const STEP_BYTES: usize = 1024 * 1024;

/// Total of all requests, in bytes.
static ALL: AtomicUsize = AtomicUsize::new(0);

/// The memory of one request's rows.
#[derive(Debug)]
pub(crate) struct Gathered {
    all: &'static AtomicUsize,
    bytes: usize,
    bytes_max: usize,
    /// The part of the bytes that is in the total of all requests.
    counted: usize,
}

impl Gathered {
    /// Creates an empty account with a limit in bytes.
    pub(crate) fn within(bytes_max: usize) -> Self {
        Self::among(&ALL, bytes_max)
    }

    fn among(all: &'static AtomicUsize, bytes_max: usize) -> Self {
        Self { all, bytes: 0, bytes_max, counted: 0 }
    }

    /// Returns the number of bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds one more part. The first may be of any size, and a request that buffers alone may use its whole limit.
    ///
    /// # Errors
    /// `AnswerTooLarge` when the request exceeds its limit, `Overloaded` when several requests together exceed theirs.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        if self.bytes > self.bytes_max && self.bytes > bytes {
            let message = format!("the answer has more than {} bytes that can't be sent as they come", self.bytes_max);
            return Err(Error::new(Code::AnswerTooLarge, message));
        }
        // A growing buffer is copied to twice its size now and then.
        let step = (2 * self.bytes).saturating_sub(self.counted);
        if step >= STEP_BYTES {
            let of_others = self.all.fetch_add(step, Relaxed).saturating_sub(self.counted);
            self.counted += step;
            if of_others > 0 && of_others + self.counted > GATHERED_BYTES_ALL_MAX {
                let message = "rows that are gathered for other requests take all memory there is for them";
                return Err(Error::new(Code::Overloaded, message).with_hint("try again in a few seconds"));
            }
        }
        Ok(())
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        self.all.fetch_sub(self.counted, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use salver_model::Code;

    use super::{GATHERED_BYTES_ALL_MAX, Gathered, STEP_BYTES};

    /// Total of this test only.
    static ALL: AtomicUsize = AtomicUsize::new(0);

    fn gathered(bytes_max: usize) -> Gathered {
        Gathered::among(&ALL, bytes_max)
    }

    #[test]
    fn one_request_and_all() {
        let mut own = gathered(3 * STEP_BYTES);
        assert!(own.add(3 * STEP_BYTES).is_ok());
        assert!(own.add(1).is_err_and(|error| error.code == Code::AnswerTooLarge));
        drop(own);
        let mut alone = gathered(STEP_BYTES);
        assert!(alone.add(GATHERED_BYTES_ALL_MAX).is_ok(), "one row, and nobody else's");
        let mut other = gathered(usize::MAX);
        assert!(other.add(STEP_BYTES).is_err_and(|error| error.code == Code::Overloaded));
        drop((alone, other));
        let mut all: Vec<Gathered> = Vec::new();
        let refused = loop {
            let mut next = gathered(usize::MAX);
            match next.add(32 * STEP_BYTES) {
                Ok(()) => all.push(next),
                Err(error) => break error,
            }
        };
        assert_eq!(refused.code, Code::Overloaded);
        all.clear();
        assert!(gathered(usize::MAX).add(32 * STEP_BYTES).is_ok());
    }
}
