//! The writer thread's sleep. An append wakes it only from the deep one, so that most appends cost no system call.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

const AWAKE: u8 = 0;
const DOZING: u8 = 1;
const ASLEEP: u8 = 2;

/// How deep the thread sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleep {
    /// It will look by itself soon, and is woken for what can't wait.
    Doze,
    /// It is woken for everything.
    Deep,
}

/// What wakes a thread.
#[derive(Debug, Default)]
pub(super) struct Bell {
    sleep: AtomicU8,
    thread: OnceLock<Thread>,
}

impl Bell {
    /// Wakes the thread from its deep sleep; what there is to do must have been stored before, with `SeqCst`.
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

    /// Sleeps, on the one thread that does, unless there is something to do; no longer than `longest`.
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
