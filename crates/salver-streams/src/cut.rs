//! Where whole events lie in a text, for whoever sends it to a stream piece by piece: the same code finds them there.

use std::ops::Range;

use salver_model::streams::Framing;

use crate::event::{Checks, Shape, Splitter, Step};

/// What comes next in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Whole events with what stands between them, good ones or bad: where they are. The next piece begins behind them.
    /// One that begins like an array of events and is none stands alone.
    Events(Range<usize>),
    /// The beginning of something that is too long for an event, and where it begins; [`Cutter::skip`] finds its end.
    Long(usize),
    /// Here the array of events breaks off, and why.
    Fault(usize, String),
    /// No event, but so many bytes that need not be kept; of 0 the rest of an event has to come.
    Nothing(usize),
}

/// Cuts one text.
#[derive(Debug)]
pub struct Cutter {
    checks: Checks,
    framing: Framing,
}

impl Cutter {
    /// For a text from where its reader stands as `framing` says.
    #[must_use]
    pub fn new(framing: Framing) -> Self {
        Self { checks: Checks::new(Shape::default()), framing }
    }

    /// What comes next in the text that begins with `text`; all of it when it `is_last`.
    pub fn cut(&mut self, text: &[u8], is_last: bool) -> Cut {
        let mut splitter = Splitter::new(text, self.framing, is_last, &self.checks);
        let mut start = None;
        let (mut end, mut framing) = (0, self.framing);
        loop {
            let found = match splitter.next_event() {
                Step::Event(range) => (range.start, None),
                Step::Bad(range, reason) => (range.start, Some(reason)),
                Step::More | Step::Done => break,
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
                // What stands before it comes first.
                Some(_) if start.is_some() => break,
                Some(cut) => {
                    self.framing = splitter.framing();
                    return cut;
                }
                None => (end, framing) = (splitter.consumed(), splitter.framing()),
            }
            // At the beginning of a body it would be one of several events: it goes alone.
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

    /// Goes over the rest of what is too long, from its beginning on: how many bytes of `text` belong to it, and
    /// whether that is all.
    pub fn skip(&mut self, text: &[u8], is_last: bool) -> (usize, bool) {
        let mut splitter = Splitter::new(text, self.framing, is_last, &self.checks);
        let is_over = splitter.leave_behind();
        self.framing = splitter.framing();
        (splitter.consumed(), is_over)
    }

    /// Whether the text may end here: it is no array, or one that has ended.
    #[must_use]
    pub fn may_end(&self) -> bool {
        matches!(self.framing, Framing::Start | Framing::Values | Framing::Lines | Framing::End)
            || matches!(self.framing, Framing::Within(within) if !within.in_array)
    }
}
