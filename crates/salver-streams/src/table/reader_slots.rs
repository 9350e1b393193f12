//! Slots for the readers of all streams. A reader with a slot has a file open and batches in hand, some megabytes.
//! While it waits for its client it may keep them, until another reader wants the slot: hundreds of clients that read
//! nothing would fill the memory otherwise.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use salver_model::memory;
use tokio::sync::oneshot;

/// Bytes that a reader with a slot holds: the row group or the frames that it is at, and its batches.
const READER_BYTES: usize = 12 * 1024 * 1024;

static SLOTS: Mutex<Slots> = Mutex::new(Slots { taken: 0, next: 0, idle: BTreeMap::new(), waiting: VecDeque::new() });

struct Slots {
    taken: usize,
    /// Number of the next reader that becomes idle.
    next: u64,
    /// Readers that have a slot and wait for their clients, the one that waits longest first.
    idle: BTreeMap<u64, Weak<dyn Idle>>,
    /// Readers that wait for a slot.
    waiting: VecDeque<oneshot::Sender<Slot>>,
}

/// Permission to hold a source and batches, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot(());

/// A reader that waits for its client.
pub(super) trait Idle: Send + Sync {
    /// Drops what can be read again, and returns the slot; `None` when the reader is at work.
    fn give_up(&self) -> Option<Slot>;
}

/// Waits for a slot. Takes that of the reader whose client has not asked for the longest time, if all are taken.
pub(super) async fn slot() -> Slot {
    let handed = loop {
        // Readers are asked without the lock, which they take when they drop a slot.
        let idle = {
            let mut slots = lock();
            if slots.taken < capacity() {
                slots.taken += 1;
                return Slot(());
            }
            let Some((_, idle)) = slots.idle.pop_first() else {
                let (sender, receiver) = oneshot::channel();
                slots.waiting.push_back(sender);
                break receiver;
            };
            idle
        };
        if let Some(slot) = idle.upgrade().and_then(|idle| idle.give_up()) {
            return slot;
        }
    };
    match handed.await {
        Ok(slot) => slot,
        // A sender waits in the list until it has sent.
        Err(_) => std::future::pending().await,
    }
}

/// Returns whether every slot is taken.
pub(super) fn are_taken() -> bool {
    lock().taken >= capacity()
}

/// Enters a reader that waits for its client, and returns its number; `None` when it must give up its slot at once,
/// because another waits for one.
pub(super) fn enter(idle: Weak<dyn Idle>) -> Option<u64> {
    let mut slots = lock();
    if !slots.waiting.is_empty() {
        return None;
    }
    let number = slots.next;
    slots.next += 1;
    slots.idle.insert(number, idle);
    Some(number)
}

/// Removes a reader that is at work again, or gone.
pub(super) fn leave(number: u64) {
    lock().idle.remove(&number);
}

fn capacity() -> usize {
    if memory::is_short() { 1 } else { (memory::read_ahead_bytes() / READER_BYTES).max(1) }
}

fn lock() -> MutexGuard<'static, Slots> {
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Slot {
    fn drop(&mut self) {
        let next = {
            let mut slots = lock();
            let next = if slots.taken > capacity() { None } else { slots.waiting.pop_front() };
            if next.is_none() {
                slots.taken -= 1;
            }
            next
        };
        // One that does not wait any more drops the slot, which goes to the next.
        drop(next.map(|next| next.send(Self(()))));
    }
}
