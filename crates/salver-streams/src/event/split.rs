//! Finds the events in JSON text that comes in pieces: one object, an array of them, or one after the other (NDJSON,
//! concatenated JSON), and checks each on the way.
//!
//! Behind an event that is malformed the text is picked up again at the next line, as NDJSON has it; inside an array
//! there is no such place, and the rest is one bad event. A value that is longer than [`EVENT_BYTES_MAX`] is one bad
//! event however long it is: its beginning is kept, and its end is looked for without keeping the rest.
//!
//! Where the pieces are cut makes no difference. So nothing is decided by how much of the text is there, but for one
//! question: whether there are more than [`EVENT_BYTES_MAX`] bytes from the beginning of a value on. No more than these
//! are looked at to judge it, and no more are waited for.

use std::ops::Range;
use std::sync::Arc;

use salver_model::limits::EVENT_BYTES_MAX;
use salver_model::streams::{Framing, Within};

use super::check::{Checks, not_utf8, reason, too_long};
use super::pass::{Pass, Stop, Whole};
use super::scan::blank_end;
use super::shape::Shape;
use super::skim::{Skimmed, before, skim};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What comes next in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// An event: where it is.
    Event(Range<usize>),
    /// Something that is no event: where it is, and why. Empty where something is missing.
    Bad(Range<usize>, String),
    /// The beginning of an event; the rest of it has to come. What [`Splitter::consumed`] leaves belongs in front of
    /// the next piece.
    More,
    /// Nothing; all of the text is used up.
    Done,
}

/// One piece of a text on its way into events.
#[derive(Debug)]
pub(crate) struct Splitter<'a> {
    text: &'a [u8],
    at: usize,
    framing: Framing,
    is_last: bool,
    /// The text is UTF-8 up to here, at least from the value on that was looked at last.
    utf8_end: usize,
    checks: &'a Checks,
    shape: Arc<Shape>,
    pass: Pass,
    /// Bytes that were looked through for the end of values that are nested too deeply, and have none.
    vain_bytes: usize,
}

/// How much may be looked through in vain. A text of brackets that nobody closes would be looked through once for each
/// of its lines. Only at the end of a text is it said to be in vain, so that pieces make no difference here either.
const VAIN_BYTES_MAX: usize = 8 * EVENT_BYTES_MAX;

impl<'a> Splitter<'a> {
    /// A piece of a text, with the framing the piece before ended with.
    pub(crate) fn new(text: &'a [u8], framing: Framing, is_last: bool, checks: &'a Checks) -> Self {
        let utf8_end = if simdutf8::basic::from_utf8(text).is_ok() { text.len() } else { utf8_end(text, 0) };
        let shape = checks.shape.newest();
        Self { text, at: 0, framing, is_last, utf8_end, checks, shape, pass: Pass::new(), vain_bytes: 0 }
    }

    /// How many bytes are used up.
    pub(crate) fn consumed(&self) -> usize {
        self.at
    }

    /// What the next piece begins with.
    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    /// The next event.
    pub(crate) fn next_event(&mut self) -> Step {
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

    /// Goes over what was told of already, and belongs to nothing else: whether that is over.
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

    fn end_at(&mut self, at: usize) -> Step {
        self.at = at;
        Step::Done
    }

    fn more(&mut self, at: usize) -> Step {
        self.at = at;
        Step::More
    }

    fn value(&mut self) -> Step {
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
            Stop::Incomplete if !self.is_last => Step::More,
            Stop::Deep(_) => self.deep(start, stop),
            Stop::Incomplete if self.framing == Framing::Values => self.malformed(start, self.text.len(), stop),
            Stop::Malformed(at, _) if self.framing == Framing::Values => self.malformed(start, at, stop),
            Stop::Incomplete | Stop::Malformed(..) => self.rest(start, reason(stop, start)),
        }
    }

    /// The text as far as it is looked at to judge the value that begins at `start`.
    fn window(&self, start: usize) -> &'a [u8] {
        &self.text[..self.text.len().min(start + self.checks.event_bytes_max)]
    }

    /// Whether what was found stands for itself; `None` when that can't be seen. A number may go on in the next piece.
    /// And a line of something else than JSON often begins with what could be a value (`12:30 started`).
    fn is_single(&self, start: usize, whole: Whole, window: &[u8]) -> Option<bool> {
        if self.text[start] == b'{' {
            return Some(true);
        }
        let is_all = self.is_last && window.len() == self.text.len();
        let rest = &window[whole.end..];
        if self.framing != Framing::Values {
            let may_go_on = rest.is_empty() && matches!(self.text[start], b'-' | b'0'..=b'9');
            return (is_all || !may_go_on).then_some(true);
        }
        match rest.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
            None => is_all.then_some(true),
            Some(next) => Some(matches!(next, b'\n' | b'{' | b'[')),
        }
    }

    fn whole(&mut self, start: usize, whole: Whole) -> Step {
        self.go_behind(start, whole.end);
        let range = start..whole.end;
        if self.utf8_end < start {
            // What is wrong there was part of something else.
            self.utf8_end = utf8_end(self.text, start);
        }
        if whole.end > self.utf8_end {
            return Step::Bad(range, not_utf8(self.utf8_end - start));
        }
        if let Err(reason) = self.checks.admit(&self.text[range.clone()], whole.adds) {
            return Step::Bad(range, reason);
        }
        if whole.adds {
            self.shape = self.checks.shape.newest();
        }
        Step::Event(range)
    }

    fn go_behind(&mut self, start: usize, end: usize) {
        debug_assert!(start < end, "a value has bytes");
        self.at = end;
        self.framing = if self.framing == Framing::Values { Framing::Values } else { Framing::ArrayComma };
    }

    /// A value that is nested too deeply is left out whole when it can be seen where it ends.
    fn deep(&mut self, start: usize, stop: Stop) -> Step {
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
            Some(Skimmed::Open) if !self.is_last => Step::More,
            // Its end never comes: brackets without their like must not take the good lines behind them along.
            None | Some(Skimmed::Open) if self.framing == Framing::Values => {
                self.vain_bytes += window.len() - start;
                self.malformed(start, start, stop)
            }
            _ => self.rest(start, reason(stop, start)),
        }
    }

    /// What is longer than an event may be: its beginning is told of at once, and its end looked for from then on.
    fn too_long(&mut self, start: usize) -> Step {
        self.at = start;
        self.framing = Framing::Within(before(self.framing != Framing::Values));
        self.bad(start, self.text.len(), too_long(self.checks.event_bytes_max))
    }

    /// Looks for the end of a value that is too long.
    fn within(&mut self, mut within: Within) -> Option<Step> {
        let start = self.at;
        let place = skim(&mut within, &self.text[start..]);
        (self.at, self.framing) = match place {
            Skimmed::Open => (self.text.len(), Framing::Within(within)),
            Skimmed::Ended(length) if within.in_array => (start + length, Framing::ArrayComma),
            Skimmed::Ended(length) => (start + length, Framing::Values),
            Skimmed::Malformed { .. } if within.in_array => (self.text.len(), Framing::Lost),
            Skimmed::Malformed { at, begins_line } => {
                let at = start + at;
                // Of an event that was cut off the fault shows only where the next one begins.
                let begins_event = begins_line && self.text[at] == b'{';
                (at, if begins_event { Framing::Values } else { Framing::Lines })
            }
        };
        (self.at == self.text.len()).then_some(Step::Done)
    }

    /// The lines behind a fault that was told of already. They end as [`line_end`] says.
    fn lines(&mut self) -> Option<Step> {
        match line_end(self.text, self.at, self.at) {
            Some(newline) => {
                (self.at, self.framing) = (newline, Framing::Values);
                None
            }
            // What follows the last byte, the end of a line, says whether it is the one.
            None if self.text.ends_with(b"\n") && !self.is_last && self.at < self.text.len() => {
                self.at = self.text.len() - 1;
                Some(Step::More)
            }
            None => Some(self.end_at(self.text.len())),
        }
    }

    /// Without an array around, a bad event goes as far as its lines do.
    fn malformed(&mut self, start: usize, fault: usize, stop: Stop) -> Step {
        let end = match line_end(self.text, start, fault) {
            Some(end) => end,
            None if self.is_last => self.text.len(),
            // One byte more: behind the end of a line the next one says whether it is the end.
            None if self.text.len() - start <= self.checks.event_bytes_max + 1 => return Step::More,
            None => {
                // From the end of the last line on, should it be the last byte.
                self.at = self.text.len() - usize::from(self.text.ends_with(b"\n"));
                self.framing = Framing::Lines;
                return self.bad(start, self.text.len(), reason(stop, start));
            }
        };
        self.at = end;
        // The end of the lines may be before the fault, which then is that they end.
        let stop = if fault > end { Stop::Incomplete } else { stop };
        self.bad(start, end, reason(stop, start))
    }

    /// Everything from here on is one bad event.
    fn rest(&mut self, start: usize, reason: String) -> Step {
        let end = self.text.len();
        if !self.is_last && end - start <= self.checks.event_bytes_max {
            return self.more(start);
        }
        self.at = end;
        self.framing = Framing::Lost;
        self.bad(start, end, reason)
    }

    /// A bad event, of which no more is kept than an event may have.
    fn bad(&mut self, start: usize, end: usize, mut reason: String) -> Step {
        let kept = end.min(start + self.checks.event_bytes_max);
        if kept < end {
            reason.push_str("; what is kept of it is its beginning");
        }
        let text = &self.text[start..kept];
        Step::Bad(start..start + text.trim_ascii_end().len(), reason)
    }
}

/// How far a text is UTF-8 from `at` on, as far as that is known to begin a character.
fn utf8_end(text: &[u8], at: usize) -> usize {
    match simdutf8::compat::from_utf8(&text[at..]) {
        Ok(_) => text.len(),
        Err(error) => at + error.valid_up_to(),
    }
}

/// Where the lines of a malformed event end that begins at `start`: at the newline behind the fault, or before it where
/// a new event begins in the first column, since the fault of an event that was cut off shows only there. Lines that
/// are indented or begin with a bracket that closes belong to the event before them. `None` when the text ends before.
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
