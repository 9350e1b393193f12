//! Operating system calls of the host that the standard library does not offer: forks, limits, signals.
//!
//! The process has one thread, so `fork` copies all of it; each function documents its further assumptions.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Stack size for R, if the hard limit allows it. R reads the limit at start and raises an error before an overflow;
/// with this size, its own limit of nested expressions is reached first.
const STACK_BYTES: u64 = 64 * 1024 * 1024;

/// Returns whether this is the process's first thread, whose stack is the one R measures.
pub(super) fn on_main_thread() -> bool {
    // SAFETY: neither call can fail nor touches memory.
    unsafe { libc::gettid() == libc::getpid() }
}

/// Takes standard input as the control channel, and replaces it by an empty one.
pub(super) fn take_standard_input() -> io::Result<OwnedFd> {
    let null = File::open("/dev/null")?;
    // SAFETY: both calls are about descriptors that are open; the new one belongs to nobody else.
    let control = unsafe {
        let control = libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 3);
        if control < 0 || libc::dup2(null.as_raw_fd(), 0) < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(control)
    };
    Ok(control)
}

/// Raises the stack limit of the main thread. A limit that cannot be raised is left unchanged.
pub(super) fn raise_stack() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid and outlives the calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) == 0 && limit.rlim_cur < STACK_BYTES {
            limit.rlim_cur = STACK_BYTES.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_STACK, &raw const limit);
        }
    }
}

/// Limits the memory of this process to its current size and `more` bytes.
pub(super) fn bound_memory(more: u64) -> io::Result<()> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:")).unwrap_or_default();
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap_or(0);
    let bound = (kibibytes * 1024).saturating_add(more);
    let limit = libc::rlimit { rlim_cur: bound, rlim_max: bound };
    // SAFETY: the structure is valid and outlives the call.
    match unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Forks the process. Returns `None` in the child, which is killed when its parent ends, and the child's id in the
/// parent.
pub(super) fn fork() -> io::Result<Option<i32>> {
    let parent = std::process::id();
    flush();
    // SAFETY: there is one thread, so the copy has all there is, with no lock held by another.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: plain numbers; an unknown option would be an error, not undefined.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            if std::os::unix::process::parent_id() != parent {
                end(0);
            }
            Ok(None)
        }
        child => Ok(Some(child)),
    }
}

/// Flushes the output buffers of C code.
fn flush() {
    // SAFETY: null means all streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

/// Exits at once, without running any exit handlers of R or user code.
pub(super) fn end(status: i32) -> ! {
    flush();
    // SAFETY: always allowed; nothing of Rust is waiting for a destructor that matters to others.
    unsafe { libc::_exit(status) }
}

/// Kills a child that is not reaped yet, so that its id cannot have been reused.
pub(super) fn kill(child: i32) {
    // SAFETY: plain numbers.
    unsafe { libc::kill(child, libc::SIGKILL) };
}

/// Kills the process group, including this process.
pub(super) fn kill_group() -> ! {
    // SAFETY: plain numbers. When this process leads no group of its own, it must not kill one.
    unsafe {
        if libc::getpgrp() == libc::getpid() {
            libc::kill(0, libc::SIGKILL);
        }
    }
    end(0)
}

/// Returns whether a child has ended, and reaps it.
pub(super) fn has_ended(child: i32) -> bool {
    // SAFETY: a null status is allowed.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) != 0 }
}

/// `SIGCHLD` handler before [`wake_on_child`].
#[derive(Clone, Copy)]
pub(super) struct ChildSignal(libc::sigaction);

/// Makes the end of a child interrupt a blocking read.
pub(super) fn wake_on_child() -> ChildSignal {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: all-zero is a valid `sigaction`; the handler does nothing, which is safe at any moment.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let mut before: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        libc::sigaction(libc::SIGCHLD, &raw const action, &raw mut before);
        ChildSignal(before)
    }
}

/// Restores the handler that [`wake_on_child`] replaced, since user code waits for its own children.
pub(super) fn restore(signal: ChildSignal) {
    // SAFETY: the structure came from `sigaction`.
    unsafe { libc::sigaction(libc::SIGCHLD, &raw const signal.0, std::ptr::null_mut()) };
}

/// Connection that is polled for input only. A blocking `read` is also woken needlessly when the other side has read
/// (Linux, `unix_write_space`), which is once for each call.
#[derive(Debug)]
pub(super) struct Quiet<'a>(pub(super) &'a UnixStream);

impl io::Read for Quiet<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut wait = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure of one descriptor that is open. An interrupted or failed wait is followed by a read,
        // which waits itself or says what is wrong.
        unsafe { libc::poll(&raw mut wait, 1, -1) };
        (&*self.0).read(buffer)
    }
}
