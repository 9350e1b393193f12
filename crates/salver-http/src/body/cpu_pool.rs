//! CPU-bound work, run away from the threads that serve requests.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;

use salver_model::{Error, Result};
use tokio::runtime::{Builder, Runtime};

/// Time after which an idle thread ends.
const KEPT_FOR: Duration = Duration::from_secs(10);

/// A fixed pool with one thread per processor: more threads would only compete, and each keeps memory of its own for
/// reuse. `None` when the system can't start threads.
static THREADS: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let threads = available_parallelism().map_or(2, NonZero::get);
    let mut pool = Builder::new_current_thread();
    pool.max_blocking_threads(threads).thread_keep_alive(KEPT_FOR).thread_name("salver-encoder").build().ok()
});

/// Runs CPU-bound work on the pool, in order.
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
