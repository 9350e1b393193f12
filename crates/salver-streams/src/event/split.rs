//! Splits JSON text that arrives in pieces into events, and validates each. The text is one object, an array of
//! objects, or a sequence of them (NDJSON, concatenated JSON).
//!
//! Behind a malformed event, parsing resumes at the next line, as in NDJSON. Inside an array there is no such place,
//! and the rest is one bad event. A value longer than `EVENT_BYTES_MAX` is one bad event however long it is: its
//! beginning is kept, and the rest is skipped without buffering it.
//!
//! The result does not depend on where the text is cut into pieces. No decision therefore depends on how much text is
//! available, but for one: whether more than `EVENT_BYTES_MAX` bytes follow the beginning of a value. A value is
//! judged by no more than these bytes, and no more are awaited.

use std::ops::Range;
use std::sync::Arc;

use salver_model::limits::VAIN_BYTES_MAX;
use salver_model::streams::{Framing, Within};
use salver_text::json::blank_end;

use super::requirements::{Checks, not_utf8, reason, too_long};
use super::shape::EventShape;
use super::skim::{Skimmed, before, skim};
use super::validate::{Pass, Stop, Whole};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Next item of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SplitStep {
    /// Byte range of an event.
    Event(Range<usize>),
    /// Byte range of something that is not an event, and the reason. The range is empty where something is missing.
    Bad(Range<usize>, String),
    /// Start of an incomplete event. The bytes from [`Splitter::consumed`] on must be prepended to the next piece.
    More,
    /// The whole text is consumed.
    Done,
}

/// Splitter for one piece of a text.
#[derive(Debug)]
pub(crate) struct Splitter<'a> {
    text: &'a [u8],
    at: usize,
    framing: Framing,
    is_last: bool,
    /// End of the validated UTF-8, counted at least from the value examined last.
    utf8_end: usize,
    checks: &'a Checks,
    shape: Arc<EventShape>,
    pass: Pass,
    /// Number of bytes searched in vain for the end of values that can't be events.
    vain_bytes: usize,
    /// End of the values without a name or brackets that are known to stand one behind the other on a line.
    row_end: usize,
}

impl<'a> Splitter<'a> {
    /// Creates a splitter for a piece of text, given the framing at which the previous piece ended.
    pub(crate) fn new(text: &'a [u8], framing: Framing, is_last: bool, checks: &'a Checks) -> Self {
        let utf8_end = if simdutf8::basic::from_utf8(text).is_ok() { text.len() } else { utf8_end(text, 0) };
        let shape = checks.shape.newest();
        Self { text, at: 0, framing, is_last, utf8_end, checks, shape, pass: Pass::new(), vain_bytes: 0, row_end: 0 }
    }

    /// Returns the number of bytes consumed.
    pub(crate) fn consumed(&self) -> usize {
        self.at
    }

    /// Returns the framing at which the next piece begins.
    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    /// Returns the next event.
    pub(crate) fn next_event(&mut self) -> SplitStep {
        loop {
            let at = blank_end(self.text, self.at);
            let next = self.text.get(at).copied();
            match (self.framing, next) {
                (Framing::Within(within), _) => match self.within(within) {
                    Some(step) => return step,
                    None => continue,
                },
                (Framing::Lines, _) => match self.lines() {
                    Some(step) => return step,
                    None => continue,
                },
                (Framing::Lost, _) => return self.end_at(self.text.len()),
                (Framing::Start, Some(0xef)) if self.text[at..].starts_with(BYTE_ORDER_MARK) => self.at = at + 3,
                (Framing::Start, Some(0xef)) if !self.is_last && BYTE_ORDER_MARK.starts_with(&self.text[at..]) => {
                    return self.more(at);
                }
                (Framing::Start, Some(b'[')) => (self.at, self.framing) = (at + 1, Framing::ArrayValue),
                (Framing::Start, Some(_)) => self.framing = Framing::Values,
                (Framing::ArrayValue, Some(b']')) | (Framing::ArrayComma, Some(b']')) => {
                    (self.at, self.framing) = (at + 1, Framing::End);
                }
                (Framing::ArrayNext, Some(b']')) => return self.rest(at, "at byte 0: expected a value".to_owned()),
                (Framing::Values | Framing::ArrayValue | Framing::ArrayNext, Some(_)) => {
                    self.at = at;
                    return self.value();
                }
                (Framing::ArrayComma, Some(b',')) => (self.at, self.framing) = (at + 1, Framing::ArrayNext),
                (Framing::ArrayComma, Some(_)) => return self.rest(at, "at byte 0: expected `,` or `]`".to_owned()),
                (Framing::End, Some(_)) => return self.rest(at, "at byte 0: expected the end of the text".to_owned()),
                (Framing::ArrayValue | Framing::ArrayNext | Framing::ArrayComma, None) if self.is_last => {
                    return self.rest(at, "the text ends within the array: expected `]`".to_owned());
                }
                (_, None) => return self.end_at(self.text.len()),
            }
        }
    }

    /// Skips the rest of a bad event that is already reported. Returns whether its end was reached.
    pub(crate) fn leave_behind(&mut self) -> bool {
        loop {
            let step = match self.framing {
                Framing::Within(within) => self.within(within),
                Framing::Lines => self.lines(),
                Framing::Lost => Some(self.end_at(self.text.len())),
                _ => return true,
            };
            if step.is_some() {
                return !matches!(self.framing, Framing::Within(_) | Framing::Lines | Framing::Lost);
            }
        }
    }

    fn end_at(&mut self, at: usize) -> SplitStep {
        self.at = at;
        SplitStep::Done
    }

    fn more(&mut self, at: usize) -> SplitStep {
        self.at = at;
        SplitStep::More
    }

    fn value(&mut self) -> SplitStep {
        let start = self.at;
        let window = self.window(start);
        let is_cut = window.len() < self.text.len();
        let stop = match self.pass.value(window, start, self.shape.plan()) {
            Ok(whole) => match self.is_single(start, whole, window) {
                Some(true) => return self.whole(start, whole),
                Some(false) => Stop::Malformed(start, "an object"),
                None if is_cut && self.framing == Framing::Values => Stop::Malformed(start, "an object"),
                None => Stop::Incomplete,
            },
            Err(stop) => stop,
        };
        match stop {
            Stop::Incomplete if is_cut => self.too_long(start),
            Stop::Incomplete if !self.is_last => SplitStep::More,
            Stop::Deep(_) | Stop::Unpaired(..) => self.unfit(start, stop),
            Stop::Incomplete if self.framing == Framing::Values => self.malformed(start, self.text.len(), stop),
            Stop::Malformed(at, _) if self.framing == Framing::Values => self.malformed(start, at, stop),
            Stop::Incomplete | Stop::Malformed(..) => self.rest(start, reason(stop, start)),
        }
    }

    /// Returns the text that may be examined to judge the value that begins at `start`.
    fn window(&self, start: usize) -> &'a [u8] {
        &self.text[..self.text.len().min(start + self.checks.event_bytes_max)]
    }

    /// Returns whether the value stands alone; `None` when that cannot be decided yet, since a number may continue in
    /// the next piece. A line that is not JSON often starts with what could be a value (`12:30 started`), so that only
    /// values, one behind the other, may follow up to the end of the line or the next container.
    fn is_single(&mut self, start: usize, whole: Whole, window: &[u8]) -> Option<bool> {
        if self.text[start] == b'{' {
            return Some(true);
        }
        let is_all = self.is_last && window.len() == self.text.len();
        if self.framing != Framing::Values {
            let may_go_on = window.len() == whole.end && matches!(self.text[start], b'-' | b'0'..=b'9');
            return (is_all || !may_go_on).then_some(true);
        }
        let mut end = whole.end;
        while end > self.row_end {
            let blanks = window[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
            match window.get(end + blanks) {
                None => return is_all.then_some(true),
                Some(b'\n' | b'{' | b'[') => break,
                Some(_) if blanks == 0 => return Some(false),
                Some(_) => match self.pass.value(window, end + blanks, self.shape.plan()) {
                    Ok(next) => end = next.end,
                    Err(Stop::Incomplete) if !is_all => return None,
                    // It is a bad event of its own, and has an end.
                    Err(Stop::Unpaired(..)) => match skim(&mut before(false), &window[end + blanks..]) {
                        Skimmed::Ended(length) => end += blanks + length,
                        Skimmed::Open if !is_all => return None,
                        Skimmed::Open | Skimmed::Malformed { .. } => return Some(false),
                    },
                    Err(_) => return Some(false),
                },
            }
        }
        self.row_end = self.row_end.max(end);
        Some(true)
    }

    fn whole(&mut self, start: usize, whole: Whole) -> SplitStep {
        self.go_behind(start, whole.end);
        let range = start..whole.end;
        if self.utf8_end < start {
            // The invalid bytes belong to another value.
            self.utf8_end = utf8_end(self.text, start);
        }
        if whole.end > self.utf8_end {
            return SplitStep::Bad(range, not_utf8(self.utf8_end - start));
        }
        if let Err(reason) = self.checks.admit(&self.text[range.clone()], whole.adds) {
            return SplitStep::Bad(range, reason);
        }
        if whole.adds {
            self.shape = self.checks.shape.newest();
        }
        SplitStep::Event(range)
    }

    fn go_behind(&mut self, start: usize, end: usize) {
        debug_assert!(start < end, "a value has bytes");
        self.at = end;
        self.framing = if self.framing == Framing::Values { Framing::Values } else { Framing::ArrayComma };
    }

    /// Skips a value as a whole that the grammar allows and an event can't be, if its end can be found.
    fn unfit(&mut self, start: usize, stop: Stop) -> SplitStep {
        let window = self.window(start);
        let is_looked_for = self.vain_bytes <= VAIN_BYTES_MAX;
        let skimmed = is_looked_for.then(|| skim(&mut before(false), &window[start..]));
        match skimmed {
            Some(Skimmed::Ended(length)) => {
                self.go_behind(start, start + length);
                self.bad(start, start + length, reason(stop, start))
            }
            Some(Skimmed::Malformed { at, .. }) if self.framing == Framing::Values => {
                self.malformed(start, start + at, stop)
            }
            Some(Skimmed::Open) if window.len() < self.text.len() => self.too_long(start),
            Some(Skimmed::Open) if !self.is_last => SplitStep::More,
            // The end never comes: unbalanced brackets must not swallow the valid lines behind them.
            None | Some(Skimmed::Open) if self.framing == Framing::Values => {
                self.vain_bytes += window.len() - start;
                self.malformed(start, start, stop)
            }
            _ => self.rest(start, reason(stop, start)),
        }
    }

    /// Reports the beginning of an oversized value at once, and skips to its end from then on.
    fn too_long(&mut self, start: usize) -> SplitStep {
        self.at = start;
        self.framing = Framing::Within(before(self.framing != Framing::Values));
        self.bad(start, self.text.len(), too_long(self.checks.event_bytes_max))
    }

    /// Searches for the end of an oversized value.
    fn within(&mut self, mut within: Within) -> Option<SplitStep> {
        let start = self.at;
        let place = skim(&mut within, &self.text[start..]);
        (self.at, self.framing) = match place {
            Skimmed::Open => (self.text.len(), Framing::Within(within)),
            Skimmed::Ended(length) if within.in_array => (start + length, Framing::ArrayComma),
            Skimmed::Ended(length) => (start + length, Framing::Values),
            Skimmed::Malformed { .. } if within.in_array => (self.text.len(), Framing::Lost),
            Skimmed::Malformed { at, begins_line } => {
                let at = start + at;
                // The fault in a truncated event shows only where the next event begins.
                let begins_event = begins_line && self.text[at] == b'{';
                (at, if begins_event { Framing::Values } else { Framing::Lines })
            }
        };
        (self.at == self.text.len()).then_some(SplitStep::Done)
    }

    /// Skips the lines behind a fault that is already reported, up to the end that [`line_end`] finds.
    fn lines(&mut self) -> Option<SplitStep> {
        match line_end(self.text, self.at, self.at) {
            Some(newline) => {
                (self.at, self.framing) = (newline, Framing::Values);
                None
            }
            // The byte behind this line break decides whether the lines end here.
            None if self.text.ends_with(b"\n") && !self.is_last && self.at < self.text.len() => {
                self.at = self.text.len() - 1;
                Some(SplitStep::More)
            }
            None => Some(self.end_at(self.text.len())),
        }
    }

    /// Ends a malformed event at the end of its lines. This applies outside of arrays.
    fn malformed(&mut self, start: usize, fault: usize, stop: Stop) -> SplitStep {
        let end = match line_end(self.text, start, fault) {
            Some(end) => end,
            None if self.is_last => self.text.len(),
            // One byte more: the byte behind a line break decides whether the lines end there.
            None if self.text.len() - start <= self.checks.event_bytes_max + 1 => return SplitStep::More,
            None => {
                // Resume at the last line break, should it be the last byte.
                self.at = self.text.len() - usize::from(self.text.ends_with(b"\n"));
                self.framing = Framing::Lines;
                return self.bad(start, self.text.len(), reason(stop, start));
            }
        };
        self.at = end;
        // The lines may end before the fault; then the error is that the text ends within the event.
        let stop = if fault > end { Stop::Incomplete } else { stop };
        self.bad(start, end, reason(stop, start))
    }

    /// Reports everything from `start` on as one bad event.
    fn rest(&mut self, start: usize, reason: String) -> SplitStep {
        let end = self.text.len();
        if !self.is_last && end - start <= self.checks.event_bytes_max {
            return self.more(start);
        }
        self.at = end;
        self.framing = Framing::Lost;
        self.bad(start, end, reason)
    }

    /// Reports a bad event, truncated to the largest size of an event.
    fn bad(&mut self, start: usize, end: usize, mut reason: String) -> SplitStep {
        let kept = end.min(start + self.checks.event_bytes_max);
        if kept < end {
            reason.push_str("; what is kept of it is its beginning");
        }
        let text = &self.text[start..kept];
        SplitStep::Bad(start..start + text.trim_ascii_end().len(), reason)
    }
}

/// Returns the end of the valid UTF-8 from `at` on, where `at` is a character boundary.
fn utf8_end(text: &[u8], at: usize) -> usize {
    match simdutf8::compat::from_utf8(&text[at..]) {
        Ok(_) => text.len(),
        Err(error) => at + error.valid_up_to(),
    }
}

/// Returns the end of the lines of a malformed event that begins at `start`: the line break behind the fault, or an
/// earlier one where a new event begins in the first column, since the fault in a truncated event shows only there.
/// Lines that are indented or begin with a closing bracket belong to the event before them. `None` when the text ends
/// first.
fn line_end(text: &[u8], start: usize, fault: usize) -> Option<usize> {
    for newline in memchr::memchr_iter(b'\n', &text[start..]).map(|at| start + at) {
        match text.get(newline + 1)? {
            b' ' | b'\t' | b'}' | b']' => {}
            b'{' => return Some(newline),
            _ if newline >= fault => return Some(newline),
            _ => {}
        }
    }
    None
}
