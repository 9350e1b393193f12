//! Where work is done: a little on the thread that answers requests, which is quicker, the rest on threads that may be
//! busy, so that other requests never wait for it.

use salver_model::{Error, Result};

/// Work on more rows moves to another thread.
pub(crate) const INLINE_ROWS_MAX: usize = 1_024;
/// Bytes written or copied at once where requests are answered.
pub(crate) const INLINE_BYTES_MAX: usize = 256 * 1_024;
/// After work on more rows than this others get their turn.
const UNNOTICED_ROWS_MAX: usize = 64;

/// Does `work`, which is on `rows` rows.
pub(crate) async fn run<T: Send + 'static>(
    rows: usize,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    if rows > INLINE_ROWS_MAX {
        return elsewhere(work).await;
    }
    let done = work();
    breathe(rows).await;
    done
}

/// Does `work` on a thread that may be busy.
pub(crate) async fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(broken) => Err(Error::internal("writing an answer broke down").with_source(broken)),
    }
}

/// Lets other requests have their turn after work on `rows` rows.
pub(crate) async fn breathe(rows: usize) {
    if rows > UNNOTICED_ROWS_MAX {
        tokio::task::yield_now().await;
    } else {
        tokio::task::consume_budget().await;
    }
}
