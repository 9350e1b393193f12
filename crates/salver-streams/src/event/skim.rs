//! Incremental search for the end of a value that is too long to buffer. It can stop at any byte and resume in the next
//! piece, and uses constant memory however long and deep the value is.
//!
//! It follows the JSON grammar only as far as needed to find the end of the value, or to detect that there is none: a
//! truncated line must not swallow the valid lines behind it, as it would for `salver_text::json::Ending`, which counts
//! brackets. Numbers, keywords and escapes are not validated, and containers nested more than 64 deep are not tracked
//! as objects or arrays.
//!
//! So it stands between `salver_text::json::Ending` and `validate`, and neither can do its work: the one swallows
//! lines, the other needs the whole text. Its state is a word of the port (`salver_model::streams::Within`), which
//! keeps it from the leaf. What all three share, the ends of strings and of white space, they have from there.

use salver_model::streams::{Expects, Within};
use salver_text::json::{blank_end, plain_end};

/// Result of a walk over a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skimmed {
    /// The value continues behind the piece.
    Open,
    /// The value ends here.
    Ended(usize),
    /// Byte that cannot be part of the value.
    Malformed {
        at: usize,
        /// Whether the place is the first of its line.
        begins_line: bool,
    },
}

/// Returns the state before the first byte of a value.
pub(super) fn before(in_array: bool) -> Within {
    Within { in_array, depth: 0, objects: 0, expects: Expects::Value, behind_newline: false }
}

/// Continues over the next piece of the value's text.
pub(super) fn skim(within: &mut Within, text: &[u8]) -> Skimmed {
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        match within.step(text, at, byte) {
            Next::At(next) => at = next,
            Next::End(end) => return Skimmed::Ended(end),
            Next::Fault(at) => {
                let begins_line = at.checked_sub(1).map_or(within.behind_newline, |before| text[before] == b'\n');
                return Skimmed::Malformed { at, begins_line };
            }
        }
    }
    within.behind_newline = text.last().map_or(within.behind_newline, |last| *last == b'\n');
    Skimmed::Open
}

/// Result of one step.
enum Next {
    At(usize),
    End(usize),
    Fault(usize),
}

trait Walk {
    fn step(&mut self, text: &[u8], at: usize, byte: u8) -> Next;
    fn open(&mut self, is_object: bool, at: usize) -> Next;
    fn close(&mut self, is_object: bool, at: usize) -> Next;
    fn ended(&mut self, end: usize) -> Next;
    fn is_object(&self) -> Option<bool>;
}

impl Walk for Within {
    fn step(&mut self, text: &[u8], at: usize, byte: u8) -> Next {
        match (self.expects, byte) {
            (Expects::Text { is_name }, _) => {
                let end = plain_end(text, at);
                match text.get(end) {
                    None => return Next::At(end),
                    Some(b'"') if is_name => self.expects = Expects::Colon,
                    Some(b'"') => return self.ended(end + 1),
                    Some(b'\\') => self.expects = Expects::Escape { is_name },
                    Some(_) => return Next::Fault(end),
                }
                Next::At(end + 1)
            }
            (Expects::Escape { .. }, 0..0x20) => Next::Fault(at),
            (Expects::Escape { is_name }, _) => {
                self.expects = Expects::Text { is_name };
                Next::At(at + 1)
            }
            (Expects::Scalar, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.') => Next::At(at + 1),
            (Expects::Scalar, _) => self.ended(at),
            (_, b' ' | b'\t' | b'\r' | b'\n') => Next::At(blank_end(text, at)),
            (Expects::FirstValue, b']') => self.close(false, at),
            (Expects::FirstName, b'}') => self.close(true, at),
            (Expects::Value | Expects::FirstValue, b'{') => self.open(true, at),
            (Expects::Value | Expects::FirstValue, b'[') => self.open(false, at),
            (Expects::Value | Expects::FirstValue, b'"') => {
                self.expects = Expects::Text { is_name: false };
                Next::At(at + 1)
            }
            (Expects::Value | Expects::FirstValue, b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                self.expects = Expects::Scalar;
                Next::At(at + 1)
            }
            (Expects::Name | Expects::FirstName, b'"') => {
                self.expects = Expects::Text { is_name: true };
                Next::At(at + 1)
            }
            (Expects::Colon, b':') => {
                self.expects = Expects::Value;
                Next::At(at + 1)
            }
            // At this depth a string may have been a member name.
            (Expects::Behind, b':') if self.is_object().is_none() => {
                self.expects = Expects::Value;
                Next::At(at + 1)
            }
            (Expects::Behind, b',') => {
                self.expects = if self.is_object() == Some(true) { Expects::Name } else { Expects::Value };
                Next::At(at + 1)
            }
            (Expects::Behind, b'}') => self.close(true, at),
            (Expects::Behind, b']') => self.close(false, at),
            _ => Next::Fault(at),
        }
    }

    fn open(&mut self, is_object: bool, at: usize) -> Next {
        if let Some(bit) = u32::try_from(self.depth).ok().and_then(|depth| 1_u64.checked_shl(depth)) {
            self.objects = if is_object { self.objects | bit } else { self.objects & !bit };
        }
        self.depth += 1;
        self.expects = if is_object { Expects::FirstName } else { Expects::FirstValue };
        Next::At(at + 1)
    }

    fn close(&mut self, is_object: bool, at: usize) -> Next {
        if self.is_object().is_some_and(|known| known != is_object) {
            return Next::Fault(at);
        }
        self.depth -= 1;
        self.ended(at + 1)
    }

    /// Continues behind a value that ends at `end`.
    fn ended(&mut self, end: usize) -> Next {
        self.expects = Expects::Behind;
        if self.depth == 0 { Next::End(end) } else { Next::At(end) }
    }

    /// Returns whether the innermost container is an object; `None` below the tracked depth.
    fn is_object(&self) -> Option<bool> {
        let bit = 1_u64.checked_shl(u32::try_from(self.depth.checked_sub(1)?).ok()?)?;
        Some(self.objects & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Skimmed, before, skim};
    use crate::event::tests::Dice;

    #[test]
    fn ends_where_the_value_does_in_pieces_of_any_size() {
        let mut dice = Dice(11);
        for _ in 0..2_000 {
            let value = dice.value(0);
            // A number has no end of its own: another byte must follow.
            let text = format!("{value} {{");
            for size in 1..text.len() {
                let (mut within, mut at) = (before(false), 0);
                loop {
                    let piece = &text.as_bytes()[at..text.len().min(at + size)];
                    match skim(&mut within, piece) {
                        Skimmed::Open => at += piece.len(),
                        Skimmed::Ended(end) => break assert_eq!(at + end, value.len(), "{text} by {size}"),
                        malformed => panic!("{malformed:?}: {text} by {size}"),
                    }
                }
            }
        }
    }

    #[test]
    fn what_never_ends_is_known_where_it_is_seen() {
        for (text, fault) in [
            ("{\"a\":[1,2\n{\"b\":1}", 10),
            ("{\"a\":\"cut\n{\"b\":1}", 9),
            ("{\"a\":{\"b\":1}\n{\"b\":1}", 13),
            ("{\"a\":1]", 6),
            ("[1}", 2),
            ("{\"a\" 1", 5),
            ("{1", 1),
            ("}", 0),
        ] {
            let begins_line = fault > 0 && text.as_bytes()[fault - 1] == b'\n';
            let expected = Skimmed::Malformed { at: fault, begins_line };
            assert_eq!(skim(&mut before(false), text.as_bytes()), expected, "{text}");
        }
        let deep = format!("{}{{\"a\":[1,{{}}],\"b\":\"c\"}}{}", "[".repeat(1_000), "]".repeat(1_000));
        assert!(serde_json::from_str::<Value>(&deep).is_err(), "too deep for others");
        assert_eq!(skim(&mut before(true), deep.as_bytes()), Skimmed::Ended(deep.len()));
    }
}
