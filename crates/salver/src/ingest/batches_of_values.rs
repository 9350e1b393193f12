//! Finds where JSON values end that don't have a line each: in an array, or one after the other over several lines.

/// Where in a text of values the next piece begins.
#[derive(Debug)]
pub(super) struct Values {
    is_array: bool,
    has_begun: bool,
    has_ended: bool,
}

impl Values {
    /// The values of an array; `inside` when its beginning was read before.
    pub(super) fn in_array(inside: bool) -> Self {
        Self { is_array: true, has_begun: inside, has_ended: false }
    }

    /// Values one after the other.
    pub(super) fn apart() -> Self {
        Self { is_array: false, has_begun: true, has_ended: false }
    }

    /// Whether this is an array that has not ended.
    pub(super) fn is_open(&self) -> bool {
        self.is_array && !self.has_ended
    }

    /// The whole values at the beginning of `text`, each with a line break behind it, and how many bytes they and what
    /// stands between them take. With `is_last`, what is left is a value too, and the server says what is wrong with
    /// it; an array must end itself.
    pub(super) fn cut(&mut self, text: &[u8], is_last: bool) -> Result<(usize, Vec<u8>), String> {
        let mut values = Vec::with_capacity(text.len());
        let (mut at, mut used) = (0, 0);
        while let Some(byte) = text.get(at) {
            match byte {
                byte if byte.is_ascii_whitespace() => at += 1,
                b'[' if !self.has_begun => {
                    self.has_begun = true;
                    at += 1;
                }
                _ if self.has_ended => return Err("text stands behind the end of the array".to_owned()),
                b']' if self.is_array => {
                    self.has_ended = true;
                    at += 1;
                }
                b',' if self.is_array => at += 1,
                _ => match end_of_value(&text[at..]) {
                    // A number may go on in the next piece, and so may what only looks like a value.
                    Some(length) if at + length < text.len() || is_last || is_closed(text[at]) => {
                        values.extend_from_slice(&text[at..at + length]);
                        values.push(b'\n');
                        at += length;
                    }
                    _ if is_last && !self.is_array => {
                        values.extend_from_slice(&text[at..]);
                        at = text.len();
                    }
                    _ => break,
                },
            }
            used = at;
        }
        Ok((used, values))
    }
}

/// Whether a value that begins so says itself where it ends.
fn is_closed(first: u8) -> bool {
    matches!(first, b'{' | b'[' | b'"')
}

/// The length of the value at the beginning of `text`; `None` when it goes on.
fn end_of_value(text: &[u8]) -> Option<usize> {
    if !is_closed(*text.first()?) {
        return Some(
            text.iter().position(|b| b.is_ascii_whitespace() || b",]}".contains(b)).unwrap_or(text.len()).max(1),
        );
    }
    let (mut depth, mut in_text, mut at) = (0_u32, false, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if in_text => at += 1,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 && !in_text {
            return Some(at);
        }
    }
    None
}

/// Whether the first value of a text begins in one line and ends in another, or several stand in one.
pub(super) fn is_split_over_lines(text: &[u8]) -> bool {
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(text.len());
    let text = &text[start..];
    let line = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    match end_of_value(text) {
        Some(end) => end > line || !text[end..line].iter().all(u8::is_ascii_whitespace),
        // It is longer than the window; without a line break in it there is nothing to tell.
        None => line < text.len(),
    }
}
