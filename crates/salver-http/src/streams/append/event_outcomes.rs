//! The outcomes of the events of one request, summed over its pieces, and their JSON.

use std::collections::BTreeMap;
use std::ops::Range;

use salver_formats::json::write_string;
use salver_model::limits::APPEND_RESULTS_MAX;
use salver_model::streams::{EventOutcome, Receipt, RejectedEvent};
use salver_model::{Code, Error};

/// The sum of receipts.
#[derive(Debug, Default)]
pub(in crate::streams) struct Tally {
    sum: Receipt,
    /// The offset of the first appended event.
    first: u64,
    tells_each: bool,
    /// Number of events whose outcome is not listed.
    left_off: u64,
    /// Offsets of other requests' events, which lie between the pieces of a long body.
    gaps: Vec<Range<u64>>,
    /// Why Kafka refused events, by offset; also of those that were appended before.
    refused: BTreeMap<u64, String>,
    /// Number of events that Kafka refused; an offset may be of several.
    refused_count: u64,
}

impl Tally {
    /// Creates an empty tally; `tells_each` requests the outcome of each event.
    pub(in crate::streams) fn new(tells_each: bool) -> Self {
        Self { tells_each, ..Self::default() }
    }

    /// Creates a tally of one receipt.
    pub(in crate::streams) fn of(receipt: Receipt) -> Self {
        let mut tally = Self::default();
        tally.add(receipt);
        tally
    }

    /// Adds the receipt of a piece.
    pub(in crate::streams) fn add(&mut self, receipt: Receipt) {
        let begin = receipt.offsets().start;
        if self.sum.taken == 0 && receipt.taken > 0 {
            self.first = begin;
            self.sum.id = receipt.id;
        } else if receipt.taken > 0 && self.sum.end < begin {
            self.gaps.push(self.sum.end..begin);
        }
        self.sum.end = self.sum.end.max(receipt.end);
        self.sum.repeated.extend(receipt.repeated);
        self.sum.quarantine_end = self.sum.quarantine_end.max(receipt.quarantine_end);
        self.sum.taken += receipt.taken;
        self.sum.duplicates += receipt.duplicates;
        self.sum.quarantined += receipt.quarantined;
        if self.sum.reason.is_none() {
            self.sum.reason = receipt.reason;
        }
        if self.tells_each {
            let room = APPEND_RESULTS_MAX - self.sum.each.len();
            self.sum.each.extend(receipt.each.into_iter().take(room));
            self.left_off = self.count() - self.sum.each.len() as u64;
        }
    }

    /// Returns the number of quarantined events.
    pub(super) fn quarantined(&self) -> u64 {
        self.sum.quarantined
    }

    /// Returns the sum.
    pub(in crate::streams) fn sum(&self) -> &Receipt {
        &self.sum
    }

    /// Returns the range to wait for: everything from the first appended event on. Events of other requests may lie
    /// between the pieces of a long body.
    pub(in crate::streams) fn awaited(&self) -> Receipt {
        let Receipt { end, quarantine_end, .. } = self.sum;
        let repeated = self.sum.repeated.clone();
        Receipt { end, repeated, quarantine_end, taken: end - self.first, ..Receipt::default() }
    }

    /// Records which events of [`Tally::awaited`] Kafka refused.
    pub(in crate::streams) fn refuse(&mut self, rejected: Vec<RejectedEvent>) {
        let mut repeats: BTreeMap<u64, u64> = rejected.iter().map(|event| (event.offset, 0)).collect();
        for offset in &self.sum.repeated {
            repeats.entry(*offset).and_modify(|count| *count += 1);
        }
        for RejectedEvent { offset, reason } in rejected {
            let gap = self.gaps.partition_point(|gap| gap.end <= offset);
            let is_others = self.gaps.get(gap).is_some_and(|gap| gap.contains(&offset));
            let is_own = (self.first..self.sum.end).contains(&offset) && !is_others;
            let events = repeats.get(&offset).copied().unwrap_or(0) + u64::from(is_own);
            if events > 0 {
                self.refused_count += events;
                self.refused.insert(offset, reason);
            }
        }
    }

    /// Returns the number of events that Kafka refused.
    pub(in crate::streams) fn refused(&self) -> u64 {
        self.refused_count
    }

    /// Returns the number of events.
    pub(in crate::streams) fn count(&self) -> u64 {
        self.sum.taken + self.sum.duplicates + self.sum.quarantined
    }

    /// Returns whether there were no events.
    pub(in crate::streams) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Returns whether more outcomes can be listed.
    pub(in crate::streams) fn has_room(&self) -> bool {
        self.tells_each && self.sum.each.len() < APPEND_RESULTS_MAX
    }

    /// Returns whether no event was accepted: all were quarantined, or refused by Kafka.
    pub(in crate::streams) fn is_refused(&self) -> bool {
        self.count() > 0 && self.sum.quarantined + self.refused_count == self.count()
    }

    /// Returns the reason of the first event that was not accepted.
    fn reason(&self) -> Option<&str> {
        self.sum.reason.as_ref().or_else(|| self.refused.values().next()).map(String::as_str)
    }

    /// Returns the error for a request of which no event was accepted.
    pub(in crate::streams) fn refusal(&self) -> Error {
        let reason = self.reason().unwrap_or("it is not what the stream takes");
        let message = match self.count() {
            1 => format!("the event is not one the stream takes: {reason}"),
            many => format!("none of the {many} events is one the stream takes; the first: {reason}"),
        };
        Error::new(Code::InvalidEvent, message).with_hint("what was sent lies in the stream's quarantine")
    }

    /// Writes it as a JSON object.
    pub(in crate::streams) fn written(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(160 + 24 * self.sum.each.len());
        out.push(b'{');
        self.write(&mut out);
        out.push(b'}');
        out
    }

    /// Writes it as further members of an object, beginning with a comma.
    pub(in crate::streams) fn members(&self) -> Vec<u8> {
        let mut out = vec![b','];
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut Vec<u8>) {
        let sum = &self.sum;
        member(b"\"taken\":", sum.taken, out);
        member(b",\"duplicates\":", sum.duplicates, out);
        member(b",\"quarantined\":", sum.quarantined, out);
        if self.refused_count > 0 {
            member(b",\"refused\":", self.refused_count, out);
        }
        if sum.taken > 0 {
            member(b",\"first_offset\":", self.first, out);
            member(b",\"last_offset\":", sum.end - 1, out);
        }
        if let (1, Some(id)) = (self.count(), &sum.id) {
            out.extend_from_slice(b",\"id\":");
            write_string(id, out);
        }
        if let Some(reason) = self.reason() {
            out.extend_from_slice(b",\"reason\":");
            write_string(reason, out);
        }
        if self.tells_each {
            self.write_each(out);
        }
    }

    fn write_each(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"results\":[");
        for (index, outcome) in self.sum.each.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match outcome {
                EventOutcome::Taken { offset } => {
                    member(b"{\"offset\":", *offset, out);
                    self.write_refused(*offset, out);
                }
                EventOutcome::Duplicate { offset } => {
                    member(b"{\"duplicate\":", *offset, out);
                    self.write_refused(*offset, out);
                }
                EventOutcome::Quarantined { reason } => {
                    out.extend_from_slice(b"{\"quarantined\":");
                    write_string(reason, out);
                }
            }
            out.push(b'}');
        }
        out.push(b']');
        if self.left_off > 0 {
            member(b",\"results_left_off\":", self.left_off, out);
        }
    }

    fn write_refused(&self, offset: u64, out: &mut Vec<u8>) {
        if let Some(reason) = self.refused.get(&offset) {
            out.extend_from_slice(b",\"refused\":");
            write_string(reason, out);
        }
    }
}

fn member(name: &[u8], number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(name);
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use salver_model::streams::{EventOutcome, Receipt, RejectedEvent};

    use super::Tally;

    #[test]
    fn sums_and_words() {
        let mut tally = Tally::new(true);
        let each =
            vec![EventOutcome::Taken { offset: 4 }, EventOutcome::Quarantined { reason: "no \"object\"".into() }];
        tally.add(Receipt {
            end: 5,
            taken: 1,
            quarantined: 1,
            reason: Some("no \"object\"".into()),
            id: Some("a".into()),
            each,
            ..Receipt::default()
        });
        tally.add(Receipt { end: 9, taken: 1, each: vec![EventOutcome::Taken { offset: 8 }], ..Receipt::default() });
        tally.add(Receipt { duplicates: 1, each: vec![EventOutcome::Duplicate { offset: 4 }], ..Receipt::default() });
        let text = String::from_utf8(tally.written()).unwrap();
        assert_eq!(
            text,
            "{\"taken\":2,\"duplicates\":1,\"quarantined\":1,\"first_offset\":4,\"last_offset\":8,\"reason\":\
             \"no \\\"object\\\"\",\"results\":[{\"offset\":4},{\"quarantined\":\"no \\\"object\\\"\"},{\"offset\":8},\
             {\"duplicate\":4}]}"
        );
        assert!(!tally.is_refused());
    }

    #[test]
    fn events_of_other_requests_are_none_of_its_own() {
        let mut tally = Tally::new(false);
        tally.add(Receipt { end: 5, taken: 1, ..Receipt::default() });
        tally.add(Receipt { end: 9, taken: 2, repeated: vec![1, 1], duplicates: 2, ..Receipt::default() });
        let rejected = |offsets: &[u64]| {
            offsets.iter().map(|offset| RejectedEvent { offset: *offset, reason: "too large".into() }).collect()
        };
        tally.refuse(rejected(&[1, 5, 6]));
        assert_eq!((tally.refused(), tally.is_refused()), (2, false));
        let text = String::from_utf8(tally.written()).unwrap();
        assert!(
            text.contains("\"quarantined\":0,\"refused\":2,") && text.contains("\"reason\":\"too large\""),
            "{text}"
        );
        tally.refuse(rejected(&[4, 7, 8]));
        assert!(tally.is_refused());
    }
}
