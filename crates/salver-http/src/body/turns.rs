//! Work that keeps a processor busy, done away from the threads that answer requests.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;

use salver_model::{Error, Result};
use tokio::runtime::{Builder, Runtime};

/// How long a thread without work stays.
const KEPT_FOR: Duration = Duration::from_secs(10);

/// As many threads as there are processors, and always the same: more would only take each other's turns, and every
/// thread keeps memory of its own for what it may need again. `None` when the system has no threads left.
static THREADS: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let threads = available_parallelism().map_or(2, NonZero::get);
    let mut pool = Builder::new_current_thread();
    pool.max_blocking_threads(threads).thread_keep_alive(KEPT_FOR).thread_name("salver-encoder").build().ok()
});

/// Runs what takes a while, in its turn.
pub(crate) async fn off_the_loop<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let turn = match &*THREADS {
        Some(threads) => threads.spawn_blocking(work),
        None => tokio::task::spawn_blocking(work),
    };
    match turn.await {
        Ok(done) => done,
        Err(broken) => Err(Error::internal("the encoder broke down").with_source(broken)),
    }
}
