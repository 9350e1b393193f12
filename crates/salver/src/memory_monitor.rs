//! Monitors the process's memory: signals memory pressure, and returns free memory to the system after large work. The
//! allocator does so by itself only while it allocates, so that an idle server would keep the memory of its last large
//! query, and a busy one the memory freed by others.

#![allow(unsafe_code)]

use std::time::{Duration, Instant};

use salver_datasets::own_bytes;
use salver_model::memory;

/// Interval at which memory is measured.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Interval while memory grows quickly.
const LOOK_CLOSELY_EVERY: Duration = Duration::from_millis(20);
/// Growth between two measurements that counts as quick, in bytes.
const QUICK_GROWTH_BYTES: u64 = 8 * 1024 * 1024;
/// Interval at which idleness is checked.
const REST_EVERY: Duration = Duration::from_secs(2);
/// Processor time per interval up to which the process counts as idle, in hundredths of a second.
const REST_TICKS: u64 = 20;
/// Number of times in a row that free memory is returned while idle: threads without work end one by one, and their
/// memory is only free then.
const AT_REST_TIMES: u32 = 8;
/// Growth while busy, in bytes, from which on returning memory is worth its cost.
const MUCH_ADDED_BYTES: u64 = 256 * 1024 * 1024;

unsafe extern "C" {
    /// Returns free memory of the calling thread and of all arenas to the system (mimalloc's `mimalloc.h`).
    fn mi_collect(force: bool);
}

/// Returns free memory to the system.
fn give_back() {
    // SAFETY: the function has no arguments that could be wrong, may be called by any thread, and touches only what is
    // free.
    unsafe { mi_collect(true) };
}

/// Makes the free pages of the calling thread available to all others.
fn share() {
    // SAFETY: as above.
    unsafe { mi_collect(false) };
}

/// Starts monitoring the process's memory. Above `bytes_max` memory is short: free memory is returned, large rows are
/// refused, and `relieve` is called to release idle memory. At rest `on_each_thread` has the threads return theirs:
/// what one thread took and another freed is the first one's until it looks. `drop_idle` is called every few seconds.
pub(crate) fn look_after(
    bytes_max: u64,
    relieve: impl Fn() -> bool + Send + 'static,
    drop_idle: impl Fn() + Send + 'static,
    on_each_thread: impl Fn(fn()) + Send + 'static,
) {
    memory::give_back_by(share);
    let looking = std::thread::Builder::new().name("salver-memory".into()).spawn(move || {
        let (mut least, mut last, mut ticks, mut times) = (u64::MAX, u64::MAX, 0, 0);
        let (mut looked, mut given_back) = (Instant::now(), Instant::now());
        // Without memory statistics there is nothing to monitor.
        if own_bytes().is_none() {
            return;
        }
        loop {
            let Some(bytes) = own_bytes() else {
                // Without file descriptors the statistics are temporarily unavailable.
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
                drop_idle();
                let now = processor_ticks().unwrap_or(u64::MAX);
                let is_at_rest = now.saturating_sub(ticks) <= REST_TICKS;
                times = if is_at_rest { times + 1 } else { 0 };
                let is_much = bytes - least >= MUCH_ADDED_BYTES;
                let rests = (1..=AT_REST_TIMES).contains(&times);
                if rests {
                    on_each_thread(share);
                }
                if is_much || rests {
                    give_back();
                    least = own_bytes().unwrap_or(bytes);
                }
                (ticks, looked) = (now, Instant::now());
            }
            let grows = bytes.saturating_sub(last) > QUICK_GROWTH_BYTES;
            last = bytes;
            std::thread::sleep(if grows || is_short { LOOK_CLOSELY_EVERY } else { LOOK_EVERY });
        }
    });
    // Without the thread memory is returned later.
    drop(looking);
}

/// Returns the processor time used by the process, in hundredths of a second.
fn processor_ticks() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // User and system time are fields 14 and 15 of proc(5); the state is the first behind the name.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}
