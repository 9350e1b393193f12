//! Gives memory back to the system after large work. The allocator does so by itself only while it is asked for more,
//! so that a server at rest would keep what its last large query had.

#![allow(unsafe_code)]

use std::time::Duration;

/// How often the process is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Processor time between two looks up to which the process is at rest, in hundredths of a second.
const REST_TICKS_MAX: u64 = 20;
/// What must have been added since the last time, in bytes, for it to be worth the trouble.
const ADDED_BYTES_MIN: u64 = 16 * 1024 * 1024;

unsafe extern "C" {
    /// Gives back free memory of the calling thread and of all arenas (mimalloc's `mimalloc.h`).
    fn mi_collect(force: bool);
}

/// Looks after the process's memory from now on.
pub(crate) fn give_back_at_rest() {
    let looking = std::thread::Builder::new().name("salver-give-back".into()).spawn(|| {
        let (mut least, mut ticks) = (u64::MAX, 0);
        // Where the system does not say how a process stands, there is nothing to go by.
        while let Some((resident, now)) = resident_bytes().zip(processor_ticks()) {
            least = least.min(resident);
            if now.saturating_sub(ticks) <= REST_TICKS_MAX && resident - least >= ADDED_BYTES_MIN {
                // SAFETY: the function has no arguments that could be wrong, may be called by any thread, and touches
                // only what is free.
                unsafe { mi_collect(true) };
                least = resident_bytes().unwrap_or(resident);
            }
            ticks = now;
            std::thread::sleep(LOOK_EVERY);
        }
    });
    // Without the thread memory comes back later.
    drop(looking);
}

/// What the process has in memory.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Processor time that the process has used, in hundredths of a second.
fn processor_ticks() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // User and system time are fields 14 and 15 of proc(5); the state is the first behind the name.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}
