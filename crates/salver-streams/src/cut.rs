//! Splits JSON text at event boundaries, for clients that send it to a stream in pieces. It uses the server's own
//! parser.

use std::ops::Range;

use salver_model::streams::Framing;

use crate::event::{Checks, EventShape, SplitStep, Splitter};

/// Next piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Byte range of whole events, valid or not, with the separators between them. The next piece begins behind them. A
    /// value that starts like an array of events but is not one is returned alone.
    Events(Range<usize>),
    /// Start of a value that is too long for an event; [`Cutter::skip`] finds its end.
    Long(usize),
    /// Place where the array of events becomes malformed, and the reason.
    Fault(usize, String),
    /// No event: a number of bytes that can be discarded. 0 means that more of the event has to be read.
    Nothing(usize),
}

/// Splitter for one text.
#[derive(Debug)]
pub struct Cutter {
    checks: Checks,
    framing: Framing,
}

impl Cutter {
    /// Creates a cutter that continues at `framing`.
    #[must_use]
    pub fn new(framing: Framing) -> Self {
        Self { checks: Checks::new(EventShape::default()), framing }
    }

    /// Returns the next piece of the text that begins with `text`. `is_last` says that nothing follows `text`.
    pub fn cut(&mut self, text: &[u8], is_last: bool) -> Cut {
        let mut splitter = Splitter::new(text, self.framing, is_last, &self.checks);
        let mut start = None;
        let (mut end, mut framing) = (0, self.framing);
        loop {
            let found = match splitter.next_event() {
                SplitStep::Event(range) => (range.start, None),
                SplitStep::Bad(range, reason) => (range.start, Some(reason)),
                SplitStep::More | SplitStep::Done => break,
            };
            let cut = match (splitter.framing(), found) {
                (Framing::Within(_) | Framing::Lines, (at, _)) => Some(Cut::Long(at)),
                (Framing::Lost, (at, reason)) => Some(Cut::Fault(at, reason.unwrap_or_default())),
                (_, (at, _)) => {
                    start.get_or_insert(at);
                    None
                }
            };
            match cut {
                // Return the events before it first.
                Some(_) if start.is_some() => break,
                Some(cut) => {
                    self.framing = splitter.framing();
                    return cut;
                }
                None => (end, framing) = (splitter.consumed(), splitter.framing()),
            }
            // At the start of a request body this would parse as an array of events, so it is returned alone.
            if framing == Framing::Values && start.is_some_and(|start| text[start] == b'[') {
                break;
            }
        }
        match start {
            Some(start) => {
                self.framing = framing;
                Cut::Events(start..end)
            }
            None => {
                self.framing = splitter.framing();
                Cut::Nothing(splitter.consumed())
            }
        }
    }

    /// Skips the rest of an oversized value, starting at its first byte. Returns the number of bytes of `text` that
    /// belong to it, and whether the value ends there.
    pub fn skip(&mut self, text: &[u8], is_last: bool) -> (usize, bool) {
        let mut splitter = Splitter::new(text, self.framing, is_last, &self.checks);
        let is_over = splitter.leave_behind();
        self.framing = splitter.framing();
        (splitter.consumed(), is_over)
    }

    /// Returns whether the text may end here: it is not an array, or the array is closed.
    #[must_use]
    pub fn may_end(&self) -> bool {
        matches!(self.framing, Framing::Start | Framing::Values | Framing::Lines | Framing::End)
            || matches!(self.framing, Framing::Within(within) if !within.in_array)
    }
}
