//! The outcomes of the events of one request, summed over its pieces, and their JSON.

use std::collections::BTreeMap;

use salver_formats::json::write_string;
use salver_model::limits::APPEND_RESULTS_MAX;
use salver_model::streams::{EventOutcome, Placement, Receipt};
use salver_model::{Code, Error, Result};

use crate::redaction;

/// The sum of receipts.
#[derive(Debug, Default)]
pub(in crate::streams) struct Tally {
    sum: Receipt,
    /// The offset of the first appended event.
    first: u64,
    tells_each: bool,
    /// Number of events whose outcome is not listed.
    left_off: u64,
    /// The reasons why the broker refused appended events, by offset.
    refused: BTreeMap<u64, String>,
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
        if self.sum.taken == 0 && receipt.taken > 0 {
            self.first = receipt.end - receipt.taken;
            self.sum.id = receipt.id;
        }
        self.sum.end = self.sum.end.max(receipt.end);
        self.sum.through = self.sum.through.max(receipt.through);
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
        let Receipt { end, through, quarantine_end, .. } = self.sum;
        Receipt { end, through, quarantine_end, taken: end - self.first, ..Receipt::default() }
    }

    /// Returns whether the outcome of each event is requested.
    pub(in crate::streams) fn tells_each(&self) -> bool {
        self.tells_each
    }

    /// Records the events of [`Tally::awaited`] that the broker refused.
    pub(in crate::streams) fn refuse(&mut self, places: Vec<Result<Placement>>) {
        for (offset, place) in (self.first..).zip(places) {
            if let Err(error) = place
                && error.code == Code::InvalidEvent
            {
                self.refused.insert(offset, redaction::message(&error).into_owned());
            }
        }
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

    /// Returns whether all events were quarantined.
    pub(in crate::streams) fn is_refused(&self) -> bool {
        self.sum.quarantined > 0 && self.sum.taken + self.sum.duplicates == 0
    }

    /// Returns the error for a request whose events were all quarantined.
    pub(in crate::streams) fn refusal(&self) -> Error {
        let reason = self.sum.reason.as_deref().unwrap_or("it is not what the stream takes");
        let message = match self.sum.quarantined {
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
        if sum.taken > 0 {
            member(b",\"first_offset\":", self.first, out);
            member(b",\"last_offset\":", sum.end - 1, out);
        }
        if let (1, Some(id)) = (self.count(), &sum.id) {
            out.extend_from_slice(b",\"id\":");
            write_string(id, out);
        }
        if let Some(reason) = &sum.reason {
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
                    if let Some(reason) = self.refused.get(offset) {
                        out.extend_from_slice(b",\"refused\":");
                        write_string(reason, out);
                    }
                }
                EventOutcome::Duplicate { offset } => member(b"{\"duplicate\":", *offset, out),
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
}

fn member(name: &[u8], number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(name);
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use salver_model::streams::{EventOutcome, Receipt};

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
}
