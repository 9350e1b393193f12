//! Work that keeps a processor busy, done away from the threads that answer requests.

use std::num::NonZero;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use salver_model::{Error, Result};
use tokio::sync::Semaphore;

/// As many turns at once as there are processors. More would only take each other's, and a thread for each of some
/// hundred bodies would keep memory of its own when all of them have gone.
static PLACES: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(available_parallelism().map_or(2, NonZero::get))));

/// Runs what takes a while, in its turn.
pub(crate) async fn off_the_loop<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    // Refused only when it is closed, which it never is; the work needs a turn, not a place, to be right.
    let place = Arc::clone(&PLACES).acquire_owned().await.ok();
    let turn = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(place);
        done
    });
    match turn.await {
        Ok(done) => done,
        Err(broken) => Err(Error::internal("the encoder broke down").with_source(broken)),
    }
}
