//! Collects the events of one append into a frame, and sorts out bad events and duplicates.

use std::borrow::Cow;
use std::ops::Range;

use salver_model::limits::EVENT_KEY_BYTES_MAX;
use salver_model::streams::{Envelope, EventOutcome, Receipt};

use super::dedup::RecentIds;
use crate::log::frame::{FrameBuilder, Record, SealedFrame};

/// Attributes of an event beside its value.
#[derive(Debug, Default)]
pub(super) struct Extra<'a> {
    pub(super) key: Option<Cow<'a, [u8]>>,
    pub(super) id: Option<Cow<'a, [u8]>>,
    pub(super) partition: Option<u32>,
    pub(super) headers: Vec<(&'a str, Option<&'a [u8]>)>,
    pub(super) time_ms: Option<i64>,
    /// Whether it has no value.
    pub(super) is_null: bool,
}

/// Valid event whose id has not been checked for duplicates yet.
#[derive(Debug)]
struct UncheckedEvent<'a> {
    value: &'a [u8],
    extra: Extra<'a>,
    /// Index of the event in the request.
    index: u64,
}

/// State of one event so far.
#[derive(Debug)]
enum Fate {
    /// Position in the frame.
    Taken(u64),
    /// Waiting for the check of its id.
    Waiting,
    /// Duplicate of the event at this offset.
    Duplicate(u64),
    /// Duplicate of the event at this position in the frame: the request repeats itself.
    Again(u64),
    /// Bad, with the reason.
    Bad(String),
}

/// Events of one append.
#[derive(Debug)]
pub(super) struct Gathering<'a> {
    frame: FrameBuilder,
    waiting: Vec<UncheckedEvent<'a>>,
    /// Whether ids must be checked, so that the frame is built last.
    with_ids: bool,
    envelope: &'a Envelope,
    fates: Vec<Fate>,
    count: u64,
    bad: Vec<(String, &'a [u8])>,
    duplicates: u64,
    /// Offsets of the earlier events that have duplicates here.
    repeated: Vec<u64>,
    first_id: Option<String>,
}

impl<'a> Gathering<'a> {
    /// Creates a frame at `now_ms` with capacity for about `bytes`. `with_ids` says that events may carry their own
    /// ids.
    pub(super) fn new(envelope: &'a Envelope, now_ms: i64, bytes: usize, with_ids: bool) -> Self {
        Self {
            frame: FrameBuilder::new(now_ms, bytes),
            waiting: Vec::new(),
            with_ids: with_ids || envelope.id.is_some(),
            envelope,
            fates: Vec::new(),
            count: 0,
            bad: Vec::new(),
            duplicates: 0,
            repeated: Vec::new(),
            first_id: None,
        }
    }

    /// Returns whether no events were added.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a valid event. Attributes it lacks are taken from the envelope.
    pub(super) fn good(&mut self, value: &'a [u8], mut extra: Extra<'a>) {
        let envelope = self.envelope;
        if extra.key.is_none() {
            extra.key = envelope.key.as_deref().map(Cow::Borrowed);
        }
        extra.partition = extra.partition.or(envelope.partition);
        extra.time_ms = extra.time_ms.or(envelope.time_ms);
        if extra.headers.is_empty() && !envelope.headers.is_empty() {
            extra.headers = envelope.headers.iter().map(|(name, value)| (name.as_str(), Some(&**value))).collect();
        }
        let too_long = |part: &Option<Cow<'a, [u8]>>| part.as_ref().is_some_and(|own| own.len() > EVENT_KEY_BYTES_MAX);
        if too_long(&extra.key) || too_long(&extra.id) {
            return self.bad(value, format!("its key or id has more than {EVENT_KEY_BYTES_MAX} bytes"));
        }
        let index = self.envelope.before + self.count;
        self.count += 1;
        if self.with_ids {
            self.waiting.push(UncheckedEvent { value, extra, index });
            self.tell(|_| Fate::Waiting);
        } else {
            self.put(value, &extra);
            self.tell(|own| Fate::Taken(u64::from(own.frame.count()) - 1));
        }
    }

    /// Adds an event that consists of a value only, without attributes in the envelope: the common case.
    pub(super) fn plain(&mut self, value: &'a [u8]) {
        self.frame.push_plain(value);
        self.count += 1;
        self.tell(|own| Fate::Taken(u64::from(own.frame.count()) - 1));
    }

    /// Returns whether [`Gathering::plain`] suffices for all events.
    pub(super) fn is_plain(&self) -> bool {
        let envelope = self.envelope;
        !self.with_ids
            && envelope.key.is_none()
            && envelope.partition.is_none()
            && envelope.headers.is_empty()
            && envelope.time_ms.is_none()
    }

    /// Adds a bad event.
    pub(super) fn bad(&mut self, raw: &'a [u8], reason: String) {
        self.count += 1;
        if self.envelope.each {
            self.fates.push(Fate::Bad(reason.clone()));
        }
        self.bad.push((reason, raw));
    }

    fn tell(&mut self, fate: impl FnOnce(&Self) -> Fate) {
        if self.envelope.each {
            let fate = fate(self);
            self.fates.push(fate);
        }
    }

    fn put(&mut self, value: &[u8], extra: &Extra<'_>) {
        self.frame.push(&Record {
            value,
            is_null: extra.is_null,
            key: extra.key.as_deref(),
            id: extra.id.as_deref(),
            partition: extra.partition,
            headers: extra.headers.clone(),
            time_ms: extra.time_ms,
        });
    }

    /// Checks the ids of waiting events for duplicates, and adds new events to the frame. Returns the hashes of their
    /// ids, in order. `is_whole` says that these are all events of the request.
    pub(super) fn look(&mut self, seen: &RecentIds, is_whole: bool) -> Vec<Option<u128>> {
        let hasher = seen.hasher();
        let mut hashes: Vec<Option<u128>> = Vec::with_capacity(self.waiting.len());
        let mut own = ahash::AHashMap::new();
        let alone = is_whole && self.envelope.before == 0 && self.count == 1;
        let mut fates = Vec::new();
        for mut event in std::mem::take(&mut self.waiting) {
            if let (None, Some(id)) = (&event.extra.id, &self.envelope.id) {
                let numbered = || [&id[..], b"-", event.index.to_string().as_bytes()].concat();
                event.extra.id = Some(if alone { Cow::Borrowed(&**id) } else { Cow::Owned(numbered()) });
            }
            let hash = event.extra.id.as_deref().filter(|_| seen.remembers()).map(|id| hasher.hash(id));
            let place = u64::from(self.frame.count());
            if let Some(hash) = hash {
                let fate = match (seen.offset(hash), own.get(&hash)) {
                    (Some(offset), _) => Some(Fate::Duplicate(offset)),
                    (None, Some(place)) => Some(Fate::Again(*place)),
                    (None, None) => None,
                };
                if let Some(fate) = fate {
                    if let Fate::Duplicate(offset) = fate {
                        self.repeated.push(offset);
                    }
                    self.duplicates += 1;
                    fates.push(fate);
                    continue;
                }
                own.insert(hash, place);
            }
            if self.first_id.is_none() {
                self.first_id = event.extra.id.as_deref().map(|id| String::from_utf8_lossy(id).into_owned());
            }
            self.put(event.value, &event.extra);
            fates.push(Fate::Taken(place));
            hashes.push(hash);
        }
        let mut fates = fates.into_iter();
        for fate in self.fates.iter_mut().filter(|fate| matches!(fate, Fate::Waiting)) {
            if let Some(known) = fates.next() {
                *fate = known;
            }
        }
        hashes
    }

    /// Returns whether ids must be checked before the frame is complete.
    pub(super) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes the frame, if it has any events.
    pub(super) fn take_frame(&mut self) -> Option<SealedFrame> {
        let frame = std::mem::take(&mut self.frame);
        (frame.count() > 0).then(|| frame.seal())
    }

    /// Returns the bad events with the reasons.
    pub(super) fn bad_ones(&self) -> &[(String, &'a [u8])] {
        &self.bad
    }

    /// Returns the receipt. `offsets` are those of the frame; `made_id` generates the id of its first event if that has
    /// none of its own.
    pub(super) fn receipt(self, offsets: Range<u64>, made_id: impl FnOnce() -> String, quarantine_end: u64) -> Receipt {
        let taken = offsets.end - offsets.start;
        let each = self.fates.into_iter().map(|fate| match fate {
            Fate::Taken(place) => EventOutcome::Taken { offset: offsets.start + place },
            Fate::Duplicate(offset) => EventOutcome::Duplicate { offset },
            Fate::Again(place) => EventOutcome::Duplicate { offset: offsets.start + place },
            Fate::Bad(reason) => EventOutcome::Quarantined { reason },
            // No event is waiting once the frame is appended.
            Fate::Waiting => EventOutcome::Quarantined { reason: "its id was not looked at".to_owned() },
        });
        Receipt {
            end: offsets.end,
            repeated: self.repeated,
            quarantine_end,
            taken,
            duplicates: self.duplicates,
            quarantined: self.bad.len() as u64,
            reason: self.bad.first().map(|(reason, _)| reason.clone()),
            id: (taken > 0).then(|| self.first_id.unwrap_or_else(made_id)),
            each: each.collect(),
            consumed: 0,
        }
    }
}
