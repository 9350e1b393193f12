//! Single-pass validation of an event: checks its bytes against RFC 8259, finds its end, and detects additions to the
//! shape.
//!
//! It builds no values and does not allocate. UTF-8 is validated elsewhere, because that is cheaper for a whole text at
//! once.
//!
//! It stands beside `salver_text::json`, which trusts what it skips, and shares the search within strings and white
//! space with it. Numbers, escapes and members are read only here, since nobody else checks them: every byte that comes
//! in goes through this walk, and it is fast by comparing members with the expected ones while it checks. `skim` stops
//! at any byte and goes on in the next piece; a walk that could do both would save its state for each byte.

use salver_model::limits::EVENT_DEPTH_MAX;
use salver_text::json::{blank_end, plain_end};

use super::compiled_shape::{CompiledShape, NONE};
use super::value_kinds::{Kinds, float_kind, whole_number_kind};

/// Complete, well-formed value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    /// End of the value.
    pub(super) end: usize,
    /// Whether the value has something that the shape lacks.
    pub(super) adds: bool,
}

/// Reason why there is no complete value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// The text ends before the value does, and is well-formed so far.
    Incomplete,
    /// The value is nested too deeply; nothing behind this place was examined.
    Deep(usize),
    /// Place of half a surrogate pair in a text, and the expected half. The grammar allows it (RFC 8259, section 8.2),
    /// so the value has an end, but it is not Unicode text.
    Unpaired(usize, &'static str),
    /// Place in the text of a syntax error, and the expected token.
    Malformed(usize, &'static str),
}

/// Open container.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    is_object: bool,
    /// Index of its step in the plan.
    node: u32,
    /// Index of the member expected next.
    next: u32,
}

/// Scratch memory of the walk, reused for every event of a text.
#[derive(Debug)]
pub(super) struct Pass {
    levels: [Level; EVENT_DEPTH_MAX],
}

impl Pass {
    pub(super) fn new() -> Self {
        Self { levels: [Level::default(); EVENT_DEPTH_MAX] }
    }

    /// Walks over the value that begins at `at`.
    pub(super) fn value(&mut self, text: &[u8], at: usize, plan: &CompiledShape) -> Result<Whole, Stop> {
        let mut walk =
            EventValidation { text, at, plan, node: plan.root(), depth: 0, adds: false, levels: &mut self.levels };
        walk.value()?;
        Ok(Whole { end: walk.at, adds: walk.adds })
    }
}

struct EventValidation<'a> {
    text: &'a [u8],
    at: usize,
    plan: &'a CompiledShape,
    /// Step of the next value in the plan.
    node: u32,
    depth: usize,
    adds: bool,
    levels: &'a mut [Level; EVENT_DEPTH_MAX],
}

impl EventValidation<'_> {
    fn value(&mut self) -> Result<(), Stop> {
        loop {
            let goes_in = match self.peek()? {
                b'"' => {
                    self.see(Kinds::TEXT);
                    self.at += 1;
                    self.string()?;
                    false
                }
                b'{' => self.open(true)?,
                b'[' => self.open(false)?,
                b'-' | b'0'..=b'9' => {
                    let kind = self.number()?;
                    self.see(kind);
                    false
                }
                b't' => self.word(b"true", Kinds::BOOL, "`true`")?,
                b'f' => self.word(b"false", Kinds::BOOL, "`false`")?,
                b'n' => self.word(b"null", Kinds::NULL, "`null`")?,
                _ => return Err(Stop::Malformed(self.at, "a value")),
            };
            if !goes_in && !self.go_on()? {
                return Ok(());
            }
        }
    }

    #[inline]
    fn peek(&self) -> Result<u8, Stop> {
        self.text.get(self.at).copied().ok_or(Stop::Incomplete)
    }

    #[inline]
    fn skip_blank(&mut self) {
        if let Some(0..=b' ') = self.text.get(self.at) {
            self.at = blank_end(self.text, self.at);
        }
    }

    #[inline]
    fn see(&mut self, kind: Kinds) {
        self.adds |= !self.plan.step(self.node).kinds.has(kind);
    }

    /// Enters an object or array. Returns false if it is empty and already closed.
    #[inline]
    fn open(&mut self, is_object: bool) -> Result<bool, Stop> {
        self.see(if is_object { Kinds::OBJECT } else { Kinds::ARRAY });
        let Some(level) = self.levels.get_mut(self.depth) else { return Err(Stop::Deep(self.at)) };
        *level = Level { is_object, node: self.node, next: 0 };
        self.at += 1;
        self.skip_blank();
        if self.peek()? == if is_object { b'}' } else { b']' } {
            self.at += 1;
            return Ok(false);
        }
        self.depth += 1;
        if is_object {
            self.member()?
        } else {
            self.node = self.plan.step(self.node).element
        }
        Ok(true)
    }

    /// Continues behind a value, closing the containers that end here. Returns false when the outermost value has
    /// ended.
    #[inline]
    fn go_on(&mut self) -> Result<bool, Stop> {
        loop {
            if self.depth == 0 {
                return Ok(false);
            }
            self.skip_blank();
            let level = self.levels[self.depth - 1];
            match (self.peek()?, level.is_object) {
                (b',', is_object) => {
                    self.at += 1;
                    self.skip_blank();
                    if is_object {
                        self.member()?
                    } else {
                        self.node = self.plan.step(level.node).element
                    }
                    return Ok(true);
                }
                (b'}', true) | (b']', false) => {
                    self.at += 1;
                    self.depth -= 1;
                }
                (_, true) => return Err(Stop::Malformed(self.at, "`,` or `}`")),
                (_, false) => return Err(Stop::Malformed(self.at, "`,` or `]`")),
            }
        }
    }

    /// Reads a member's name and the colon. Events of a stream are alike, so one comparison with the expected member
    /// mostly suffices.
    #[inline]
    fn member(&mut self) -> Result<(), Stop> {
        let level = &mut self.levels[self.depth - 1];
        let step = self.plan.step(level.node);
        if let Some(member) = step.members.get(level.next as usize)
            && let Some(length) = member.leads(&self.text[self.at..])
        {
            self.at += length;
            self.node = member.node;
            level.next += 1;
            self.skip_blank();
            return Ok(());
        }
        self.other_member()
    }

    fn other_member(&mut self) -> Result<(), Stop> {
        if self.peek()? != b'"' {
            return Err(Stop::Malformed(self.at, "a member's name"));
        }
        self.at += 1;
        let start = self.at;
        let is_escaped = self.string()?;
        let name = &self.text[start..self.at - 1];
        self.skip_blank();
        if self.peek()? != b':' {
            return Err(Stop::Malformed(self.at, "`:`"));
        }
        self.at += 1;
        self.skip_blank();
        let level = &mut self.levels[self.depth - 1];
        let step = self.plan.step(level.node);
        if let Some(index) = step.find(name, is_escaped) {
            level.next = index + 1;
            self.node = step.members[index as usize].node;
        } else {
            self.adds |= !step.is_closed;
            self.node = NONE;
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8], kind: Kinds, name: &'static str) -> Result<bool, Stop> {
        let rest = &self.text[self.at..];
        if !rest.starts_with(word) {
            return Err(if word.starts_with(rest) { Stop::Incomplete } else { Stop::Malformed(self.at, name) });
        }
        self.at += word.len();
        self.see(kind);
        Ok(false)
    }

    /// Reads the rest of a string, behind its opening quote. Returns whether it has escapes.
    #[inline]
    fn string(&mut self) -> Result<bool, Stop> {
        let mut is_escaped = false;
        loop {
            self.at = plain_end(self.text, self.at);
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Ok(is_escaped);
                }
                b'\\' => {
                    is_escaped = true;
                    self.escape()?;
                }
                _ => return Err(Stop::Malformed(self.at, "no control character in a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Stop> {
        let start = self.at;
        self.at += 1;
        match self.peek()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                self.at += 1;
                match self.four_digits()? {
                    0xd800..=0xdbff => {
                        for part in [b'\\', b'u'] {
                            if self.peek()? != part {
                                return Err(Stop::Unpaired(self.at, "the second half of a surrogate pair"));
                            }
                            self.at += 1;
                        }
                        if !matches!(self.four_digits()?, 0xdc00..=0xdfff) {
                            return Err(Stop::Unpaired(self.at - 4, "the second half of a surrogate pair"));
                        }
                    }
                    0xdc00..=0xdfff => return Err(Stop::Unpaired(start, "the first half of a surrogate pair")),
                    _ => {}
                }
            }
            _ => return Err(Stop::Malformed(self.at, "one of `\"\\/bfnrtu`")),
        }
        Ok(())
    }

    fn four_digits(&mut self) -> Result<u32, Stop> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = char::from(self.peek()?).to_digit(16) else {
                return Err(Stop::Malformed(self.at, "four hexadecimal digits"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    #[inline]
    fn number(&mut self) -> Result<Kinds, Stop> {
        let start = self.at;
        if self.peek()? == b'-' {
            self.at += 1;
        }
        if self.peek()? == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        let mut kind = Kinds::INT;
        if self.text.get(self.at) == Some(&b'.') {
            kind = Kinds::FLOAT;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            kind = Kinds::FLOAT;
            self.at += 1;
            if let b'+' | b'-' = self.peek()? {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        Ok(if kind == Kinds::INT { whole_number_kind(text) } else { float_kind(text) })
    }

    /// Reads at least one digit.
    #[inline]
    fn digits(&mut self) -> Result<(), Stop> {
        if !self.peek()?.is_ascii_digit() {
            return Err(Stop::Malformed(self.at, "a digit"));
        }
        self.at += 1;
        while let Some(b'0'..=b'9') = self.text.get(self.at) {
            self.at += 1;
        }
        Ok(())
    }
}
