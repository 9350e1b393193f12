//! Looks after the process's memory: says when it is short, and gives it back to the system after large work. The
//! allocator does so by itself only while it is asked for more, so that a server at rest would keep what its last large
//! query had, and one that works what others freed.

#![allow(unsafe_code)]

use std::time::{Duration, Instant};

use salver_datasets::own_bytes;
use salver_model::memory;

/// How often the process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often while it takes more and more.
const LOOK_CLOSELY_EVERY: Duration = Duration::from_millis(20);
/// What is more and more, from one look to the next, in bytes.
const GROWTH_BYTES_MIN: u64 = 8 * 1024 * 1024;
/// How often it is looked at whether it is at rest.
const REST_EVERY: Duration = Duration::from_secs(2);
/// Processor time in between up to which the process is at rest, in hundredths of a second.
const REST_TICKS_MAX: u64 = 20;
/// How often in a row what is free is given back at rest: threads that have nothing more to do end one by one, and
/// what they leave is free only then.
const AT_REST_TIMES: u32 = 8;
/// What must have been added while the process works, in bytes, for giving back to be worth the trouble.
const ADDED_AT_WORK_BYTES_MIN: u64 = 256 * 1024 * 1024;

unsafe extern "C" {
    /// Gives back free memory of the calling thread and of all arenas (mimalloc's `mimalloc.h`).
    fn mi_collect(force: bool);
}

/// Gives back what is free.
fn give_back() {
    // SAFETY: the function has no arguments that could be wrong, may be called by any thread, and touches only what is
    // free.
    unsafe { mi_collect(true) };
}

/// Gives the free pages of the calling thread to all others.
fn share() {
    // SAFETY: as above.
    unsafe { mi_collect(false) };
}

/// Looks after the process's memory from now on. Beyond `bytes_max` it is short: what is free is given back, large rows
/// are not made, and `relieve` is asked to let go of what nobody uses.
pub(crate) fn look_after(bytes_max: u64, relieve: impl Fn() -> bool + Send + 'static) {
    memory::give_back_by(share);
    let looking = std::thread::Builder::new().name("salver-memory".into()).spawn(move || {
        let (mut least, mut last, mut ticks, mut times) = (u64::MAX, u64::MAX, 0, 0);
        let (mut looked, mut given_back) = (Instant::now(), Instant::now());
        // Where the system never says how a process stands, there is nothing to go by.
        if own_bytes().is_none() {
            return;
        }
        loop {
            let Some(bytes) = own_bytes() else {
                // Without descriptors it does not say so now, and later it does again.
                memory::set_short(false);
                std::thread::sleep(LOOK_EVERY);
                continue;
            };
            let is_short = bytes > bytes_max;
            memory::set_short(is_short);
            if is_short && given_back.elapsed() >= LOOK_EVERY {
                give_back();
                relieve();
                given_back = Instant::now();
            }
            least = least.min(bytes);
            if looked.elapsed() >= REST_EVERY {
                let now = processor_ticks().unwrap_or(u64::MAX);
                let is_at_rest = now.saturating_sub(ticks) <= REST_TICKS_MAX;
                times = if is_at_rest { times + 1 } else { 0 };
                let is_much = bytes - least >= ADDED_AT_WORK_BYTES_MIN;
                if is_much || (1..=AT_REST_TIMES).contains(&times) {
                    give_back();
                    least = own_bytes().unwrap_or(bytes);
                }
                (ticks, looked) = (now, Instant::now());
            }
            let grows = bytes.saturating_sub(last) > GROWTH_BYTES_MIN;
            last = bytes;
            std::thread::sleep(if grows || is_short { LOOK_CLOSELY_EVERY } else { LOOK_EVERY });
        }
    });
    // Without the thread memory comes back later.
    drop(looking);
}

/// Processor time that the process has used, in hundredths of a second.
fn processor_ticks() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // User and system time are fields 14 and 15 of proc(5); the state is the first behind the name.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}
