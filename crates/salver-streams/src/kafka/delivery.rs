//! Delivery state: the prefix of the log that Kafka has, which grows with each report, and the requests that wait for
//! it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use salver_model::limits::BROKER_ASIDES_MAX;
use salver_model::streams::Placement;
use salver_model::{Code, Error, Result};
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
    slots: Vec<Slot>,
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
struct Slot {
    offset: u64,
    at: u64,
    partition: u32,
}

#[derive(Debug)]
struct Waiter {
    first: u64,
    wants_places: bool,
    answer: oneshot::Sender<Answer>,
}

/// Place of each requested event, if places were requested, or the reason why it is not in Kafka.
pub(super) type Answer = Result<Vec<Result<Placement>>>;

/// Answer, or the channel that delivers it.
#[derive(Debug)]
pub(super) enum Wait {
    Over(Answer),
    On(oneshot::Receiver<Answer>),
}

impl Delivery {
    /// Creates a state that knows nothing.
    pub(super) fn new() -> Self {
        let slot = Slot { offset: u64::MAX, at: 0, partition: 0 };
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
        self.put(&mut self.lock(), Slot { offset, partition, at: at.unwrap_or(UNSAID) });
    }

    /// Marks the event as set aside: Kafka cannot take it, and it is stored elsewhere.
    pub(super) fn set_aside(&self, offset: u64, reason: String) {
        let mut inner = self.lock();
        inner.asides.insert(offset, reason);
        if inner.asides.len() > BROKER_ASIDES_MAX {
            inner.asides.pop_first();
        }
        self.put(&mut inner, Slot { offset, partition: ASIDE, at: UNSAID });
    }

    /// Returns whether the event was set aside.
    pub(super) fn is_aside(&self, offset: u64) -> bool {
        self.lock().asides.contains_key(&offset)
    }

    /// Returns the answer for the events of `range`, or a wait for it; it contains their places when `wants_places`.
    pub(super) fn wait(&self, range: Range<u64>, wants_places: bool) -> Wait {
        let mut inner = self.lock();
        if range.end <= inner.prefix {
            return Wait::Over(inner.answer(range, wants_places));
        }
        let (answer, receiver) = oneshot::channel();
        if inner.waiters.len() >= inner.waiters_max {
            inner.waiters.retain(|_, waiter| !waiter.answer.is_closed());
            inner.waiters_max = (2 * inner.waiters.len()).max(1024);
        }
        inner.count += 1;
        let key = (range.end, inner.count);
        inner.next_end = inner.next_end.min(range.end);
        inner.waiters.insert(key, Waiter { first: range.start, wants_places, answer });
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

    fn put(&self, inner: &mut Inner, slot: Slot) {
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
        if let Some(((end, _), waiter)) = self.waiters.pop_first() {
            let answer = self.answer(waiter.first..end, waiter.wants_places);
            // The receiver may be gone.
            let _ = waiter.answer.send(answer);
        }
        self.next_end = self.waiters.first_key_value().map_or(u64::MAX, |((end, _), _)| *end);
    }

    fn answer(&self, range: Range<u64>, wants_places: bool) -> Answer {
        if wants_places {
            return Ok(range.map(|offset| self.place(offset)).collect());
        }
        match self.asides.range(range).next() {
            Some((offset, reason)) => Err(refused(*offset, reason)),
            None => Ok(Vec::new()),
        }
    }

    fn place(&self, offset: u64) -> Result<Placement> {
        if let Some(reason) = self.asides.get(&offset) {
            return Err(refused(offset, reason));
        }
        let slot = self.slots[place_of(offset)];
        if slot.offset != offset || slot.at == UNSAID {
            let message = format!("the event at offset {offset} is in Kafka, but it is not known any more where");
            return Err(Error::new(Code::StreamUnavailable, message));
        }
        Ok(Placement { partition: slot.partition, offset: slot.at })
    }
}

fn refused(offset: u64, reason: &str) -> Error {
    let message = format!("Kafka does not take the event at offset {offset}: {reason}");
    Error::new(Code::InvalidEvent, message)
        .with_hint("It stays in the stream and lies in its quarantine; the others of the request were taken.")
}

fn place_of(offset: u64) -> usize {
    // The remainder is small enough.
    (offset % REMEMBERED as u64) as usize
}

#[cfg(test)]
mod tests {
    use salver_model::streams::Placement;

    use super::{Answer, Delivery, REMEMBERED, Wait};

    fn placed(answer: Answer) -> Vec<Placement> {
        answer.unwrap().into_iter().map(Result::unwrap).collect()
    }

    fn later(wait: Wait) -> tokio::sync::oneshot::Receiver<Answer> {
        match wait {
            Wait::On(receiver) => receiver,
            Wait::Over(answer) => panic!("{answer:?} too early"),
        }
    }

    fn now(wait: Wait) -> Answer {
        match wait {
            Wait::Over(answer) => answer,
            Wait::On(_) => panic!("not yet"),
        }
    }

    #[test]
    fn a_prefix_grows_and_answers() {
        let delivery = Delivery::new();
        delivery.begin(10, vec![5, 0]);
        let mut places = later(delivery.wait(10..12, true));
        let mut done = later(delivery.wait(11..13, false));
        delivery.mark(11, 1, Some(0));
        delivery.mark(12, 0, Some(9));
        assert_eq!(delivery.prefix(), 10);
        assert!(places.try_recv().is_err());
        delivery.mark(10, 0, Some(8));
        assert_eq!(delivery.state(), (13, vec![10, 1]));
        let expected = [Placement { partition: 0, offset: 8 }, Placement { partition: 1, offset: 0 }];
        assert_eq!(placed(places.try_recv().unwrap()), expected);
        assert!(done.try_recv().unwrap().unwrap().is_empty());
        assert_eq!(placed(now(delivery.wait(10..12, true))), expected);
    }

    #[test]
    fn what_was_set_aside_is_told_to_who_waits_for_it() {
        let delivery = Delivery::new();
        delivery.begin(0, vec![0]);
        let mut both = later(delivery.wait(0..2, false));
        let mut one = later(delivery.wait(1..2, false));
        delivery.set_aside(0, "too large".to_owned());
        delivery.mark(1, 0, Some(0));
        assert!(both.try_recv().unwrap().unwrap_err().to_string().contains("too large"));
        assert!(one.try_recv().unwrap().is_ok());
        assert!(now(delivery.wait(0..1, false)).is_err());
        let each = now(delivery.wait(0..2, true)).unwrap();
        assert!(each[0].as_ref().is_err_and(|error| error.to_string().contains("too large")));
        assert_eq!(each[1].as_ref().ok(), Some(&Placement { partition: 0, offset: 0 }));
    }

    #[test]
    fn old_places_are_forgotten_and_never_mistaken() {
        let delivery = Delivery::new();
        delivery.begin(0, vec![0]);
        for offset in 0..=REMEMBERED as u64 {
            delivery.mark(offset, 0, Some(offset));
        }
        assert!(now(delivery.wait(0..1, true)).unwrap()[0].is_err());
        assert_eq!(placed(now(delivery.wait(1..2, true))), [Placement { partition: 0, offset: 1 }]);
        delivery.mark(7, 0, Some(99));
        assert_eq!(placed(now(delivery.wait(7..8, true))), [Placement { partition: 0, offset: 7 }], "reported once");
        delivery.skip_to(REMEMBERED as u64 + 100);
        assert_eq!(delivery.prefix(), REMEMBERED as u64 + 100);
    }
}
