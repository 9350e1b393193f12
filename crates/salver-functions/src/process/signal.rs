//! The only signal that is sent, kill, and groups of processes.

/// Kills the process `pid` or, if negative, the group `-pid`. A missing process is not an error.
///
/// The caller must ensure that the id cannot have been reused: the process was not yet waited for.
pub(crate) fn kill(pid: i32) {
    // 0 and -1 mean the server's own group, and all processes.
    if pid.unsigned_abs() <= 1 {
        return;
    }
    #[allow(unsafe_code, reason = "neither std nor tokio sends a signal to a group")]
    // SAFETY: kill(2) takes two numbers and touches no memory.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
    }
}

/// Kills the process `pid` if it belongs to the group `group`; a process that reused its id does not.
pub(crate) fn kill_member(pid: u32, group: u32) {
    if let Ok(id) = i32::try_from(pid)
        && is_member(pid, group)
    {
        kill(id);
    }
}

/// Returns whether the process `pid` belongs to the group `group`.
pub(crate) fn is_member(pid: u32, group: u32) -> bool {
    let (Ok(pid), Ok(group)) = (i32::try_from(pid), i32::try_from(group)) else { return false };
    #[allow(unsafe_code, reason = "std does not tell the group of a process")]
    // SAFETY: getpgid(2) takes a number and touches no memory.
    let its_group = unsafe { libc::getpgid(pid) };
    its_group == group
}
