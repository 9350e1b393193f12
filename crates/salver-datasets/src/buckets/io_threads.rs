//! The threads that talk with object stores, and a wait for them from any thread.

use std::future::Future;
use std::sync::{OnceLock, mpsc};

use salver_model::{Error, Result};
use tokio::runtime::{Builder, Handle, Runtime};

/// Requests wait more than they work.
const THREADS: usize = 2;

/// Started with the first request, and running as long as the process.
static THREADS_RUNNING: OnceLock<Option<Runtime>> = OnceLock::new();

fn handle() -> Result<Handle> {
    let start = || {
        let built =
            Builder::new_multi_thread().worker_threads(THREADS).thread_name("salver-objects").enable_all().build();
        built.inspect_err(|cause| tracing::warn!(%cause, "can't start the threads for object stores")).ok()
    };
    let running = THREADS_RUNNING.get_or_init(start).as_ref();
    running.map(|runtime| runtime.handle().clone()).ok_or_else(|| {
        Error::internal("can't start the threads that talk with object stores").with_hint("the log has the cause")
    })
}

/// Runs `work` there and blocks until it is done. May be called on any thread that may block.
///
/// # Errors
/// If it could not be done.
pub(super) fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    handle()?.spawn(async move {
        // Who waits is there until this is sent.
        let _ = sender.send(work.await);
    });
    receiver.recv().map_err(|cause| Error::internal("a request to an object store broke down").with_source(cause))
}
