//! What the server tells systemd of its state, if that asks for it (`sd_notify(3)`).

#[cfg(unix)]
use std::ffi::OsStr;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt;
#[cfg(unix)]
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use salver_service::Catalog;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::load_progress;

/// Longest time that a message may take, so that a service manager which reads nothing does not stop the server.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two looks at what is to be told of the entries, which may change many times a second.
const STATUS_PACE: Duration = Duration::from_secs(1);

/// The service manager; without one, nothing is told. Cheap to share.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServiceManager {
    #[cfg(unix)]
    listening: Option<Arc<(UnixDatagram, SocketAddr)>>,
}

impl ServiceManager {
    /// Returns the one that the environment variable `NOTIFY_SOCKET` names.
    #[cfg(unix)]
    pub(crate) fn of_environment() -> Self {
        let Some(name) = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
            return Self::default();
        };
        let opened = address(&name).and_then(|address| {
            let socket = UnixDatagram::unbound()?;
            socket.set_write_timeout(Some(PATIENCE))?;
            Ok(Arc::new((socket, address)))
        });
        let opened = opened.inspect_err(|error| {
            tracing::warn!("the service manager at {} will not be told anything: {error}", name.to_string_lossy());
        });
        Self { listening: opened.ok() }
    }

    /// Returns none, since there is none of this kind.
    #[cfg(not(unix))]
    pub(crate) fn of_environment() -> Self {
        Self::default()
    }

    /// Tells that the server serves: for the first time, or again after it was reloading.
    pub(crate) fn ready(&self) {
        self.tell("READY=1");
    }

    /// Tells that the settings are being read again. Whoever asked for it compares the time with that of asking.
    pub(crate) fn reloading(&self) {
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic_us()));
    }

    /// Tells that the server ends.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    /// Tells from now on how many entries are loaded, and that the server is alive, where that is asked for
    /// (`WatchdogSec=`). Both come from a task of the runtime, so that one that hangs tells nothing.
    pub(crate) fn keep_told(&self, catalog: &Arc<Catalog>) -> JoinHandle<()> {
        let (own, catalog) = (self.clone(), Arc::clone(catalog));
        tokio::spawn(async move {
            if own.is_there() {
                tokio::join!(own.tell_alive(), own.tell_entries(&catalog));
            }
        })
    }

    async fn tell_alive(&self) {
        let Some(pause) = watchdog_pause() else { return };
        let mut ticks = tokio::time::interval(pause);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.tell("WATCHDOG=1");
        }
    }

    async fn tell_entries(&self, catalog: &Catalog) {
        let mut told = String::new();
        loop {
            let generation = catalog.snapshot().generation();
            let state = load_progress::state_of(catalog);
            if state != told {
                self.tell(&format!("STATUS={state}"));
                told = state;
            }
            catalog.moved(generation).await;
            tokio::time::sleep(STATUS_PACE).await;
        }
    }

    #[cfg(unix)]
    fn is_there(&self) -> bool {
        self.listening.is_some()
    }

    #[cfg(not(unix))]
    fn is_there(&self) -> bool {
        false
    }

    #[cfg(unix)]
    fn tell(&self, state: &str) {
        let Some(listening) = &self.listening else { return };
        let (socket, address) = &**listening;
        if let Err(error) = socket.send_to_addr(state.as_bytes(), address) {
            tracing::warn!("the service manager can't be told `{}`: {error}", state.replace('\n', " "));
        }
    }

    #[cfg(not(unix))]
    fn tell(&self, _: &str) {}
}

/// Returns how often the service manager wants to be told that the server is alive: twice in the time after which it
/// would end it. `None` if it does not want to be told.
fn watchdog_pause() -> Option<Duration> {
    let variable = |name: &str| std::env::var(name).ok();
    pause_of(variable("WATCHDOG_USEC").as_deref(), variable("WATCHDOG_PID").as_deref(), std::process::id())
}

/// The same for these variables. Programs inherit them, and `process` says for which of them they are meant.
fn pause_of(time_us: Option<&str>, process: Option<&str>, own: u32) -> Option<Duration> {
    if process.is_some_and(|process| process.parse() != Ok(own)) {
        return None;
    }
    match time_us?.parse::<u64>() {
        Ok(time_us @ 2..) => Some(Duration::from_micros(time_us / 2)),
        _ => {
            tracing::warn!("the service manager is not told that the server is alive: WATCHDOG_USEC is no time");
            None
        }
    }
}

/// Returns the address with this name: a path, or behind `@` a name in the abstract namespace of Linux.
#[cfg(unix)]
fn address(name: &OsStr) -> std::io::Result<SocketAddr> {
    let unknown = || std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no path, and no name behind `@`");
    match name.as_bytes() {
        [b'/', ..] => SocketAddr::from_pathname(name),
        #[cfg(target_os = "linux")]
        [b'@', name @ ..] => <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name),
        _ => Err(unknown()),
    }
}

/// Returns the time of the system's monotonic clock, in microseconds.
#[cfg(unix)]
#[allow(unsafe_code, reason = "std compares times of this clock, and tells none")]
fn monotonic_us() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the function writes to the value that it is given, which outlives the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) } != 0;
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    if failed { 0 } else { seconds.unwrap_or(0) * 1_000_000 + nanoseconds.unwrap_or(0) / 1_000 }
}

#[cfg(not(unix))]
fn monotonic_us() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::pause_of;

    #[test]
    fn how_often_the_watchdog_is_told() {
        let half = Some(Duration::from_secs(15));
        assert_eq!(pause_of(Some("30000000"), Some("7"), 7), half);
        assert_eq!(pause_of(Some("30000000"), None, 7), half);
        for (time_us, process) in
            [(None, Some("7")), (Some("30000000"), Some("8")), (Some("30000000"), Some("")), (Some("0"), None)]
        {
            assert_eq!(pause_of(time_us, process, 7), None, "{time_us:?} {process:?}");
        }
        assert_eq!(pause_of(Some("-1"), None, 7), None);
        assert_eq!(pause_of(Some("soon"), None, 7), None);
    }
}
