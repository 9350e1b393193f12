//! Signals that request shutdown: the first lets open requests finish, a second exits without waiting for them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use salver_model::{Error, Result};

/// Completes when shutdown is requested.
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
            crate::logging::flush();
            std::process::exit(1);
        });
    })
}

/// The signals by which administrators ask for a reload.
pub(crate) trait HangUps: Send + 'static {
    /// Waits for the next one; `None` when there is none any more.
    fn next(&mut self) -> impl Future<Output = Option<()>> + Send;
}

/// Returns the hang-ups, by which administrators ask a server to read its settings again. A closed terminal sends one,
/// too.
#[cfg(unix)]
pub(crate) fn hang_ups() -> io::Result<impl HangUps> {
    use tokio::signal::unix::{SignalKind, signal};
    signal(SignalKind::hangup())
}

#[cfg(unix)]
impl HangUps for tokio::signal::unix::Signal {
    async fn next(&mut self) -> Option<()> {
        self.recv().await
    }
}

/// Returns the hang-ups, of which there are none.
#[cfg(not(unix))]
pub(crate) fn hang_ups() -> io::Result<impl HangUps> {
    Ok(std::future::pending())
}

#[cfg(not(unix))]
impl HangUps for std::future::Pending<Option<()>> {
    async fn next(&mut self) -> Option<()> {
        self.await
    }
}

/// Completes when shutdown is requested.
#[cfg(not(unix))]
pub(crate) fn asked_to_end() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
        tracing::info!("asked to end; open requests may finish");
    })
}

/// Makes a write beyond the shell's file size limit (`ulimit -f`) fail like one to a full disk: by default the signal
/// kills the process without a message.
#[cfg(unix)]
pub(crate) fn survive_file_limits() -> io::Result<()> {
    survive(libc::SIGXFSZ)
}

/// Keeps a hang-up from ending the server while it starts.
#[cfg(unix)]
pub(crate) fn survive_first_hang_ups() -> io::Result<()> {
    survive(libc::SIGHUP)
}

/// Keeps a hang-up from ending the server, where there are any.
#[cfg(not(unix))]
pub(crate) fn survive_first_hang_ups() -> io::Result<()> {
    Ok(())
}

/// Registers for a signal. The registration persists without a listener.
#[cfg(unix)]
fn survive(number: libc::c_int) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _inside = runtime.enter();
    signal(SignalKind::from_raw(number)).map(drop)
}

/// Makes a write beyond the shell's file size limit fail.
#[cfg(not(unix))]
pub(crate) fn survive_file_limits() -> io::Result<()> {
    Ok(())
}

/// Returns a flag that is set when shutdown is requested, for commands that check it between two steps; a second
/// request exits at once.
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

/// The signals of Ctrl-C.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl Interrupts {
    /// Forgets those that came so far.
    pub(crate) async fn forget(&mut self) {
        loop {
            tokio::select! {
                biased;
                () = self.next() => {}
                () = std::future::ready(()) => return,
            }
        }
    }
}

/// Registers for the signals of Ctrl-C, which then do not end the program any more. Call it inside a runtime.
pub(crate) fn interrupts() -> io::Result<Interrupts> {
    #[cfg(unix)]
    return Ok(Interrupts { signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())? });
    #[cfg(not(unix))]
    Ok(Interrupts {})
}

impl Interrupts {
    /// Waits for the next one from now on.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        self.signal.recv().await;
    }

    /// Waits for the next one from now on.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
