//! Signals that ask the process to end: the first lets open requests finish, a second does not wait for them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use salver_model::{Error, Result};

/// Done when the process is asked to end.
#[cfg(unix)]
pub(crate) fn asked_to_end() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    // Registered here and not in the future, so that no signal is lost before it is first polled.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        let mut wait = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        wait().await;
        tracing::info!("asked to end; open requests may finish");
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            std::process::exit(1);
        });
    })
}

/// Done when the process is asked to end.
#[cfg(not(unix))]
pub(crate) fn asked_to_end() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
        tracing::info!("asked to end; open requests may finish");
    })
}

/// Has a write over a limit of the shell (`ulimit -f`) fail, as one to a full disk does: by default the system ends the
/// process with a signal, and without a word.
#[cfg(unix)]
pub(crate) fn survive_file_limits() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _inside = runtime.enter();
    // What is registered stays so when nobody listens any more.
    signal(SignalKind::from_raw(libc::SIGXFSZ)).map(drop)
}

/// Has a write over a limit of the shell fail.
#[cfg(not(unix))]
pub(crate) fn survive_file_limits() -> io::Result<()> {
    Ok(())
}

/// A flag that is set when the process is asked to end, for commands that look at it between two steps; a second
/// request ends the process at once.
pub(crate) fn interrupted() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let failed = |error| Error::internal(format!("can't wait for signals: {error}"));
    let runtime = runtime.map_err(failed)?;
    let asked = {
        let _inside = runtime.enter();
        asked_to_end().map_err(failed)?
    };
    let own = Arc::clone(&flag);
    thread::spawn(move || {
        runtime.block_on(async {
            asked.await;
            own.store(true, Ordering::Release);
            std::future::pending::<()>().await;
        });
    });
    Ok(flag)
}
