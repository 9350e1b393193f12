//! Sockets that systemd opened and hands over (`sd_listen_fds(3)`).

use salver_model::limits::ACTIVATED_SOCKETS_MAX;
use salver_model::{Code, Error, Result};

/// Descriptors of the sockets.
#[cfg(unix)]
pub(crate) type Activated = Vec<std::os::fd::OwnedFd>;
/// Descriptors of the sockets, of which there are none.
#[cfg(not(unix))]
pub(crate) type Activated = Vec<std::convert::Infallible>;

/// First descriptor that is handed over; the others follow it.
#[cfg(unix)]
const FIRST: std::os::fd::RawFd = 3;

/// Takes over what is handed over to this process; nothing when called again. Call it before anything else is opened,
/// since only until then these numbers stand for the sockets.
///
/// # Errors
/// `Config` for a number of descriptors that is none, or larger than that of those that are open.
pub(crate) fn take() -> Result<Activated> {
    let number = |name: &str| std::env::var(name).ok();
    // Programs inherit the environment; it is meant for one of them.
    if number("LISTEN_PID") != Some(std::process::id().to_string()) {
        return Ok(Activated::new());
    }
    let count = number("LISTEN_FDS").unwrap_or_default();
    let wrong = |why: &str| {
        let hint = "systemd sets it; do not set LISTEN_PID and LISTEN_FDS yourself";
        Err(Error::new(Code::Config, format!("the environment variable LISTEN_FDS is `{count}`, {why}"))
            .with_hint(hint))
    };
    match count.parse::<usize>() {
        Ok(count) if count <= ACTIVATED_SOCKETS_MAX => match open(count) {
            Some(descriptors) => Ok(descriptors),
            None => wrong("and not all of these descriptors are open"),
        },
        Ok(_) => wrong("which is more than a server listens on"),
        Err(_) => wrong("which is no number"),
    }
}

/// Returns the owner of each of `count` descriptors; `None` if one is not open.
#[cfg(unix)]
#[allow(unsafe_code, reason = "std makes owners of descriptors by number in no other way")]
fn open(count: usize) -> Option<Activated> {
    use std::os::fd::{FromRawFd, OwnedFd, RawFd};
    use std::sync::atomic::{AtomicBool, Ordering};

    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::SeqCst) {
        return Some(Activated::new());
    }
    let numbers = FIRST..FIRST + RawFd::try_from(count).ok()?;
    // SAFETY: this asks for the flags of a descriptor, and changes nothing.
    let is_open = |number: RawFd| unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0;
    if !numbers.clone().all(is_open) {
        return None;
    }
    // SAFETY: they are open, and nobody in this process owns them: whoever started it left them to it, it has opened
    // nothing yet, and this happens once.
    Some(numbers.map(|number| unsafe { OwnedFd::from_raw_fd(number) }).collect())
}

/// Returns nothing, since nothing can be handed over.
#[cfg(not(unix))]
fn open(_: usize) -> Option<Activated> {
    Some(Activated::new())
}
