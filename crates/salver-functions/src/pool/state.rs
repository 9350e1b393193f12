//! The pool's state under its lock; nothing here waits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_model::Holder;
use salver_model::functions::Workers;
use salver_model::limits::SHARE_OF_FREE;

use super::counts::Counts;
use super::queue::{Queue, Sender};
use super::{PoolBounds, PoolRefusal};
use crate::process::{Mark, Order, Worker, Zygote};

/// Worker to be dropped outside the lock, because closing its connection is a system call.
type Unused = Option<Worker>;

#[derive(Debug)]
pub(super) struct PoolState {
    bounds: PoolBounds,
    /// Zygote that workers are forked from; `None` before the first load and after it ended by itself.
    zygote: Option<Arc<Zygote>>,
    /// Number of the zygote whose workers serve calls.
    generation: u64,
    /// Whether calls are refused.
    refuses: bool,
    /// Free workers; the last is the one used most recently.
    idle: Vec<Worker>,
    /// Waiting calls, including cancelled ones.
    waiting: Queue,
    /// Number of calls that still wait.
    waiters: usize,
    /// Number of workers that are ordered and have not arrived.
    starting: usize,
    /// Number of busy workers.
    busy: usize,
    /// Number of busy workers on their last call.
    leaving: usize,
    /// Number of busy workers of earlier generations.
    old: usize,
    pub(super) counts: Counts,
}

impl PoolState {
    pub(super) fn new(bounds: PoolBounds) -> Self {
        Self {
            bounds,
            zygote: None,
            generation: 0,
            refuses: false,
            idle: Vec::new(),
            waiting: Queue::default(),
            waiters: 0,
            starting: 0,
            busy: 0,
            leaving: 0,
            old: 0,
            counts: Counts::default(),
        }
    }

    /// Takes a free worker, which is then busy.
    pub(super) fn take(&mut self) -> Option<Worker> {
        if self.busy >= self.bounds.workers_max {
            return None;
        }
        let mut worker = self.idle.pop()?;
        while worker.is_spent() {
            worker.mark().kill();
            self.counts.lost += 1;
            worker = self.idle.pop()?;
        }
        worker.begin(self.bounds.calls_max);
        self.busy += 1;
        if worker.mark().is_last {
            self.leaving += 1;
            self.grow();
        }
        Some(worker)
    }

    /// Enters the queue. A patient call is always admitted.
    pub(super) fn wait(
        &mut self,
        holder: Option<&Holder>,
        sender: Sender,
        is_patient: bool,
    ) -> Result<(), PoolRefusal> {
        if self.refuses {
            return Err(PoolRefusal::Unavailable);
        }
        // A caller must leave some places to others, if there are any left.
        let free = self.bounds.waiting_max.saturating_sub(self.waiters);
        let is_full = |waiting: usize| free == 0 || waiting >= SHARE_OF_FREE * free;
        let is_near = holder.is_some() && free < self.bounds.waiting_max / 2;
        if !is_patient && is_full(if is_near { self.waiting.waiting(holder) } else { 0 }) {
            return Err(PoolRefusal::Full);
        }
        if self.waiting.len() > 2 * self.waiters + 64 {
            self.waiting.tidy();
        }
        self.waiting.push(holder.cloned(), sender);
        self.waiters += 1;
        self.grow();
        Ok(())
    }

    /// Records that a waiting call was cancelled.
    pub(super) fn left(&mut self) {
        self.waiters -= 1;
    }

    pub(super) fn arrived(&mut self, worker: Worker) -> Unused {
        if worker.mark().generation() != self.generation {
            return Some(worker);
        }
        self.starting = self.starting.saturating_sub(1);
        self.idle.push(worker);
        self.hand_out();
        None
    }

    pub(super) fn missing(&mut self, number: u64, count: usize) {
        if number == self.generation {
            self.starting = self.starting.saturating_sub(count);
            self.counts.lost += count as u64;
            self.grow();
        }
    }

    pub(super) fn give_back(&mut self, mut worker: Worker) -> Unused {
        if worker.mark().generation() != self.generation {
            self.old -= 1;
            return Some(worker);
        }
        self.busy -= 1;
        let unused = if worker.mark().is_last {
            self.leaving -= 1;
            Some(worker)
        } else {
            worker.idle_since = Instant::now();
            self.idle.push(worker);
            None
        };
        self.hand_out();
        unused
    }

    /// Records that a busy worker is gone.
    pub(super) fn lost(&mut self, mark: &Mark) {
        self.counts.lost += 1;
        if mark.generation() == self.generation {
            self.busy -= 1;
            self.leaving -= usize::from(mark.is_last);
            self.hand_out();
            self.grow();
        } else {
            self.old -= 1;
        }
    }

    /// Returns whether this was the zygote that workers are forked from.
    pub(super) fn fell(&mut self, number: u64) -> bool {
        let is_current = self.zygote.as_ref().is_some_and(|zygote| zygote.number == number);
        if is_current {
            self.zygote = None;
            self.starting = 0;
        }
        is_current
    }

    pub(super) fn adopt(&mut self, zygote: Arc<Zygote>) -> Vec<Worker> {
        self.generation = zygote.number;
        self.zygote = Some(zygote);
        self.refuses = false;
        self.counts.loads += 1;
        self.old += self.busy;
        (self.busy, self.leaving, self.starting) = (0, 0, 0);
        self.grow();
        std::mem::take(&mut self.idle)
    }

    /// Refuses calls, unless there is a zygote, which then serves an earlier version of the file.
    pub(super) fn refuse(&mut self) {
        if self.zygote.is_none() {
            self.refuses = true;
            // Dropping the senders wakes the waiters.
            self.waiting.clear();
        }
    }

    /// Has no zygote any more, and no worker: those that come back are of none.
    pub(super) fn withdraw(&mut self) -> (Vec<Worker>, Option<Arc<Zygote>>) {
        let unused = self.close();
        // Zygotes are numbered from one.
        self.generation = 0;
        self.old += self.busy;
        (self.busy, self.leaving) = (0, 0);
        unused
    }

    pub(super) fn close(&mut self) -> (Vec<Worker>, Option<Arc<Zygote>>) {
        let zygote = self.zygote.take();
        self.refuse();
        self.starting = 0;
        (std::mem::take(&mut self.idle), zygote)
    }

    pub(super) fn tend(&mut self, idle: Duration) -> Vec<Worker> {
        let (mut unused, mut kept) = (Vec::new(), Vec::new());
        let mut ready = self.idle.len();
        for worker in std::mem::take(&mut self.idle) {
            if worker.is_spent() {
                worker.mark().kill();
                self.counts.lost += 1;
                unused.push(worker);
            } else if ready + self.busy > self.bounds.workers_min && worker.idle_since.elapsed() > idle {
                unused.push(worker);
            } else {
                kept.push(worker);
                continue;
            }
            ready -= 1;
        }
        self.idle = kept;
        self.grow();
        unused
    }

    pub(super) fn workers(&self) -> Workers {
        let busy = self.busy + self.old;
        Workers {
            alive: self.idle.len() + busy,
            busy,
            waiting: self.waiters,
            lost: self.counts.lost,
            loads: self.counts.loads,
            wait: self.counts.wait(),
        }
    }

    /// Assigns free workers to waiting calls.
    fn hand_out(&mut self) {
        while let Some((holder, sender)) = self.waiting.pop() {
            if sender.is_closed() {
                continue;
            }
            let Some(worker) = self.take() else {
                self.waiting.put_back(holder, sender);
                self.grow();
                return;
            };
            // The receiver is only closed under the lock, so it takes the worker.
            if let Err(worker) = sender.send(worker) {
                drop(self.give_back(worker));
                return;
            }
            self.waiters -= 1;
        }
    }

    /// Orders missing workers.
    fn grow(&mut self) {
        let Some(zygote) = &self.zygote else { return };
        let there = self.idle.len() + self.busy - self.leaving;
        let needed = (self.busy - self.leaving + self.waiters).clamp(self.bounds.workers_min, self.bounds.workers_max);
        let missing = needed.saturating_sub(there + self.starting);
        if missing > 0 {
            self.starting += missing;
            zygote.tell(Order::Fork(missing));
        }
    }
}
