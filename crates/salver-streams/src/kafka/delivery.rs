//! Delivery state: the prefix of the log that Kafka has, which grows with each report, and the requests that wait for
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use salver_model::limits::BROKER_ASIDES_MAX;
use salver_model::streams::{EventDelivery, Placement, RejectedEvent};
use salver_model::{Error, Result};
use tokio::sync::{Notify, oneshot};

/// Most events that are sent but not yet reported.
pub(super) const WINDOW: u64 = 128 * 1024;
/// Most events between the checkpoint and the delivered prefix, which bounds the comparison after a restart.
pub(super) const LAG_EVENTS: u64 = 2_000_000;
/// Number of events whose places are remembered: the window, and as many behind it.
const REMEMBERED: usize = 2 * WINDOW as usize;
/// Marker for the partition of an event that was set aside.
const ASIDE: u32 = u32::MAX;
/// Marker for the offset of an event that Kafka has without having reported its offset.
const UNSAID: u64 = u64::MAX;

/// Delivery state of a stream.
#[derive(Debug)]
pub(super) struct Delivery {
    inner: Mutex<Inner>,
    /// Copy of the prefix in `inner`, readable without the lock.
    prefix: AtomicU64,
    /// Prefix at which `progress` is notified.
    watched: AtomicU64,
    progress: Notify,
}

#[derive(Debug)]
struct Inner {
    prefix: u64,
    /// Slots by offset, a ring of fixed size.
    slots: Vec<DeliverySlot>,
    /// By partition, the offset behind the last event of the prefix.
    positions: Vec<u64>,
    /// Waiters by the offset they wait for and a sequence number.
    waiters: BTreeMap<(u64, u64), Waiter>,
    /// First key of `waiters`, or the maximum.
    next_end: u64,
    count: u64,
    /// Number of waiters at which those without a receiver are dropped.
    waiters_max: usize,
    asides: BTreeMap<u64, String>,
}

/// Place of an event, valid only for the offset `offset`.
#[derive(Clone, Copy, Debug)]
struct DeliverySlot {
    offset: u64,
    at: u64,
    partition: u32,
}

#[derive(Debug)]
struct Waiter {
    /// Events whose places are wanted.
    range: Range<u64>,
    answer: oneshot::Sender<DeliveryAnswer>,
}

/// What became of each requested event.
pub(super) type DeliveryAnswer = Result<Vec<EventDelivery>>;

/// Answer, or the channel that delivers it.
#[derive(Debug)]
pub(super) enum Wait {
    Over(DeliveryAnswer),
    On(oneshot::Receiver<DeliveryAnswer>),
}

impl Delivery {
    /// Creates a state that knows nothing.
    pub(super) fn new() -> Self {
        let slot = DeliverySlot { offset: u64::MAX, at: 0, partition: 0 };
        let inner = Inner {
            prefix: 0,
            slots: vec![slot; REMEMBERED],
            positions: Vec::new(),
            waiters: BTreeMap::new(),
            next_end: u64::MAX,
            count: 0,
            waiters_max: 1024,
            asides: BTreeMap::new(),
        };
        Self {
            inner: Mutex::new(inner),
            prefix: AtomicU64::new(0),
            watched: AtomicU64::new(u64::MAX),
            progress: Notify::new(),
        }
    }

    /// Returns the offset of the log below which everything is in Kafka or was set aside.
    pub(super) fn prefix(&self) -> u64 {
        self.prefix.load(Ordering::Acquire)
    }

    /// Returns the prefix, and by partition the offset at which the topic's records of later events can begin.
    pub(super) fn state(&self) -> (u64, Vec<u64>) {
        let inner = self.lock();
        (inner.prefix, inner.positions.clone())
    }

    /// Restores which events were set aside before the prefix.
    pub(super) fn recall(&self, asides: BTreeMap<u64, String>) {
        self.lock().asides.extend(asides);
    }

    /// Starts at an offset of the log and with the partitions' offsets, as a checkpoint has them. Knowledge about later
    /// events is kept.
    pub(super) fn begin(&self, prefix: u64, positions: Vec<u64>) {
        let mut inner = self.lock();
        inner.positions = positions;
        self.move_to(&mut inner, prefix);
    }

    /// Skips events that the log no longer has.
    pub(super) fn skip_to(&self, offset: u64) {
        let mut inner = self.lock();
        self.move_to(&mut inner, offset);
    }

    /// Marks the event as delivered; `at` is `None` when Kafka did not report its offset.
    pub(super) fn mark(&self, offset: u64, partition: u32, at: Option<u64>) {
        self.put(&mut self.lock(), DeliverySlot { offset, partition, at: at.unwrap_or(UNSAID) });
    }

    /// Marks the event as set aside: Kafka cannot take it, and it is stored elsewhere.
    pub(super) fn set_aside(&self, offset: u64, reason: String) {
        let mut inner = self.lock();
        inner.asides.insert(offset, reason);
        if inner.asides.len() > BROKER_ASIDES_MAX {
            inner.asides.pop_first();
        }
        self.put(&mut inner, DeliverySlot { offset, partition: ASIDE, at: UNSAID });
    }

    /// Returns what became of an event that was delivered or set aside.
    pub(super) fn place(&self, offset: u64) -> EventDelivery {
        self.lock().place(offset)
    }

    /// Returns which events of a range, and of some others, were set aside, in the order of their offsets.
    pub(super) fn rejected(&self, range: Range<u64>, others: &[u64]) -> Vec<RejectedEvent> {
        let inner = self.lock();
        if inner.asides.is_empty() {
            return Vec::new();
        }
        let others = others.iter().filter_map(|offset| inner.asides.get_key_value(offset));
        let found: BTreeMap<_, _> = inner.asides.range(range).chain(others).collect();
        found.into_iter().map(|(offset, reason)| RejectedEvent { offset: *offset, reason: reason.clone() }).collect()
    }

    /// Returns the events before the prefix that were set aside, with the reasons.
    pub(super) fn asides(&self) -> BTreeMap<u64, String> {
        let inner = self.lock();
        inner.asides.range(..inner.prefix).map(|(offset, reason)| (*offset, reason.clone())).collect()
    }

    /// Returns the events from `offset` on that were set aside.
    pub(super) fn asides_from(&self, offset: u64) -> BTreeSet<u64> {
        self.lock().asides.range(offset..).map(|(aside, _)| *aside).collect()
    }

    /// Returns whether the event was set aside.
    pub(super) fn is_aside(&self, offset: u64) -> bool {
        self.lock().asides.contains_key(&offset)
    }

    /// Returns what became of the events of `range` when everything before `end` was delivered or set aside, or a wait
    /// for it.
    pub(super) fn wait(&self, range: Range<u64>, end: u64) -> Wait {
        let mut inner = self.lock();
        if end <= inner.prefix {
            return Wait::Over(inner.answer(range));
        }
        let (answer, receiver) = oneshot::channel();
        if inner.waiters.len() >= inner.waiters_max {
            inner.waiters.retain(|_, waiter| !waiter.answer.is_closed());
            inner.waiters_max = (2 * inner.waiters.len()).max(1024);
        }
        inner.count += 1;
        let key = (end, inner.count);
        inner.next_end = inner.next_end.min(end);
        inner.waiters.insert(key, Waiter { range, answer });
        Wait::On(receiver)
    }

    /// Answers the waiters for events behind `offset` with an error: those cannot be sent.
    pub(super) fn refuse(&self, offset: u64, error: impl Fn() -> Error) {
        let mut inner = self.lock();
        let refused = inner.waiters.split_off(&(offset.saturating_add(1), 0));
        inner.next_end = inner.waiters.first_key_value().map_or(u64::MAX, |((end, _), _)| *end);
        drop(inner);
        for waiter in refused.into_values() {
            let _ = waiter.answer.send(Err(error()));
        }
    }

    /// Releases all waiters: no more reports will come.
    pub(super) fn let_go(&self) {
        let mut inner = self.lock();
        inner.waiters.clear();
        inner.next_end = u64::MAX;
    }

    /// Completes when the prefix reaches `offset`, or `else_when` completes. It supports one waiter, the drainer.
    pub(super) async fn reached(&self, offset: u64, else_when: &Notify) {
        self.watched.store(offset, Ordering::SeqCst);
        while self.prefix.load(Ordering::SeqCst) < offset {
            tokio::select! {
                () = self.progress.notified() => {}
                () = else_when.notified() => break,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn move_to(&self, inner: &mut Inner, prefix: u64) {
        if prefix > inner.prefix {
            inner.prefix = prefix;
        }
        self.advance(inner);
    }

    fn put(&self, inner: &mut Inner, slot: DeliverySlot) {
        if slot.offset < inner.prefix {
            return;
        }
        inner.slots[place_of(slot.offset)] = slot;
        if slot.offset == inner.prefix {
            self.advance(inner);
        }
    }

    /// Publishes the prefix before it answers the waiters, so that they see it.
    fn advance(&self, inner: &mut Inner) {
        inner.advance();
        self.publish(inner.prefix);
        while inner.next_end <= inner.prefix {
            inner.answer_first();
        }
    }

    fn publish(&self, prefix: u64) {
        self.prefix.store(prefix, Ordering::SeqCst);
        let watched = self.watched.load(Ordering::SeqCst);
        if prefix >= watched {
            // The drainer may wait for another offset by now.
            let _ = self.watched.compare_exchange(watched, u64::MAX, Ordering::SeqCst, Ordering::SeqCst);
            self.progress.notify_one();
        }
    }
}

impl Inner {
    /// Advances the prefix over every reported event.
    fn advance(&mut self) {
        loop {
            let slot = self.slots[place_of(self.prefix)];
            if slot.offset != self.prefix {
                break;
            }
            if slot.at != UNSAID {
                let partition = slot.partition as usize;
                if partition >= self.positions.len() {
                    // The partition was added to the topic later.
                    self.positions.resize(partition + 1, 0);
                }
                self.positions[partition] = self.positions[partition].max(slot.at + 1);
            }
            self.prefix += 1;
        }
    }

    fn answer_first(&mut self) {
        if let Some((_, waiter)) = self.waiters.pop_first() {
            let answer = self.answer(waiter.range);
            // The receiver may be gone.
            let _ = waiter.answer.send(answer);
        }
        self.next_end = self.waiters.first_key_value().map_or(u64::MAX, |((end, _), _)| *end);
    }

    fn answer(&self, range: Range<u64>) -> DeliveryAnswer {
        Ok(range.map(|offset| self.place(offset)).collect())
    }

    fn place(&self, offset: u64) -> EventDelivery {
        if let Some(reason) = self.asides.get(&offset) {
            return EventDelivery::Rejected(reason.clone());
        }
        let slot = self.slots[place_of(offset)];
        let is_known = slot.offset == offset && slot.at != UNSAID;
        EventDelivery::Placed(is_known.then_some(Placement { partition: slot.partition, offset: slot.at }))
    }
}

fn place_of(offset: u64) -> usize {
    // The remainder is small enough.
    (offset % REMEMBERED as u64) as usize
}

#[cfg(test)]
mod tests {
    use salver_model::streams::{EventDelivery, Placement};

    use super::{Delivery, DeliveryAnswer, REMEMBERED, Wait};

    fn placed(answer: DeliveryAnswer) -> Vec<Placement> {
        let place = |delivery| match delivery {
            EventDelivery::Placed(Some(place)) => place,
            other => panic!("{other:?}"),
        };
        answer.unwrap().into_iter().map(place).collect()
    }

    fn later(wait: Wait) -> tokio::sync::oneshot::Receiver<DeliveryAnswer> {
        match wait {
            Wait::On(receiver) => receiver,
            Wait::Over(answer) => panic!("{answer:?} too early"),
        }
    }

    fn now(wait: Wait) -> DeliveryAnswer {
        match wait {
            Wait::Over(answer) => answer,
            Wait::On(_) => panic!("not yet"),
        }
    }

    #[test]
    fn a_prefix_grows_and_answers() {
        let delivery = Delivery::new();
        delivery.begin(10, vec![5, 0]);
        let mut places = later(delivery.wait(10..12, 12));
        let mut done = later(delivery.wait(13..13, 13));
        delivery.mark(11, 1, Some(0));
        delivery.mark(12, 0, Some(9));
        assert_eq!(delivery.prefix(), 10);
        assert!(places.try_recv().is_err());
        delivery.mark(10, 0, Some(8));
        assert_eq!(delivery.state(), (13, vec![10, 1]));
        let expected = [Placement { partition: 0, offset: 8 }, Placement { partition: 1, offset: 0 }];
        assert_eq!(placed(places.try_recv().unwrap()), expected);
        assert!(done.try_recv().unwrap().unwrap().is_empty());
        assert_eq!(placed(now(delivery.wait(10..12, 12))), expected);
    }

    #[test]
    fn what_was_set_aside_is_told_to_who_waits_for_it() {
        let delivery = Delivery::new();
        delivery.begin(0, vec![0]);
        let mut both = later(delivery.wait(0..2, 2));
        delivery.set_aside(0, "too large".to_owned());
        delivery.mark(1, 0, Some(0));
        let place = EventDelivery::Placed(Some(Placement { partition: 0, offset: 0 }));
        let expected = [EventDelivery::Rejected("too large".to_owned()), place];
        assert_eq!(both.try_recv().unwrap().unwrap(), expected);
        assert_eq!(now(delivery.wait(0..2, 2)).unwrap(), expected);
        let rejected = |range, others: &[u64]| {
            delivery.rejected(range, others).into_iter().map(|event| event.offset).collect::<Vec<_>>()
        };
        assert_eq!((rejected(0..2, &[]), rejected(1..2, &[]), rejected(1..2, &[0, 1, 0])), (vec![0], vec![], vec![0]));
        assert_eq!(delivery.asides().into_keys().collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn old_places_are_forgotten_and_never_mistaken() {
        let delivery = Delivery::new();
        delivery.begin(0, vec![0]);
        for offset in 0..=REMEMBERED as u64 {
            delivery.mark(offset, 0, Some(offset));
        }
        assert_eq!(now(delivery.wait(0..1, 1)).unwrap(), [EventDelivery::Placed(None)]);
        assert_eq!(placed(now(delivery.wait(1..2, 2))), [Placement { partition: 0, offset: 1 }]);
        delivery.mark(7, 0, Some(99));
        assert_eq!(placed(now(delivery.wait(7..8, 8))), [Placement { partition: 0, offset: 7 }], "reported once");
        delivery.skip_to(REMEMBERED as u64 + 100);
        assert_eq!(delivery.prefix(), REMEMBERED as u64 + 100);
    }
}
