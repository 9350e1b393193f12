//! What the server tells systemd of its state, if that asks for it (`sd_notify(3)`).

#[cfg(unix)]
use std::ffi::OsStr;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt;
#[cfg(unix)]
use std::os::unix::net::{SocketAddr, UnixDatagram};
#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::time::Duration;

/// Longest time that a message may take, so that a service manager which reads nothing does not stop the server.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(1);

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
