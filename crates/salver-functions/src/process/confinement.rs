//! What a process is deprived of between fork and exec: the server's descriptors, its session and, in a sandbox, the
//! ways to more rights, and core dumps.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Bound of core dumps that means none at all. With 0, programs that collect them (a pipe in `core_pattern`) still do.
const CORE_BYTES: libc::rlim_t = 1;

/// What is set for a process before its program starts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Confinement {
    /// Whether it can gain no privileges, passes on none, and leaves no core dumps.
    pub(crate) is_deprived: bool,
    /// Most open files.
    pub(crate) open_files_max: Option<u64>,
}

/// Makes the process start in a session of its own, with only the first three file descriptors, and confined. The
/// server's own descriptors are close-on-exec; those of its libraries, and inherited ones, may not be.
///
/// A session of its own is a process group of its own, which can be killed as a whole, and has no terminal.
pub(crate) fn confine(command: &mut Command, confinement: Confinement) {
    #[allow(unsafe_code, reason = "std neither closes descriptors of a child nor sets its session and limits")]
    // SAFETY: between fork and exec only system calls on numbers and on a structure of the stack are made, none of
    // which allocates or takes a lock.
    unsafe {
        command.pre_exec(move || start(confinement));
    }
}

/// Confines the calling process, which is about to start another program.
fn start(confinement: Confinement) -> io::Result<()> {
    #[allow(unsafe_code, reason = "std has none of these calls")]
    // SAFETY: plain numbers.
    unsafe {
        if libc::setsid() < 0 {
            return Err(io::Error::last_os_error());
        }
        // Kernels before 5.11 do not support it; close-on-exec descriptors are closed all the same. Marked and not
        // closed, so that what std itself has open until exec stays open.
        #[cfg(target_os = "linux")]
        libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    if confinement.is_deprived {
        #[cfg(target_os = "linux")]
        no_new_privileges()?;
        bound(libc::RLIMIT_CORE, CORE_BYTES)?;
    }
    match confinement.open_files_max {
        Some(files) => bound(libc::RLIMIT_NOFILE, files),
        None => Ok(()),
    }
}

/// Keeps the process and its descendants from gaining privileges, and from those that the server was given.
#[cfg(target_os = "linux")]
fn no_new_privileges() -> io::Result<()> {
    let (yes, no): (libc::c_ulong, libc::c_ulong) = (1, 0);
    #[allow(unsafe_code, reason = "std has no such call")]
    // SAFETY: plain numbers.
    unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, yes, no, no, no) != 0 {
            return Err(io::Error::last_os_error());
        }
        // It fails only on kernels that have no such capabilities.
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong, no, no, no);
    }
    Ok(())
}

/// Type of a resource's number, which is not the same in all C libraries.
#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

/// Sets a limit for good, to `most` or to what it may be at most without privileges.
fn bound(resource: Resource, most: libc::rlim_t) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    #[allow(unsafe_code, reason = "std knows no limits")]
    // SAFETY: the structure is valid and outlives the calls.
    let is_set = unsafe {
        libc::getrlimit(resource, &raw mut limit) == 0 && {
            let bound = most.min(limit.rlim_max);
            limit = libc::rlimit { rlim_cur: bound, rlim_max: bound };
            libc::setrlimit(resource, &raw const limit) == 0
        }
    };
    if is_set { Ok(()) } else { Err(io::Error::last_os_error()) }
}
