//! Runs small work on the thread that serves requests, which is faster, and the rest on blocking threads, so that other
//! requests never wait for it.

use salver_model::{Error, Result};

/// Rows above which work moves to another thread.
pub(crate) const INLINE_ROWS: usize = 1_024;
/// Bytes that are written, copied or compressed at once on a thread that serves requests; more go to another thread.
pub(crate) const INLINE_BYTES: usize = 256 * 1_024;
/// Rows above which the task yields to others after the work.
const UNNOTICED_ROWS: usize = 64;

/// Runs `work`, which processes `rows` rows.
pub(crate) async fn run<T: Send + 'static>(
    rows: usize,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    if rows > INLINE_ROWS {
        return elsewhere(work).await;
    }
    let done = work();
    breathe(rows).await;
    done
}

/// Runs `work` on a blocking thread.
pub(crate) async fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(broken) => Err(Error::internal("writing an answer broke down").with_source(broken)),
    }
}

/// Lets other tasks run after work on `rows` rows.
pub(crate) async fn breathe(rows: usize) {
    if rows > UNNOTICED_ROWS {
        tokio::task::yield_now().await;
    } else {
        tokio::task::consume_budget().await;
    }
}
