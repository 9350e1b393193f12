//! Sleep and wake-up of the writer thread. An append wakes it only from deep sleep, so that most appends need no system
//! call.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

const AWAKE: u8 = 0;
const DOZING: u8 = 1;
const ASLEEP: u8 = 2;

/// Depth of the thread's sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleep {
    /// The thread will check for work soon by itself, and is woken only for urgent work.
    Doze,
    /// The thread is woken for any work.
    Deep,
}

/// Wake-up of a thread.
#[derive(Debug, Default)]
pub(super) struct Bell {
    sleep: AtomicU8,
    thread: OnceLock<Thread>,
}

impl Bell {
    /// Wakes the thread from deep sleep. The work must have been stored before, with `SeqCst`.
    pub(super) fn nudge(&self) {
        if self.sleep.load(Ordering::SeqCst) == ASLEEP {
            self.ring();
        }
    }

    /// Wakes the thread.
    pub(super) fn ring(&self) {
        if self.sleep.load(Ordering::SeqCst) != AWAKE
            && self.sleep.swap(AWAKE, Ordering::SeqCst) != AWAKE
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    /// Puts the owning thread to sleep unless there is work, for at most `longest`.
    pub(super) fn sleep(&self, sleep: Sleep, longest: Option<Duration>, is_due: impl FnOnce() -> bool) {
        self.thread.get_or_init(thread::current);
        let depth = if sleep == Sleep::Doze { DOZING } else { ASLEEP };
        self.sleep.store(depth, Ordering::SeqCst);
        if !is_due() {
            match longest {
                Some(longest) => thread::park_timeout(longest),
                None => thread::park(),
            }
        }
        self.sleep.store(AWAKE, Ordering::SeqCst);
    }
}
