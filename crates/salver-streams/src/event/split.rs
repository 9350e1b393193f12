//! Finds the events in JSON text that comes in pieces: one object, an array of them, or one after the other (NDJSON,
//! concatenated JSON), and checks each on the way.
//!
//! Behind an event that is malformed the text is picked up again at the next line, as NDJSON has it; inside an array
//! there is no such place, and the rest is one bad event. Where the pieces are cut makes no difference, except for
//! events longer than [`EVENT_BYTES_MAX`], which are not waited for.

use std::ops::Range;
use std::sync::Arc;

use salver_model::limits::EVENT_BYTES_MAX;
use salver_model::streams::Framing;

use super::check::{Checks, not_utf8, reason, too_long};
use super::pass::{Pass, Stop, Whole};
use super::reader::Reader;
use super::scan::blank_end;
use super::shape::Shape;

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
    /// The text is UTF-8 up to here.
    utf8_end: usize,
    checks: &'a Checks,
    shape: Arc<Shape>,
    pass: Pass,
    /// Bytes that were looked through for the end of values that are nested too deeply, and have none.
    vain_bytes: usize,
}

/// How often all of a piece may be looked through in vain. A text of brackets that nobody closes would be looked
/// through once for each of its lines.
const VAIN_PASSES_MAX: usize = 8;

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
                (Framing::Line, _) => return self.line(),
                (Framing::Start, Some(0xef)) if self.text[at..].starts_with(BYTE_ORDER_MARK) => self.at = at + 3,
                (Framing::Start, Some(0xef)) if !self.is_last && BYTE_ORDER_MARK.starts_with(&self.text[at..]) => {
                    return self.more(at);
                }
                (Framing::Start, Some(b'[')) => (self.at, self.framing) = (at + 1, Framing::ArrayValue),
                (Framing::Start, Some(_)) => self.framing = Framing::Values,
                (Framing::ArrayValue, Some(b']')) | (Framing::ArrayComma, Some(b']')) => {
                    (self.at, self.framing) = (at + 1, Framing::End);
                }
                (Framing::Values | Framing::ArrayValue, Some(_)) => {
                    self.at = at;
                    return self.value();
                }
                (Framing::ArrayComma, Some(b',')) => {
                    let behind = blank_end(self.text, at + 1);
                    match self.text.get(behind) {
                        None if !self.is_last => return self.more(at),
                        // A comma with nothing behind it is an error, and only here it is still known.
                        None | Some(b']') => {
                            return self.rest(at, format!("at byte {}: expected a value", behind - at));
                        }
                        Some(_) => (self.at, self.framing) = (behind, Framing::ArrayValue),
                    }
                }
                (Framing::ArrayComma, Some(_)) => return self.rest(at, "at byte 0: expected `,` or `]`".to_owned()),
                (Framing::End, Some(_)) => return self.rest(at, "at byte 0: expected the end of the text".to_owned()),
                (Framing::ArrayValue | Framing::ArrayComma, None) if self.is_last => {
                    return self.rest(at, "the text ends within the array: expected `]`".to_owned());
                }
                (_, None) => return self.end_at(self.text.len()),
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
        let stop = match self.pass.value(self.text, start, self.shape.plan()) {
            Ok(whole) if self.is_single(start, whole) => return self.whole(start, whole),
            Ok(whole) if blank_end(self.text, whole.end) == self.text.len() && !self.is_last => return Step::More,
            Ok(_) => Stop::Malformed(start, "an object"),
            Err(stop) => stop,
        };
        match stop {
            Stop::Incomplete if !self.is_last && self.text.len() - start <= EVENT_BYTES_MAX => Step::More,
            Stop::Incomplete if !self.is_last => self.too_long(start),
            Stop::Incomplete if self.framing == Framing::Values => self.malformed(start, self.text.len(), stop),
            Stop::Deep(_) => self.deep(start, stop),
            Stop::Malformed(at, _) if self.framing == Framing::Values => self.malformed(start, at, stop),
            Stop::Incomplete | Stop::Malformed(..) => self.rest(start, reason(stop, start)),
        }
    }

    /// Whether what was found stands for itself. A number may go on in the next piece. And a line of something else
    /// than JSON often begins with what could be a value (`12:30 started`).
    fn is_single(&self, start: usize, whole: Whole) -> bool {
        if self.text[start] == b'{' {
            return true;
        }
        let rest = &self.text[whole.end..];
        if self.framing == Framing::ArrayValue {
            return self.is_last || !rest.is_empty() || !matches!(self.text[start], b'-' | b'0'..=b'9');
        }
        match rest.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
            None => self.is_last,
            Some(next) => matches!(next, b'\n' | b'{' | b'['),
        }
    }

    fn whole(&mut self, start: usize, whole: Whole) -> Step {
        self.go_behind(start, whole.end);
        let range = start..whole.end;
        if whole.end > self.utf8_end {
            let reason = not_utf8(self.utf8_end - start);
            self.utf8_end = utf8_end(self.text, whole.end);
            return Step::Bad(range, reason);
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
        self.framing = if self.framing == Framing::ArrayValue { Framing::ArrayComma } else { Framing::Values };
    }

    /// A value that is nested too deeply is left out whole when it can be seen where it ends.
    fn deep(&mut self, start: usize, stop: Stop) -> Step {
        let rest = &self.text[start..];
        let is_looked_for = self.vain_bytes <= VAIN_PASSES_MAX * self.text.len();
        match is_looked_for.then(|| Reader::new(rest).skip()).flatten() {
            Some(value) => {
                let end = start + value.len();
                self.go_behind(start, end);
                self.bad(start, end, reason(stop, start))
            }
            None if !self.is_last && rest.len() <= EVENT_BYTES_MAX => Step::More,
            // Its end never comes: brackets without their like must not take the good lines behind them along.
            None if self.framing == Framing::Values => {
                self.vain_bytes += rest.len();
                self.malformed(start, start, stop)
            }
            None if self.is_last => self.rest(start, reason(stop, start)),
            None => self.too_long(start),
        }
    }

    /// What is longer than an event may be goes away as far as it has come.
    fn too_long(&mut self, start: usize) -> Step {
        self.framing = if self.framing == Framing::Values { Framing::Line } else { Framing::End };
        let end = self.text.len();
        self.at = end;
        self.bad(start, end, too_long())
    }

    /// The rest of a line whose beginning has gone.
    fn line(&mut self) -> Step {
        let (start, rest) = (self.at, &self.text[self.at..]);
        let newline = memchr::memchr(b'\n', rest);
        let end = newline.map_or(self.text.len(), |at| start + at);
        self.at = end;
        if newline.is_some() {
            self.framing = Framing::Values;
        } else if rest.is_empty() {
            return Step::Done;
        }
        if start == end {
            return self.next_event();
        }
        self.bad(start, end, format!("{}: this is the rest of it", too_long()))
    }

    /// Without an array around, a bad event goes as far as its lines do.
    fn malformed(&mut self, start: usize, fault: usize, stop: Stop) -> Step {
        let end = match line_end(self.text, start, fault) {
            Some(end) => end,
            None if self.is_last => self.text.len(),
            None if self.text.len() - start <= EVENT_BYTES_MAX => return Step::More,
            None => return self.too_long(start),
        };
        self.at = end;
        // The end of the lines may be before the fault, which then is that they end.
        let stop = if fault > end { Stop::Incomplete } else { stop };
        self.bad(start, end, reason(stop, start))
    }

    /// Everything from here on is one bad event.
    fn rest(&mut self, start: usize, reason: String) -> Step {
        let end = self.text.len();
        if !self.is_last && end - start <= EVENT_BYTES_MAX {
            return self.more(start);
        }
        self.at = end;
        self.framing = Framing::End;
        self.bad(start, end, reason)
    }

    fn bad(&mut self, start: usize, end: usize, reason: String) -> Step {
        if end > self.utf8_end {
            self.utf8_end = utf8_end(self.text, end);
        }
        let text = &self.text[start..end];
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
