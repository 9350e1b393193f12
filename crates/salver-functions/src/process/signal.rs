//! The one signal that is sent: the end.

/// Ends the process `pid` at once, or, when it is negative, all of the group `-pid`. One that is not there is no error.
///
/// Who calls this knows that nobody else can have the id: the process was not yet waited for.
pub(crate) fn kill(pid: i32) {
    // 0 and -1 stand for the server's own group, and for everything.
    if pid.unsigned_abs() <= 1 {
        return;
    }
    #[allow(unsafe_code, reason = "neither std nor tokio sends a signal to a group")]
    // SAFETY: kill(2) takes two numbers and touches no memory.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
    }
}

/// Ends the process `pid` at once if it is one of the group `group`: who else may have got its id is not.
pub(crate) fn kill_member(pid: u32, group: u32) {
    let (Ok(pid), Ok(group)) = (i32::try_from(pid), i32::try_from(group)) else { return };
    #[allow(unsafe_code, reason = "std does not tell the group of a process")]
    // SAFETY: getpgid(2) takes a number and touches no memory.
    let its_group = unsafe { libc::getpgid(pid) };
    if its_group == group {
        kill(pid);
    }
}
